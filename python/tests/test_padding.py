"""How much of a batch is padding, told by looks at the frames that hand it to a compiled function."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from ridgeline import program_text
from ridgeline.padding import PaddedArguments

ROWS = 256


@pytest.fixture(autouse=True)
def _no_readers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The asserts of pytest read a test's variables, so none would be looked at."""
    monkeypatch.setattr(program_text, "_READERS", frozenset())


class PjitFunction:
    """What JAX calls a compiled function."""

    __name__ = "step"

    def __init__(self, result: Callable[..., Any]) -> None:
        self.result = result

    def __call__(self, *args: Any) -> Any:
        return self.result(*args)


class Graphs(NamedTuple):
    nodes: np.ndarray
    senders: np.ndarray
    sizes: np.ndarray


def told(padded: PaddedArguments) -> tuple[float, float, int, int] | None:
    said = padded.told()
    return said and (said["share"], said["beyond_longest"], said["looks"], said["extent"])


def filled(count: int, *extents: int) -> np.ndarray:
    """Numbers up to `count` of the first extent, then padding."""
    array = np.ones(extents, np.float32)
    array[count:] = 0.0
    return array


def looks(batches: list[Any]) -> PaddedArguments:
    padded, step = PaddedArguments(), PjitFunction(lambda state, batch: state)
    state = filled(3, ROWS, 8)
    for batch in batches:
        state = step(state, batch)
        padded.look([program_text.SeenFrame(sys._getframe())])
    return padded


def test_rows_at_the_end_of_joined_graphs_are_padding() -> None:
    graphs = [Graphs(filled(used, ROWS, 8), np.where(np.arange(ROWS) < used, np.arange(ROWS), used), np.full(9, used)) for used in (64, 128)]
    assert told(looks(graphs)) == ((0.75 + 0.5) / 2, (0.75 + 0.5) / 2, 2, ROWS)


def test_positions_beyond_the_longest_row_are_told_apart_from_those_of_shorter_rows() -> None:
    tokens = np.ones((4, 128), np.int32)
    for row, used in enumerate((32, 64, 96, 64)):
        tokens[row, used:] = 0
    assert told(looks([tokens])) == (0.5, 0.25, 1, 128)


@pytest.mark.parametrize(
    "batch",
    [filled(ROWS, ROWS, 8), np.zeros((ROWS, 8), np.float32), np.random.default_rng(0).integers(0, 9, (16, 128)), np.ones((4, 4)), None, "text"],
    ids=["full", "empty", "tokens", "small", "none", "text"],
)
def test_others_are_not_told(batch: Any) -> None:
    assert told(looks([batch, batch])) is None


def test_arrays_that_only_happen_to_end_alike_are_not_told() -> None:
    batch = [filled(64, ROWS, 8), filled(ROWS, ROWS, 8), filled(ROWS, ROWS, 2)]
    assert told(looks([batch])) is None


def test_what_a_call_gives_back_is_no_batch() -> None:
    padded = looks([None])
    assert told(padded) is None
    assert padded._read == 0


def test_arrays_of_jax_and_members_of_data_classes_are_read() -> None:
    jax = pytest.importorskip("jax")
    flax = pytest.importorskip("flax.struct")

    @flax.dataclass
    class Batch:
        nodes: Any
        mask: Any

    padded, step = PaddedArguments(), jax.jit(lambda batch: batch.nodes.sum())
    batch = Batch(jax.numpy.asarray(filled(64, ROWS, 8)), jax.numpy.arange(ROWS) < 64)
    jax.block_until_ready((batch, step(batch)))
    padded.look([program_text.SeenFrame(sys._getframe())])
    assert told(padded) == (0.75, 0.75, 1, ROWS)
