"""The file that the harness keeps of a running program: what it says, and that it goes."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from recording import Recorder

from ridgeline import live

pytest.importorskip("jax")

PROGRAM = """
import json, os, pathlib
import jax, jax.numpy as jnp

step = jax.jit(lambda x: jnp.sin(x @ x))
kept = jnp.ones((256, 256), jnp.float32)
x = step(kept).block_until_ready()
(path,) = pathlib.Path(os.environ["XDG_RUNTIME_DIR"], "ridgeline").glob("*.json")
before = json.loads(path.read_text())
number = 0
while True:  # until the file was renewed
    with jax.profiler.StepTraceAnnotation("train", step_num=number):
        x = step(x).block_until_ready()
    number += 1
    now = json.loads(path.read_text())
    if now.get("steps_per_s") and now["live_arrays"] >= 2:
        break
print(json.dumps(now))
"""


def test_a_recorded_program_keeps_its_state_while_it_runs(record: Recorder, tmp_path: Path) -> None:
    runtime = tmp_path / "runtime"
    runtime.mkdir()
    run = record(PROGRAM, env={"XDG_RUNTIME_DIR": str(runtime)})
    assert run.returncode == 0, run.stderr
    said = json.loads(run.stdout)
    assert (said["schema"], said["program"]) == (live.SCHEMA, "program.py")
    assert said["live_bytes"] >= 2 * 256 * 256 * 4
    assert said["steps"] > 0
    assert [device["platform"] for device in said["devices"]] == ["cpu"]
    assert list((runtime / "ridgeline").iterdir()) == []
    assert "live" not in [lost["what"] for lost in run.manifest["missing"]]


def test_rates_are_of_the_time_between_two_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = iter([10, 30])
    times = iter([100.0, 104.0])
    monkeypatch.setattr(live.time, "time", lambda: next(times))
    kept = live.Live(lambda: next(steps))
    assert kept.state()["steps_per_s"] is None
    assert kept.state()["steps_per_s"] == 5.0


def test_a_folder_of_others_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    open_to_all = tmp_path / "ridgeline"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    with pytest.raises(PermissionError):
        live.folder()
    open_to_all.rmdir()
    open_to_all.symlink_to(tmp_path)
    with pytest.raises(PermissionError):
        live.folder()
    open_to_all.unlink()
    assert stat.S_IMODE(live.folder().stat().st_mode) == 0o700


def test_it_can_be_turned_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv(live.VARIABLE, "0")
    kept = live.start()
    assert list(tmp_path.iterdir()) == []
    monkeypatch.delenv(live.VARIABLE)
    kept = live.start(steps=lambda: 3)
    (file,) = (tmp_path / "ridgeline").glob("*.json")
    assert json.loads(file.read_text())["steps"] == 3
    assert file.name == f"{os.getpid()}.json"
    kept.stop()
    assert not file.exists()
