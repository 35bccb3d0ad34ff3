"""The piece of the manifest that one process writes, kept true at every moment.

A piece is one JSON file, replaced as a whole each time something changes, so that a process that is killed leaves what was so just
before; modules, which may be many, are lines appended to a file beside it.
What a piece means is decided by the reader, which sees the pieces of all processes.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

#: Parts whose failure means that something a user asked for is not in the capture; the failure of any other is a note.
CAPTURING_PARTS = {
    "attach": "capture",
    "session": "capture",
    "trace_start": "trace",
    "trace_stop": "trace",
    "schedule": "trace",
    "modules": "compiled modules",
    "jaxpr": "jaxprs",
    "stablehlo": "StableHLO",
    "hlo_before": "HLO before optimization",
    "hlo_text": "HLO text",
    "hlo_proto": "HLO protos",
    "hlo_dot": "HLO graphs",
    "cost_analysis": "XLA's cost analysis",
    "memory_analysis": "XLA's memory analysis",
    "memory_profile": "device memory profile",
    "annotations": "steps and annotations",
    "step_function": "steps",
    "steps": "steps",
    "allocator": "allocator snapshots",
    "xla_flags": "XLA flags",
    "sources": "source files",
    "samples": "lines of Python",
    "golden": "inputs and outputs of regions",
}


#: Bytes set aside for a piece, which may have to say that the disk is full.
_SPARE_BYTES = 16 * 1024


class Piece:
    """One process's piece: a dictionary that is on disk."""

    def __init__(self, folder: Path) -> None:
        """Claim a name in `folder` that no other process has; raises OSError if it cannot be written."""
        self._folder = folder
        self._lock = threading.RLock()
        self._is_live = True
        self._written_at = 0.0
        self._path = _claim(folder, f"{os.getpid()}-{{}}.json")
        self.content: dict[str, Any] = {
            "schema": "ridgeline.piece.v1",
            "pid": os.getpid(),
            "state": "attached",
            "jax": False,
            "torch": False,
            "started_unix_s": time.time(),
            "timings": {},
            "traces": [],
            "memory": [],
            "missing": [],
            "notes": [],
            "added_flags": [],
        }
        self._spare = self._path.with_suffix(".spare")
        self._spare.write_bytes(bytes(_SPARE_BYTES))
        self.write()

    def claim_ordinal(self, library: str) -> int:
        """Number of this process among those that imported `library`, from 0; its files are named by it."""
        path = _claim(self._folder, f"ordinal-{library}-{{}}")
        return int(path.name.rpartition("-")[2])

    def set(self, **fields: Any) -> None:
        """Change fields and write."""
        with self._lock:
            self.content.update(fields)
            self.write()

    def append(self, key: str, entry: Any) -> None:
        """Add `entry` to the list `key` and write."""
        with self._lock:
            self.content[key].append(entry)
            self.write()

    def lost(self, part: str, why: str) -> None:
        """Say that `part` failed: as missing if it captures something, else as a note."""
        if part in CAPTURING_PARTS:
            self.append("missing", {"what": CAPTURING_PARTS[part], "why": why})
        else:
            self.append("notes", {"what": part, "why": why})

    def add_time(self, key: str, seconds: float) -> None:
        """Add to a timing and to the harness's total; on disk within a second of the next change."""
        with self._lock:
            timings = self.content["timings"]
            for name in (key, "harness_s"):
                timings[name] = round(timings.get(name, 0.0) + seconds, 6)
            if time.monotonic() - self._written_at > 1.0:
                self.write()

    @contextmanager
    def timed(self, key: str) -> Iterator[None]:
        """Add the time of the block to `key`."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.add_time(key, time.perf_counter() - started)

    def add_module(self, entry: dict[str, Any]) -> None:
        """Append one module to the list beside the piece; raises OSError if it cannot be written."""
        with self._lock, open(self._path.with_suffix(".modules.jsonl"), "a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")

    def write(self) -> None:
        """Replace the file; on a full disk with what was set aside, and when that is gone the one before stays."""
        if not self._is_live:
            return
        with self._lock:
            self._written_at = time.monotonic()
            if not self._replace():
                self._spare.unlink(missing_ok=True)
                self._replace()

    def _replace(self) -> bool:
        partial = self._path.with_suffix(".partial")
        try:
            partial.write_text(json.dumps(self.content), encoding="utf-8")
            os.replace(partial, self._path)
        except OSError:
            partial.unlink(missing_ok=True)
            return False
        return True

    def let_go(self) -> None:
        """Write no more: after a fork the file belongs to the parent."""
        self._is_live = False


def _claim(folder: Path, pattern: str) -> Path:
    """Create the first file `pattern.format(n)` in `folder` that does not exist."""
    number = 0
    while True:
        path = folder / pattern.format(number)
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
            return path
        except FileExistsError:
            number += 1
