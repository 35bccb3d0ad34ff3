"""Keep what recording costs a program under a limit, by recording a part of its life where it makes events faster than they are written.

An event costs the program a little when it happens and far more when the capture is written. Loops whose body runs for microseconds
make millions of them in a second, and one window of such a loop shows what all of it does.
So a window ends when what it holds would cost more to write than the limit allows for the time that the program has run, and another
one begins when the program has run long enough to pay for it.
How much was left out is written down, and steps are timed with and without the profiler, so that a reader knows what it did to them.
"""

from __future__ import annotations

import statistics
from collections import deque

from .memory import allocated_bytes, resident_bytes
from .processors import Contention
from .tracer import EventCosts

#: What the first window may cost however short the program has run, in seconds.
_LEAST_S = 0.6

#: A second window begins when the program has run this many times as long as at the end of a small first one.
_LATER = 1.5

#: A window is worth its start if it may cost this part of all before it: they become rarer, and none is too short to show a loop.
_WORTH = 0.5

#: Growth of memory below this says nothing, in bytes: in later windows, and in the first.
_LEAST_GROWTH, _LEAST_FIRST_GROWTH = 16 << 20, 6 << 20

#: Growth of memory above which a part is written however much may be spent: on a busy machine, writing more takes minutes.
_MOST_GROWTH = 1 << 30

#: Most windows that a limit cuts a program's life into.
_MOST_WINDOWS = 8

#: How often a running capture is looked at, in seconds.
_LOOK_S, _LOOK_RARELY_S = 0.02, 0.05

#: Steps that are kept to compare.
_MOST_STEPS = 512

#: Fewer steps than this, with or without a capture, tell nothing.
_FEWEST_STEPS = 3


class TraceBudget:
    """What the captures of one process may cost. Times are of one clock, in seconds."""

    def __init__(self, most: float, costs: EventCosts, *, began: float) -> None:
        """The program, which recording may slow down by `most` of its time, began at `began`."""
        self._costs = costs
        self._share = most / (1.0 + most)
        self._began = began
        self._spent_s = 0.0
        # Each byte that is held, until a part was written.
        self._cost_per_byte = costs.per_held_byte_s + costs.per_written_byte_s / costs.held_per_written
        self._contention = Contention()
        self._windows = 0
        self._ended: float | None = None
        self._tolerance = 1
        self._resident = self._allocated = self._grown = 0
        #: How long to wait until the next look.
        self.look_s = _LOOK_S

    def begins(self) -> None:
        """A capture, or a further part of one, began."""
        self._resident, self._allocated = resident_bytes(), allocated_bytes() or 0
        self._grown = 0
        self.look_s = _LOOK_S

    def window_begins(self) -> None:
        """A window began."""
        self._windows += 1

    def is_used_up(self, now: float) -> bool:
        """Whether what the running capture holds would cost more than there is."""
        cost_per_byte = self._cost_per_byte * self._contention.factor()
        left_s = self._left_s(now)
        least = _LEAST_GROWTH
        if self._is_first_and_small:
            left_s, least = left_s * self._costs.first_part, _LEAST_FIRST_GROWTH
        most = max(left_s / cost_per_byte, least) * self._tolerance
        most = min(most, _MOST_GROWTH)
        grown = resident_bytes() - self._resident
        # Where it grows slowly, it need not be looked at often.
        slowly = grown - self._grown < most / 64
        self._grown = grown
        self.look_s = min(self.look_s * 2, _LOOK_RARELY_S) if slowly else _LOOK_S
        if grown <= most:
            return False
        allocated = allocated_bytes()
        if allocated is not None and allocated - self._allocated <= most:
            # The program's own data grew. The allocator takes a while to count, so it is not asked again at once.
            self._resident += grown // 2
            return False
        self._ended = now
        return True

    def written(self, seconds: float, size: int) -> None:
        """A part of `size` bytes was written in `seconds`."""
        costs, contention = self._costs, self._contention.factor()
        cost = seconds + size * costs.per_written_byte_s * contention
        self._spent_s += cost
        held = size * costs.held_per_written
        if held > (_LEAST_FIRST_GROWTH if costs.first_part < 1.0 else _LEAST_GROWTH):
            self._cost_per_byte = cost / held / contention

    def goes_on(self, now: float) -> bool:
        """Whether there is something left for the window that a part was written of: memory may have grown for other reasons."""
        goes_on = self._spent_s * 2 <= self._allowed_s(now) * (self._costs.first_part if self._is_first_and_small else 1.0)
        if goes_on:
            # The program makes many small objects: each part that was not needed makes the next one rarer.
            self._tolerance *= 2
        return goes_on

    def may_resume(self, now: float) -> bool:
        """Whether the program has run long enough for another window."""
        if self._is_first_and_small and self._ended is not None and now - self._began < _LATER * (self._ended - self._began):
            return False
        return self._windows < _MOST_WINDOWS and self._left_s(now) >= max(_WORTH * self._spent_s, _LEAST_S / 4)

    @property
    def _is_first_and_small(self) -> bool:
        return self._windows <= 1 and self._costs.first_part < 1.0

    def _allowed_s(self, now: float) -> float:
        return max(_LEAST_S, self._share * (now - self._began))

    def _left_s(self, now: float) -> float:
        return self._allowed_s(now) - self._spent_s


class StepTimes:
    """How long steps take while a capture runs, and how long while none does."""

    def __init__(self) -> None:
        self._times: dict[bool, deque[float]] = {False: deque(maxlen=_MOST_STEPS), True: deque(maxlen=_MOST_STEPS)}
        self._begun = 0.0
        self._capture: int | None = None

    def begins(self, now: float, capture: int | None) -> None:
        """A step begins at `now`, which ends the one before; `capture` numbers the one that runs: 0 for none, None while one starts or
        is written."""
        if capture is not None and capture == self._capture:
            self._times[capture > 0].append(now - self._begun)
        self._begun, self._capture = now, capture

    def compared(self) -> dict[str, float] | None:
        """Medians with and without a capture, in seconds, with how many steps they are of; None where there are too few."""
        recorded, not_recorded = self._times[True], self._times[False]
        if min(len(recorded), len(not_recorded)) < _FEWEST_STEPS:
            return None
        return {
            "recorded_s": round(statistics.median(recorded), 9),
            "recorded_steps": len(recorded),
            "not_recorded_s": round(statistics.median(not_recorded), 9),
            "not_recorded_steps": len(not_recorded),
        }
