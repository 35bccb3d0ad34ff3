"""How much of the batches that compiled functions are given is padding: they compute it all the same.

The program's text tells which variables its calls are given, and its frames what these hold. Some numbers of each array are read where
they lie in the host's memory, once; nothing of the program is called. Two forms are known: rows at the end of an array that hold nothing
(graphs joined to one), and rows that each hold nothing from some position on (sequences). What a call gives back, such as the state of
a training, is no batch.
"""

from __future__ import annotations

import ast
import functools
import weakref
from bisect import bisect
from collections.abc import Iterable, Iterator
from ctypes import string_at
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from .array_memory import address_of
from .own_files import path_of
from .program_text import COMPILED, ByCode, SeenFrame, arrays_of, callee_of, dotted, functions_of, own_nodes, text_of, value_of

#: Extents that can be padded: rows of an array, and positions of a row.
_LEAST_ROWS, _LEAST_POSITIONS = 64, 16

#: Rows or positions that are read, and bytes of each.
_READ, _MOST_BYTES = 32, 1 << 12

#: Below this part, an array counts as full.
_LEAST_PADDED = 0.1

#: Arrays that are read in all, of one extent and of one argument.
_MOST_READ, _MOST_OF_EXTENT, _MOST_LEAVES = 1024, 128, 64

#: The part of all arrays of an extent that must be padded: others tell that the numbers only happen to be alike.
_MOST_FULL = 0.34


@dataclass
class _Site:
    """A call in the program's text."""

    line: int
    callee: tuple[str, ...]
    arguments: list[tuple[str, ...]]


@dataclass
class _Batches:
    """The arrays of one extent that calls of one compiled function were given."""

    frame: list[Any]
    extent: int
    #: The part of each padded array that is padding, and the part beyond the longest of its rows.
    padded: list[tuple[float, float]] = field(default_factory=list)
    full: int = 0
    #: Looks at different arrays.
    looks: int = 0
    known: list[weakref.ReferenceType[Any]] = field(default_factory=list)

    def mean(self, at: int) -> float:
        return sum(parts[at] for parts in self.padded) / max(len(self.padded), 1)


class PaddedArguments:
    """Looks at the batches that calls of compiled functions are given."""

    def __init__(self) -> None:
        """Nothing is read before the first look."""
        self._sites = ByCode(_sites_of)
        self._batches: dict[tuple[str, int, int], _Batches] = {}
        self._read = 0

    def look(self, frames: Iterable[SeenFrame]) -> None:
        """One look at the program's own frames."""
        if self._read >= _MOST_READ:
            return
        for frame in frames:
            sites = self._sites[frame.code]
            if sites and frame.names is not None:
                for site in sites:
                    self._look_at(site, frame)

    def told(self) -> dict[str, Any] | None:
        """The padding of the function and extent with most of it."""
        found = [
            (batches.mean(0) * len(batches.padded), function, batches)
            for (function, _, _), batches in self._batches.items()
            if batches.padded and batches.full <= _MOST_FULL * (batches.full + len(batches.padded))
        ]
        if not found:
            return None
        _, function, batches = max(found, key=lambda one: one[0])
        return {
            "share": round(batches.mean(0), 4),
            "beyond_longest": round(batches.mean(1), 4),
            "looks": batches.looks,
            "frame": batches.frame,
            "function": function,
            "extent": batches.extent,
        }

    def _look_at(self, site: _Site, frame: SeenFrame) -> None:
        names = frame.names or {}
        callee, _ = callee_of(site.callee, names, frame.others)
        if type(callee).__name__ != COMPILED:
            return
        file = path_of(frame.code)
        place = [file, *(padded_at(frame.code.co_filename) or (site.line, frame.code.co_name)), ""]
        seen: set[int] = set()
        for argument in site.arguments:
            value = value_of(argument, names, frame.others)
            for count, (_, array) in enumerate(arrays_of(value, "", ("ArrayImpl", "ndarray"))):
                if count == _MOST_LEAVES:
                    break
                if array is not None:
                    seen |= self._look_at_array(getattr(callee, "__name__", ""), place, array)
        for known in self._batches.values():
            known.looks += id(known) in seen

    def _look_at_array(self, function: str, place: list[Any], array: Any) -> set[int]:
        """Read an array unless it is known; gives the batches that it is new to."""
        new = set()
        for axis, parts in _parts_of(array):
            batches = self._batches.setdefault((function, axis, array.shape[axis]), _Batches(place, array.shape[axis]))
            if any(known() is array for known in batches.known) or len(batches.known) >= _MOST_OF_EXTENT:
                continue
            batches.known.append(weakref.ref(array))
            self._read += 1
            found = parts(array)
            if found is None:
                continue
            new.add(id(batches))
            if found[0] >= _LEAST_PADDED:
                batches.padded.append(found)
            else:
                batches.full += 1
        return new


def _sites_of(code: CodeType) -> list[_Site]:
    """The calls of a piece of code, with the variables that they are given and whose new values are not what the call gives back."""
    node = text_of(code)
    if node is None:
        return []
    given_back: dict[int, set[tuple[str, ...] | None]] = {}
    calls = []
    for inner in own_nodes(node):
        if isinstance(inner, ast.Assign) and isinstance(inner.value, ast.Call):
            targets = [one for target in inner.targets for one in (target.elts if isinstance(target, ast.Tuple) else [target])]
            given_back[id(inner.value)] = {dotted(target) for target in targets}
        elif isinstance(inner, ast.Call):
            calls.append(inner)
    sites = []
    for call in calls:
        callee = dotted(call.func)
        paths = map(dotted, (*call.args, *(keyword.value for keyword in call.keywords)))
        state = given_back.get(id(call), set())
        arguments = [path for path in paths if path is not None and path not in state]
        if callee is not None and arguments:
            sites.append(_Site(call.lineno, callee, arguments))
    return sites


@functools.cache
def padded_at(file: str) -> tuple[int, str] | None:
    """The line and the function of a file that call a library's function for padding, such as `jnp.pad`; None where none does, or many."""
    functions = functions_of(file)
    own = {name for name, _ in functions}
    found = []
    for (name, _), node in functions.items():
        for inner in own_nodes(node):
            callee = dotted(inner.func) if isinstance(inner, ast.Call) else None
            if callee is not None and "pad" in callee[-1].lower() and callee[-1] not in own and "mask" not in callee[-1]:
                found.append((inner.lineno, name))
    return found[0] if len({name for _, name in found}) == 1 else None


def _parts_of(array: Any) -> Iterator[tuple[int, Any]]:
    """The axes of an array that can be padded, with what reads them."""
    extents = tuple(array.shape)
    if not extents or not all(extents):
        return
    if extents[0] >= _LEAST_ROWS:
        yield 0, _of_rows
    if len(extents) >= 2 and extents[0] >= 2 and extents[1] >= _LEAST_POSITIONS:
        yield 1, _of_positions


def _of_rows(array: Any) -> tuple[float, float] | None:
    """The part of an array that rows at its end make which hold nothing; all of it is beyond the last row that holds something."""
    memory = _Memory.of(array)
    if memory is None:
        return None
    part = memory.padded(0, memory.count // array.shape[0], array.shape[0])
    return None if part is None else (part, part)


def _of_positions(array: Any) -> tuple[float, float] | None:
    """The mean and the least part of the rows of an array that hold nothing from some position on."""
    memory = _Memory.of(array)
    if memory is None:
        return None
    rows, positions = array.shape[:2]
    each, step = memory.count // rows, max(rows // _READ, 1)
    parts = [memory.padded(row * each, each // positions, positions) for row in range(0, rows, step)]
    known = [part for part in parts if part is not None]
    # A row without a number tells nothing, nor do many of them.
    return (sum(known) / len(known), min(known)) if 2 * len(known) > len(parts) else None


@dataclass
class _Memory:
    """The numbers of an array."""

    address: int
    size: int
    count: int
    is_float: bool

    @classmethod
    def of(cls, array: Any) -> _Memory | None:
        address = address_of(array, "fiubV")
        count = 1
        for extent in array.shape:
            count *= extent
        return cls(address, array.dtype.itemsize, count, array.dtype.kind in "fV") if address else None

    def padded(self, start: int, length: int, count: int) -> float | None:
        """The part of `count` pieces of `length` numbers each, from number `start` on, that those at the end make which are alike and
        hold nothing: zeros, or one whole number. None where all of them are alike."""
        kept = min(length * self.size, _MOST_BYTES)
        last = self._piece(start + (count - 1) * length, kept)
        is_nothing = not any(last) if self.is_float else last == last[: self.size] * (kept // self.size)
        if not is_nothing:
            return 0.0

        def is_last(at: int) -> bool:
            return self._piece(start + at * length, kept) == last

        step = max(count // _READ, 1)
        other = next((at for at in range(count - 1 - step, -1, -step) if not is_last(at)), None)
        # One piece alone may be as it is by chance.
        if other is None or other + step == count - 1:
            return None if other is None else 0.0
        first = bisect(range(other + 1, other + step), False, key=is_last) + other + 1
        return (count - first) / count

    def _piece(self, at: int, kept: int) -> bytes:
        return string_at(self.address + at * self.size, kept)
