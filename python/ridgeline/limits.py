"""Tell when a running capture must end, and when it is time to write what it has so far and go on.

The profiler does not say how much it holds, so a capture is measured by what is on disk: it is written in *parts*, and the sizes of
their files count.
How much the process has grown only says when a part is due. A program that loads data grows as well, which then costs a short
interruption and not the capture.
Where it is not known what a library's profiler holds, the main memory that is left counts instead of growth.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from .memory import allocated_bytes, available_bytes, resident_bytes, total_bytes
from .sizes import size_text

#: What a running capture holds in main memory, as a multiple of its file; a low guess, so that no file grows far beyond the limit.
#: Measured on a CPU with jaxlib 0.10.2: 153 MiB for a file of 33 MiB, 1191 MiB for one of 334 MiB.
_HELD_PER_WRITTEN = 3

#: Main memory that writing takes, as a multiple of what the running capture holds.
#: Measured on a CPU with jaxlib 0.10.1: a growth of 2.19 GB became a peak of 12.8 GB, and one of 162 MB a peak of 3.1 GB with the
#: events that arrived while it stopped.
_WRITING_MULTIPLE = 6

#: Growth below this is not worth an interruption, in bytes.
_LEAST_GROWTH = 16 << 20

#: Share of main memory that must be left where the capture's size cannot be measured.
_LEAST_LEFT = 1 / 8


@dataclass(frozen=True)
class Limits:
    """What the recorder was told: times in seconds, sizes in bytes; `rotate_s` is how long a part lasts, if anything is asked."""

    max_s: float
    max_bytes: int
    rotate_s: float | None


class LimitWatch:
    """Watches one capture."""

    def __init__(self, limits: Limits, *, began: float, growth_tells: bool) -> None:
        """The capture began at `began` seconds of the clock that the other methods are told.

        `growth_tells` is true for a profiler of which `_HELD_PER_WRITTEN` holds.
        """
        self._limits = limits
        self._began = began
        self._growth_tells = growth_tells
        self._written = 0
        self.part_begins(began)

    def part_begins(self, now: float, *, written: int = 0) -> None:
        """A part began, after one of `written` bytes was written."""
        self._written += written
        self._part_began = now
        self._resident = resident_bytes()
        self._allocated = allocated_bytes()

    def exceeded(self, now: float, *, written: int = 0) -> str | None:
        """Why the capture must stop, None while it may go on; `written` are bytes of a part that has just ended."""
        limits = self._limits
        if now - self._began >= limits.max_s:
            return f"it ran for {limits.max_s:g} s, the limit; --max-time allows more"
        if self._written + written >= limits.max_bytes:
            size = size_text(self._written + written)
            return f"its trace has {size}, the limit is {size_text(limits.max_bytes)}; --max-size allows more"
        return None if self._growth_tells else _too_little_left()

    def part_is_due(self, now: float) -> bool:
        """True if what was captured should be written now."""
        if self._limits.rotate_s is not None and now - self._part_began >= self._limits.rotate_s:
            return True
        if not self._growth_tells:
            return False
        most = min(
            _HELD_PER_WRITTEN * (self._limits.max_bytes - self._written),
            (available_bytes() or sys.maxsize) // _WRITING_MULTIPLE,
        )
        most = max(most, _LEAST_GROWTH)
        # The allocator takes a while to count, so it is asked only when it may matter.
        return resident_bytes() - self._resident > most and self._has_allocated(most)

    def _has_allocated(self, most: int) -> bool:
        allocated = allocated_bytes()
        return allocated is None or self._allocated is None or allocated - self._allocated > most


def _too_little_left() -> str | None:
    available, total = available_bytes(), total_bytes()
    if available is None or total is None or available >= total * _LEAST_LEFT:
        return None
    return f"only {size_text(available)} of main memory were left; a shorter window (--steps, --annotation) needs less"
