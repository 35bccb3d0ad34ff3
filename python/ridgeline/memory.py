"""Snapshots of device memory, and the memory that the process itself takes.

A snapshot is JAX's own pprof profile of live buffers and executables, beside the allocator's counters where a platform has them.
"""

from __future__ import annotations

import ctypes
import resource
import sys
from pathlib import Path
from typing import Any

from .environment import memory_stats


def snapshot(out_dir: Path, name: str) -> dict[str, Any]:
    """Write `memory/<name>.pb.gz` under `out_dir` and return its manifest entry.

    Raises OSError if it cannot be written.
    """
    import jax  # noqa: PLC0415 - the program's

    path = out_dir / "memory" / f"{name}.pb.gz"
    path.parent.mkdir(parents=True, exist_ok=True)
    jax.profiler.save_device_memory_profile(str(path))
    devices = [{"id": int(device.id), "stats": memory_stats(device)} for device in jax.local_devices()]
    return {"path": str(path.relative_to(out_dir)), "bytes": path.stat().st_size, "devices": devices}


def resident_bytes() -> int:
    """Memory of this process that is in RAM now; 0 where the system does not say."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        return 0


def peak_resident_bytes() -> int:
    """Most memory that this process had in RAM so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def available_bytes() -> int | None:
    """Main memory that could be had without swapping; None where the system does not say."""
    return _memory_info("MemAvailable:")


def total_bytes() -> int | None:
    """Main memory of the machine; None where the system does not say."""
    return _memory_info("MemTotal:")


def _memory_info(key: str) -> int | None:
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            for line in file:
                if line.startswith(key):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return None


class _Mallinfo2(ctypes.Structure):
    """What glibc's `mallinfo2` returns; sizes in bytes."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")
    ]


def allocated_bytes() -> int | None:
    """Bytes that small allocations take, as an event's is; large ones, as a data set's, are mapped apart. None without glibc 2.33."""
    try:
        mallinfo2 = ctypes.CDLL(None).mallinfo2
    except (OSError, AttributeError):
        return None
    mallinfo2.restype = _Mallinfo2
    return int(mallinfo2().uordblks)
