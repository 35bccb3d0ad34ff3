"""What this Python has of the libraries that are recorded, and which devices they see; one line of JSON.

Importing a library and asking for its devices is what a program would do, so what goes wrong here goes wrong there.
"""

from __future__ import annotations

import json
import platform
import sys
from importlib import metadata
from typing import Any

#: Packages of JAX whose versions have to fit each other.
PACKAGES = ("jax", "jaxlib", "jax-cuda12-plugin", "jax-cuda13-plugin", "jax-rocm7-plugin", "torch", "xprof")


def probe() -> dict[str, Any]:
    """Versions, devices by library, and why a library could not say."""
    found: dict[str, Any] = {"python": platform.python_version(), "executable": sys.executable, "versions": {}}
    for package in PACKAGES:
        try:
            found["versions"][package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    for library, ask in (("jax", _jax_devices), ("torch", _torch_devices)):
        if library in found["versions"]:
            try:
                found[library] = {"devices": ask()}
            except Exception as error:  # noqa: BLE001 - any failure is the answer
                found[library] = {"why": f"{type(error).__name__}: {error}"[:500]}
    return found


def _jax_devices() -> list[dict[str, str]]:
    import jax  # noqa: PLC0415 - it may be absent

    return [{"platform": str(device.platform), "kind": str(device.device_kind)} for device in jax.local_devices()]


def _torch_devices() -> list[dict[str, str]]:
    import torch  # noqa: PLC0415 - it may be absent

    if not torch.cuda.is_available():
        return [{"platform": "cpu", "kind": "cpu"}]
    count = torch.cuda.device_count()
    return [{"platform": "gpu", "kind": torch.cuda.get_device_name(index)} for index in range(count)]


if __name__ == "__main__":
    print(json.dumps(probe()))
