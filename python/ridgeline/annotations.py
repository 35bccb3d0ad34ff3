"""Hear when the program's own annotations begin and end.

The methods of JAX's annotation classes are wrapped in place, so it does not matter how the program got hold of the classes.
Nothing is wrapped unless a schedule needs it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


def hear_steps(jax: Any, begins: Callable[[], None], ends: Callable[[], None]) -> None:
    """Call `begins` before and `ends` after each `StepTraceAnnotation` range; neither may raise."""
    _wrap(jax.profiler.StepTraceAnnotation, lambda _annotation: begins(), lambda _annotation: ends())


def hear_annotations(jax: Any, begins: Callable[[str], None], ends: Callable[[str], None]) -> None:
    """Call `begins(name)` before and `ends(name)` after each annotation; neither may raise."""
    cls = jax.profiler.TraceAnnotation
    original = cls.__init__

    @functools.wraps(original)
    def init(self: Any, name: str, *args: Any, **kwargs: Any) -> None:
        self._ridgeline_name = name
        original(self, name, *args, **kwargs)

    cls.__init__ = init
    _wrap(cls, lambda annotation: begins(_name(annotation)), lambda annotation: ends(_name(annotation)))


def _name(annotation: Any) -> str:
    return getattr(annotation, "_ridgeline_name", "")


def _wrap(cls: Any, begins: Callable[[Any], None], ends: Callable[[Any], None]) -> None:
    enter, leave = cls.__enter__, cls.__exit__

    @functools.wraps(enter)
    def __enter__(self: Any) -> Any:  # noqa: N807
        begins(self)
        return enter(self)

    @functools.wraps(leave)
    def __exit__(self: Any, *exception: Any) -> Any:  # noqa: N807
        try:
            return leave(self, *exception)
        finally:
            ends(self)

    cls.__enter__ = __enter__
    cls.__exit__ = __exit__
