"""Tell when a running capture has grown too long or too large.

The profiler does not say how much it holds, so its size is estimated: the growth of the process since the capture began, less the
growth of JAX's own arrays in main memory.
The least of the last few estimates counts, because a trace only grows while a program's scratch memory comes and goes.
"""

from __future__ import annotations

from collections import deque

from .memory import is_main_memory_short, live_host_array_bytes, resident_bytes

_SAMPLES = 5


class LimitWatch:
    """Watches one capture."""

    def __init__(self, *, began: float, max_s: float, max_bytes: int) -> None:
        """The capture began at `began` seconds of the clock that `exceeded` is told."""
        self._began = began
        self._max_s = max_s
        self._max_bytes = max_bytes
        self._resident = resident_bytes()
        self._arrays = live_host_array_bytes()
        self._growths: deque[int] = deque(maxlen=_SAMPLES)

    def exceeded(self, now: float) -> str | None:
        """Why the capture must stop, None while it may go on."""
        if now - self._began >= self._max_s:
            return f"it ran for {self._max_s:g} s, the limit"
        if is_main_memory_short():
            return "less than 5 % of main memory was left"
        growth = resident_bytes() - self._resident
        if growth > self._max_bytes:
            growth -= live_host_array_bytes() - self._arrays
        self._growths.append(growth)
        if len(self._growths) == _SAMPLES and min(self._growths) > self._max_bytes:
            return f"the process grew by {min(self._growths)} bytes (estimated), above the limit of {self._max_bytes}"
        return None
