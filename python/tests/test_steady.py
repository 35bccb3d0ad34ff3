"""Arguments of compiled functions that stay the same arrays, told by looks at the frames that call them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from ridgeline import program_text
from ridgeline.steady import SteadyArguments


@pytest.fixture(autouse=True)
def _no_readers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The asserts of pytest read a test's variables, so none would be looked at."""
    monkeypatch.setattr(program_text, "_READERS", frozenset())


class ArrayImpl:
    """What JAX calls its arrays."""


class PjitFunction:
    """What JAX calls a compiled function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.__wrapped__ = function
        self.__name__ = function.__name__

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self.__wrapped__(*arguments, **keywords)

    def __get__(self, owner: Any, kind: type) -> Any:
        return self if owner is None else lambda *arguments: self(owner, *arguments)


class State(NamedTuple):
    weights: Any
    noise: Any


@PjitFunction
def step(x: Any, kernel: Any, params: Any = None, state: Any = None) -> Any:
    return ArrayImpl()


@PjitFunction
def unpacked(x: Any, kernel: Any) -> Any:
    return ArrayImpl()


class Solver:
    def __init__(self) -> None:
        self.kernel = ArrayImpl()

    @PjitFunction
    def advance(self, x: Any, kernel: Any) -> Any:
        return ArrayImpl()


@pytest.fixture
def steady(monkeypatch: pytest.MonkeyPatch) -> SteadyArguments:
    monkeypatch.setitem(sys.modules, "jaxlib", ModuleType("jaxlib"))
    return SteadyArguments()


def told(steady: SteadyArguments) -> dict[str, list[str]]:
    return {one["function"]: one["arguments"] for one in steady.told() if one["arguments"]}


def changing(steady: SteadyArguments) -> list[str]:
    return [path for one in steady.told() for path in one["changing"]]


def test_arrays_that_stay_are_told_and_others_are_not(steady: SteadyArguments) -> None:
    x, kernel, params = ArrayImpl(), ArrayImpl(), {"w": ArrayImpl(), "b": ArrayImpl()}
    weights = ArrayImpl()
    for _ in range(20):
        params["b"] = ArrayImpl()
        state = State(weights, ArrayImpl())
        x = step(x, kernel, params, state=state)
        steady.look([program_text.SeenFrame(sys._getframe())])
    assert told(steady) == {"step": ["kernel", "params['w']", "state.weights"]}
    assert changing(steady) == ["x", "params['b']", "state.noise"]


def test_another_call_of_the_function_counts_too(steady: SteadyArguments) -> None:
    x, kernel, other = ArrayImpl(), ArrayImpl(), ArrayImpl()
    for _ in range(20):
        x = step(x, kernel)
        y = step(x, other)
        steady.look([program_text.SeenFrame(sys._getframe())])
    assert y is not None
    assert told(steady) == {}
    assert changing(steady) == ["x"]


def test_what_is_computed_at_the_call_is_not_known(steady: SteadyArguments) -> None:
    x, kernel = ArrayImpl(), [ArrayImpl()]
    for _ in range(20):
        x = step(x, kernel[0])
        steady.look([program_text.SeenFrame(sys._getframe())])
    assert told(steady) == {}


def test_lists_of_arguments_are_followed_where_a_variable_has_them(steady: SteadyArguments) -> None:
    x, rest = ArrayImpl(), (ArrayImpl(),)
    for _ in range(20):
        x = unpacked(x, *rest)
        steady.look([program_text.SeenFrame(sys._getframe())])
    assert told(steady) == {"unpacked": ["kernel"]}


def test_lists_of_arguments_that_are_made_for_the_call_are_not_followed(steady: SteadyArguments) -> None:
    x, kernel = ArrayImpl(), ArrayImpl()
    for _ in range(20):
        x = unpacked(*[x, kernel])
        steady.look([program_text.SeenFrame(sys._getframe())])
    assert told(steady) == {}


def test_methods_have_their_object_first(steady: SteadyArguments) -> None:
    solver, x = Solver(), ArrayImpl()
    for _ in range(20):
        x = solver.advance(x, solver.kernel)
        steady.look([program_text.SeenFrame(sys._getframe())])
    assert told(steady) == {"advance": ["kernel"]}


def test_nothing_is_told_while_no_argument_changes(steady: SteadyArguments) -> None:
    x, kernel = ArrayImpl(), ArrayImpl()
    y = [step(x, kernel) for _ in range(20)]
    for _ in range(20):
        steady.look([program_text.SeenFrame(sys._getframe())])
    assert y and told(steady) == {}


def test_few_looks_tell_nothing(steady: SteadyArguments) -> None:
    x, kernel = ArrayImpl(), ArrayImpl()
    for _ in range(7):
        x = step(x, kernel)
        steady.look([program_text.SeenFrame(sys._getframe())])
    assert told(steady) == {}
