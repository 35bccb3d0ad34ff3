"""What a program ran on: versions, devices, processor; never who ran it or where.

Nothing here imports `jax`: if the program has not, the answers say so.
No host name, user name, path, address or environment value is read.
"""

from __future__ import annotations

import os
import platform
import sys
from importlib import metadata
from typing import Any

#: Packages whose versions explain a measurement.
PACKAGES = (
    "jax", "jaxlib", "jax-cuda12-plugin", "jax-cuda12-pjrt", "jax-cuda13-plugin", "jax-cuda13-pjrt",
    "jax-rocm7-plugin", "jax-rocm7-pjrt", "libtpu", "numpy", "scipy", "ml_dtypes", "flax", "equinox", "optax", "mbirjax",
    "torch", "triton", "torchvision", "transformers",
)  # fmt: skip


def environment() -> dict[str, Any]:
    """Versions, devices and processor of this process, ready for JSON.

    Memory sizes are in bytes. `devices` is empty if no JAX backend has been initialized.
    """
    return {"versions": versions(), "devices": devices(), "cpu": cpu(), "os": platform.system(), "os_release": platform.release()}


def versions() -> dict[str, str]:
    """Version of Python and of each installed package that matters to a measurement."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except Exception:  # noqa: BLE001 - absent, or installed without readable metadata
            continue
    return found


def devices() -> list[dict[str, Any]]:
    """One entry per JAX device that this process can see."""
    if not backends_are_ready():
        return []
    return [describe_device(device) for device in sys.modules["jax"].devices()]


def backends_are_ready() -> bool:
    """True if `jax` is imported and a backend exists; asking does not create one."""
    bridge = sys.modules.get("jax._src.xla_bridge")
    if bridge is None:
        return False
    try:
        return bool(bridge.backends_are_initialized())
    except AttributeError:
        return bool(getattr(bridge, "_backends", None))


def memory_stats(device: Any) -> dict[str, int] | None:
    """The allocator's counters of `device` in bytes and counts, None where the platform keeps none."""
    try:
        stats = device.memory_stats()
    except Exception:  # noqa: BLE001 - raised for devices of other processes
        return None
    return {key: int(value) for key, value in stats.items()} if stats else None


def describe_device(device: Any) -> dict[str, Any]:
    """One JAX device: what it is and how much memory it has, in bytes."""
    described = {
        "id": int(device.id),
        "kind": str(device.device_kind),
        "platform": str(device.platform),
        "process_index": int(device.process_index),
    }
    for key in ("compute_capability", "core_count"):
        value = getattr(device, key, None)
        if isinstance(value, (int, str)):
            described[key] = value
    if version := getattr(getattr(device, "client", None), "platform_version", None):
        described["platform_version"] = str(version).splitlines()[0][:200]
    if limit := (memory_stats(device) or {}).get("bytes_limit"):
        described["memory_bytes"] = limit
    return described


def cpu() -> dict[str, Any]:
    """Model, logical processors this process may use, and main memory in bytes."""
    try:
        usable = len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS
        usable = os.cpu_count() or 1
    return {
        "model": _cpu_model(),
        "architecture": platform.machine(),
        "logical_cores": os.cpu_count() or 1,
        "usable_cores": usable,
        "memory_bytes": _main_memory_bytes(),
    }


def _cpu_model() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.lower().startswith(("model name", "hardware")):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _main_memory_bytes() -> int | None:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return None
