"""The PyTorch side of the harness beside a stand-in for torch: GPUs, the allocator, the steps of optimizers."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ridgeline import torch_attach, torch_dynamo
from ridgeline.main_thread import call_in_main_thread
from ridgeline.torch_memory import MOST_OUT_OF_MEMORY, AllocatorSnapshots
from ridgeline.torch_steps import hear_module, hear_optimizer
from ridgeline.torch_tracer import TorchTracer


class FakeMemory:
    """`torch.cuda.memory` and the observer of `torch._C`."""

    def __init__(self) -> None:
        self.history: int | None = None
        self.observer: Any = None

    def _record_memory_history(self, *, max_entries: int) -> None:
        self.history = max_entries

    def _dump_snapshot(self, filename: str) -> None:
        Path(filename).write_bytes(b"snapshot")

    def _cuda_attach_out_of_memory_observer(self, observer: Any) -> None:
        self.observer = observer


def fake_torch(memory: FakeMemory, **more: Any) -> Any:
    cuda = SimpleNamespace(memory=memory, is_initialized=lambda: True)
    return SimpleNamespace(cuda=cuda, _C=memory, version=SimpleNamespace(cuda="13.2", hip=None), **more)


def test_a_snapshot_is_written_on_request(tmp_path: Path) -> None:
    memory = FakeMemory()
    snapshots = AllocatorSnapshots(fake_torch(memory), tmp_path, keep_history=True)
    snapshots.watch(lambda _entry: None)
    entry = snapshots.take("after")
    assert memory.history == 100_000
    assert entry == {"path": "memory/after.cuda_snapshot.pickle", "bytes": 8, "kind": "torch.cuda.memory snapshot"}


def test_no_history_no_snapshot_but_out_of_memory_is_told(tmp_path: Path) -> None:
    memory = FakeMemory()
    snapshots = AllocatorSnapshots(fake_torch(memory), tmp_path, keep_history=False)
    told: list[dict[str, Any]] = []
    snapshots.watch(told.append)
    for _ in range(MOST_OUT_OF_MEMORY + 2):
        memory.observer(0, 1 << 30, 0, 0)
    assert (memory.history, snapshots.take("after")) == (None, None)
    assert [entry["path"] for entry in told] == [f"memory/out_of_memory{n}.cuda_snapshot.pickle" for n in (1, 2, 3)]


def test_an_allocator_without_snapshots_is_an_error_to_the_part(tmp_path: Path) -> None:
    torch = SimpleNamespace(cuda=SimpleNamespace(memory=None), _C=SimpleNamespace())
    with pytest.raises(AttributeError):
        AllocatorSnapshots(torch, tmp_path, keep_history=True).watch(lambda _entry: None)


def test_the_gpu_is_waited_for_and_heard_once() -> None:
    state = {"is_initialized": False, "heard": 0}

    def lazy_init() -> None:
        state["is_initialized"] = True

    cuda = SimpleNamespace(_lazy_init=lazy_init, is_initialized=lambda: state["is_initialized"])
    torch = SimpleNamespace(cuda=cuda)
    torch_attach._after_gpu(torch, lambda: state.update(heard=state["heard"] + 1))
    assert state == {"is_initialized": False, "heard": 0}
    torch.cuda._lazy_init()
    torch.cuda._lazy_init()
    assert state == {"is_initialized": True, "heard": 1}
    assert torch.cuda._lazy_init is lazy_init


def test_pytorch_says_that_it_records_when_it_does(tmp_path: Path) -> None:
    """A compilation in another thread asks before it enters a range, and fails at its end where it was told too early."""
    order: list[str] = []
    profiler = SimpleNamespace(_run_on_profiler_start=lambda: order.append("told"))

    class Profile:
        def __init__(self, **_options: Any) -> None: ...

        def __enter__(self) -> None:
            profiler._run_on_profiler_start()
            order.append("records")

    profiler.profile = Profile
    torch = fake_torch(FakeMemory(), autograd=SimpleNamespace(profiler=profiler))
    tell = profiler._run_on_profiler_start
    snapshots = AllocatorSnapshots(torch, tmp_path, keep_history=False)
    TorchTracer(torch, snapshots, host_only=True).start({})
    assert order == ["records", "told"]
    assert profiler._run_on_profiler_start is tell


@pytest.mark.parametrize(
    ("built", "visible", "files", "has"),
    [("13.2", None, ["/"], True), ("13.2", "", ["/"], False), ("13.2", "-1", ["/"], False), (None, None, ["/"], False), ("13.2", None, ["/no such"], False)],
)
def test_whether_there_is_a_gpu(monkeypatch: pytest.MonkeyPatch, built: str | None, visible: str | None, files: list[str], has: bool) -> None:
    monkeypatch.setattr(torch_attach, "_GPU_FILES", files)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert torch_attach._has_gpu(SimpleNamespace(version=SimpleNamespace(cuda=built, hip=None))) is has


def test_what_the_compiler_did_again_has_its_reason() -> None:
    forward = {"co_filename": "train.py", "co_firstlineno": 7, "co_name": "forward", "entire_frame_compile_time_s": 0.5}
    rest = {"co_filename": "train.py", "co_firstlineno": 9, "co_name": "torch_dynamo_resume_in_forward_at_9"}
    metrics = [
        SimpleNamespace(**forward, recompile_reason=None, restart_reasons={"Unsupported Tensor.item() call\n  Explanation: long"}),
        SimpleNamespace(**rest, recompile_reason=None, restart_reasons=set()),
        SimpleNamespace(**forward, recompile_reason="0/0: scale == 1.0      # x * scale  # train.py:8", restart_reasons=None),
        SimpleNamespace(**forward, recompile_reason="0/1: scale == 2.0      # x * scale  # train.py:8", restart_reasons=None),
    ]
    assert [note["why"] for note in torch_dynamo.notes_of(metrics)] == [
        "`forward` (train.py:7) breaks its graph: Unsupported Tensor.item() call",
        "`forward` (train.py:7) was compiled again 2 times, 1 s: no longer true was `scale == 1.0`, `scale == 2.0`",
    ]
    assert torch_dynamo.notes_of([SimpleNamespace(**rest)]) == []


class HeardSession:
    """What a session hears of steps."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.is_tracing = False
        self.parts = SimpleNamespace(run=lambda _part, work, *args: work(*args))

    def step_begins(self) -> None:
        self.heard.append("begins")

    def step_ends(self) -> None:
        self.heard.append("ends")


def test_only_the_first_optimizer_counts() -> None:
    class Optimizer:
        @staticmethod
        def profile_hook_step(function: Any) -> Any:
            return function

        def __init__(self) -> None:
            if not getattr(type(self).step, "hooked", False):
                type(self).step = self.profile_hook_step(type(self).step)
                type(self).step.hooked = True

        def step(self) -> str:
            return "stepped"

    session = HeardSession()
    compiler = SimpleNamespace(is_compiling=lambda: False)
    hear_optimizer(SimpleNamespace(optim=SimpleNamespace(Optimizer=Optimizer), compiler=compiler), session)
    first, second = Optimizer(), Optimizer()
    assert [first.step(), second.step(), first.step()] == ["stepped"] * 3
    assert session.heard == ["begins"] + ["ends", "begins"] * 2


def test_calls_of_a_module_are_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    hooks: dict[str, Any] = {}
    modules = SimpleNamespace(
        register_module_forward_pre_hook=lambda hook: hooks.update(before=hook),
        register_module_forward_hook=lambda hook: hooks.update(after=hook),
    )
    monkeypatch.setattr("ridgeline.torch_steps.importlib.import_module", lambda _name: modules)

    class Model:
        """The module that was named."""

    session = HeardSession()
    hear_module(SimpleNamespace(), session, "Model")
    for module in (Model(), object(), Model()):
        hooks["before"](module, ())
        hooks["after"](module, (), None)
    assert session.heard == ["begins", "ends"] * 2


def test_the_main_thread_can_be_asked_from_another() -> None:
    import threading  # noqa: PLC0415

    called: list[int] = []
    asked = threading.Thread(target=lambda: call_in_main_thread(lambda: called.append(threading.get_ident())))
    asked.start()
    asked.join()
    while not called:
        pass
    assert called == [threading.get_ident()]
