"""JAX's profiler and memory profiles, as a session uses them.

Starting, stopping and snapshots are in the files named so; here they are one `Tracer`.
"""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from . import memory
from .environment import environment
from .layout import RUN, xplane_path
from .profiler import RunningProfiler, start_profiler, stop_profiler
from .tracer import EventCosts, Written

#: Keys of `profile_options` that are another library's begin with its name.
_OTHER_LIBRARIES = ("torch.",)


class JaxTracer:
    """The profiler of JAX; see `Tracer`."""

    library = "jax"
    why_unused = "jax was imported, but the program used no device"
    growth_tells = True

    #: Measured with jaxlib 0.10.1 on two cores: 0.53 s for 45 MB that were held (157 000 events), 16.6 s for 757 MB (2.6 million).
    event_costs = EventCosts(per_event_s=2.7e-7, bytes_per_event=59, held_per_written=5, per_held_byte_s=1.4e-8)

    def environment(self) -> dict[str, Any]:
        return environment()

    def start(self, config: dict[str, Any]) -> RunningProfiler:
        options = config.get("profile_options") or {}
        return start_profiler({key: value for key, value in options.items() if not key.startswith(_OTHER_LIBRARIES)})

    def stop(self, running: RunningProfiler, path: Path, *, keep_hostnames: bool) -> Written | None:
        return stop_profiler(running, path, keep_hostnames=keep_hostnames)

    def path(self, out: Path, suffix: str) -> Path:
        """Each window, part and process is a run of its own: a reader of a run takes its files for hosts."""
        return xplane_path(out, RUN + suffix, self.process_index())

    def abandon(self, running: RunningProfiler) -> None:
        """JAX's profiler may outlive the interpreter, and one that somebody else stopped must not be stopped again."""

    def may_stop_here(self, running: RunningProfiler) -> bool:
        return True

    def annotation(self, name: str) -> AbstractContextManager[Any]:
        import jax  # noqa: PLC0415 - the program's

        return jax.profiler.TraceAnnotation(name)

    def drain(self, deadline: float) -> None:
        """Wait until the arrays that exist have been computed."""
        import jax  # noqa: PLC0415 - the program's

        pause = 0.0001
        for array in jax.live_arrays():
            while not array.is_ready() and time.perf_counter() < deadline:
                time.sleep(pause)
                pause = min(pause * 2, 0.01)

    def snapshot(self, out: Path, name: str, *, when: str) -> dict[str, Any] | None:
        return memory.snapshot(out, name)

    def told_at_end(self) -> list[dict[str, str]]:
        return []

    def process_index(self) -> int:
        """JAX's number of this process; 0 if it has none, because the number only names a file."""
        import jax  # noqa: PLC0415 - the program's

        try:
            return int(jax.process_index())
        except Exception:  # noqa: BLE001 - see above
            return 0
