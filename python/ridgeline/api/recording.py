"""Record a block of this process: `with ridgeline.record("run/") as recording: …`, then `recording.run`.

It records the block with the framework's own profiler.
`ridgeline record -- python PROGRAM.py` records a whole, unchanged program, and more of it: source files, compilations, memory, the
machine.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from .errors import RecordError
from .run import PathLike, Run


class Recording:
    """A recorded block; its capture can be opened after the block."""

    def __init__(self, folder: Path) -> None:
        #: Where the capture is.
        self.folder = folder
        self._ended = False

    @cached_property
    def run(self) -> Run:
        """The opened capture."""
        if not self._ended:
            raise RecordError("the block is still running: its capture is written at the end")
        return Run([self.folder])

    def _repr_html_(self) -> str:
        return self.run._repr_html_() if self._ended else f"<p>recording into <code>{self.folder}</code></p>"


@contextmanager
def record(folder: PathLike, *, framework: str | None = None, options: dict[str, Any] | None = None) -> Iterator[Recording]:
    """Record the block into the directory `folder`, which must be empty or absent.

    `framework` is `jax` or `torch`, by default the one that the program has imported. `options` are fields of
    `jax.profiler.ProfileOptions`, or arguments of `torch.profiler.profile`.
    Nothing waits for work that is still running at the end of the block, so block on it inside.

    Raises RecordError if the directory isn't empty, no framework was imported, or a profiler is already running.
    """
    where = Path(folder)
    if where.exists() and (not where.is_dir() or any(where.iterdir())):
        raise RecordError("the directory must be empty or absent", path=str(where))
    where.mkdir(parents=True, exist_ok=True)
    recording = Recording(where)
    begin = {"jax": _jax, "torch": _torch}[_framework(framework)]
    with begin(where, options or {}):
        yield recording
    recording._ended = True


def _framework(named: str | None) -> str:
    known = ("jax", "torch")
    if named is not None:
        if named not in known:
            raise RecordError(f"expected jax or torch, found {named!r}")
        return named
    found = [name for name in known if name in sys.modules]
    if len(found) != 1:
        what = "both" if found else "neither"
        raise RecordError(f"the program has imported {what} of jax and torch", hints=['name one: record(…, framework="jax")'])
    return found[0]


@contextmanager
def _jax(folder: Path, options: dict[str, Any]) -> Iterator[None]:
    capture = importlib.import_module("ridgeline.capture")
    try:
        tracing = capture.trace(folder, options=options)
        tracing.__enter__()
    except RuntimeError as error:
        raise RecordError(str(error)) from error
    try:
        yield
    finally:
        tracing.__exit__(None, None, None)


@contextmanager
def _torch(folder: Path, options: dict[str, Any]) -> Iterator[None]:
    profiler = importlib.import_module("torch.profiler")
    usual = {"record_shapes": True, "with_stack": True, "profile_memory": True}
    running = profiler.profile(**{**usual, **options})
    try:
        running.__enter__()
    except RuntimeError as error:
        raise RecordError(str(error)) from error
    try:
        yield
    finally:
        running.__exit__(None, None, None)
        running.export_chrome_trace(str(folder / "trace.pt.trace.json.gz"))
