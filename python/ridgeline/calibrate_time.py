"""Times of repeated work: warm up, then rounds until there are enough.

A round repeats the work until a clock can tell its length; what is kept is the time of one repetition.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

#: A round lasts at least this long, seconds: waiting for a device costs some microseconds of it, and on a shared machine some
#: rounds of this length are not disturbed.
ROUND_S = 0.004
#: Most repetitions in a round: work that is queued faster than it runs takes memory.
MOST_REPETITIONS = 2000
#: Work whose one run takes longer than this is not repeated beyond the first round, seconds.
SLOW_S = 5.0


@dataclass(frozen=True)
class Effort:
    """How long to measure one thing: rounds at least, and seconds after which no further round starts."""

    rounds: int
    budget_s: float
    #: Largest copy between host and device, bytes.
    copy_bytes: int
    #: Bytes of an array for memory bandwidth where the caller names none.
    array_bytes: int


QUICK = Effort(rounds=3, budget_s=0.2, copy_bytes=1 << 24, array_bytes=1 << 28)
FULL = Effort(rounds=10, budget_s=2.0, copy_bytes=1 << 28, array_bytes=1 << 30)


def seconds(work: Callable[[], object]) -> float:
    """Seconds that `work` takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def rounds(repeat: Callable[[int], object], effort: Effort) -> list[float]:
    """Seconds of one repetition, per round; `repeat(n)` does the work `n` times and waits for its end."""
    repeat(1)
    once = seconds(lambda: repeat(1))
    if once > SLOW_S:
        return [once]
    count = min(max(math.ceil(ROUND_S / max(once, 1e-7)), 1), MOST_REPETITIONS)
    repeat(count)
    times: list[float] = []
    started = time.perf_counter()
    while len(times) < effort.rounds or time.perf_counter() - started < effort.budget_s:
        times.append(seconds(lambda: repeat(count)) / count)
        if times[-1] * count > SLOW_S:
            break
    return times
