"""Count the calls of one jitted function as steps.

`jax.jit` is wrapped to find the function by name as the program makes it; that one function is put behind an object that counts
and otherwise behaves as it.
Each call is a `StepTraceAnnotation` range in the trace, so that readers see the steps.
Functions that are not jitted, or are jitted by a library in its own way, are not found.
"""

from __future__ import annotations

import functools
import itertools
import types
from collections.abc import Callable
from typing import Any


class CountedFunction:
    """A jitted function whose calls are heard."""

    def __init__(self, function: Any, begins: Callable[[], Any], ends: Callable[[], None], annotation: Any) -> None:
        """Neither `begins` nor `ends` may raise; `annotation` is JAX's `StepTraceAnnotation`."""
        functools.update_wrapper(self, function)
        self._ridgeline = (function, begins, ends, annotation, itertools.count())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        function, begins, ends, annotation, count = self._ridgeline
        begins()
        try:
            with annotation(getattr(function, "__name__", "step"), step_num=next(count)):
                return function(*args, **kwargs)
        finally:
            ends()

    def __getattr__(self, name: str) -> Any:
        if name == "_ridgeline":  # not yet set, as when unpickled
            raise AttributeError(name)
        return getattr(self._ridgeline[0], name)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)


def hear_calls(jax: Any, name: str, begins: Callable[[], Any], ends: Callable[[], None]) -> None:
    """Call `begins` and `ends` around each call of the function named `name` that is jitted from now on.

    `name` is its `__name__`, its `__qualname__`, or `module:qualname`.
    """
    original = jax.jit

    def counted(function: Any, jitted: Any) -> Any:
        if not _is_named(function, name):
            return jitted
        return CountedFunction(jitted, begins, ends, jax.profiler.StepTraceAnnotation)

    @functools.wraps(original)
    def jit(*args: Any, **kwargs: Any) -> Any:
        jitted = original(*args, **kwargs)
        if args and args[0] is not None:
            return counted(args[0], jitted)
        return lambda function: counted(function, jitted(function))

    jax.jit = jit


def _is_named(function: Any, name: str) -> bool:
    qualified = getattr(function, "__qualname__", "")
    return name in (
        getattr(function, "__name__", None),
        qualified,
        f"{getattr(function, '__module__', '')}:{qualified}",
    )
