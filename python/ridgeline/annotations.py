"""Hear when the program's own annotations begin and end.

The methods of the annotation classes are wrapped in place, so it does not matter how the program got hold of the classes.
An annotation of JAX made before the profiler started leaves no event, so one that starts a capture is entered a second time, as a twin that
is made after the start.
Nothing is wrapped unless a schedule needs it.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import Any


def hear_steps(jax: Any, begins: Callable[[], bool], ends: Callable[[], None]) -> None:
    """Call `begins()` before and `ends()` after each `StepTraceAnnotation` range; neither may raise.

    `begins` returns True if it started a capture.
    """
    _wrap(jax.profiler.StepTraceAnnotation, lambda _name: begins(), lambda _name: ends())


def hear_annotations(jax: Any, begins: Callable[[str], bool], ends: Callable[[str], None]) -> None:
    """Call `begins(name)` before and `ends(name)` after each annotation; neither may raise.

    `begins` returns True if it started a capture.
    """
    _wrap(jax.profiler.TraceAnnotation, begins, ends)


def hear_record_functions(torch: Any, begins: Callable[[str], bool], ends: Callable[[str], None]) -> None:
    """The same for PyTorch's `record_function`, which leaves an event if it is entered after the start."""
    _wrap(torch.autograd.profiler.record_function, lambda name: begins(name) and False, ends)


def _wrap(cls: Any, begins: Callable[[str], bool], ends: Callable[[str], None]) -> None:
    make, enter, leave = cls.__init__, cls.__enter__, cls.__exit__

    @functools.wraps(make)
    def __init__(self: Any, name: str, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        self._ridgeline_made = (name, args, kwargs)
        make(self, name, *args, **kwargs)

    @functools.wraps(enter)
    def __enter__(self: Any) -> Any:  # noqa: N807
        if begins(_name(self)):
            with contextlib.suppress(Exception):
                self._ridgeline_twin = _twin(cls, make, self._ridgeline_made)
                enter(self._ridgeline_twin)
        return enter(self)

    @functools.wraps(leave)
    def __exit__(self: Any, *exception: Any) -> Any:  # noqa: N807
        try:
            return leave(self, *exception)
        finally:
            with contextlib.suppress(Exception):
                if twin := self.__dict__.pop("_ridgeline_twin", None):
                    leave(twin, *exception)
            ends(_name(self))

    cls.__init__ = __init__
    cls.__enter__ = __enter__
    cls.__exit__ = __exit__


def _name(annotation: Any) -> str:
    return getattr(annotation, "_ridgeline_made", ("",))[0]


def _twin(cls: Any, make: Callable[..., None], made: tuple[str, tuple[Any, ...], dict[str, Any]]) -> Any:
    name, args, kwargs = made
    twin = cls.__new__(cls, name, *args, **kwargs)
    make(twin, name, *args, **kwargs)
    return twin
