"""Variables that get the same array again and again, told by looks at the frames that assign them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
import pytest

from ridgeline import program_text
from ridgeline.recomputed import RecomputedValues

Look = Callable[[FrameType], None]


@pytest.fixture(autouse=True)
def _no_readers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The asserts of pytest read a test's variables, so none would be looked at."""
    monkeypatch.setattr(program_text, "_READERS", frozenset())


def told(program: Callable[[int, Look], Any], steps: int = 24) -> list[tuple[str, str]]:
    """What is told of a function that is called in steps: the function and the variable."""
    values = RecomputedValues()

    def look(frame: FrameType | None) -> None:
        frames = []
        while frame is not None and frame.f_code.co_filename == __file__ and frame.f_code.co_name != "told":
            frames.append(program_text.SeenFrame(frame))
            frame = frame.f_back
        values.look(frames)

    for step in range(steps):
        program(step, look)
    return [(one["frame"][2], one["name"]) for one in values.told()]


def distances(size: int) -> Any:
    return np.abs(np.subtract.outer(np.arange(size), np.arange(size)))


def test_an_array_that_is_computed_in_each_step_is_told_with_what_is_computed_of_it() -> None:
    def forward(step: int, look: Look) -> Any:
        x = np.full((32, 32), float(step))
        bias = distances(32)
        scaled = bias * 0.5
        look(sys._getframe())
        return x + scaled

    assert told(forward) == [("forward", "bias"), ("forward", "scaled")]


def test_what_changes_and_what_is_kept_is_not_told() -> None:
    kept = distances(32)

    def forward(step: int, look: Look) -> Any:
        x = np.full((32, 32), float(step)) + distances(32)
        bias = kept
        window = kept[:16]
        blank = np.zeros((32, 32))
        look(sys._getframe())
        return x + bias + blank + window.sum()

    assert told(forward) == []


def test_a_program_that_only_repeats_itself_is_not_told() -> None:
    def benchmark(step: int, look: Look) -> Any:
        product = distances(32) @ distances(32)
        look(sys._getframe())
        return product

    assert told(benchmark) == []


def test_an_array_that_is_found_while_it_is_filled() -> None:
    def table(size: int, look: Look) -> Any:
        rows = np.zeros((size, 32))
        for at in range(size):
            rows[at] = np.sin(at + np.arange(32) + 1.0)
            if at % 11 == 7:
                look(sys._getframe())
        return rows

    def forward(step: int, look: Look) -> Any:
        x = np.full((32, 32), float(step))
        return x + table(32, look)

    assert told(forward) == [("table", "rows")]


def test_masks_that_differ_are_none_that_are_filled() -> None:
    def forward(step: int, look: Look) -> Any:
        mask = (np.random.default_rng(step).random((32, 32)) > 0.5).astype(np.float32)
        look(sys._getframe())
        return mask

    assert told(forward) == []


def test_items_that_come_round_in_every_epoch_are_not_told() -> None:
    def item(step: int, look: Look) -> Any:
        loss = np.full((4,), float(step))
        picture = np.sqrt(np.arange(400.0) + step % 5)
        look(sys._getframe())
        return loss, picture

    assert told(item, 60) == []


def test_the_statement_that_a_variable_has_its_value_of_is_the_last_one() -> None:
    def batch(step: int, look: Look) -> Any:
        values = distances(40)
        look(sys._getframe())
        values = values / values.max() + step
        look(sys._getframe())
        return values

    assert told(batch) == [("batch", "values")]
