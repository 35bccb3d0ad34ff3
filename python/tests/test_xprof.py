"""XProf itself opens what was recorded: it lists the run, and each of its tools draws it."""

from __future__ import annotations

import gzip
import json
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from recording import Recorder

PROGRAM = """
import jax, jax.numpy as jnp
step = jax.jit(lambda x: jnp.sin(x @ x))
x = step(jnp.ones((64, 64))).block_until_ready()
for number in range(4):
    with jax.profiler.StepTraceAnnotation("train", step_num=number):
        x = step(x).block_until_ready()
"""

#: Tools that draw one module or one operation of it, by what they must be told.
OF_A_MODULE = {"memory_viewer", "graph_viewer"}


class XProf:
    """A running server."""

    def __init__(self, port: int) -> None:
        self.at = f"http://127.0.0.1:{port}/data/plugin/profile/"

    def get(self, route: str, **asked: str) -> bytes:
        with urllib.request.urlopen(f"{self.at}{route}?{urllib.parse.urlencode(asked)}", timeout=100) as answer:
            body = answer.read()
        return gzip.decompress(body) if body.startswith(b"\x1f\x8b") else body

    def json(self, route: str, **asked: str) -> object:
        return json.loads(self.get(route, **asked))


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def _wait_for(port: int) -> None:
    end = time.monotonic() + 60
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            if time.monotonic() > end:
                raise


@contextmanager
def xprof(folder: Path) -> Iterator[XProf]:
    """XProf's own server over the log directory `folder`, once it answers."""
    port = _free_port()
    start = f"import sys; from xprof.server import main; sys.argv = ['xprof', '--logdir', {str(folder)!r}, '--port', '{port}', '--grpc_port', '{_free_port()}']; main()"
    server = subprocess.Popen([sys.executable, "-c", start], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        # It says where it is right before it listens.
        said = []
        for line in server.stderr:
            said.append(line)
            if "XProf at" in line:
                break
        else:
            pytest.fail("".join(said))
        _wait_for(port)
        yield XProf(port)
    finally:
        server.kill()
        server.communicate()


def drawn(server: XProf, run: str) -> dict[str, bytes]:
    """What each tool answers for the hosts of `run`; an answer that is an error fails the test."""
    modules = server.get("module_list", run=run).decode().split(",")
    found = {}
    for tool in server.json("run_tools", run=run):
        for host in server.json("hosts", run=run, tag=tool):
            asked = {"run": run, "tag": tool, "host": host["hostname"]}
            if tool in OF_A_MODULE:
                (module,) = [name for name in modules if "lambda" in name]
                # The graph is drawn around an operation; `type` has the whole module as text instead.
                asked |= {"module_name": module, "memory_space": "0"} | ({"type": "short_txt"} if tool == "graph_viewer" else {})
            found[tool] = server.get("data", **asked)
    return found


def test_xprof_lists_and_draws_a_recording(record: Recorder) -> None:
    pytest.importorskip("jax")
    pytest.importorskip("xprof")
    run = record(PROGRAM)
    with xprof(run.out) as server:
        assert server.json("runs") == ["trace"]
        found = drawn(server, "trace")
    assert {"overview_page", "trace_viewer@", "op_profile", "memory_viewer", "graph_viewer", "hlo_stats", "roofline_model"} <= set(found)
    assert all(len(answer) > 50 for answer in found.values()), {tool: len(answer) for tool, answer in found.items()}
    assert b"train" in found["trace_viewer@"] and b"dot(" in found["graph_viewer"]
    # What it left beside the capture is no reason to keep the next recording out.
    again = record(PROGRAM)
    assert [path.name for path in (again.out / "plugins/profile/trace").iterdir()] == ["host0.xplane.pb"]


def test_windows_are_runs(record: Recorder) -> None:
    pytest.importorskip("jax")
    pytest.importorskip("xprof")
    run = record(PROGRAM, {"annotation": "train"})
    with xprof(run.out.parent) as server:
        runs = server.json("runs")
    names = ["trace", *(f"trace.window{n}" for n in (2, 3, 4))]
    assert sorted(runs) == [f"run/{name}" for name in names][: len(runs)] and len(runs) >= 3
