"""Regions in programs: what they compute by themselves, what a recording keeps of them, and what is put in their place."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT
from recording import Recorder

PROGRAM = """
import jax, jax.numpy as jnp, numpy as np, ridgeline

def smooth(x):
    return jnp.sort(jnp.stack([x[:-2], x[1:-1], x[2:]]), axis=0)[1]

whole = jax.jit(smooth)

@ridgeline.region("scaled", static_argnames="by")
def scaled(parts, by):
    return {"sum": parts[0] + parts[1], "scaled": by * parts[0]}

@jax.jit
def step(x):
    made = scaled((x, 0.5 * x), by=2)
    return made["sum"] - made["scaled"]

x = jnp.asarray(np.sin(np.arange(18, dtype=np.float32)))
for _ in range(5):
    x = jnp.pad(whole(x), 1) + step(x)
x.block_until_ready()
jax.effects_barrier()
ridgeline.result("x", x)
print(repr(np.asarray(x).sum()))
"""


def kept(out: Path) -> dict[str, list[int]]:
    """Numbers of the calls that were kept of each module."""
    documents = [json.loads(path.read_text()) for path in sorted(out.glob("golden/*/golden.json"))]
    return {document["module"]: sorted(call["call"] for call in document["kept"]) for document in documents}


def test_a_region_is_its_function(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "without.py").write_text(
        PROGRAM.replace(", ridgeline", "").replace('@ridgeline.region("scaled", static_argnames="by")', "").replace('ridgeline.result("x", x)', "")
    )
    env = os.environ | {"PYTHONPATH": str(ROOT / "python"), "JAX_PLATFORMS": "cpu"}
    run = lambda name: subprocess.run([sys.executable, name], cwd=tmp_path, env=env, check=True, capture_output=True, text=True).stdout  # noqa: E731
    assert run("program.py") == run("without.py")


def test_names_are_names() -> None:
    import ridgeline  # noqa: PLC0415 - found by the path of conftest

    with pytest.raises(ValueError, match="expected a name of letters, digits and _, found 'a b'"):
        ridgeline.region("a b")
    assert ridgeline.region("plain")(lambda x: x + 1)(1) == 2
    assert ridgeline.result("x", 3) == 3


def test_a_recording_keeps_the_first_calls_and_powers_of_two(record: Recorder) -> None:
    import numpy as np  # noqa: PLC0415 - the program has it, too

    recorded = record(PROGRAM, {"golden": "smooth,scaled"})
    assert recorded.returncode == 0, recorded.stderr
    assert kept(recorded.out) == {"jit_smooth": [1, 2, 4], "jit_scaled": [1, 2, 4]}
    assert not [lost for lost in recorded.manifest["missing"] if lost["what"] == "inputs and outputs of regions"]
    folder = next(recorded.out.glob("golden/jit_smooth.*")) / "call_000000001"
    given = np.fromfile(folder / "in0.bin", np.float32)
    assert np.array_equal(given, np.sin(np.arange(18, dtype=np.float32)))
    assert np.array_equal(np.fromfile(folder / "out0.bin", np.float32), np.sort(np.stack([given[:-2], given[1:-1], given[2:]]), axis=0)[1])
    # A function that is a part of something larger has a module of its own, with nothing of ours in it.
    (module,) = recorded.out.glob("hlo/jit_scaled.*/stablehlo.mlir")
    assert "custom_call" not in module.read_text()


def test_modules_are_told_apart_by_their_code() -> None:
    import jax  # noqa: PLC0415 - the other tests need none here
    import jax.numpy as jnp  # noqa: PLC0415

    from ridgeline import module_code  # noqa: PLC0415

    x = jax.ShapeDtypeStruct((3, 4), jnp.float32)
    lowered = jax.jit(lambda x: (x + 1, x.sum(axis=0) > 0)).lower(x)
    other = jax.jit(lambda x: (x + 2, x.sum(axis=0) > 0)).lower(x)
    third = jax.jit(lambda x: (x * x, x.max(axis=0) > 0)).lower(x)
    text = lambda one: module_code.text_of(one.compiler_ir("stablehlo"))  # noqa: E731 - one line says it
    hlo = lambda one: one.compile().as_text()  # noqa: E731
    assert module_code.ports_of(lowered.compiler_ir("stablehlo")) == (["f32[3,4]"], ["f32[3,4]", "pred[4]"])
    assert module_code.is_same_code(text(lowered), text(lowered).replace('"result[0]"', '"result"'))
    assert not module_code.is_same_code(text(lowered), text(other))
    assert module_code.are_same_instructions(hlo(lowered), hlo(lowered))
    assert not module_code.are_same_instructions(hlo(lowered), hlo(other))
    assert not module_code.are_same_instructions(hlo(lowered), hlo(third))


def test_what_is_not_there_is_said(record: Recorder) -> None:
    recorded = record(PROGRAM, {"golden": "nothing_so"})
    assert "missing inputs and outputs of regions: no compiled module came from nothing_so; ridgeline.region" in recorded.told()


@pytest.fixture
def ridgeline_command() -> str:
    """The command line, where it is built already."""
    built = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug" / "ridgeline"
    if not built.is_file() or shutil.which("g++") is None:
        pytest.skip("no target/debug/ridgeline, or no g++")
    return str(built)


def test_a_whole_module_is_replaced_in_the_unmodified_program(ridgeline_command: str, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    # Of the tools that check hardware none is needed here.
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in ("g++", "as", "ld"):
        (tools / tool).symlink_to(shutil.which(tool))
    env = os.environ | {"PATH": str(tools), "JAX_PLATFORMS": "cpu"}

    def run(*words: str) -> str:
        done = subprocess.run([ridgeline_command, *words], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    program = ["--", sys.executable, "program.py"]
    run("record", "--golden", "smooth", "-o", "run", *program)
    said = run("handoff", "run", "--module", "jit_smooth", "--format", "fixed<16,8>", "--python", sys.executable, "-o", "b.handoff")
    assert "of 48 values of the program while it ran all are within the bound" in said, said
    found = json.loads(run("handoff", "emulate", "b.handoff", "--json", *program))
    assert found["original"]["calls"] == 5
    assert [(one["format"], one["calls"], one["events"]["modules"]) for one in found["replaced"]] == [
        (None, 5, ["jit_smooth"]),
        ("fixed<16,8>", 5, ["jit_smooth"]),
    ]
    typed, fixed = found["replaced"]
    assert typed["outputs"][0]["same"] == typed["outputs"][0]["values"] == 80
    assert typed["results"][0]["difference"]["same"] == 18
    assert 0 < fixed["outputs"][0]["largest"] <= 2**-9
    assert 0 < fixed["results"][0]["difference"]["largest"] < 0.1
