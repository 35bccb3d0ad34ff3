"""PyTorch's profiler (Kineto), as a session uses it.

`torch.autograd.profiler.profile` is used, not `torch.profiler.profile` around it: starting the latter imports Inductor, which takes
seconds. Both write the same file.
What a trace holds is for readers; here it is only looked at to see whether anything ran.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import torch_dynamo
from .environment import environment
from .torch_memory import AllocatorSnapshots
from .tracer import EventCosts, Written

#: One of these is in every trace of a program that used the library: operators, device work, ranges that were named.
_SIGNS_OF_WORK = (b'"cat": "cpu_op"', b'"cat": "kernel"', b'"cat": "gpu_memcpy"', b'"cat": "user_annotation"')


@dataclass(frozen=True)
class RunningTorchTrace:
    """A profiler that was started here; `handle` is PyTorch's object, `thread` the one that it belongs to if it does."""

    handle: Any
    thread: int | None


class TorchTracer:
    """The profiler of PyTorch; see `Tracer`."""

    library = "torch"
    why_unused = (
        "torch was imported, but the program initialized no GPU; --host-only records PyTorch's work on the host from its import on"
    )

    growth_tells = False

    #: Measured with torch 2.15 in seconds of a processor, with shapes: 267 000 events held 135 MB, took 0.68 s where they happened,
    #: 1.85 s to collect, 0.68 s to write 116 MB, and 2.7 s to clean and pack; without shapes 0.43 s, 0.62 s, 0.44 s for 82 MB, and 1.9 s.
    event_costs = EventCosts(per_event_s=2.5e-6, bytes_per_event=436, held_per_written=1.16, per_held_byte_s=4.4e-8, per_packed_byte_s=2.3e-8, first_part=0.4)

    def __init__(self, torch: Any, snapshots: AllocatorSnapshots, *, host_only: bool) -> None:
        """`torch` is the program's module; `host_only` leaves its devices alone."""
        self._torch = torch
        self._snapshots = snapshots
        self._host_only = host_only

    @property
    def uses_gpu(self) -> bool:
        """True if the program has initialized a GPU and it is to be captured; asking initializes none."""
        return not self._host_only and bool(self._torch.cuda.is_initialized())

    def environment(self) -> dict[str, Any]:
        return environment() | {"devices": self._devices()}

    def start(self, config: dict[str, Any]) -> RunningTorchTrace:
        """Raises TypeError or ValueError for an option that does not convert, RuntimeError if a profiler is running."""
        options = _options(config)
        profiler = self._torch.autograd.profiler
        # PyTorch reports allocations only to a profiler of the thread that makes them.
        experimental = self._experimental(every_thread=not options["profile_memory"])
        every_thread = experimental is not None and not options["profile_memory"]
        if experimental is not None:
            options["experimental_config"] = experimental
        handle = profiler.profile(use_kineto=True, use_device="cuda" if self.uses_gpu else None, **options)
        with _told_late(profiler):
            handle.__enter__()
        return RunningTorchTrace(handle, None if every_thread else threading.get_ident())

    def stop(self, running: RunningTorchTrace, path: Path, *, keep_hostnames: bool) -> Written | None:
        """Host names are taken out later, by the recorder, which packs the file.

        Raises RuntimeError if the profiler runs for another thread, and OSError if the file cannot be written.
        """
        if not self.may_stop_here(running):
            raise RuntimeError("the profiler belongs to a thread that did not end it")
        running.handle.__exit__(None, None, None)
        if getattr(running.handle, "kineto_results", None) is None:
            raise RuntimeError("expected a running profiler, found none")
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(path.name + ".partial")
        try:
            running.handle.export_chrome_trace(str(partial))
            if not _says_work(partial):
                return None
            os.replace(partial, path)
        finally:
            partial.unlink(missing_ok=True)
        return Written(path, path.stat().st_size, hostnames_removed=False)

    def path(self, out: Path, suffix: str) -> Path:
        return out / "trace" / f"host{self.process_index()}{suffix}.pt.trace.json"

    def abandon(self, running: RunningTorchTrace) -> None:
        """Stop it: PyTorch crashes at the interpreter's end while a profiler runs."""
        if getattr(running.handle, "kineto_results", None) is None and self.may_stop_here(running):
            running.handle.__exit__(None, None, None)

    def may_stop_here(self, running: RunningTorchTrace) -> bool:
        return running.thread in (None, threading.get_ident())

    def annotation(self, name: str) -> AbstractContextManager[Any]:
        return contextlib.nullcontext()

    def drain(self, deadline: float) -> None:
        """Wait until each GPU has done what it was given."""
        if not self.uses_gpu:
            return
        waited = [self._torch.cuda.Event() for _ in range(self._torch.cuda.device_count())]
        for device, event in enumerate(waited):
            event.record(self._torch.cuda.default_stream(device))
        for event in waited:
            while not event.query() and time.perf_counter() < deadline:
                time.sleep(0.001)

    def snapshot(self, out: Path, name: str, *, when: str) -> dict[str, Any] | None:
        return self._snapshots.take(name) if when != "before" else None

    def process_index(self) -> int:
        """The rank of this process; what its launcher says where it has not joined a group."""
        distributed = sys.modules.get("torch.distributed")
        try:
            if distributed is not None and distributed.is_available() and distributed.is_initialized():
                return int(distributed.get_rank())
            return int(os.environ.get("RANK", "0"))
        except Exception:  # noqa: BLE001 - the number only names a file
            return 0

    def told_at_end(self) -> list[dict[str, str]]:
        """What `torch.compile` says of its work."""
        return torch_dynamo.told()

    def _experimental(self, *, every_thread: bool) -> Any:
        """What PyTorch has beside its documented options; None where it is too old for what is asked.

        `profile_all_threads` captures every thread and lets any of them stop. `trace_only` leaves out a second copy of all events for
        Python, which takes longer to make than the file: 14.6 s became 7.0 s for 650 000 events.
        """
        asked = {"profile_all_threads": True} if every_thread else {}
        for options in (asked | {"trace_only": True}, asked):
            with contextlib.suppress(AttributeError, TypeError):
                return self._torch._C._profiler._ExperimentalConfig(**options) if options else None
        return None

    def _devices(self) -> list[dict[str, Any]]:
        rank = self.process_index()
        if not self.uses_gpu:
            return [{"id": 0, "kind": "cpu", "platform": "cpu", "process_index": rank}]
        platform = "rocm" if getattr(self._torch.version, "hip", None) else "cuda"
        return [self._device(index) | {"platform": platform, "process_index": rank} for index in range(self._torch.cuda.device_count())]

    def _device(self, index: int) -> dict[str, Any]:
        found = self._torch.cuda.get_device_properties(index)
        return {
            "id": index,
            "kind": str(found.name),
            "memory_bytes": int(found.total_memory),
            "compute_capability": f"{found.major}.{found.minor}",
            "core_count": int(found.multi_processor_count),
        }


@contextlib.contextmanager
def _told_late(profiler: Any) -> Iterator[None]:
    """Lets PyTorch say that a profiler runs only when it does.

    It says so first and then starts it. What another thread begins in between, such as a compilation, it believes to be recorded, and
    fails at its end ("no guard is set").
    """
    tell = getattr(profiler, "_run_on_profiler_start", None)
    if tell is None:
        yield
        return
    profiler._run_on_profiler_start = lambda: None
    try:
        yield
    finally:
        profiler._run_on_profiler_start = tell
    tell()


def _options(config: dict[str, Any]) -> dict[str, Any]:
    """The profiler's arguments that `config` asks for."""
    asked = config.get("torch") or {}
    options: dict[str, Any] = {
        "record_shapes": bool(asked.get("shapes")),
        "profile_memory": bool(asked.get("allocations")),
        "with_stack": bool(asked.get("stacks")),
    }
    for key, value in (config.get("profile_options") or {}).items():
        library, _, name = key.partition(".")
        if library == "torch":
            options[name] = _flag(key, value)
    return options


def _flag(key: str, value: Any) -> bool:
    flags = {"true": True, "1": True, "false": False, "0": False}
    if (flag := flags.get(str(value).lower())) is None:
        raise ValueError(f"expected true or false for {key}, found {value!r}")
    return flag


def _says_work(path: Path) -> bool:
    """True if the trace at `path` is whole and says that anything ran; raises OSError if it was cut short."""
    with open(path, "rb") as file:
        if not file.seek(0, os.SEEK_END):
            raise OSError("expected a trace, found an empty file")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            if not content[-16:].rstrip().endswith(b"}"):
                raise OSError("the trace was cut short while it was written; the disk may be full")
            return any(content.find(sign) >= 0 for sign in _SIGNS_OF_WORK)
