"""Which matrices of a program are mostly zeros: a dense product with one multiplies them all the same.

The program's text tells which variables a product or a compiled function is given, and its frames what these hold. Some rows of each
such matrix are read where they lie in the host's memory, once; nothing of the program is called. Arrays of a GPU are not read.
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
from .program_text import ARRAYS, COMPILED, ByCode, SeenFrame, arrays_of, callee_of, dotted, own_nodes, text_of, value_of

#: Numbers that a matrix must have, in its last two extents each and in all: products with smaller ones are cheap.
_LEAST_EXTENT, _LEAST_NUMBERS = 64, 1 << 16

#: Rows that are read of a matrix, and bytes of each.
_ROWS, _MOST_BYTES = 16, 1 << 14

#: The part that must be zeros to be told.
_LEAST_ZEROS = 0.9

#: Looks that found a matrix of mostly zeros: the first one may be what a state begins with.
_FEWEST = 3

#: Matrices that are read in all and at one place.
_MOST_READ, _MOST_AT_PLACE = 256, 4

#: Functions that multiply matrices, by the last part of their names, and how many of their first arguments do.
_PRODUCTS = {
    "matmul": 2, "mm": 2, "bmm": 2, "mv": 2, "dot": 2, "addmm": 3, "baddbmm": 3, "einsum": 4, "linear": 2, "tensordot": 2, "dot_general": 2,
}  # fmt: skip

#: Forms of a number's bytes, by their size.
_FORMS = {2: "H", 4: "I", 8: "Q"}


@dataclass
class _Place:
    """A product in the program's text, or a compiled function that it calls."""

    file: str
    line: int
    function: str
    operands: list[tuple[str, ...]]
    #: What is called; None for a product.
    callee: tuple[str, ...] | None = None


@dataclass
class _Found:
    """What was read of the matrices that one variable held."""

    entry: dict[str, Any]
    read: int = 0
    zeros: float = 0.0
    most_in_row: int = 0
    #: The arrays that were read, and looks that found one of them again.
    known: list[weakref.ReferenceType[Any]] = field(default_factory=list)
    again: int = 0


class ZeroMatrices:
    """Looks at the matrices that products are given."""

    def __init__(self) -> None:
        """Nothing is read before the first look."""
        self._places = ByCode(_places_of)
        self._found: dict[tuple[Any, ...], _Found] = {}
        self._read = 0

    def look(self, frames: Iterable[SeenFrame]) -> None:
        """One look at the program's own frames."""
        if self._read >= _MOST_READ:
            return
        for frame in frames:
            places = self._places[frame.code]
            if places and frame.names is not None:
                for place in places:
                    self._look_at(place, frame.names, frame.others)

    def told(self) -> list[dict[str, Any]]:
        """The matrices that were mostly zeros whenever they were looked at; one that is empty may be filled later."""
        found = [one for one in self._found.values() if one.most_in_row and one.zeros >= _LEAST_ZEROS * one.read and one.read + one.again >= _FEWEST]
        return [
            one.entry | {"zeros": round(one.zeros / one.read, 5), "most_in_row": one.most_in_row, "looks": one.read} for one in found
        ]

    def _look_at(self, place: _Place, names: dict[str, Any], others: dict[str, Any]) -> None:
        if place.callee is not None:
            callee, _ = callee_of(place.callee, names, others)
            if type(callee).__name__ != COMPILED:
                return
            self._look_into(callee)
        for operand in place.operands:
            value = value_of(operand, names, others)
            if place.callee is None:
                self._look_at_array(place, ".".join(operand), value)
            else:
                for path, array in arrays_of(value, ".".join(operand)):
                    self._look_at_array(place, path, array)

    def _look_into(self, compiled: Any) -> None:
        """A compiled function has had its products traced, with the arrays that it knows besides its arguments."""
        function = getattr(compiled, "__wrapped__", None)
        code = getattr(function, "__code__", None)
        if code is None:
            return
        names = {}
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=False):
            try:
                names[name] = cell.cell_contents
            except ValueError:
                continue  # It is given a value later.
        for place in self._places[code]:
            if place.callee is None:
                self._look_at(place, names, function.__globals__)

    def _look_at_array(self, place: _Place, name: str, array: Any) -> None:
        extents = _extents(array)
        if extents is None:
            return
        key = (place.file, place.line, name, extents)
        found = self._found.get(key)
        if found is None:
            entry = {"frame": [place.file, place.line, place.function, ""], "name": name, "extents": list(extents)}
            found = self._found[key] = _Found(entry)
        if any(known() is array for known in found.known):
            found.again += 1
            return
        if found.read >= _MOST_AT_PLACE or self._read >= _MOST_READ:
            return
        rows = _rows(array, extents)
        if rows is None:
            return
        found.known.append(weakref.ref(array))
        found.read += 1
        self._read += 1
        numbers = [(row.count(0), len(row)) for row in rows]
        found.zeros += sum(zeros for zeros, _ in numbers) / max(sum(count for _, count in numbers), 1)
        found.most_in_row = max(found.most_in_row, *(count - zeros for zeros, count in numbers))


def _places_of(code: CodeType) -> list[_Place]:
    node = text_of(code)
    return list(_places_in(node, path_of(code), code.co_name)) if node else []


def _places_in(node: ast.AST, file: str, function: str) -> Iterator[_Place]:
    for inner in own_nodes(node):
        operands: list[ast.AST] = []
        callee = None
        if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.MatMult):
            operands = [inner.left, inner.right]
        elif isinstance(inner, ast.Call):
            name = inner.func.attr if isinstance(inner.func, ast.Attribute) else inner.func.id if isinstance(inner.func, ast.Name) else ""
            if name in _PRODUCTS:
                # A method's object is multiplied, too; a module is no array.
                first = [inner.func.value] if isinstance(inner.func, ast.Attribute) else []
                operands = [*first, *inner.args[: _PRODUCTS[name]]]
            elif (callee := dotted(inner.func)) is not None:
                operands = [*inner.args, *(keyword.value for keyword in inner.keywords)]
        paths = [path for operand in operands if (path := dotted(_plain(operand))) is not None]
        if paths:
            yield _Place(file, inner.lineno, function, paths, callee)


def _plain(operand: ast.AST) -> ast.AST:
    """The matrix itself, where its transpose is multiplied."""
    if isinstance(operand, ast.Attribute) and operand.attr in ("T", "mT"):
        return operand.value
    if isinstance(operand, ast.Call) and isinstance(operand.func, ast.Attribute) and operand.func.attr == "t":
        return operand.func.value
    return operand


def _extents(array: Any) -> tuple[int, ...] | None:
    """The extents of a large matrix of PyTorch or JAX."""
    if not is_tensor(array) and type(array).__name__ != ARRAYS[0]:
        return None
    extents = tuple(array.shape)
    if len(extents) < 2 or min(extents[-2:]) < _LEAST_EXTENT:
        return None
    count = 1
    for extent in extents:
        count *= extent
    return extents if count >= _LEAST_NUMBERS else None


def _rows(array: Any, extents: tuple[int, ...]) -> list[list[int]] | None:
    """Some rows of a matrix as numbers that are 0 where its numbers are; None where they cannot be read."""
    if is_tensor(array):
        if array.device.type != "cpu" or str(array.layout) != "torch.strided" or not array.dtype.is_floating_point or not array.is_contiguous():
            return None
        address, size = array.data_ptr(), array.element_size()
    else:
        address, size = address_of(array, "fV"), array.dtype.itemsize
    form = _FORMS.get(size)
    if form is None or not address:
        return None
    length = extents[-1]
    count = 1
    for extent in extents[:-1]:
        count *= extent
    step = max(count // _ROWS, 1)
    kept = min(length * size, _MOST_BYTES)
    # From the middle of each part on: the first and last rows are often others.
    starts = range(step // 2, count, step)
    return [memoryview(string_at(address + row * length * size, kept)).cast(form).tolist() for row in starts]
