"""PyTorch programs under the recorder: each must end as it would alone, and leave a trace of what it did.

The programs use real torch on the CPU; `make test-torch` installs it.
"""

from __future__ import annotations

import gzip
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from recording import Recorded, Recorder

pytest.importorskip("torch", reason="torch is not installed; `make test-torch` installs it and runs these tests")

TRAIN = """
import os, signal, sys
import torch
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for number in range(8):
    with torch.profiler.record_function("even" if number % 2 == 0 else "odd"):
        optimizer.zero_grad()
        model(torch.ones(8, 64)).sum().backward()
        optimizer.step()
print("done")
"""



class OneWindow(Recorder):
    """Records without the limit that ends windows, unless a test asks for it: these tests are of what a recording has."""

    def __call__(self, text: str, options: dict | None = None, *more: Any, **named: Any) -> Recorded:
        return super().__call__(text, {"max_overhead_pct": (1 << 32) - 1} | (options or {}), *more, **named)


@pytest.fixture
def record(record_once: Path, tmp_path: Path) -> Recorder:
    return OneWindow(record_once, tmp_path)


WHOLE = "trace trace/host0.pt.trace.json.gz"


def events(run: Recorded, trace: int = 0) -> list[dict]:
    """The events of a capture."""
    return json.loads(gzip.decompress((run.out / run.manifest["traces"][trace]["path"]).read_bytes()))["traceEvents"]


def names(run: Recorded, trace: int = 0, category: str = "user_annotation") -> list[str]:
    """Names of a category in the order of their starts, without those of optimizers."""
    found = sorted((event for event in events(run, trace) if event.get("cat") == category), key=lambda event: event["ts"])
    return [event["name"] for event in found if not event["name"].startswith("Optimizer.")]


def test_output_and_status_are_the_programs(record: Recorder) -> None:
    run = record(TRAIN + "sys.exit(3)")
    assert run.told() == f"exit 3 signal None\n{WHOLE}"
    assert (run.returncode, run.stdout) == (3, "done\n")
    assert names(run) == ["even", "odd"] * 4
    assert names(run, category="cpu_op").count("aten::linear") == 16
    assert run.manifest["versions"]["torch"].split(".")[0].isdigit()
    assert run.manifest["devices"] == [{"id": 0, "kind": "cpu", "platform": "cpu", "process_index": 0}]


@pytest.mark.parametrize(
    ("ending", "status", "told"),
    [
        ("raise ValueError('bad')", 1, "exit 1 signal None"),
        ("os._exit(7)", 7, "exit 7 signal None"),
        ("os.kill(os.getpid(), signal.SIGINT)", -signal.SIGINT, "exit None signal SIGINT"),
        ("os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGTERM, "exit None signal SIGTERM"),
        ("import threading; threading.Thread(target=os._exit, args=(5,)).start(); threading.Event().wait()", 5, "exit 5 signal None"),
    ],
)
def test_endings_keep_the_capture(record: Recorder, ending: str, status: int, told: str) -> None:
    run = record(TRAIN + ending)
    assert run.told() == f"{told}\n{WHOLE}"
    assert run.returncode == status
    assert names(run) == ["even", "odd"] * 4


def test_a_kill_leaves_the_truth(record: Recorder) -> None:
    run = record(TRAIN + "os.kill(os.getpid(), signal.SIGKILL)")
    first, lost = run.told().splitlines()
    assert first == "exit None signal SIGKILL"
    assert lost.startswith("missing trace: the recording was not finished in process ")


def test_steps(record: Recorder) -> None:
    run = record(TRAIN, {"steps": "3..5"})
    assert run.told() == f"exit 0 signal None\n{WHOLE}"
    assert names(run) == ["ProfilerStep#3", "odd", "ProfilerStep#4", "even"]
    assert run.manifest["traces"][0]["steps"] == [3, 5]


def test_shapes_and_types_are_recorded_unless_they_are_not_wanted(record: Recorder) -> None:
    first = next(event["args"] for event in events(record(TRAIN, {"steps": "3..5"})) if event["name"] == "aten::linear")
    assert (first["Input Dims"], first["Input type"]) == ([[8, 64], [64, 64], [64]], ["float"] * 3)
    without = events(record(TRAIN, {"steps": "3..5", "shapes": False}))
    assert all("Input Dims" not in event["args"] for event in without if event["name"] == "aten::linear")


#: Half a million events, which take longer to write than the program runs.
MANY = """
import torch
x = torch.ones(4)
for _ in range(160_000):
    x = x.mul(1.0).add(0.0)
print(x.sum().item())
"""


def test_a_program_of_very_many_events_is_recorded_in_windows(record: Recorder) -> None:
    run = record(MANY, {"max_overhead_pct": 20})
    assert run.stdout == "4.0\n"
    notes = [note["why"] for note in run.manifest["notes"] if note["what"] == "capture"]
    assert len(notes) == 1 and "were recorded, in" in notes[0]
    assert sum(len(names(run, window, "cpu_op")) for window in range(len(run.manifest["traces"]))) < 200_000
    timings = run.manifest["overhead"]
    assert timings["packing_s"] > 0 and timings["events_s"] > 0 and timings["harness_s"] > timings["packing_s"] + timings["events_s"]
    assert len(record(MANY, {"max_overhead_pct": 4_294_967_295}).manifest["traces"]) == 1


def test_steps_that_never_come(record: Recorder) -> None:
    run = record(TRAIN, {"steps": "30..50"})
    assert run.told().splitlines()[1].startswith("missing trace: expected steps 30..50, found 8; steps end with ")


def test_step_function(record: Recorder) -> None:
    run = record(TRAIN, {"step_function": "Sequential", "steps": "2..4"})
    assert [name for name in names(run) if name.startswith("Profiler")] == ["ProfilerStep#2", "ProfilerStep#3"]


def test_annotation(record: Recorder) -> None:
    run = record(TRAIN, {"annotation": "even"})
    assert len(run.manifest["traces"]) == 4
    assert [names(run, window) for window in range(4)] == [["even"]] * 4


def test_stacks_and_allocations(record: Recorder) -> None:
    run = record(TRAIN, {"python_tracer": True, "allocations": True, "steps": "6..7"})
    found = events(run)
    assert any(event.get("cat") == "python_function" for event in found)
    assert any(event["name"] == "[memory]" for event in found)


def test_threads_are_captured(record: Recorder) -> None:
    run = record(TRAIN + "import threading\nt = threading.Thread(target=lambda: torch.ones(3).cos())\nt.start(); t.join()")
    assert "aten::cos" in names(run, category="cpu_op")


def test_a_program_that_traces_itself(record: Recorder) -> None:
    run = record(
        TRAIN
        + """
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
    torch.ones(3).tan()
profile.export_chrome_trace("mine.json.gz")
torch.ones(3).sin()
import pathlib
print(pathlib.Path("mine.json.gz").stat().st_size > 0)
"""
    )
    assert run.stdout == "done\nTrue\n"
    paths = [trace["path"].split(".")[0] for trace in run.manifest["traces"]]
    assert paths == ["trace/host0", "trace/own1"]
    assert [n for n in range(2) if "aten::tan" in names(run, n, "cpu_op")] == [1]
    (lost,) = run.manifest["missing"]
    assert lost["why"] == "capture stopped: the program started a trace of its own"


def test_graph_breaks_and_recompilations_are_told(record: Recorder) -> None:
    compiled = '''
import torch
@torch.compile(backend="eager")
def scaled(x, factor):
    y = (x * factor).relu()
    print("sum", y.sum().item())
    return y + 1
for factor in (1.0, 2.0, 3.0):
    scaled(torch.ones(4), factor)
'''
    run = record(compiled)
    assert run.stdout.splitlines()[0] == "sum 4.0"
    told = [note["why"] for note in run.manifest["notes"] if note["what"] == "torch.compile"]
    assert any("`scaled`" in why and "breaks its graph: " in why and "item()" in why for why in told), told
    assert any("`scaled`" in why and "compiled again" in why and "factor == 1.0" in why for why in told), told


def test_an_import_alone_is_no_capture(record: Recorder) -> None:
    run = record("import torch")
    assert run.told() == "exit 0 signal None\nmissing trace: torch was imported, but nothing that it can capture ran"


def test_a_fork_records_nothing_more(record: Recorder) -> None:
    run = record(TRAIN + "pid = os.fork()\nif pid == 0: os._exit(0)\nprint(os.waitpid(pid, 0)[1])")
    assert run.stdout == "done\n0\n"
    assert run.told() == f"exit 0 signal None\n{WHOLE}"


def test_nothing_private_is_told(record: Recorder) -> None:
    env = {"HOME": str(record.folder), "USER": "ada"}
    run = record(TRAIN, {"python_tracer": True, "steps": "6..7"}, env)
    text = gzip.decompress((run.out / run.manifest["traces"][0]["path"]).read_bytes()).decode()
    assert str(record.folder) not in text
    assert f'"host_name": "{os.uname().nodename}"' not in text


@pytest.mark.parametrize(
    "part",
    ["session", "attach", "backends", "trace_start", "trace_stop", "own_traces", "steps", "step_ranges", "limits", "drain", "finish"],
)
def test_a_broken_part_harms_nobody(record: Recorder, part: str) -> None:
    options = {"steps": "3..5"} if part.startswith("step") or part == "schedule" else {}
    run = record(TRAIN + "sys.exit(3)", options, {"RIDGELINE_TEST_FAIL": part})
    assert (run.returncode, run.stdout) == (3, "done\n")
    assert "Traceback" not in run.stderr


@pytest.mark.parametrize("options", [{}, {"allocations": True}])
def test_time_limit(record: Recorder, options: dict) -> None:
    wait = """
import pathlib, time
end = time.monotonic() + 60
while not pathlib.Path("run/trace/host0.pt.trace.json").exists() and time.monotonic() < end:
    model(torch.ones(8, 64)).sum().item()
"""
    run = record(TRAIN + wait, {"max_trace_s": 0.1} | options)
    exit_line, trace, lost = run.told().splitlines()
    assert (exit_line, trace) == ("exit 0 signal None", WHOLE)
    assert lost.endswith("s: capture stopped: it ran for 0.1 s, the limit; --max-time allows more")
