"""Peak main memory of a stretch of work, and peak device memory of the process.

Linux forgets the peak of a process when asked to, so a peak there belongs to the stretch; elsewhere it is of the whole process.
Device allocators keep one peak for the life of the process, so that number can only grow from one operation to the next.
"""

from __future__ import annotations

import resource
import sys
from typing import Any


def forget_peak() -> bool:
    """Start a new peak of resident memory; False where the system cannot."""
    try:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
            file.write("5")
    except OSError:
        return False
    return True


def resident_bytes() -> int | None:
    """Resident memory now, in bytes."""
    return _status_bytes("VmRSS:")


def peak_bytes() -> int:
    """Peak of resident memory since `forget_peak`, or since the process started where that is not possible; in bytes."""
    peak = _status_bytes("VmHWM:")
    if peak is not None:
        return peak
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def device_peaks() -> dict[str, int]:
    """Peak bytes in use on each local JAX device since the process started; empty where the platform does not count."""
    jax: Any = sys.modules.get("jax")
    if jax is None:
        return {}
    peaks = {}
    for device in jax.local_devices():
        stats = device.memory_stats() or {}
        if "peak_bytes_in_use" in stats:
            peaks[str(device.id)] = int(stats["peak_bytes_in_use"])
    return peaks


def _status_bytes(key: str) -> int | None:
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as file:
            for line in file:
                if line.startswith(key):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None
