"""A worker tells everything that happens, and nothing that an operation does loses the other rows."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

PYTHON = Path(__file__).resolve().parents[1]

PLAIN = """
import os, signal
from ridgeline.suite import Suite

suite = Suite("plain", sizes=(2,))
suite.variant("loud", env={"LOUD": "1"})

@suite.operation
def fine(size):
    print("printed by the suite", flush=True)
    os.write(1, b"written by a library\\n")
    return size

@suite.operation
def broken(size):
    raise ValueError(f"cannot do {size}")

@suite.operation
def dies():
    os.kill(os.getpid(), signal.SIGKILL)

@suite.operation
def last(size):
    return size
"""


class Run:
    def __init__(self, tmp_path, suite, *arguments):
        path = tmp_path / "plain.py"
        path.write_text(suite)
        command = [sys.executable, "-m", "ridgeline.bench_worker", "--suite", str(path), "--size", "4"]
        command += ["--out", str(tmp_path / "out"), *arguments]
        environment = os.environ | {"PYTHONPATH": str(PYTHON), "JAX_ENABLE_COMPILATION_CACHE": "false"}
        process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.out = tmp_path / "out"
        self.lines = list(process.stdout)
        self.errors = process.stderr.read()
        process.stdin.close()
        self.status = process.wait()
        self.events = [json.loads(line) for line in self.lines]

    def kinds(self):
        return [event["event"] for event in self.events if event["event"] not in ("phase", "environment")]

    def rows(self):
        return {event["operation"]: event for event in self.events if event["event"] == "row"}


def test_a_failing_operation_is_a_row_with_its_reason_and_the_rest_goes_on(tmp_path):
    run = Run(tmp_path, PLAIN, "--ops=fine", "--ops=broken", "--ops=last", "--runs=3")
    assert run.status == 0
    rows = run.rows()
    assert {name: row["status"] for name, row in rows.items()} == {"fine": "ok", "broken": "failed", "last": "ok"}
    assert rows["broken"]["reason"] == "ValueError: cannot do 4"
    assert rows["broken"]["phase"] == "first run"
    assert rows["fine"]["runs"] == 3
    assert "raise ValueError" in run.errors


def test_what_a_suite_prints_does_not_mix_with_events(tmp_path):
    run = Run(tmp_path, PLAIN, "--ops=fine", "--runs=1")
    assert run.kinds() == ["plan", "start", "measurement", "row"]
    assert "printed by the suite" in run.errors
    assert "written by a library" in run.errors


def test_a_worker_that_dies_has_told_what_it_was_doing_and_can_be_continued(tmp_path):
    run = Run(tmp_path, PLAIN, "--runs=1")
    assert run.status == -signal.SIGKILL
    assert list(run.rows()) == ["fine", "broken"]
    assert (run.events[-1]["event"], run.events[-1]["operation"]) == ("phase", "dies")
    rest = Run(tmp_path, PLAIN, "--runs=1", "--after=dies")
    assert list(rest.rows()) == ["last"]


def test_a_used_up_budget_makes_rows_not_runs(tmp_path):
    run = Run(tmp_path, PLAIN, "--budget-s=0")
    assert run.status == 0
    assert {row["reason"] for row in run.rows().values()} == {"not run: budget used up"}
    assert len(run.rows()) == 4
    assert "start" not in run.kinds()


def test_a_list_says_what_would_run_and_runs_nothing(tmp_path):
    run = Run(tmp_path, PLAIN, "--list", "--ops=f*")
    assert run.kinds() == ["plan"]
    plan = run.events[0]
    assert (plan["operations"], plan["sizes"], plan["variants"]) == (["fine"], [2], {"loud": {"LOUD": "1"}})
    assert not run.out.exists()


def test_a_suite_that_cannot_be_loaded_says_why(tmp_path):
    run = Run(tmp_path, "import no_such_module_at_all\n")
    assert run.status == 3
    assert run.events[-1] == {"event": "broken", "reason": "ModuleNotFoundError: No module named 'no_such_module_at_all'"}


WAITS = """
import time
from ridgeline.suite import Suite

suite = Suite("waits")

@suite.operation
def waits():
    time.sleep(60)
"""


def test_the_end_of_standard_input_interrupts(tmp_path):
    path = tmp_path / "waits.py"
    path.write_text(WAITS)
    command = [sys.executable, "-m", "ridgeline.bench_worker", "--suite", str(path), "--out", str(tmp_path / "out")]
    environment = os.environ | {"PYTHONPATH": str(PYTHON)}
    process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        if '"first run"' in line:
            break
    process.stdin.close()
    assert json.loads(process.stdout.read()) == {"event": "interrupted"}
    assert process.wait() == 130


JAX = """
import jax, jax.numpy as jnp
from ridgeline.suite import Suite

suite = Suite("jax")

@suite.fixture
def image(size):
    return jnp.ones((size, size))

@suite.operation
def square(image):
    return jax.jit(lambda x: x @ x)(image)

@suite.operation
def recompiles(image):
    return jax.jit(lambda x: x + 1)(image)

add_one = jax.jit(lambda x: x + 1)

@suite.operation
def compiles_once(image):
    return add_one(image)

@suite.operation
def fails_after_compiling(image):
    jax.jit(lambda x: x - 1)(image)
    raise MemoryError
"""


def test_an_operation_leaves_its_trace_and_its_own_modules(tmp_path):
    pytest.importorskip("jax")
    run = Run(tmp_path, JAX, "--runs=2", "--hlo=text", "--ops=square")
    assert run.status == 0
    row = run.rows()["square"]
    assert row["traces"] == ["plugins/profile/square/host0.xplane.pb"]
    assert b"square" in (run.out / row["traces"][0]).read_bytes()
    modules, of_the_trace = [event for event in run.events if event["event"] == "modules"]
    assert [module["name"] for module in modules["modules"]] == ["jit__lambda"]
    assert (run.out / modules["modules"][0]["dir"] / "after.txt").read_text().startswith("HloModule jit__lambda")
    assert modules["costs"][0]["cost"]["flops"] > 0
    # The traced run compiled a module of its own, and that is the one the trace is of.
    assert (len(of_the_trace["modules"]), of_the_trace["costs"]) == (1, None)
    assert of_the_trace["modules"][0]["dir"] != modules["modules"][0]["dir"]
    assert (run.out / of_the_trace["modules"][0]["dir"] / "after.txt").is_file()
    assert [event["traced"] for event in run.events if event["event"] == "measurement"] == [True, False, False]
    assert not list(run.out.glob(".*"))


def test_what_measured_runs_compile_is_counted(tmp_path):
    pytest.importorskip("jax")
    run = Run(tmp_path, JAX, "--runs=2", "--ops=recompiles", "--ops=compiles_once")
    rows = run.rows()
    assert rows["recompiles"]["late_modules"] == 3
    assert rows["recompiles"]["late_compile_s"] > 0
    assert rows["recompiles"]["late_runs_s"] >= rows["recompiles"]["traced_s"]
    assert sum(rows["recompiles"]["late_names"].values()) == 3
    assert "late_names" not in rows["compiles_once"]
    assert (rows["compiles_once"]["late_modules"], rows["compiles_once"]["notes"]) == (0, [])


def test_an_operation_that_fails_leaves_the_modules_it_compiled(tmp_path):
    pytest.importorskip("jax")
    run = Run(tmp_path, JAX, "--ops=fails_after_compiling")
    row = run.rows()["fails_after_compiling"]
    assert (row["status"], row["reason"], row["phase"]) == ("failed", "MemoryError", "first run")
    assert [len(event["modules"]) for event in run.events if event["event"] == "modules"] == [1]


def test_an_operation_that_fails_under_the_profiler_stops_it(tmp_path):
    pytest.importorskip("jax")
    run = Run(tmp_path, FAILS_SECOND_TIME, "--runs=1")
    rows = run.rows()
    assert (rows["once"]["reason"], rows["once"]["phase"]) == ("RuntimeError: second time", "traced run")
    assert (rows["after"]["status"], rows["after"]["notes"]) == ("ok", [])
    assert rows["after"]["traces"] == ["plugins/profile/after/host0.xplane.pb"]


FAILS_SECOND_TIME = """
import jax.numpy as jnp
from ridgeline.suite import Suite

suite = Suite("second")
calls = []

@suite.operation
def once():
    calls.append(1)
    if len(calls) > 1:
        raise RuntimeError("second time")

@suite.operation
def after():
    return jnp.ones(3) + 1
"""


def test_a_pattern_that_matches_nothing_is_told_with_what_there_is(tmp_path):
    run = Run(tmp_path, PLAIN, "--list", "--ops=fin")
    (event,) = run.events
    assert event == {"event": "no_match", "pattern": "fin", "operations": ["fine", "broken", "dies", "last"]}


def test_a_dump_is_sorted_by_operation(tmp_path, monkeypatch):
    pytest.importorskip("jax")
    dump = tmp_path / "dump"
    monkeypatch.setenv("XLA_FLAGS", f"--xla_dump_to={dump} --xla_dump_hlo_as_text")
    run = Run(tmp_path, JAX, "--runs=1", "--ops=square", f"--dump={dump}")
    assert run.status == 0
    assert not [path.name for path in dump.iterdir() if path.name.startswith("module_")]
    assert any("lambda" in path.name for path in (dump / "square").iterdir())


def test_only_what_is_asked_for_is_kept_of_modules() -> None:
    pytest.importorskip("jax")
    program = """
import jax, jax.numpy as jnp
from ridgeline import capture

def waiting():
    return {name for module in capture._watch()._waiting for name, value in vars(module).items() if value is not None}

token = capture.module_token(formats={"text"})
jax.jit(lambda x: x + 1)(jnp.ones(3)).block_until_ready()
first = waiting()
capture.module_token(formats={"jaxpr"})
jax.jit(lambda x: x * 3)(jnp.ones(3)).block_until_ready()
print(sorted(first & {"after_text", "jaxpr", "after_proto", "stablehlo"}), sorted(waiting() & {"after_text", "jaxpr", "after_proto"}))
"""
    environment = {**os.environ, "PYTHONPATH": str(PYTHON), "JAX_PLATFORMS": "cpu"}
    ran = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "['after_text'] ['after_text', 'jaxpr']"
