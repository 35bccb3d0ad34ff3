"""Hear a PyTorch program's steps: calls of an optimizer's `step`, or of a module's forward.

PyTorch has no name for a step, so one is what lies between the ends of two calls of `step` of the first optimizer that is used.
Further optimizers that step within it, as in adversarial training, are not counted.
Inside a program that `torch.compile` has compiled a call is not heard.
While a capture runs each step is a range `ProfilerStep#N`, the name that PyTorch's own schedule gives to steps.
"""

from __future__ import annotations

import functools
import importlib
import weakref
from collections.abc import Callable
from typing import Any

from .session import Session

#: What a step is, for a reader who finds none.
WHAT_COUNTS = (
    "steps end with a call of the first optimizer's step(), or are the calls of the torch.nn.Module class named with --step-function"
)


def hear_optimizer(torch: Any, session: Session) -> None:
    """Count the calls of the first optimizer's `step`.

    Every optimizer class has its `step` decorated by `Optimizer.profile_hook_step` when the first instance is made; what that
    returns is wrapped, so that a step ends after PyTorch's own range of the call.
    Raises AttributeError for a PyTorch that does it otherwise.
    """
    steps = _Steps(torch, session)
    leader: list[weakref.ref[Any]] = []
    decorate = torch.optim.Optimizer.profile_hook_step

    def stepped(optimizer: Any) -> None:
        if not leader or leader[0]() is None:
            leader[:] = [weakref.ref(optimizer)]
        if leader[0]() is optimizer:
            steps.end()
            steps.begin()

    def profile_hook_step(function: Callable[..., Any]) -> Callable[..., Any]:
        decorated = decorate(function)

        @functools.wraps(decorated)
        def step(optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            result = decorated(optimizer, *args, **kwargs)
            if not torch.compiler.is_compiling():
                session.parts.run("steps", stepped, optimizer)
            return result

        return step

    torch.optim.Optimizer.profile_hook_step = staticmethod(profile_hook_step)
    steps.begin()


def hear_module(torch: Any, session: Session, name: str) -> None:
    """Count the calls of modules of the class `name`: its `__name__`, its `__qualname__`, or `module:qualname`."""
    steps = _Steps(torch, session)
    modules = importlib.import_module("torch.nn.modules.module")

    def before(module: Any, _inputs: Any) -> None:
        if _is_named(type(module), name):
            steps.begin()

    def after(module: Any, _inputs: Any, _output: Any) -> None:
        if _is_named(type(module), name):
            steps.end()

    modules.register_module_forward_pre_hook(before)
    modules.register_module_forward_hook(after)


class _Steps:
    """Tells the session of steps, and the trace while there is one; never raises."""

    def __init__(self, torch: Any, session: Session) -> None:
        self._torch = torch
        self._session = session
        self._range: Any = None

    def begin(self) -> None:
        self._session.step_begins()
        if self._session.is_tracing:
            self._range = self._session.parts.run("step_ranges", self._enter)

    def end(self) -> None:
        entered, self._range = self._range, None
        if entered is not None:
            self._session.parts.run("step_ranges", entered.__exit__, None, None, None)
        self._session.step_ends()

    def _enter(self) -> Any:
        entered = self._torch.autograd.profiler.record_function(f"ProfilerStep#{self._session.schedule.steps_seen - 1}")
        entered.__enter__()
        return entered


def _is_named(cls: type, name: str) -> bool:
    return name in (cls.__name__, cls.__qualname__, f"{cls.__module__}:{cls.__qualname__}")
