"""Get along with a program that starts PyTorch's profiler itself.

The profiler runs once at a time, so the recording steps aside for good; what the program exports is copied into it.
The program's own files are not touched.
Wrapping is by method, because programs hold on to the classes: `torch.profiler.profile` uses `torch.autograd.profiler.profile`.
"""

from __future__ import annotations

import functools
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .manifest import Piece
from .session import Session
from .sizes import size_text

#: A trace larger than this many bytes is pointed to and not copied; it is text, ten times its packed size.
_LARGEST_COPY = 2 << 30


def hear_own_traces(torch: Any, session: Session, out: Path, piece: Piece) -> None:
    """Wrap what starts a profiler and what exports its trace."""
    profile = torch.autograd.profiler.profile
    copies = _Copies(session, out, piece)
    profile._prepare_trace = _before(profile._prepare_trace, copies.program_starts)
    profile.export_chrome_trace = _after(profile.export_chrome_trace, copies.program_exported)


def _before(original: Callable[..., Any], heard: Callable[[], None]) -> Callable[..., Any]:
    @functools.wraps(original)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        heard()
        return original(self, *args, **kwargs)

    return wrapper


def _after(original: Callable[..., Any], heard: Callable[[Any], None]) -> Callable[..., Any]:
    @functools.wraps(original)
    def wrapper(self: Any, path: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(self, path, *args, **kwargs)
        heard(path)
        return result

    return wrapper


class _Copies:
    """The program's own traces, copied as they are exported."""

    def __init__(self, session: Session, out: Path, piece: Piece) -> None:
        self._session = session
        self._out = out
        self._piece = piece
        self._count = 0

    def program_starts(self) -> None:
        if not self._session.is_busy_here:
            self._session.parts.run("own_traces", self._session.program_starts_trace)

    def program_exported(self, path: Any) -> None:
        if not self._session.is_busy_here:
            self._session.parts.run("own_traces", self._copy, Path(path))

    def _copy(self, exported: Path) -> None:
        size = exported.stat().st_size
        if size > _LARGEST_COPY:
            self._piece.append("notes", {"what": "the program's own trace", "why": f"{size_text(size)}, not copied"})
            return
        self._count += 1
        packed = ".gz" if exported.suffix == ".gz" else ""
        copy = self._out / "trace" / f"own{self._count}.{self._piece.content['pid']}.pt.trace.json{packed}"
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(exported, copy)
        self._piece.append(
            "traces",
            {"path": str(copy.relative_to(self._out)), "bytes": size, "ended_because": "the program traced itself"},
        )
