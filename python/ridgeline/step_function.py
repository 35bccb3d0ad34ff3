"""Count the calls of one jitted function as steps.

`jax.jit` is wrapped to find the function by name as the program makes it; that one function is put behind an object that counts
and otherwise behaves as it.
Functions that are not jitted, or are jitted by a library in its own way, are not found.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any


class CountedFunction:
    """A jitted function whose calls are heard."""

    def __init__(self, function: Any, begins: Callable[[], None], ends: Callable[[], None]) -> None:
        """Neither `begins` nor `ends` may raise."""
        functools.update_wrapper(self, function)
        self._ridgeline = (function, begins, ends)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        function, begins, ends = self._ridgeline
        begins()
        try:
            return function(*args, **kwargs)
        finally:
            ends()

    def __getattr__(self, name: str) -> Any:
        if name == "_ridgeline":  # not yet set, as when unpickled
            raise AttributeError(name)
        return getattr(self._ridgeline[0], name)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)


def hear_calls(jax: Any, name: str, begins: Callable[[], None], ends: Callable[[], None]) -> None:
    """Call `begins` and `ends` around each call of the function named `name` that is jitted from now on.

    `name` is its `__name__`, its `__qualname__`, or `module:qualname`.
    """
    original = jax.jit

    @functools.wraps(original)
    def jit(*args: Any, **kwargs: Any) -> Any:
        jitted = original(*args, **kwargs)
        if args and args[0] is not None:
            return CountedFunction(jitted, begins, ends) if _is_named(args[0], name) else jitted
        return lambda function: CountedFunction(jitted(function), begins, ends) if _is_named(function, name) else jitted(function)

    jax.jit = jit


def _is_named(function: Any, name: str) -> bool:
    qualified = getattr(function, "__qualname__", "")
    return name in (
        getattr(function, "__name__", None),
        qualified,
        f"{getattr(function, '__module__', '')}:{qualified}",
    )
