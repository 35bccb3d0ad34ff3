"""Steps as a range for a profiler around the program: real JAX, a CUDA runtime and an `nsys` that are stand-ins."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ridgeline import range_tracer

pytest.importorskip("jax")

ROOT = Path(__file__).resolve().parents[2]

#: A runtime that writes down when a range begins and ends.
RUNTIME = r"""
#include <stdio.h>
#include <stdlib.h>
static int said(const char *what) {
    FILE *file = fopen(getenv("STAND_IN_RANGE"), "a");
    if (!file) return 999;
    fprintf(file, "%s\n", what);
    fclose(file);
    return 0;
}
int cudaProfilerStart(void) { return said("start"); }
int cudaProfilerStop(void) { return said("stop"); }
"""

PROGRAM = """
import os
import jax, jax.numpy as jnp

step = jax.jit(lambda x: jnp.sin(x))
x = step(jnp.ones(8)).block_until_ready()
for number in range(6):
    with jax.profiler.StepTraceAnnotation("train", step_num=number):
        with open(os.environ["STAND_IN_RANGE"], "a") as file:
            print("step", number, file=file)
        x = step(x).block_until_ready()
"""


def test_steps_are_the_range_that_nsys_captures(tmp_path: Path) -> None:
    built = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug" / "ridgeline"
    compiler = shutil.which("cc")
    if not built.exists() or compiler is None:
        pytest.skip("no target/debug/ridgeline, or no C compiler")
    library = tmp_path / "lib" / "libcudart.so.13"
    library.parent.mkdir()
    (tmp_path / "runtime.c").write_text(RUNTIME)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, tmp_path / "runtime.c"], check=True)
    nsys = tmp_path / "bin" / "nsys"
    nsys.parent.mkdir()
    nsys.write_text(f'#!/bin/sh\nexec {sys.executable} -I {ROOT}/crates/ridge_cli/tests/stand_in/nsys.py "$@"\n')
    nsys.chmod(0o755)
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    env = {
        **os.environ,
        "PATH": f"{nsys.parent}:{os.environ['PATH']}",
        "LD_LIBRARY_PATH": str(library.parent),
        "STAND_IN_RANGE": str(tmp_path / "range"),
        "STAND_IN_DATABASE": str(ROOT / "fixtures/nsys/two_processes.sqlite"),
        "JAX_PLATFORMS": "cpu",
    }
    options = ["--with", "nsys", "--steps", "2..4", "-o", str(tmp_path / "run")]
    command = [built, "record", *options, "--", sys.executable, str(script)]
    ran = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "range").read_text().split("\n") == [
        *("step 0", "step 1", "start", "step 2", "step 3", "stop", "step 4", "step 5", "")
    ]
    assert "missing" not in ran.stderr, ran.stderr
    assert (tmp_path / "run" / "trace" / "nsys.sqlite").exists()


def test_the_runtime_that_the_program_loaded_comes_first(tmp_path: Path) -> None:
    maps = tmp_path / "maps"
    line = "7f00-7f01 r-xp 00000000 08:01 12 "
    maps.write_text(f"{line}/usr/lib/libc.so.6\n{line}/opt/a b/libcudart.so.12\n{line}/opt/a b/libcudart.so.12\n{line}[heap]\n")
    assert range_tracer._loaded(maps) == ["/opt/a b/libcudart.so.12"]
    assert range_tracer._loaded(tmp_path / "none") == []
