"""A function of a file in its forms, without a run: what `ridgeline compile FILE.py:FUNCTION` hands to the compiler."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ridgeline import compile_function

pytest.importorskip("jax")

SOLVER = """
from pathlib import Path
import jax
import jax.numpy as jnp

def ran(x):
    Path(__file__).with_name("ran").touch()
    return x

def step(x, n):
    x = jax.pure_callback(ran, x, x)
    return jnp.sin(x @ x).sum() * n

if __name__ == "__main__":
    raise SystemExit("the program itself ran")
"""


def test_jaxpr_and_lowered_forms_of_a_function_that_does_not_run(tmp_path: Path) -> None:
    program, out = tmp_path / "solver.py", tmp_path / "lowered"
    program.write_text(SOLVER)
    assert compile_function.main([str(program), "step", str(out), "f32[16,16]", "n=3"]) == 0
    assert not (tmp_path / "ran").exists()
    jaxpr = (out / "jaxpr.txt").read_text()
    assert "dot_general" in jaxpr and "f32[16,16]" in jaxpr
    text = (out / "stablehlo.mlir").read_text()
    # With the lines of the program.
    assert "stablehlo.dot_general" in text and 'solver.py":12' in text
    assert (out / "lowered.mlirbc").read_bytes()[:4] == b"ML\xefR"
    assert json.loads((out / "versions.json").read_text()).keys() == {"jax", "jaxlib"}
