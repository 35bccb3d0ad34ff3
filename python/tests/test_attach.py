"""Programs that run already, captured from the server that JAX itself opens in them."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("jax")

ROOT = Path(__file__).resolve().parents[2]

#: Works until its input ends, and says when its server is there and its function compiled.
PROGRAM = """
import select, sys
import jax, jax.numpy as jnp

server = jax.profiler.start_server(int(sys.argv[1]))
step = jax.jit(lambda x: jnp.sin(x @ x))
x = step(jnp.ones((64, 64))).block_until_ready()
print("ready", flush=True)
while not select.select([sys.stdin], [], [], 0)[0]:
    with jax.profiler.StepTraceAnnotation("train"):
        x = step(x).block_until_ready()
"""


def _ridgeline() -> Path:
    built = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug" / "ridgeline"
    if not built.exists():
        pytest.skip("no target/debug/ridgeline")
    return built


def _run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [str(_ridgeline()), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@contextmanager
def _programs(count: int) -> Iterator[list[str]]:
    """So many programs at work, and where their servers listen."""
    ports = [_free_port() for _ in range(count)]
    command = [sys.executable, "-c", PROGRAM]
    env = {**os.environ, "JAX_PLATFORMS": "cpu"}
    running = [
        subprocess.Popen([*command, str(port)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env, text=True)
        for port in ports
    ]
    try:
        for program in running:
            assert program.stdout is not None
            assert program.stdout.readline() == "ready\n"
        yield [f"127.0.0.1:{port}" for port in ports]
    finally:
        for program in running:
            program.communicate("")
    assert [program.returncode for program in running] == [0] * count


def _stats(folder: Path) -> dict:
    answer = _run("stats", folder, "-f", "json")
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)


def _names(stats: dict, table: str) -> set[str]:
    return {str(value) for row in stats["tables"][table]["rows"] for value in row.values()}


def test_running_programs_are_captured_at_the_same_time(tmp_path: Path) -> None:
    with _programs(2) as servers:
        made = _run("record", "--attach", ",".join(servers), "--duration", "300ms", "-o", tmp_path / "run")
    assert made.returncode == 0, made.stderr
    for server in servers:
        folder = tmp_path / "run" / server.replace(":", "_")
        assert folder.is_dir()
        assert "train" in json.dumps(_stats(folder))
        modules = _run("hlo", folder)
        assert "jit__lambda" in modules.stdout, modules.stdout + modules.stderr
    assert _run("info", tmp_path / "run").returncode == 0


def test_snapshots_have_the_last_stretch_and_its_modules(tmp_path: Path) -> None:
    with _programs(1) as servers:
        assert _run("snapshot", "--start", *servers).returncode == 0
        first = _run("snapshot", *servers, "-o", tmp_path / "first")
        assert first.returncode == 0, first.stderr
        # The ring goes on, also after the modules were asked for.
        second = _run("snapshot", *servers, "--no-modules", "-o", tmp_path / "second")
        assert second.returncode == 0, second.stderr
        assert _run("snapshot", "--stop", *servers).returncode == 0
        stopped = _run("snapshot", *servers, "-o", tmp_path / "third")
        assert stopped.returncode == 1
        assert not (tmp_path / "third").exists()
    assert "train" in json.dumps(_stats(tmp_path / "first"))
    assert "jit__lambda" in _run("hlo", tmp_path / "first").stdout


def test_an_interrupt_keeps_what_was_captured(tmp_path: Path) -> None:
    with _programs(1) as servers:
        command = [str(_ridgeline()), "record", "--attach", *servers, "--duration", "1h", "-o", str(tmp_path / "run")]
        attached = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert attached.stderr is not None
        assert "captur" in attached.stderr.readline()
        attached.send_signal(signal.SIGINT)
        _, said = attached.communicate(timeout=300)
    assert attached.returncode == 0, said
    assert _stats(tmp_path / "run")


def test_what_is_no_server_is_said(tmp_path: Path) -> None:
    nobody = f"127.0.0.1:{_free_port()}"
    answer = _run("record", "--attach", nobody, "-o", tmp_path / "run")
    assert answer.returncode == 1
    assert "nothing listens there" in answer.stderr
    assert "jax.profiler.start_server" in answer.stderr
    assert not (tmp_path / "run").exists()


def test_programs_that_answer_are_kept_where_others_do_not(tmp_path: Path) -> None:
    nobody = f"127.0.0.1:{_free_port()}"
    with _programs(1) as servers:
        answer = _run("record", "--attach", f"{servers[0]},{nobody}", "--duration", "100ms", "-o", tmp_path / "run")
    assert answer.returncode == 1
    assert [path.name for path in (tmp_path / "run").iterdir()] == [servers[0].replace(":", "_")]
