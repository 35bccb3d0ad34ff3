"""Hook what a recording of PyTorch needs, right after the program has imported it.

Nothing here initializes a GPU: a program that forks may not have one initialized before, and chooses its devices itself.
So a capture of the whole program begins with the import where the machine has no GPU, and when the program has initialized one
where it has; `--host-only` leaves GPUs alone and begins with the import.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .annotations import hear_record_functions
from .manifest import Piece
from .safely import Parts
from .session import Session
from .torch_memory import AllocatorSnapshots
from .torch_own_traces import hear_own_traces
from .torch_steps import WHAT_COUNTS, hear_module, hear_optimizer
from .torch_tracer import TorchTracer
from .torch_watch import TorchWatch

#: Device files of which one is there where PyTorch could use a GPU of NVIDIA (also under WSL) or AMD.
_GPU_FILES = ("/dev/nvidiactl", "/dev/dxg", "/dev/kfd")


def torch_session(torch: Any, config: dict[str, Any], piece: Piece, parts: Parts) -> Session:
    """The recording of `torch`; raises AttributeError for a PyTorch without the parts that every one has had since 2.0."""
    asked = config.get("torch") or {}
    snapshots = AllocatorSnapshots(torch, Path(config["out"]), keep_history=bool(asked.get("allocator_history")))
    # Both profilers use CUPTI, which serves one at a time: where jax came first, its profiler has the GPU's work of both.
    host_only = bool(asked.get("host_only")) or "jax" in sys.modules
    session = Session(config, piece, parts, TorchTracer(torch, snapshots, host_only=host_only))
    snapshots.suffix = session.suffix
    session.schedule.what_counts = WHAT_COUNTS
    _hook_gpu(torch, session, snapshots, piece, waits=not host_only and _has_gpu(torch))
    return session


def hook_torch(torch: Any, session: Session, config: dict[str, Any], piece: Piece) -> None:
    """Hear what the program does, as far as the schedule needs it; never raises."""
    if config.get("samples"):
        session.parts.run("watch", _watch, torch, session)
    session.parts.run("own_traces", hear_own_traces, torch, session, Path(config["out"]), piece)
    if session.schedule.counts_steps:
        if name := config.get("step_function"):
            session.parts.run("step_function", hear_module, torch, session, name)
        else:
            session.parts.run("steps", hear_optimizer, torch, session)
    if session.schedule.followed_annotation is not None:
        session.parts.run(
            "annotations", hear_record_functions, torch, session.annotation_begins, session.annotation_ends
        )


def _watch(torch: Any, session: Session) -> None:
    watch = TorchWatch(torch)
    watch.start()
    session.tell_with_samples(watch.told, cost_s=lambda: watch.cost_s)


def _hook_gpu(torch: Any, session: Session, snapshots: AllocatorSnapshots, piece: Piece, *, waits: bool) -> None:
    def initialized() -> None:
        if waits:
            session.parts.run("backends", session.backend_ready)
        session.parts.run("allocator", snapshots.watch, lambda entry: piece.append("memory", entry))

    session.parts.run("attach", _after_gpu, torch, initialized)
    if not waits:
        session.parts.run("backends", session.backend_ready)


def _after_gpu(torch: Any, initialized: Callable[[], None]) -> None:
    """Call `initialized()` once, after the program has initialized its GPUs."""
    original = torch.cuda._lazy_init

    @functools.wraps(original)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        # PyTorch calls it from within itself as well, before it is done.
        if torch.cuda._lazy_init is wrapper and torch.cuda.is_initialized():
            torch.cuda._lazy_init = original
            initialized()
        return result

    torch.cuda._lazy_init = wrapper


def _has_gpu(torch: Any) -> bool:
    """True if this PyTorch and this machine could use a GPU; asks nothing that would initialize one."""
    is_built = bool(getattr(torch.version, "cuda", None) or getattr(torch.version, "hip", None))
    is_hidden = os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1")
    return is_built and not is_hidden and any(os.path.exists(file) for file in _GPU_FILES)
