"""A window as a range of CUDA's profiler interface: a profiler around the program captures from `cudaProfilerStart` to `cudaProfilerStop`.

Nsight Systems does so with `--capture-range=cudaProfilerApi`. What to capture is decided as ever; nothing is captured here.
The calls go to the CUDA runtime that the program has loaded, else to one that the loader finds.
"""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

from .tracer import Tracer

#: Names of the runtime where the program has not loaded one, newest first.
_NAMES = ("libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0", "libcudart.so")


class RangeTracer:
    """Ranges in place of captures; all else is that of the library's own tracer."""

    #: There is no file whose bytes could be told from the process's growth.
    growth_tells = False
    event_costs = None

    def __init__(self, own: Tracer) -> None:
        """`own` is the tracer of the library that the program uses."""
        self._own = own

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own, name)

    def start(self, config: dict[str, Any]) -> Any:
        """Begin the range; raises OSError if there is no CUDA runtime or it refuses."""
        runtime = _runtime()
        _call(runtime, "cudaProfilerStart")
        return runtime

    def stop(self, running: Any, path: Path, *, keep_hostnames: bool) -> None:
        """End the range; raises OSError if the runtime refuses."""
        _call(running, "cudaProfilerStop")

    def abandon(self, running: Any) -> None:
        """End the range if that can be."""
        running.cudaProfilerStop()

    def may_stop_here(self, running: Any) -> bool:
        """Any thread may end it."""
        return True


def _call(runtime: Any, name: str) -> None:
    status = getattr(runtime, name)()
    if status != 0:
        raise OSError(f"{name} gave CUDA error {status}")


def _runtime() -> Any:
    for name in (*_loaded(Path("/proc/self/maps")), *_NAMES):
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise OSError("no CUDA runtime (libcudart) is loaded or found, so the range for the profiler cannot begin")


def _loaded(maps: Path) -> list[str]:
    """Paths of the runtimes that this process has loaded, as `maps` lists them."""
    try:
        lines = maps.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    paths = [line.split(maxsplit=5)[5] for line in lines if "/libcudart" in line]
    return list(dict.fromkeys(paths))
