"""Tell when a running capture has grown too long or too large.

The profiler does not say how much it holds, so its size is estimated: the growth of the process since the capture began, less the
growth of the library's own arrays in main memory.
Where a library cannot tell how much its arrays hold, as PyTorch, only the main memory that is left counts.
The least of the last few estimates counts, because a trace only grows while a program's scratch memory comes and goes.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable

from .memory import available_bytes, resident_bytes, total_bytes

_SAMPLES = 3

#: Main memory that stopping takes, as a multiple of what the running capture holds.
#: Measured on a CPU with jaxlib 0.10.1: a growth of 2.19 GB became a peak of 12.8 GB, and one of 162 MB a peak of 3.1 GB with the
#: events that arrived while it stopped.
_STOPPING_MULTIPLE = 6

#: Share of main memory that must be left where the capture's size is not known.
_LEAST_LEFT = 1 / 8


class LimitWatch:
    """Watches one capture."""

    def __init__(self, *, began: float, max_s: float, max_bytes: int, live_bytes: Callable[[], int | None]) -> None:
        """The capture began at `began` seconds of the clock that `exceeded` is told.

        `live_bytes` says how much the library's arrays hold in main memory, None if it cannot.
        """
        self._began = began
        self._max_s = max_s
        self._max_bytes = max_bytes
        self._resident = resident_bytes()
        self._live_bytes = live_bytes
        self._arrays = live_bytes()
        self._growths: deque[int] = deque(maxlen=_SAMPLES)

    def exceeded(self, now: float) -> str | None:
        """Why the capture must stop, None while it may go on."""
        if now - self._began >= self._max_s:
            return f"it ran for {self._max_s:g} s, the limit"
        if self._arrays is None:
            return _too_little_left()
        # Counting arrays takes a while in a program that has many, so it is done only when it may matter.
        most = min(self._max_bytes, (available_bytes() or sys.maxsize) // _STOPPING_MULTIPLE)
        growth = resident_bytes() - self._resident
        if growth > most:
            growth -= (self._live_bytes() or 0) - self._arrays
        self._growths.append(growth)
        least = min(self._growths)
        if len(self._growths) < _SAMPLES or least <= most:
            return None
        if least > self._max_bytes:
            return f"the process grew by {least} bytes (estimated), above the limit of {self._max_bytes}"
        return f"the process grew by {least} bytes (estimated), and stopping later could need more main memory than was left"


def _too_little_left() -> str | None:
    available, total = available_bytes(), total_bytes()
    if available is None or total is None or available >= total * _LEAST_LEFT:
        return None
    return f"only {available} bytes of main memory were left"
