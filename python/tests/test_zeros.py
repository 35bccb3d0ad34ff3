"""Matrices of mostly zeros, told by looks at the frames that multiply them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from ridgeline import program_text
from ridgeline.zeros import ZeroMatrices


@pytest.fixture(autouse=True)
def _no_readers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The asserts of pytest read a test's variables, so none would be looked at."""
    monkeypatch.setattr(program_text, "_READERS", frozenset())

SIZE = 512


def told(zeros: ZeroMatrices) -> list[tuple[str, str, list[int], float, int]]:
    return [(one["frame"][2], one["name"], one["extents"], one["zeros"], one["most_in_row"]) for one in zeros.told()]


def test_arguments_and_what_a_compiled_function_knows_besides() -> None:
    jax = pytest.importorskip("jax")
    jnp = jax.numpy
    ring = jnp.roll(jnp.eye(SIZE), 1, axis=0) + jnp.roll(jnp.eye(SIZE), -1, axis=0)
    full = jnp.ones((SIZE, SIZE))

    @jax.jit
    def step(x: Any, picks: Any, other: Any) -> Any:
        return ring @ x + picks @ x + other @ full @ x

    x, picks, graph = jnp.ones((SIZE, 3)), jnp.eye(SIZE), {"weights": jnp.zeros((SIZE, SIZE)).at[0].set(1.0)}
    jax.block_until_ready((ring, full, picks, graph))
    zeros = ZeroMatrices()
    for _ in range(3):
        x = step(x, picks, graph["weights"])
        zeros.look([program_text.SeenFrame(sys._getframe())])
    assert told(zeros) == [
        ("step", "ring", [SIZE, SIZE], round(1 - 2 / SIZE, 5), 2),
        ("test_arguments_and_what_a_compiled_function_knows_besides", "picks", [SIZE, SIZE], round(1 - 1 / SIZE, 5), 1),
    ]


def test_buffers_of_modules_and_transposes_are_found_and_full_matrices_are_not_told() -> None:
    torch = pytest.importorskip("torch")

    class Layer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("adjacency", torch.eye(SIZE))
            self.weight = torch.nn.Parameter(torch.ones(SIZE, SIZE))

        def forward(self, x: Any, look: Callable[[Any], None]) -> Any:
            h = torch.mm(self.adjacency.T, x) @ self.weight
            look(sys._getframe())
            return h

    zeros = ZeroMatrices()
    layer = Layer()
    for _ in range(3):
        layer(torch.ones(SIZE, SIZE), lambda frame: zeros.look([program_text.SeenFrame(frame)]))
    assert told(zeros) == [("forward", "self.adjacency", [SIZE, SIZE], round(1 - 1 / SIZE, 5), 1)]


def test_what_a_state_begins_with_is_not_told() -> None:
    jax = pytest.importorskip("jax")
    jnp = jax.numpy

    @jax.jit
    def step(momentum: Any, gradient: Any) -> Any:
        return 0.9 * momentum + gradient @ gradient

    zeros, gradient = ZeroMatrices(), jnp.ones((SIZE, SIZE))
    momentum, empty = jnp.eye(SIZE), jnp.zeros((SIZE, SIZE))
    for _ in range(6):
        momentum = jax.block_until_ready(step(momentum, gradient))
        step(empty, gradient)
        zeros.look([program_text.SeenFrame(sys._getframe())])
    assert told(zeros) == []


@pytest.mark.parametrize("made", ["jnp.eye(16)", "jnp.eye(512).astype(int)", "jnp.zeros((1 << 17,))", "None", "jnp.float32(1)"])
def test_small_matrices_and_others_are_left_alone(made: str) -> None:
    jax = pytest.importorskip("jax")
    matrix: Any = eval(made, {"jnp": jax.numpy})  # noqa: S307

    def multiplies(*, really: bool) -> None:
        zeros.look([program_text.SeenFrame(sys._getframe())])
        if really:
            matrix @ matrix

    zeros = ZeroMatrices()
    multiplies(really=False)
    assert told(zeros) == []
