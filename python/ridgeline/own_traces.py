"""Get along with a program that starts JAX's profiler itself.

The profiler runs once at a time, so the recording steps aside, and goes on after the program's trace has been written.
A copy of what the program captured joins the recording; the program's own files are not touched.
"""

from __future__ import annotations

import functools
import shutil
import sys
from pathlib import Path
from typing import Any

from .layout import xplane_path
from .manifest import Piece
from .session import Session
from .sizes import size_text

#: A capture larger than this many bytes is pointed to and not copied.
_LARGEST_COPY = 2 << 30


def hear_own_traces(jax: Any, session: Session, out: Path, piece: Piece) -> None:
    """Wrap `start_trace` and `stop_trace` wherever the program may find them."""
    copies = _Copies(session, out, piece)
    owners = [jax.profiler, sys.modules.get("jax._src.profiler")]
    for name, wrapped in (("start_trace", copies.start), ("stop_trace", copies.stop)):
        original = getattr(jax.profiler, name)
        replacement = _in_place_of(original, wrapped)
        for owner in owners:
            if getattr(owner, name, None) is original:
                setattr(owner, name, replacement)


def _in_place_of(original: Any, wrapped: Any) -> Any:
    @functools.wraps(original)
    def replacement(*args: Any, **kwargs: Any) -> Any:
        return wrapped(original, *args, **kwargs)

    return replacement


class _Copies:
    """The program's own traces, copied as they are written."""

    def __init__(self, session: Session, out: Path, piece: Piece) -> None:
        self._session = session
        self._out = out
        self._piece = piece
        self._folder: Path | None = None
        self._count = 0

    def start(self, original: Any, log_dir: Any, *args: Any, **kwargs: Any) -> None:
        if not self._session.is_busy_here:
            self._session.parts.run("own_traces", self._session.program_starts_trace)
            self._folder = Path(log_dir)
        original(log_dir, *args, **kwargs)

    def stop(self, original: Any) -> None:
        if self._session.is_busy_here:
            original()
            return
        try:
            original()
        finally:
            self._session.parts.run("own_traces", self._copy_newest)
            self._session.parts.run("own_traces", self._session.program_stopped_trace)

    def _copy_newest(self) -> None:
        captures = list(self._folder.rglob("*.xplane.pb")) if self._folder else []
        self._folder = None
        if not captures:
            return
        newest = max(captures, key=lambda path: path.stat().st_mtime_ns)
        self._count += 1
        copy = xplane_path(self._out, f"own{self._count}.{self._piece.content['pid']}", 0)
        size = newest.stat().st_size
        if size > _LARGEST_COPY:
            self._piece.append("notes", {"what": "the program's own trace", "why": f"{size_text(size)}, not copied"})
            return
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(newest, copy)
        self._piece.append(
            "traces",
            {"path": str(copy.relative_to(self._out)), "bytes": size, "ended_because": "the program traced itself"},
        )
