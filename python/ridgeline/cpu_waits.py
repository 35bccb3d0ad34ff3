"""How long the program's threads waited for a CPU while they were recorded: on a busy machine, waits of the device are partly that."""

from __future__ import annotations

import os
import time
from pathlib import Path

_TASKS = Path("/proc/self/task")

#: Captures shorter than this tell nothing, in seconds.
_SHORTEST_S = 0.1


class CpuWaits:
    """Adds up what the kernel says of each thread between the beginnings and the ends of captures."""

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
    """What each thread has waited for a CPU since it began, proc(5) `schedstat`; empty where that is not there."""
    found = {}
    try:
        threads = os.listdir(_TASKS)
    except OSError:
        return {}
    for thread in threads:
        try:
            found[thread] = int((_TASKS / thread / "schedstat").read_text().split()[1])
        except (OSError, ValueError, IndexError):
            continue
    return found
