"""How long the program's loops take, without a profiler.

Every loop of the user's files is counted; of each execution of a loop that is inside of no other, the time from the second iteration
to the end of all work that it started is kept, and how many iterations that was.
The first iteration compiles, so it is left out; what a change itself must compile is left out wherever it happens.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

#: A loop that is begun again and again is not waited for any more after this many times.
_MOST_WAITS = 50
#: Places that are kept.
_MOST = 500


class Run:
    """One execution of a loop."""

    __slots__ = ("key", "begun", "first", "iterations", "left_out", "outer", "compile_s")

    def __init__(self, key: tuple[str, int], outer: Run | None) -> None:
        self.key = key
        self.outer = outer
        self.begun = time.perf_counter()
        #: When the second iteration began.
        self.first: float | None = None
        self.iterations = 0
        self.left_out = 0.0
        self.compile_s = 0.0


class Clock:
    """The loops of the main thread."""

    def __init__(self, experiment: Any) -> None:
        self._experiment = experiment
        self._main = threading.main_thread().ident
        self._open: Run | None = None
        self._seen: dict[tuple[str, int], dict[str, Any]] = {}
        self._left_out = 0.0
        self._excluding = 0
        self.compile_s = 0.0
        #: Called when an outermost loop has ended, after its time was taken.
        self.ended: list[Any] = []
        #: Waits for one array of JAX, whatever the change makes of its method.
        self.wait: Any = lambda array: array.block_until_ready()
        #: Waits for PyTorch's devices, the same.
        self.synchronize: Any = None

    # Loops.

    def is_inside(self) -> bool:
        """Whether a loop of the main thread is running."""
        return self._open is not None and threading.get_ident() == self._main

    def each(self, key: tuple[str, int], items: Iterable[Any]) -> Iterator[Any]:
        """The items of a `for` loop, counted."""
        if threading.get_ident() != self._main:
            yield from items
            return
        run = self.enter(key)
        try:
            for item in items:
                self.tick(run)
                yield item
        finally:
            self.leave(run)

    def enter(self, key: tuple[str, int]) -> Run | None:
        """A loop begins."""
        if threading.get_ident() != self._main:
            return None
        self._open = Run(key, self._open)
        return self._open

    def tick(self, run: Run | None, iterations: int = 1) -> None:
        """An iteration begins; or this many were made at once, after the first."""
        if run is None:
            return
        run.iterations += iterations
        if run.first is None and run.iterations == 2:
            if run.outer is None:
                self._wait(run)
            run.first = time.perf_counter()
            run.left_out, run.compile_s = self._left_out, self.compile_s

    def _wait(self, run: Run) -> None:
        """Wait for what was begun, on both sides of what is timed."""
        known = self._seen.get(run.key)
        if known is None or known["executions"] < _MOST_WAITS:
            self._experiment.parts.run("drain", self.drain)

    def leave(self, run: Run | None) -> None:
        """The loop ended."""
        if run is None:
            return
        self._open = run.outer
        if run.outer is not None or run.first is None:
            return
        self._wait(run)
        took = time.perf_counter() - run.first - (self._left_out - run.left_out)
        for call in self.ended:
            self._experiment.parts.run("late", call)
        self._keep(run, took)

    def _keep(self, run: Run, took: float) -> None:
        known = self._seen.get(run.key)
        found = {
            "file": run.key[0], "line": run.key[1], "iterations": run.iterations - 1, "seconds": max(took, 0.0),
            "compile_s": self.compile_s - run.compile_s, "executions": 1,
        }  # fmt: skip
        if known is not None:
            # A loop that runs again and again counts as one.
            for name in ("iterations", "seconds", "compile_s", "executions"):
                found[name] += known[name]
        elif len(self._seen) >= _MOST:
            return
        self._seen[run.key] = found

    def loops(self) -> list[dict[str, Any]]:
        """Outermost loops, those that took longest first."""
        return sorted(self._seen.values(), key=lambda loop: -loop["seconds"])

    def drain(self) -> None:
        """Wait for all device work that was begun."""
        if jax := sys.modules.get("jax"):
            for array in jax.live_arrays():
                if not array.is_deleted():
                    self.wait(array)
            jax.effects_barrier()
        torch = sys.modules.get("torch")
        if torch is not None and hasattr(torch, "cuda") and torch.cuda.is_initialized():
            (self.synchronize or torch.cuda.synchronize)()

    # What does not count.

    @contextlib.contextmanager
    def excluded(self) -> Iterator[None]:
        """Work of the harness, or what the change must compile once."""
        if self._excluding:
            yield
            return
        began = time.perf_counter()
        self._excluding += 1
        try:
            yield
        finally:
            self._excluding -= 1
            self._left_out += time.perf_counter() - began

    def left_out(self) -> float:
        """Seconds that do not count."""
        return self._left_out

    def hear(self, module: ModuleType) -> None:
        """Hear what the library compiles."""
        monitoring = getattr(module, "monitoring", None)
        if monitoring is not None and hasattr(monitoring, "register_event_duration_secs_listener"):
            monitoring.register_event_duration_secs_listener(self._compiled)

    def _compiled(self, event: str, seconds: float, **_: Any) -> None:
        if event.startswith("/jax/core/compile/") and threading.get_ident() == self._main and not self._excluding:
            self.compile_s += seconds
            if self._experiment.change == "compile-free":
                self._experiment.did(event.rsplit("/", 1)[1])
                self._left_out += seconds
