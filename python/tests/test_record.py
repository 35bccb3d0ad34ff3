"""Programs under the recorder: each must end as it would alone, and leave a capture that tells the truth.

The programs use real jax on the CPU; the recorder is the real one, behind a small driver.
"""

from __future__ import annotations

import errno
import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from recording import Recorded, Recorder

jax = pytest.importorskip("jax")

STEP = """
import os, signal, sys
import jax, jax.numpy as jnp

@jax.jit
def step(x):
    return x @ x / jnp.linalg.norm(x) + jnp.sin(x)

x = step(jnp.ones((64, 64)))
x.block_until_ready()
"""

LOOP = (
    STEP
    + """
for number in range(8):
    with jax.profiler.StepTraceAnnotation("train", step_num=number + 100):
        with jax.profiler.TraceAnnotation("even" if number % 2 == 0 else "odd"):
            x = step(x)
print("done", x.shape)
"""
)


WHOLE = "trace plugins/profile/trace/host0.xplane.pb"


def test_output_and_status_are_the_programs(record: Recorder) -> None:
    run = record(LOOP + "print('oops', file=sys.stderr)\nsys.exit(3)")
    assert run.told() == f"exit 3 signal None\n{WHOLE}"
    assert (run.returncode, run.stdout, run.stderr) == (3, "done (64, 64)\n", "oops\n")
    assert run.manifest["complete"] is True
    assert run.events().count("train") == 8


def test_a_step_that_holds_the_first_use_of_a_device_is_missed_and_said(record: Recorder) -> None:
    run = record(
        """
import jax, jax.numpy as jnp

for number in range(3):
    with jax.profiler.StepTraceAnnotation("train", step_num=number):
        (jnp.ones((8, 8)) * number).block_until_ready()
"""
    )
    assert run.events().count("train") == 2
    assert [note["what"] for note in run.manifest["notes"]] == ["steps"]


def test_everything_is_collected(record: Recorder) -> None:
    run = record(STEP, {"hlo": "text,proto,dot,jaxpr,stablehlo,before"})
    (module,) = [module for module in run.manifest["modules"] if module["name"] == "jit_step"]
    folder = run.out / module["dir"]
    starts = {
        "after.dot": b"digraph G",
        "after.txt": b"HloModule",
        "before.txt": b"HloModule",
        "jaxpr.txt": b"{ lambda ",
        "stablehlo.mlir": b"module @j",
    }
    assert sorted(module["files"]) == sorted([*starts, "after.hlo.pb", "cost.json", "memory.json"])
    assert {file: (folder / file).read_bytes()[:9] for file in starts} == starts
    # The first field of an `HloProto` is its module, whose first field is its name.
    assert b"\n\x08jit_step" in (folder / "after.hlo.pb").read_bytes()[:16]
    assert json.loads((folder / "cost.json").read_text())["flops"] > 2 * 64**3
    assert json.loads((folder / "memory.json").read_text())["output_size_in_bytes"] == 64 * 64 * 4
    assert "_ridgeline" not in (folder / "after.txt").read_text()
    memory = {entry["when"]: gzip.decompress((run.out / entry["path"]).read_bytes()) for entry in run.manifest["memory"]}
    assert b"program.py" in memory["after"]
    assert sorted(entry.name for entry in run.out.iterdir()) == ["hlo", "manifest.json", "memory", "plugins", "samples", "sources"]


def test_modules_from_the_compilation_cache_are_said_once(record: Recorder) -> None:
    cache = {
        "JAX_COMPILATION_CACHE_DIR": str(record.folder / "cache"),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
    }
    notes = [record(STEP, env=env).manifest["notes"] for env in (cache, cache, cache | {"JAX_ENABLE_COMPILATION_CACHE": "false"})]
    assert [[note["what"] for note in said] for said in notes] == [[], ["compilation cache"], []]
    assert "JAX_ENABLE_COMPILATION_CACHE=false" in notes[1][0]["why"]


def test_nothing_private_is_told(record: Recorder) -> None:
    env = {"HOME": str(record.folder), "USER": "ada", "HF_TOKEN": "hf_abcdefghijklmnopqrstuvwxyz"}
    program = record.folder / "program.py"
    run = record(STEP, env=env, command=[sys.executable, str(program), "--api-key", "s3cret", "ada"])
    text = (run.out / "manifest.json").read_text()
    for private in (str(record.folder), os.uname().nodename, "hf_abc", "s3cret"):
        assert f"{private}" not in text.replace("llvm", ""), private
    assert run.manifest["command"][-3:] == ["--api-key", "<redacted>", "<user>"]
    capture = (run.out / run.manifest["traces"][0]["path"]).read_bytes()
    assert b"\x22" + bytes([len(os.uname().nodename)]) + os.uname().nodename.encode() not in capture


@pytest.mark.parametrize(
    ("ending", "status", "told"),
    [
        ("raise ValueError('bad')", 1, "exit 1 signal None"),
        ("os._exit(7)", 7, "exit 7 signal None"),
        ("raise KeyboardInterrupt", -signal.SIGINT, "exit None signal SIGINT"),
        ("os.kill(os.getpid(), signal.SIGINT)", -signal.SIGINT, "exit None signal SIGINT"),
        ("os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGTERM, "exit None signal SIGTERM"),
        ("os.kill(os.getpid(), signal.SIGHUP)", -signal.SIGHUP, "exit None signal SIGHUP"),
        ("signal.signal(signal.SIGTERM, lambda *_: sys.exit(9))\nos.kill(os.getpid(), signal.SIGTERM)", 9, "exit 9 signal None"),
        ("import threading; threading.Thread(target=os._exit, args=(5,)).start(); threading.Event().wait()", 5, "exit 5 signal None"),
        ("os.execv('/bin/sh', ['sh', '-c', 'exit 6'])", 6, "exit 6 signal None"),
        ("os.abort()", -signal.SIGABRT, "exit None signal SIGABRT"),
    ],
)
def test_endings_keep_the_capture(record: Recorder, ending: str, status: int, told: str) -> None:
    run = record(STEP + ending)
    assert run.told() == f"{told}\n{WHOLE}"
    assert run.returncode == status
    assert any("step" in name for name in run.events())


@pytest.mark.parametrize(
    ("ending", "name"),
    [("os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL"), ("import ctypes; ctypes.string_at(0)", "SIGSEGV")],
)
def test_a_kill_leaves_the_truth(record: Recorder, ending: str, name: str) -> None:
    run = record(STEP + ending)
    program = f"exit None signal {name}"
    first, lost = run.told().splitlines()
    assert first == program
    assert lost.startswith("missing trace: the recording was not finished in process ")
    assert lost.endswith(f": the program was ended by {name} while the profiler ran")
    assert [module["name"] for module in run.manifest["modules"]][-1] == "jit_step"
    assert run.manifest["complete"] is False


def test_a_kill_keeps_earlier_windows(record: Recorder) -> None:
    run = record(LOOP + "os.kill(os.getpid(), signal.SIGKILL)", {"annotation": "odd"})
    assert run.told().splitlines()[:2] == ["exit None signal SIGKILL", WHOLE]
    assert run.told().splitlines()[2:5] == [f"trace plugins/profile/trace.window{n}/host0.xplane.pb" for n in (2, 3, 4)]


def test_a_signal_to_the_recorder_reaches_the_program(record: Recorder) -> None:
    process = record.start(STEP + "print('ready', flush=True)\nimport threading; threading.Event().wait()", {}, {}, None)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGTERM)
    run = record.wait(process)
    assert run.told() == f"exit None signal SIGTERM\n{WHOLE}"
    assert run.returncode == -signal.SIGTERM


def test_handlers_look_untouched(record: Recorder) -> None:
    run = record(
        STEP
        + """
print(signal.getsignal(signal.SIGTERM) == signal.SIG_DFL)
mine = lambda *_: None
print(signal.signal(signal.SIGTERM, mine) == signal.SIG_DFL, signal.getsignal(signal.SIGTERM) is mine)
print(signal.signal(signal.SIGTERM, signal.SIG_DFL) is mine, flush=True)
os.kill(os.getpid(), signal.SIGTERM)
"""
    )
    assert run.stdout == "True\nTrue True\nTrue\n"
    assert run.told() == f"exit None signal SIGTERM\n{WHOLE}"


def test_steps(record: Recorder) -> None:
    run = record(LOOP, {"steps": "3..5"})
    assert run.told() == f"exit 0 signal None\n{WHOLE}"
    assert [name for name in run.events() if name in ("train", "even", "odd")] == ["train", "odd", "train", "even"]
    assert run.manifest["traces"][0]["steps"] == [3, 5]


def test_steps_that_never_come(record: Recorder) -> None:
    run = record(LOOP, {"steps": "30..50"})
    assert run.told().splitlines()[1].startswith("missing trace: expected steps 30..50, found 8;")


def test_step_function(record: Recorder) -> None:
    run = record(LOOP + "print(step.lower(x).as_text()[:6])", {"step_function": "step", "steps": "7..=8"})
    assert run.told() == f"exit 0 signal None\n{WHOLE}"
    # Call 0 is before the loop; the capture ends with call 8, before the range of the loop around it does.
    assert [name for name in run.events() if name in ("train", "step")] == ["step", "step"]
    assert run.stdout.endswith("module\n")


def test_annotation(record: Recorder) -> None:
    run = record(LOOP, {"annotation": "even"})
    assert [line for line in run.told().splitlines() if line.startswith("missing")] == []
    assert len(run.manifest["traces"]) == 4
    for window in range(4):
        assert [name for name in run.events(window) if name in ("train", "even", "odd")] == ["even"]


def test_warm_up_that_outlasts_the_program(record: Recorder) -> None:
    run = record(STEP, {"warm_up": "600s"})
    assert run.told().splitlines()[1:] == [
        "missing trace: the program ended before the warm-up (time 600 s) was over"
    ]


def test_time_limit(record: Recorder) -> None:
    wait = """
import pathlib, time
end = time.monotonic() + 60
while not pathlib.Path("run/plugins/profile/trace/host0.xplane.pb").exists() and time.monotonic() < end:
    x = step(x).block_until_ready()
"""
    run = record(STEP + wait, {"max_trace_s": 0.1})
    exit_line, trace, lost = run.told().splitlines()
    assert (exit_line, trace) == ("exit 0 signal None", WHOLE)
    assert lost.startswith("missing trace after 0.") and lost.endswith("s: capture stopped: it ran for 0.1 s, the limit; --max-time allows more")


UNTIL = """
import pathlib, time
def wait_for(path):
    end = time.monotonic() + 60
    while not pathlib.Path(path).exists() and time.monotonic() < end:
        step(x).block_until_ready()
"""


def test_a_program_that_loads_data_keeps_its_capture(record: Recorder) -> None:
    load = UNTIL + """
kept = [bytes(1000) for _ in range(100_000)]
wait_for("run/plugins/profile/trace/host0.xplane.pb")
while jax._src.profiler._profile_state.profile_session is None: pass
with jax.profiler.TraceAnnotation("afterwards"):
    step(x).block_until_ready()
"""
    run = record(STEP + load, {"max_trace_bytes": 30 << 20, "max_overhead_pct": (1 << 32) - 1})
    assert run.told() == f"exit 0 signal None\n{WHOLE}\ntrace plugins/profile/trace.part2/host0.xplane.pb"
    assert run.events(1).count("afterwards") == 1
    assert [(trace["window"], trace["part"]) for trace in run.manifest["traces"]] == [(1, 1), (1, 2)]


def test_size_limit(record: Recorder) -> None:
    options = {"max_trace_bytes": 1000, "rotate_s": 0.1}
    run = record(STEP + UNTIL + "wait_for('run/plugins/profile/trace/host0.xplane.pb')\n" + "step(x).block_until_ready()", options)
    exit_line, trace, lost = run.told().splitlines()
    assert trace == WHOLE and lost.startswith("missing trace after 0.")
    assert lost.endswith("iB, the limit is 1000 B; --max-size allows more")


def test_rotating_parts_survive_a_kill(record: Recorder) -> None:
    rest = "wait_for('run/plugins/profile/trace.part2/host0.xplane.pb')\nos.kill(os.getpid(), signal.SIGKILL)"
    run = record(STEP + UNTIL + rest, {"rotate_s": 0.1})
    exit_line, first, second, *more = run.told().splitlines()
    assert exit_line == "exit None signal SIGKILL"
    assert (first, second) == (WHOLE, "trace plugins/profile/trace.part2/host0.xplane.pb")
    assert more[-1].startswith("missing trace: the recording was not finished in process ")


def test_a_killed_recorder_leaves_the_truth(record: Recorder) -> None:
    wait = "print(os.getpid(), flush=True)\nimport threading; threading.Event().wait()"
    process = record.start(LOOP + wait, {"annotation": "odd"}, {}, None)
    assert process.stdout.readline() == "done (64, 64)\n"
    pid = int(process.stdout.readline())
    manifest = record.folder / "run" / "manifest.json"
    end = time.monotonic() + 60
    while len(json.loads(manifest.read_text())["traces"]) < 4 and time.monotonic() < end:
        pass
    process.kill()
    os.kill(pid, signal.SIGKILL)
    run = record.wait(process)
    assert run.manifest["finished"] is False and run.manifest["program"]["exit_code"] is None
    assert len(run.manifest["traces"]) == 4
    assert run.told().splitlines()[-1].startswith("missing end of the recording: the recording was not finished: ")


def test_ignored_signals_stay_ignored(record: Recorder) -> None:
    ignored = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN); signal.signal(signal.SIGINT, signal.SIG_IGN)"
    exec_rest = f"{ignored}; import os, sys; os.execv(sys.argv[1], sys.argv[1:])"
    program = record.folder / "program.py"
    program.write_text(STEP + "for s in (signal.SIGHUP, signal.SIGINT): os.kill(os.getpid(), s)\nprint('alive')")
    command = [str(record.program), json.dumps({"out": "run"}), "--", sys.executable, str(program)]
    ended = subprocess.run(
        [sys.executable, "-c", exec_rest, *command], cwd=record.folder, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout) == (0, "alive\n")


def kept_sources(run: Recorded) -> dict[str, str]:
    folder = run.out / "sources"
    return {path.name: path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_the_text_that_ran_is_kept(record: Recorder) -> None:
    (record.folder / "helper.py").write_text("def twice(x):\n    return x + x\n")
    text = "import helper, json\n" + STEP + "jax.jit(helper.twice)(x)\n"
    run = record(text)
    assert kept_sources(run) == {"program.py": text, "helper.py": "def twice(x):\n    return x + x\n"}
    assert (run.out / "sources" / str(record.folder).lstrip("/") / "program.py").is_file()
    assert not record(text, {"sources": False}).out.joinpath("sources").exists()


def test_modules_and_samples_have_lines_of_the_program(record: Recorder) -> None:
    run = record(STEP)
    (module,) = [module for module in run.manifest["modules"] if module["name"] == "jit_step"]
    call = STEP.splitlines().index("x = step(jnp.ones((64, 64)))") + 1
    assert (Path(module["at"]["file"]).name, module["at"]["line"], module["types"]) == ("program.py", call, ["f32[64,64]"])
    first, *news = (run.out / "samples" / "jax.jsonl").read_text().splitlines()
    assert json.loads(first)["schema"] == "ridgeline.samples.v1"
    files = {frame[0] for line in news for frame in json.loads(line)["frames"]}
    assert {Path(file).name for file in files} <= {"program.py"}
    assert not record(STEP, {"samples": False}).out.joinpath("samples").exists()


def test_a_file_that_is_edited_while_the_program_runs_is_not_taken_for_what_ran(record: Recorder) -> None:
    (record.folder / "helper.py").write_text("")
    edit = "open('helper.py', 'w').write('edited = 1')\n"
    run = record("import jax\n" + edit + "import helper\n" + STEP)
    assert list(kept_sources(run)) == ["program.py"]
    assert run.told().splitlines()[-1].endswith("helper.py changed after the program began; its text is not kept")


def test_the_users_xla_flags_stay(record: Recorder) -> None:
    flags = "--xla_force_host_platform_device_count=2"
    run = record(
        STEP + "print(len(jax.devices()), os.environ['XLA_FLAGS'].split()[0])",
        {"expand_command_buffers": True, "xla_dump": "text"},
        {"XLA_FLAGS": flags},
    )
    assert run.stdout == f"2 {flags}\n"
    added = run.manifest["added_environment"]["XLA_FLAGS"]
    assert "--xla_gpu_enable_command_buffer= --xla_dump_to=" in added
    assert flags not in added
    assert any(path.name.endswith("before_optimizations.txt") for path in (run.out / "hlo_dump").iterdir())


def test_command_buffers_are_kept_or_expanded_by_a_flag_that_this_xla_knows() -> None:
    from ridgeline.flags import _why_unknown, wanted_flags

    for option, flag in [
        ("keep_command_buffers", "--xla_enable_command_buffers_during_profiling=true"),
        ("expand_command_buffers", "--xla_gpu_enable_command_buffer="),
    ]:
        assert wanted_flags({option: True}) == [flag]
        assert _why_unknown(flag.removeprefix("--").partition("=")[0]) is None


def test_a_flag_that_xla_does_not_know_is_left_out() -> None:
    from ridgeline.flags import add_flags

    before = os.environ.get("XLA_FLAGS")
    added, left_out = add_flags(["--xla_no_such_flag_exists=1"])
    assert (added, os.environ.get("XLA_FLAGS")) == ([], before)
    assert left_out == [
        ("xla_no_such_flag_exists", "libjax_common.so does not know the flag and would end the program")
    ]


def test_profile_options(record: Recorder) -> None:
    run = record(STEP, {"profile_options": {"host_tracer_level": "1", "gpu_max_callback_api_events": "1000"}})
    assert run.told().splitlines()[1:] == [WHOLE]


def test_a_setting_of_a_newer_jax_is_passed_on(record: Recorder) -> None:
    run = record(STEP, {"profile_options": {"advanced.no_such": "x"}})
    assert run.told().splitlines()[1:] == [WHOLE]


@pytest.mark.parametrize("option", [{"no_such": "x"}, {"host_tracer_level": "high"}])
def test_a_wrong_profile_option_is_an_error_before_the_program_starts(record: Recorder, option: dict) -> None:
    process = record.start("print('started')", {"profile_options": option}, {}, None)
    stdout, stderr = process.communicate()
    assert (process.returncode, stdout) == (2, "")
    assert stderr.startswith("error: expected ") and not (record.folder / "run").exists()


def test_without_jax(record: Recorder) -> None:
    run = record("import sys\nprint(sys.path)\nsys.exit(4)")
    alone = subprocess.run([sys.executable, record.folder / "program.py"], stdout=subprocess.PIPE, text=True)
    assert (run.stdout, run.returncode) == (alone.stdout, 4)
    assert run.told() == (
        "exit 4 signal None\nmissing capture: no process imported jax or torch; nor any other library that the recorder"
        " knows, and nsys or rocprof may see more"
    )


def test_jax_without_a_device(record: Recorder) -> None:
    run = record("import jax\nprint(jax._src.xla_bridge.backends_are_initialized())")
    assert run.stdout == "False\n"
    assert run.told() == "exit 0 signal None\nmissing trace: jax was imported, but the program used no device"


def test_without_python(record: Recorder) -> None:
    run = record("", command=["sh", "-c", "exit 2"])
    assert run.told().splitlines()[1].startswith("missing capture: no Python process loaded the harness: ")


def test_isolated_python_is_not_seen(record: Recorder) -> None:
    run = record("", command=[sys.executable, "-I", "-c", "import sys; sys.exit(2)"])
    assert run.told().splitlines()[1].startswith("missing capture: -I has Python ignore PYTHONPATH")


def test_a_harness_that_cannot_be_loaded_says_why(record: Recorder) -> None:
    spoil = "echo '{' > $RIDGELINE_RECORD; exec " + sys.executable + " -c pass"
    run = record("", command=["sh", "-c", spoil])
    assert run.told().splitlines()[1].startswith("missing capture: Python could not load the harness: JSONDecodeError: ")


def test_a_piece_can_be_written_on_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ridgeline.manifest import Piece

    piece = Piece(tmp_path)
    (spare,) = tmp_path.glob("*.spare")
    write = Path.write_text

    def full(path: Path, *args: object, **kwargs: object) -> int:
        if spare.exists():
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(path, *args, **kwargs)

    monkeypatch.setattr(Path, "write_text", full)
    piece.lost("trace_stop", "OSError: No space left on device")
    (written,) = tmp_path.glob("*.json")
    assert json.loads(written.read_text())["missing"] == [{"what": "trace", "why": "OSError: No space left on device"}]


def test_processes_of_the_program(record: Recorder) -> None:
    child = STEP + "print('child')"
    run = record(
        STEP + f"import subprocess\nsubprocess.run([sys.executable, '-c', {child!r}], check=True)\nprint('parent')"
    )
    assert run.stdout == "child\nparent\n"
    assert run.told() == f"exit 0 signal None\n{WHOLE}\ntrace plugins/profile/trace.process2/host0.xplane.pb"
    assert {module["dir"] for module in run.manifest["modules"] if module["name"] == "jit_step"} == {
        "hlo/jit_step.3",
        "hlo/jit_step.p1-3",
    }


def test_a_fork_records_nothing_more(record: Recorder) -> None:
    run = record(STEP + "pid = os.fork()\nif pid == 0: os._exit(0)\nprint(os.waitpid(pid, 0)[1])")
    assert run.stdout == "0\n"
    assert run.told() == f"exit 0 signal None\n{WHOLE}"


def test_a_program_that_traces_itself(record: Recorder) -> None:
    run = record(
        STEP
        + """
with jax.profiler.trace("mine"):
    with jax.profiler.TraceAnnotation("inside"):
        step(x).block_until_ready()
with jax.profiler.TraceAnnotation("afterwards"):
    step(x).block_until_ready()
import pathlib
print(len(list(pathlib.Path("mine").rglob("*.xplane.pb"))))
"""
    )
    assert run.stdout == "1\n"
    paths = [trace["path"].split("/")[2].split(".")[0] for trace in run.manifest["traces"]]
    assert paths == ["trace", "own1", "trace"]
    assert [n for n in range(3) if "inside" in run.events(n)] == [1]
    assert [n for n in range(3) if "afterwards" in run.events(n)] == [2]


def test_another_sitecustomize_still_runs(record: Recorder) -> None:
    (record.folder / "site").mkdir()
    (record.folder / "site" / "sitecustomize.py").write_text("import builtins; builtins.theirs = 'theirs'")
    run = record(
        "import sitecustomize\nprint(theirs, sitecustomize.__file__.split('/')[-2])",
        env={"PYTHONPATH": str(record.folder / "site")},
    )
    assert run.stdout == "theirs site\n"


def test_overhead_is_compared(record: Recorder) -> None:
    run = record(STEP, {"measure_overhead": True})
    overhead = run.manifest["overhead"]
    assert 0 < overhead["harness_s"] < overhead["unrecorded_wall_s"] < 120


PARTS = [
    "attach", "session", "signals", "hard_exits", "modules", "own_traces", "annotations", "xla_flags", "backends", "trace_start",
    "trace_stop", "memory_profile", "jaxpr", "stablehlo", "hlo_before", "hlo_text", "hlo_proto", "hlo_dot", "cost_analysis",
    "memory_analysis", "samples", "sources", "schedule", "limits", "ticker", "drain", "finish", "source_exclusion",
]  # fmt: skip


@pytest.mark.parametrize("part", PARTS)
def test_a_broken_part_harms_nobody(record: Recorder, part: str) -> None:
    run = record(LOOP + "sys.exit(3)", {"hlo": "text,proto,dot,jaxpr,stablehlo,before"}, {"RIDGELINE_TEST_FAIL": part})
    assert (run.returncode, run.stdout, run.stderr) == (3, "done (64, 64)\n", "")
    harmless = {"schedule", "step_function"}  # not reached without steps or annotations
    if part not in harmless and part != "finish":
        assert "failure injected by a test" in run.told()


def test_a_disk_that_fills_up(record: Recorder) -> None:
    command = ["sh", "-c", f"ulimit -f 40; exec {sys.executable} program.py"]
    run = record(LOOP, command=command)
    assert run.stdout == "done (64, 64)\n"
    assert run.manifest["complete"] is False
    assert "File too large" in run.told()


def test_memory_in_the_middle_of_a_run(record: Recorder) -> None:
    run = record(LOOP, {"memory_at": [2, 5, 99], "steps": "3..4"})
    assert [(entry["when"], entry.get("step")) for entry in run.manifest["memory"]] == [
        ("step2", 2), ("before", None), ("after", None), ("step5", 5),
    ]
    assert [(run.out / entry["path"]).name for entry in run.manifest["memory"]][0] == "step2.pb.gz"
    assert b"program.py" in gzip.decompress((run.out / "memory/step5.pb.gz").read_bytes())


def test_portable_stablehlo(record: Recorder) -> None:
    run = record(STEP, {"hlo": "portable"})
    (portable, *_) = sorted((run.out / "hlo").glob("jit_step.*/portable.mlirbc"))
    # MLIR's bytecode, with the version of StableHLO that wrote it.
    assert portable.read_bytes()[:4] == b"ML\xefR" and b"StableHLO_v" in portable.read_bytes()[:40]


#: A function within this many others.
NESTED = """
import jax, jax.numpy as jnp

def call(depth, x):
    return callers[depth](x) if depth else jnp.sin(x)

callers = {}
for depth in range(1, 121):
    exec(f"def caller_{depth}(x): return call({depth - 1}, x)")
    callers[depth] = globals()[f"caller_{depth}"]

jax.jit(lambda x: call(120, x))(jnp.ones(8)).block_until_ready()
"""


@pytest.mark.parametrize(("limit", "callers"), [("3", 1), ("-1", 120)])
def test_modules_have_as_many_callers_as_the_environment_allows(record: Recorder, limit: str, callers: int) -> None:
    run = record(NESTED, {"hlo": "text"}, {"JAX_TRACEBACK_IN_LOCATIONS_LIMIT": limit})
    (after,) = (run.out / "hlo").glob("jit__lambda.*/after.txt")
    assert len(set(re.findall(r"caller_\d+", after.read_text()))) == callers


def test_a_recording_is_added_to_a_dataset_as_the_scheduler_names_it(ridgeline: Path, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("import jax\nprint(jax.numpy.ones(8).sum())\n")
    command = [ridgeline, "record", "--to", tmp_path / "fleet", "-o", tmp_path / "run", "--", sys.executable, "program.py"]
    slurm = {"SLURM_JOB_ID": "4711", "SLURMD_NODENAME": "node 3"}
    done = subprocess.run(command, cwd=tmp_path, env=os.environ | slurm, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "8.0\n"), done.stderr
    part = tmp_path / "fleet" / "job=4711" / "host=node_3" / "rank=0"
    assert (part / "raw" / "event.parquet").is_file(), done.stderr
    about = json.loads((part / "_ridgeline.json").read_text())
    assert [about[key] for key in ("job", "host", "rank")] == ["4711", "node_3", 0]
    assert "xplane" in {capture["format"] for capture in about["captures"]}
