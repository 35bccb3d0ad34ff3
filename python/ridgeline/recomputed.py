"""Which variables are given a new array with the same numbers again and again: what they hold could be computed once.

The program's text tells which variables each of its functions assigns, and its frames what these hold. Some numbers of each new array
are read where they lie in the host's memory; nothing of the program is called. Arrays of a GPU are not read.
"""

from __future__ import annotations

import ast
import weakref
from collections.abc import Iterable, Iterator
from ctypes import string_at
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from .array_memory import address_of, is_tensor
from .own_files import path_of
from .program_text import ARRAYS, ByCode, SeenFrame, dotted, own_nodes, text_of, value_of

#: Numbers of an array of which it is worth a word that it is made again.
_LEAST_NUMBERS = 256

#: Numbers of an array that are compared.
_PROBES = 64

#: Arrays of one variable that must have been found equal, and the changes of another that show that the program goes on.
_FEWEST, _FEWEST_CHANGES = 4, 4

#: Numbers that two arrays must share, where one of them was found while the program filled it.
_FEWEST_NUMBERS = 4

#: Variables of one function, and arrays that are read in all.
_MOST_VARIABLES, _MOST_READ = 64, 1 << 16

#: Parts of the names of what gives other numbers each time.
_RANDOM = ("rand", "drop", "shuffle", "sample", "choice", "normal", "perm", "bernoulli", "exponential", "uniform")

#: Variables that are told.
_MOST_TOLD = 64


@dataclass
class _Values:
    """What one statement gave a variable so far."""

    extents: tuple[int, ...]
    array: weakref.ReferenceType[Any]
    #: Numbers by their place: those of the first array, and where they were zeros, of later ones.
    probes: dict[int, bytes]
    again: int = 0
    changes: int = 0
    #: Whether some array lacked numbers of another: it was found while the program filled it.
    is_filled: bool = False


@dataclass
class _Statement:
    """A statement that computes something of variables."""

    lines: tuple[int, int]
    #: What it assigns; empty where it returns it.
    paths: list[tuple[str, ...]]
    #: The function's own variables that it reads.
    reads: set[str]


@dataclass
class _Code:
    """What was seen of one function of the program."""

    #: The statements that assign each variable: their first and last line, or None where nothing is computed: an argument, or a loop's.
    variables: dict[tuple[str, ...], list[tuple[int, int] | None]]
    #: What computes something of variables, in the order of the text.
    statements: list[_Statement] = field(default_factory=list)
    #: The first and last line of the function; None for a module.
    lines: tuple[int, int] | None = None
    values: dict[tuple[tuple[str, ...], tuple[int, int] | None], _Values] = field(default_factory=dict)
    #: The functions that it was called from.
    callers: set[int] = field(default_factory=set)

    def goes_on(self) -> bool:
        """Whether some other variable of it changes."""
        return any(value.changes >= _FEWEST_CHANGES for value in self.values.values())


class RecomputedValues:
    """Looks at what the program's variables hold."""

    def __init__(self) -> None:
        """Nothing is read before the first look."""
        self._codes = ByCode(_read)
        self._seen: dict[int, CodeType] = {}
        self._read = 0

    def look(self, frames: Iterable[SeenFrame]) -> None:
        """One look at the program's own frames, innermost first."""
        inner: _Code | None = None
        for frame in frames:
            code = self._codes[frame.code]
            self._seen.setdefault(id(frame.code), frame.code)
            if inner is not None:
                inner.callers.add(id(frame.code))
            inner = code
            if code.variables and frame.names is not None:
                for path, statements in code.variables.items():
                    if self._read < _MOST_READ:
                        self._look_at(code, path, _last_before(frame.line, statements), frame.names)

    def told(self) -> list[dict[str, Any]]:
        """The variables whose arrays had been there before, in functions that compute other things meanwhile."""
        found = []
        for code in self._seen.values():
            known = self._codes[code]
            if not self._goes_on(known):
                continue
            constants: dict[tuple[tuple[str, ...], tuple[int, int]], dict[str, Any]] = {}
            for (path, lines), values in known.values.items():
                again = _again(values)
                if lines is None or not again:
                    continue
                first, last = known.lines if values.is_filled and known.lines else lines
                entry = {"until": last, "name": ".".join(path), "extents": list(values.extents), "again": again}
                if not values.is_filled:
                    constants[path, lines] = entry
                found.append({"frame": [path_of(code), first, code.co_name, ""]} | entry)
            for lines, entry in _derived(known, constants):
                found.append({"frame": [path_of(code), lines[0], code.co_name, ""]} | entry)
        found.sort(key=lambda entry: -entry["again"])
        return found[:_MOST_TOLD]

    def _goes_on(self, code: _Code) -> bool:
        """Whether the function, or one around it, has a variable that changes: a program that only repeats itself measures something."""
        open_, known = [code], {id(code)}
        while open_:
            one = open_.pop()
            if one.goes_on():
                return True
            callers = [self._codes[self._seen[caller]] for caller in one.callers]
            open_.extend(caller for caller in callers if id(caller) not in known)
            known.update(id(caller) for caller in callers)
        return False

    def _look_at(self, code: _Code, path: tuple[str, ...], lines: tuple[int, int] | None, names: dict[str, Any]) -> None:
        value = value_of(path, names, {})
        if not _is_array(value):
            return
        known = code.values.get((path, lines))
        if known is not None and (known.array() is value or (lines is None and known.changes >= _FEWEST_CHANGES)):
            return
        probes = _probes_of(value)
        if probes is None:
            return
        self._read += 1
        extents = tuple(value.shape)
        if known is None:
            known = code.values[path, lines] = _Values(extents, weakref.ref(value), probes)
        else:
            known.array = weakref.ref(value)
            self._compare(known, extents, probes)

    @staticmethod
    def _compare(known: _Values, extents: tuple[int, ...], probes: dict[int, bytes]) -> None:
        """Compare a new array with those that the variable had before."""
        if known.extents == extents and known.probes == probes:
            known.again += 1
        elif known.extents == extents and (shared := _shared(known.probes, probes)) is not None:
            # Where one of them had hardly begun, nothing is known yet.
            known.again += shared >= _FEWEST_NUMBERS
            known.is_filled = True
            known.probes = {at: number if any(number) else probes[at] for at, number in known.probes.items()}
        else:
            known.changes += 1
            known.extents, known.probes = extents, probes


def _shared(one: dict[int, bytes], other: dict[int, bytes]) -> int | None:
    """How many different numbers two arrays share that only differ where one of them is zero; None for other arrays, and for masks."""
    pairs = [(number, other[at]) for at, number in one.items()]
    if any(a != b and any(a) and any(b) for a, b in pairs):
        return None
    numbers = {number for pair in pairs for number in pair if any(number)}
    return len({a for a, b in pairs if a == b and any(a)}) if len(numbers) >= _FEWEST_NUMBERS else None


def _again(values: _Values) -> int:
    """How often a new array had numbers that were there before; 0 where that is no habit."""
    if _count(values.extents) < _LEAST_NUMBERS or len(set(values.probes.values())) < 2:
        return 0
    return values.again if values.again >= _FEWEST and not values.changes else 0


def _last_before(line: int, statements: list[tuple[int, int] | None]) -> tuple[int, int] | None:
    """The statement that the variable has its value of, when the program stands at `line`."""
    before = [lines for lines in statements if lines is not None and lines[1] < line]
    return statements[0] if len(statements) == 1 else max(before, default=None)


def _derived(code: _Code, constants: dict[Any, dict[str, Any]]) -> Iterator[tuple[tuple[int, int], dict[str, Any]]]:
    """What is computed of constants alone, and so need not be found in a look to be known."""
    now: dict[str, dict[str, Any]] = {}
    told = {lines for _, lines in constants}
    for statement in code.statements:
        source = next((now[name] for name in statement.reads if name in now), None)
        is_derived = source is not None and statement.reads <= now.keys()
        if is_derived and statement.lines not in told:
            name = ".".join(statement.paths[0]) if statement.paths else str(source["name"])
            yield statement.lines, source | {"until": statement.lines[1], "name": name}
        for path in statement.paths:
            known = constants.get((path, statement.lines)) or (source if is_derived else None)
            if len(path) == 1:
                now.pop(path[0], None)
                if known is not None:
                    now[path[0]] = known | {"name": path[0]}


def _count(extents: Iterable[int]) -> int:
    count = 1
    for extent in extents:
        count *= extent
    return count


def _is_array(value: Any) -> bool:
    return is_tensor(value) or (type(value).__name__ in ("ndarray", ARRAYS[0]) and hasattr(value, "dtype"))


def _probes_of(array: Any) -> dict[int, bytes] | None:
    """Some numbers of an array by their place; None where they cannot be read."""
    if is_tensor(array):
        if array.device.type != "cpu" or str(array.layout) != "torch.strided" or not array.is_contiguous():
            return None
        address, size = array.data_ptr(), array.element_size()
    else:
        address, size = address_of(array, "biufcV"), array.dtype.itemsize
    count = _count(array.shape)
    if not address or not count:
        return None
    # The first and the last, and those evenly between.
    last = count - 1
    places = {at * last // (_PROBES - 1) for at in range(_PROBES)}
    return {at: string_at(address + at * size, size) for at in sorted(places)}


def _read(code: CodeType) -> _Code:
    node = text_of(code)
    if node is None:
        return _Code({})
    assigned: dict[tuple[str, ...], list[tuple[int, int] | None]] = {}
    for path, lines in _assigned(node):
        assigned.setdefault(path, []).append(lines)
    for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
        if name != "self":
            assigned[name,] = [None]
    lines = (node.lineno, node.end_lineno or node.lineno) if isinstance(node, ast.FunctionDef) else None
    return _Code(dict(list(assigned.items())[:_MOST_VARIABLES]), _statements(node, {*code.co_varnames, *code.co_cellvars}), lines)


def _statements(node: ast.AST, own: set[str]) -> list[_Statement]:
    """The assignments and returns of a function that are no part of a loop or a branch, and draw no random numbers."""
    found = []
    for inner in getattr(node, "body", ()) if isinstance(node, ast.FunctionDef) else ():
        if not isinstance(inner, ast.Assign | ast.Return) or inner.value is None:
            # What else may change a variable makes it unknown.
            changed = {part.id for part in ast.walk(inner) if isinstance(part, ast.Name) and not isinstance(inner, ast.Expr)}
            found.append(_Statement((inner.lineno, inner.end_lineno or inner.lineno), [(name,) for name in changed & own], {""}))
            continue
        parts = list(ast.walk(inner.value))
        reads = {part.id for part in parts if isinstance(part, ast.Name) and part.id in own}
        names = [part.attr for part in parts if isinstance(part, ast.Attribute)] + [part.id for part in parts if isinstance(part, ast.Name)]
        computes = any(isinstance(part, ast.Call | ast.BinOp) for part in parts)
        is_random = any(word in name for name in names for word in _RANDOM)
        targets = inner.targets if isinstance(inner, ast.Assign) else []
        paths = [path for target in targets for part in _parts(target) if (path := dotted(part)) is not None]
        if "self" in reads or is_random or not computes:
            reads = {""}  # Nothing is known of it.
        found.append(_Statement((inner.lineno, inner.end_lineno or inner.lineno), paths, reads))
    return found


def _parts(target: ast.expr) -> list[ast.expr]:
    return target.elts if isinstance(target, ast.Tuple | ast.List) else [target]


def _assigned(node: ast.AST) -> Iterator[tuple[tuple[str, ...], tuple[int, int] | None]]:
    """The variables that a function assigns, each with the lines of what computes it; None where nothing does, or a loop."""
    for inner in own_nodes(node):
        targets: list[ast.expr] = []
        value: ast.AST | None = None
        if isinstance(inner, ast.Assign):
            targets, value = inner.targets, inner.value
        elif isinstance(inner, ast.AugAssign | ast.AnnAssign):
            targets, value = [inner.target], None if isinstance(inner, ast.AugAssign) else inner.value
        elif isinstance(inner, ast.For):
            targets = [inner.target]
        computes = value is not None and any(isinstance(part, ast.Call | ast.BinOp) for part in ast.walk(value))
        lines = (inner.lineno, inner.end_lineno or inner.lineno) if computes and isinstance(inner, ast.stmt) else None
        for target in targets:
            for part in _parts(target):
                path = dotted(part)
                if path is not None and len(path) <= 2 and path != ("_",):
                    yield path, lines
