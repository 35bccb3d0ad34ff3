"""Holds what `--as GPU` says of a CPU's recording without the compiler against what it says with it.

Without it, the modules that XLA compiled for the CPU stand for those of the GPU. How far that is off is the compiled time over the
other, by the same roofs; of it docs/offload-validation.md has what was counted, and the intervals of the fallback their width.

    RIDGELINE_COMPILER=PYTHON python scripts/fallback.py [--gpu h100] RECORDING ...

Recordings are made by `ridgeline record --hlo text,proto,jaxpr,stablehlo,lowered`. A module that ran on the GPU's side alone, or on
the CPU's alone, has no ratio and is counted.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

#: From so many launches of the CPU's on, modules are judged by themselves, as the fallback's interval does.
MANY = 5


@dataclass
class Module:
    """What the regions of a module come to, in all their calls: likeliest time, its interval, and launches of one call."""

    ns: float = 0.0
    low_ns: float = 0.0
    high_ns: float = 0.0
    launches: float = 0.0


def main() -> int:
    """Prints a table of programs and one of all modules; 1 if a recording could not be judged."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpu", default="h100")
    parser.add_argument("--ridgeline", default=os.environ.get("RIDGELINE_BINARY") or shutil.which("ridgeline") or "ridgeline")
    parser.add_argument("recordings", nargs="+", type=Path)
    asked = parser.parse_args()
    every: list[tuple[float, float, bool]] = []
    is_whole = True
    print("| program | modules in both, in one | compiled over the CPU's HLO, whole program | its modules, least to most |\n|---|---|---|---|")
    for recording in asked.recordings:
        try:
            alone, compiled = (_modules(asked.ridgeline, recording, asked.gpu, with_compiler=has) for has in (False, True))
        except ValueError as why:
            print(f"| {recording.name} | not judged: {why} | | |")
            is_whole = False
            continue
        both = sorted(alone.keys() & compiled.keys())
        ratios = [_compared(alone[name], compiled[name]) for name in both if alone[name].ns > 0]
        every += ratios
        total = sum(compiled[name].ns for name in both) / max(sum(alone[name].ns for name in both), 1)
        span = f"{min(ratios)[0]:.2f} to {max(ratios)[0]:.2f}" if ratios else "–"
        print(f"| {recording.name} | {len(both)}, {len(alone.keys() ^ compiled.keys())} | {total:.2f} | {span} |", flush=True)
    print("\n| modules | eight in ten | median | inside of what the fallback prints |\n|---|---|---|---|")
    few = [one for one in every if one[1] < MANY]
    many = [one for one in every if one[1] >= MANY]
    for what, modules in (("below five launches", few), ("with five and more", many)):
        ratios = sorted(ratio for ratio, *_ in modules)
        if len(ratios) < 2:
            print(f"| {len(ratios)} {what} | – | – | – |")
            continue
        deciles = statistics.quantiles(ratios, n=10, method="inclusive")
        inside = sum(is_inside for *_, is_inside in modules)
        print(f"| {len(ratios)} {what} | {deciles[0]:.2f} to {deciles[-1]:.2f} | {statistics.median(ratios):.2f} | {inside} of {len(ratios)} |")
    return 0 if is_whole else 1


def _compared(alone: Module, compiled: Module) -> tuple[float, float, bool]:
    """Compiled over the other, launches of the other, and whether the other's interval holds the compiled time."""
    return compiled.ns / alone.ns, alone.launches, alone.low_ns <= compiled.ns <= alone.high_ns


def _modules(ridgeline: str, recording: Path, gpu: str, *, with_compiler: bool) -> dict[str, Module]:
    """By module, the device time that regions have on the GPU.

    Raises ValueError where it was not compiled although it should be, or nothing came out.
    """
    command = [ridgeline, "offload", str(recording), "--as", gpu, "--all", "-f", "json"]
    with tempfile.TemporaryDirectory(prefix="fallback-") as empty:
        # What was compiled before would do without a compiler.
        without = {} if with_compiler else {"RIDGELINE_COMPILER": f"{empty}/none", "XDG_CACHE_HOME": empty}
        done = subprocess.run(command, env=os.environ | without, capture_output=True, text=True)
    if done.returncode != 0:
        raise ValueError(done.stderr.strip().splitlines()[-1:] or f"status {done.returncode}")
    report = json.loads(done.stdout)
    is_compiled = not any("not compiled for" in note["message"] for note in report["notes"])
    if is_compiled != with_compiler:
        raise ValueError(next((note["message"] for note in report["notes"] if "not compiled" in note["message"]), "it was compiled"))
    found: dict[str, Module] = defaultdict(Module)
    for region in report["regions"]:
        if region["inside_loop"] is None:
            module, call = found[region["module"]], region["call"]
            module.ns += call["p50_ns"] * region["calls"]
            module.low_ns += call["p10_ns"] * region["calls"]
            module.high_ns += call["p90_ns"] * region["calls"]
            module.launches += region["launches"]
    return dict(found)


if __name__ == "__main__":
    sys.exit(main())
