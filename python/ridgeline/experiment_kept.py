"""Values that are kept while what they are made from stays the same.

That is known from the identity of objects, not from what is in them, so the value is made again and compared at the second, fourth,
eighth … use: one that differs is never kept.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from .experiment_late import is_on_device
from .safely import describe

_SIMPLE = (int, float, bool, str, bytes, complex, type(None))


class Kept:
    """The value of one expression."""

    def __init__(self, experiment: Any, site: str) -> None:
        self._experiment = experiment
        self._site = site
        self._inputs: list[Any] | None = None
        self._value: Any = None
        self._uses = 0
        self._is_off = False

    def value(self, function: Callable[..., Any], values: tuple[Any, ...], parts: Callable[..., Any]) -> Any:
        """What `function(*values)` gives; `parts` gives the attributes that it reads."""
        if self._is_off:
            return function(*values)
        inputs = self._all(values, parts)
        if inputs is None or self._inputs is None or not _same(inputs, self._inputs):
            self._inputs, self._uses = inputs, 1
            self._value = function(*values)
            return self._value
        self._uses += 1
        if self._uses & (self._uses - 1) == 0 or _is_gone(self._value):
            return self._again(function, values)
        self._experiment.did(self._site)
        return self._value

    def _all(self, values: tuple[Any, ...], parts: Callable[..., Any]) -> list[Any] | None:
        try:
            return [*values, *parts(*values)]
        except Exception as error:  # noqa: BLE001 - then nothing is kept
            self._off(describe(error))
            return None

    def _again(self, function: Callable[..., Any], values: tuple[Any, ...]) -> Any:
        value = function(*values)
        with self._experiment.clock.excluded():
            if not _is_gone(self._value) and not equal(value, self._value):
                self._off("the value changes from use to use")
        self._value = value
        return value

    def _off(self, why: str) -> None:
        self._is_off = True
        self._value = self._inputs = None
        self._experiment.could_not(self._site, why)


def _same(some: list[Any], others: list[Any]) -> bool:
    if len(some) != len(others):
        return False
    return all(
        a is b or (isinstance(a, _SIMPLE) and type(a) is type(b) and a == b) for a, b in zip(some, others)
    )  # fmt: skip


def _is_gone(value: Any) -> bool:
    """Whether an array was given away meanwhile."""
    return hasattr(value, "is_deleted") and value.is_deleted()


def equal(value: Any, other: Any) -> bool:
    """Whether two values are the same numbers; False where that cannot be told."""
    numpy = sys.modules.get("numpy")
    if value is other:
        return not callable(getattr(value, "__next__", None))
    if type(value) is not type(other):
        return False
    if isinstance(value, (list, tuple)):
        return len(value) == len(other) and all(equal(a, b) for a, b in zip(value, other))
    if isinstance(value, dict):
        return value.keys() == other.keys() and all(equal(value[name], other[name]) for name in value)
    if isinstance(value, _SIMPLE):
        return bool(value == other)
    is_array = numpy is not None and (isinstance(value, numpy.ndarray) or is_on_device(value))
    if not is_array:
        return False
    try:
        return bool(numpy.array_equal(numpy.asarray(value), numpy.asarray(other)))
    except Exception:  # noqa: BLE001 - keys and other types that NumPy does not have
        return False
