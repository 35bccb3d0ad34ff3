"""What recording costs: steps of programs as they are, under their library's profiler alone, and recorded with each option."""

from __future__ import annotations

import re
import statistics
from pathlib import Path

from context import PROGRAMS, PROOFS, Context, Missing, Proof, last_line

#: Steps that compile or warm caches and are not counted.
WARM_UP = 2
STEP = re.compile(r"^(?:step|round) \d+: ([\d.]+) ms", re.MULTILINE)
#: How many times each way is run; the one with the least median counts, because disturbances only add.
TIMES = 2

JAX_WAYS = {"recorded": [], "recorded, --hlo none": ["--hlo", "none"], "recorded, --python-tracer": ["--python-tracer"],
            "recorded, --keep-command-buffers": ["--keep-command-buffers"],
            "recorded, --expand-command-buffers": ["--expand-command-buffers"]}
TORCH_WAYS = {"recorded": [], "recorded, --shapes": ["--shapes"], "recorded, --allocations": ["--allocations"],
              "recorded, --python-tracer": ["--python-tracer"]}


def prove(context: Context) -> Proof:
    """Run every program every way."""
    proof = Proof("Overhead of recording", ["program", "way", "step ms", "step/plain", "whole s", "steps"])
    for library, name, program in programs(context.quick):
        plain = None
        for way, options in [("plain", None), (f"{library}.profiler alone", None),
                             *(JAX_WAYS if library == "jax" else TORCH_WAYS).items()]:
            try:
                step_ms, whole_s, steps = best(context, library, name, program, way, options)
            except Missing as missing:
                proof.facts.append(f"{name}, {way}: {missing}")
                continue
            plain = step_ms if way == "plain" else plain
            proof.rows.append([name, way, step_ms, step_ms / plain if plain else None, whole_s, steps])
    return proof


def programs(quick: bool) -> list[tuple[str, str, list[str | Path]]]:
    """Library, name and command line of each program."""
    small = ["--layers", "2", "--width", "128", "--length", "64", "--batch", "4"] if quick else []
    n = "32" if quick else "96"
    steps = ["--steps", "12"]
    return [
        ("jax", "transformer (JAX)", [PROGRAMS / "transformer_jax.py", *steps, *small]),
        ("jax", "shallow water, loop in Python", [PROGRAMS / "shallow_water.py", "--n", n, "--rounds", "8", "--steps", "20"]),
        ("torch", "transformer (PyTorch)", [PROGRAMS / "transformer_torch.py", *steps, *small]),
    ]


def best(context: Context, library: str, name: str, program: list[str | Path], way: str,
         options: list[str] | None) -> tuple[float, float, int]:
    """Median of a step in ms, seconds of the whole program, and steps counted, of the better of the runs."""
    folder = context.folder("overhead")
    run = folder / re.sub(r"\W+", "_", f"{name} {way}")
    log = run.with_name(run.name + ".log")
    found = []
    for _ in range(1 if context.quick else TIMES):
        if options is not None:
            finished = context.record(run, program, options=options)
        elif way == "plain":
            finished = context.run([context.python, *program], log=log)
        else:
            finished = context.run([context.python, PROOFS / "under_profiler.py", library, run, *program], log=log)
        times = step_times(finished.output)
        if finished.status != 0 or not times:
            raise Missing(f"failed: {last_line(finished.output)}")
        found.append((statistics.median(times), finished.seconds, len(times)))
    return min(found)


def step_times(output: str) -> list[float]:
    """Milliseconds of the steps that a program printed, without those that warm up."""
    return [float(value) for value in STEP.findall(output)][WARM_UP:]
