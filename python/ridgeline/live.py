"""Keep a small file that says how a running program is: memory of its devices, live arrays, steps. `ridgeline top` reads it.

One file a process, replaced as a whole once a second, in a folder that only its user can write: `$XDG_RUNTIME_DIR/ridgeline`, else
`/tmp/ridgeline-UID`. It goes when the program ends; where a program is killed, whoever reads finds that no such process runs.
Counting live arrays takes time for each, so it is done as rarely as keeps it under `_MOST_SHARE` of the time.
Under `ridgeline record` it begins by itself; other programs call `ridgeline.live.start()` after their first use of a device.
"""

from __future__ import annotations

import json
import os
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .environment import memory_stats

SCHEMA = "ridgeline.live.v1"

#: Seconds between two versions of the file.
_EVERY_S = 1.0

#: The part of the time that counting live arrays may take.
_MOST_SHARE = 0.005

#: Set to 0, it keeps the file from being written.
VARIABLE = "RIDGELINE_LIVE"


def folder() -> Path:
    """Where the files are; made if it is not there.

    Raises OSError where it cannot be made, or is somebody else's.
    """
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    at = Path(runtime) / "ridgeline" if runtime else Path(tempfile.gettempdir()) / f"ridgeline-{os.getuid()}"
    at.mkdir(mode=0o700, exist_ok=True)
    found = at.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o022:
        raise PermissionError(f"{at} is not a directory that only this user can write")
    return at


def start(*, steps: Callable[[], int] | None = None) -> Live:
    """Keep the file of this process from now on; `steps` gives how many steps the program has done.

    Raises OSError if it cannot be written.
    """
    live = Live(steps or (lambda: 0))
    live.start()
    return live


class Live:
    """The file of one process, and the thread that renews it."""

    def __init__(self, steps: Callable[[], int]) -> None:
        """`steps` gives how many steps the program has done so far; nothing is written before `start`."""
        self._steps = steps
        self._path: Path | None = None
        self._pid = os.getpid()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self._seen: tuple[float, int] | None = None
        self._rate: float | None = None
        self._arrays: tuple[int, int] | None = None
        self._count_again_at = 0.0

    def start(self) -> None:
        """Write the first version, and renew it in a thread; raises OSError if it cannot be written."""
        if os.environ.get(VARIABLE) == "0" or self._thread is not None:
            return
        self._path = folder() / f"{self._pid}.json"
        self.write()
        self._thread = threading.Thread(target=self._renew, name="ridgeline live", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Remove the file; never raises."""
        self._wake.set()
        thread, self._thread = self._thread, None
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout=1.0)
        path, self._path = self._path, None
        if path is not None and os.getpid() == self._pid:
            path.unlink(missing_ok=True)

    def let_go(self) -> None:
        """This is a forked copy: the file is its parent's."""
        self._thread = self._path = None

    def _renew(self) -> None:
        while not self._wake.wait(_EVERY_S):
            try:
                self.write()
            except Exception:  # noqa: BLE001 - a library that is being taken down, a full disk: the program goes on
                return

    def write(self) -> None:
        """Renew the file now; raises OSError if it cannot be written."""
        path = self._path
        if path is None:
            return
        partial = path.with_suffix(".partial")
        partial.write_text(json.dumps(self.state()), encoding="utf-8")
        os.replace(partial, path)

    def state(self) -> dict[str, Any]:
        """How the program is now."""
        now = time.time()
        steps = self._steps()
        if self._seen is not None and now > self._seen[0]:
            self._rate = max(steps - self._seen[1], 0) / (now - self._seen[0])
        self._seen = (now, steps)
        said: dict[str, Any] = {"schema": SCHEMA, "pid": self._pid, "written_unix_s": now, "program": _program()}
        if steps:
            said |= {"steps": steps, "steps_per_s": self._rate}
        if jax := _module("jax", "live_arrays"):
            said["devices"] = [_jax_device(device) for device in jax.local_devices()]
            self._count(jax)
            if self._arrays is not None:
                said["live_arrays"], said["live_bytes"] = self._arrays
        elif (torch := _module("torch", "cuda")) and torch.cuda.is_initialized():
            said["devices"] = [_torch_device(torch, at) for at in range(torch.cuda.device_count())]
        return said

    def _count(self, jax: Any) -> None:
        began = time.perf_counter()
        if began < self._count_again_at:
            return
        arrays = [array for array in jax.live_arrays() if not array.is_deleted()]
        self._arrays = (len(arrays), sum(int(array.nbytes) for array in arrays))
        ended = time.perf_counter()
        self._count_again_at = ended + (ended - began) / _MOST_SHARE


def _module(name: str, attribute: str) -> Any:
    """A module that the program has imported, and imported whole."""
    module = sys.modules.get(name)
    return module if hasattr(module, attribute) else None


def _program() -> str:
    return os.path.basename(sys.argv[0] if sys.argv and sys.argv[0] else "python")


def _jax_device(device: Any) -> dict[str, Any]:
    stats = memory_stats(device) or {}
    said = {"id": int(device.id), "platform": str(device.platform), "kind": str(device.device_kind)}
    keys = {"bytes_in_use": "bytes_in_use", "peak_bytes_in_use": "peak_bytes", "bytes_limit": "limit_bytes"}
    return said | {ours: stats[theirs] for theirs, ours in keys.items() if theirs in stats}


def _torch_device(torch: Any, at: int) -> dict[str, Any]:
    described = torch.cuda.get_device_properties(at)
    return {
        "id": at,
        "platform": "gpu",
        "kind": str(described.name),
        "bytes_in_use": int(torch.cuda.memory_allocated(at)),
        "peak_bytes": int(torch.cuda.max_memory_allocated(at)),
        "limit_bytes": int(described.total_memory),
    }
