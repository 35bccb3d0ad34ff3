"""How much of a processor this process gets: on a machine that others use, too, all work takes longer than it has a processor for.

Linux counts for each thread the nanoseconds on a processor, and those in which it could have run and had none: proc(5), `schedstat`.
"""

from __future__ import annotations

import os
import time

#: Time on a processor that says something, in nanoseconds.
_LEAST_NS = 20_000_000

#: Captures shorter than this tell nothing, in seconds.
_SHORTEST_S = 0.1

#: The counts of the main thread, and the folder with those of each.
_COUNTS, _THREADS = "/proc/self/schedstat", "/proc/self/task"


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


class CpuWaits:
    """How long threads waited for a processor while captures ran: on a busy machine, waits of the device are partly that."""

    def __init__(self) -> None:
        """Nothing is read before the first capture."""
        self._began: dict[str, int] = {}
        self._began_s = 0.0
        self._waited_ns = 0
        self._of_s = 0.0

    def begins(self) -> None:
        """A capture begins."""
        self._began, self._began_s = _waited_ns(), time.perf_counter()

    def ends(self) -> None:
        """It is over.

        The host hands work to a thread and waits for it: the main thread's wait and the longest of the others' add up. Those of a pool
        that wait at the same time do not.
        """
        if not self._began:
            return
        ended = _waited_ns()
        by_thread = {thread: ns - self._began.get(thread, 0) for thread, ns in ended.items()}
        main = by_thread.pop(str(os.getpid()), 0)
        self._waited_ns += main + max(by_thread.values(), default=0)
        self._of_s += time.perf_counter() - self._began_s
        self._began = {}

    def told(self) -> dict[str, float] | None:
        """Seconds of waiting, and of capturing; None where the system does not tell."""
        if self._of_s < _SHORTEST_S:
            return None
        return {"waited_s": round(self._waited_ns / 1e9, 6), "of_s": round(self._of_s, 6)}


def _waited_ns() -> dict[str, int]:
    """What each thread has waited for a processor since it began; empty where the system does not say."""
    try:
        threads = os.listdir(_THREADS)
    except OSError:
        return {}
    counts = {thread: _counts(f"{_THREADS}/{thread}/schedstat") for thread in threads}
    return {thread: found[1] for thread, found in counts.items() if found is not None}


def _counts(path: str = _COUNTS) -> tuple[int, int] | None:
    try:
        with open(path, encoding="ascii") as file:
            ran, waited = file.read().split()[:2]
        return int(ran), int(waited)
    except (OSError, ValueError):
        return None
