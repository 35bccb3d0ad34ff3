"""How much of a processor this process gets: on a machine that others use, too, all work takes longer than it has a processor for."""

from __future__ import annotations

#: Time on a processor that says something, in nanoseconds.
_LEAST_NS = 20_000_000

#: What Linux counts of the main thread: nanoseconds on a processor, and nanoseconds in which it could have run and had none.
_COUNTS = "/proc/self/schedstat"


class Contention:
    """Asks the system how long the main thread waited for a processor, for each time that it had one."""

    def __init__(self) -> None:
        self._before = (0, 0)
        self._factor = 1.0

    def factor(self) -> float:
        """How many times as long work takes as on a machine of its own, of late; 1 where the system does not say."""
        counts = _counts()
        if counts is not None:
            ran, waited = counts[0] - self._before[0], counts[1] - self._before[1]
            # A thread that waits for data or a device says nothing: then the last answer holds.
            if ran >= _LEAST_NS:
                self._factor = 1.0 + waited / ran
                self._before = counts
        return self._factor


def _counts() -> tuple[int, int] | None:
    try:
        with open(_COUNTS, encoding="ascii") as file:
            ran, waited = file.read().split()[:2]
        return int(ran), int(waited)
    except (OSError, ValueError):
        return None
