"""Snapshots of PyTorch's CUDA allocator: with a history of allocations on request, and whenever memory runs out.

A snapshot is PyTorch's own pickle, which pytorch.org/memory_viz and `ridgeline` read.
The functions that make it begin with an underscore in every PyTorch that has them (2.0 and later); one that is absent is a note.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

#: Most allocations kept in the history, oldest dropped first; each takes a few hundred bytes with its stack.
HISTORY_ENTRIES = 100_000

#: Snapshots written when memory runs out, per process: a program that catches the error may meet it often.
MOST_OUT_OF_MEMORY = 3


class AllocatorSnapshots:
    """Writes snapshots of one process's allocator."""

    def __init__(self, torch: Any, out: Path, *, keep_history: bool) -> None:
        #: Keeps this process's files apart from those of others.
        self.suffix = ""
        self._torch = torch
        self._out = out
        self._keep_history = keep_history
        self._out_of_memory = 0

    def watch(self, told: Callable[[dict[str, Any]], None]) -> None:
        """Begin the history if one was asked for, and snapshot when memory runs out; once, after a GPU is initialized.

        `told(entry)` hears of each snapshot of the latter kind; it must not raise.
        Raises AttributeError if this PyTorch can do neither.
        """
        memory = self._torch.cuda.memory
        if self._keep_history:
            memory._record_memory_history(max_entries=HISTORY_ENTRIES)
        self._torch._C._cuda_attach_out_of_memory_observer(lambda *_facts: self._ran_out(told))

    def take(self, name: str) -> dict[str, Any] | None:
        """Snapshot now if a history was asked for; the manifest entry."""
        if not self._keep_history or not self._torch.cuda.is_initialized():
            return None
        return self._write(name)

    def _ran_out(self, told: Callable[[dict[str, Any]], None]) -> None:
        if self._out_of_memory >= MOST_OUT_OF_MEMORY:
            return
        self._out_of_memory += 1
        try:
            told({"when": "out of memory"} | self._write(f"out_of_memory{self._out_of_memory}{self.suffix}"))
        except Exception:  # noqa: BLE001 - the program is about to raise an error of its own
            pass

    def _write(self, name: str) -> dict[str, Any]:
        path = self._out / "memory" / f"{name}.cuda_snapshot.pickle"
        path.parent.mkdir(parents=True, exist_ok=True)
        self._torch.cuda.memory._dump_snapshot(str(path))
        return {"path": str(path.relative_to(self._out)), "bytes": path.stat().st_size, "kind": "torch.cuda.memory snapshot"}
