"""Intervals of time, as plain as they can be: the truth that busy times are laid against."""

from __future__ import annotations

from collections.abc import Iterable

Interval = tuple[int, int]


def union_ns(intervals: Iterable[Interval]) -> int:
    """Time that at least one of `intervals` covers."""
    covered, reached = 0, None
    for begin, end in sorted(intervals):
        start = begin if reached is None else max(begin, reached)
        if end > start:
            covered += end - start
        reached = end if reached is None else max(reached, end)
    return covered


def within(intervals: Iterable[Interval], window: Interval) -> list[Interval]:
    """The parts of `intervals` that lie in `window`."""
    begin, end = window
    return [(max(a, begin), min(b, end)) for a, b in intervals if a < end and b > begin]
