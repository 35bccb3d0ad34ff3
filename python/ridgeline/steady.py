"""Which arguments of compiled functions are the same arrays in every call, and which change: what depends on the former alone need not
be computed again.

An array of JAX never changes, so a variable that holds the same one whenever the program is looked at had the same values in each call
that it was given to. Nothing of the program is called for it: its text tells which variables its calls are given, and its frames what
these hold.
"""

from __future__ import annotations

import ast
import inspect
import sys
import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from .program_text import COMPILED, ByCode, SeenFrame, arrays_of, callee_of, dotted, own_nodes, text_of, value_of

#: Calls of one function of the program that are followed, and arrays of one argument.
_MOST_SITES, _MOST_LEAVES = 64, 256

#: Looks that an argument must have been the same in.
_FEWEST = 8

#: Looks between which another argument of the function changed: where none does, the program may not call it at all.
_FEWEST_CHANGES = 4

#: Looks from one place between which an argument was another, from which on it changes from call to call.
_FEWEST_OF_CHANGING = 3

#: Arguments that are told.
_MOST_TOLD = 512


@dataclass
class _Site:
    """A call in the program's text."""

    callee: tuple[str, ...]
    #: Keyword, or None for what is given by position, and the variable that is given; None where it is something else.
    arguments: list[tuple[str | None, tuple[str, ...] | None]]
    #: Which of them hand on a list of arguments (`*batch`).
    starred: frozenset[int]
    #: Whether it also hands on dictionaries of arguments.
    is_open: bool


@dataclass
class _Argument:
    """What one array of one argument was so far."""

    array: Callable[[], Any]
    looks: int = 1
    changes: int = 0

    def look(self, value: Any) -> None:
        self.looks += 1
        if self.array() is not value:
            self.changes += 1
            self.array = weakref.ref(value)


@dataclass
class _Function:
    """What was seen of all compiled functions of one name."""

    arrays: dict[str, _Argument] = field(default_factory=dict)
    #: The same for each call in the text.
    at_sites: dict[tuple[int, str], _Argument] = field(default_factory=dict)
    #: Parameters that some call was given in a way that is not followed.
    unknown: set[str] = field(default_factory=set)
    #: For each call in the text, how often each parameter could be told.
    told: dict[int, dict[str, int]] = field(default_factory=dict)
    is_open: bool = False


class SteadyArguments:
    """Follows the variables that calls of compiled functions are given."""

    def __init__(self) -> None:
        """Nothing is read before the first look."""
        self._sites = ByCode(_sites_of)
        self._functions: dict[str, _Function] = {}

    def look(self, frames: Iterable[SeenFrame]) -> None:
        """One look at the program's own frames."""
        if "jaxlib" not in sys.modules:
            return
        for frame in frames:
            sites = self._sites[frame.code]
            if sites and frame.names is not None:
                for site in sites:
                    self._look_at(site, frame.names, frame.others)

    def told(self) -> list[dict[str, Any]]:
        """The arguments that were the same arrays in all looks, and those that change from call to call, by function."""
        found = []
        for name, function in self._functions.items():
            same = self._same(function)
            changing = self._changing(function)
            if same or changing:
                looks = min((function.arrays[path].looks for path in same), default=0)
                found.append({"function": name, "arguments": same[:_MOST_TOLD], "looks": looks, "changing": changing[:_MOST_TOLD]})
        return found

    def _same(self, function: _Function) -> list[str]:
        if function.is_open or max((one.changes for one in function.arrays.values()), default=0) < _FEWEST_CHANGES:
            return []
        sites = function.told.values()
        all_looks = function.arrays.items()
        return [path for path, one in all_looks if not one.changes and one.looks >= _FEWEST and self._is_known(function, sites, path)]

    @staticmethod
    def _changing(function: _Function) -> list[str]:
        least: dict[str, int] = {}
        for (_, path), one in function.at_sites.items():
            least[path] = min(one.changes, least.get(path, one.changes))
        return [path for path, changes in least.items() if changes >= _FEWEST_OF_CHANGING]

    @staticmethod
    def _is_known(function: _Function, sites: Any, path: str) -> bool:
        parameter = path.split("[", 1)[0].split(".", 1)[0]
        return parameter not in function.unknown and all(site.get(parameter, 0) > 0 for site in sites)

    def _look_at(self, site: _Site, names: dict[str, Any], others: dict[str, Any]) -> None:
        callee, is_bound = callee_of(site.callee, names, others)
        if type(callee).__name__ != COMPILED:
            return
        parameters = _parameters(callee)[is_bound:]
        function = self._functions.setdefault(getattr(callee, "__name__", ""), _Function())
        function.is_open |= site.is_open
        told = function.told.setdefault(id(site), {})
        place = 0
        for at, (keyword, path) in enumerate(site.arguments):
            value = None if path is None else value_of(path, names, others)
            if at in site.starred:
                if type(value) not in (list, tuple) or place + len(value) > len(parameters):
                    function.is_open = True
                    return
                given = list(zip(parameters[place:], list(value), strict=False))
                place += len(value)
            else:
                name = keyword if keyword is not None else parameters[place] if place < len(parameters) else None
                place += keyword is None
                given = [(name, value)]
            for name, one in given:
                if name is None:
                    function.is_open = True
                elif path is None:
                    function.unknown.add(name)
                elif one is not None and self._compare(function, id(site), name, one):
                    told[name] = told.get(name, 0) + 1

    @staticmethod
    def _compare(function: _Function, site: int, name: str, value: Any) -> bool:
        """Compare the arrays of an argument with those it had before; False where it holds something else."""
        for count, (path, array) in enumerate(arrays_of(value, name)):
            if array is None or count == _MOST_LEAVES:
                return False
            for all_known, key in ((function.arrays, path), (function.at_sites, (site, path))):
                known = all_known.get(key)
                if known is None:
                    all_known[key] = _Argument(weakref.ref(array))
                else:
                    known.look(array)
        return True


def _sites_of(code: CodeType) -> list[_Site]:
    node = text_of(code)
    calls = (child for child in own_nodes(node) if isinstance(child, ast.Call)) if node else ()
    sites = [site for site in map(_site_of, calls) if site]
    return sites[:_MOST_SITES]


def _site_of(call: ast.AST) -> _Site | None:
    assert isinstance(call, ast.Call)
    callee = dotted(call.func)
    if callee is None:
        return None
    arguments: list[tuple[str | None, tuple[str, ...] | None]] = []
    starred = set()
    for at, argument in enumerate(call.args):
        if isinstance(argument, ast.Starred):
            starred.add(at)
            argument = argument.value
        arguments.append((None, dotted(argument)))
    arguments.extend((keyword.arg, dotted(keyword.value)) for keyword in call.keywords if keyword.arg is not None)
    is_open = any(keyword.arg is None for keyword in call.keywords)
    return _Site(callee, arguments, frozenset(starred), is_open)


def _parameters(function: Any) -> list[str]:
    """The names of its parameters; those that take any number end the list."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    named = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    found = []
    for parameter in parameters:
        if parameter.kind not in named:
            break
        found.append(parameter.name)
    return found
