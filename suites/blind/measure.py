"""Measures the pairs of this folder and holds their checksums against each other.

Each pair is run as bad, good, good, bad, ... until both programs have run
`--runs` times; the median step time of each, the fraction saved and the range
of both are printed, and with `--write` kept in blind.json.  Healthy programs
are only run once with `--healthy`, to see that they end well.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
TIMING = re.compile(r"^(\d+) steps in ([0-9.]+) s$", re.MULTILINE)
CHECKSUM = re.compile(r"^checksum (.+)$", re.MULTILINE)
LEAST_SAVED = 0.15


class Outcome(NamedTuple):
    """What one run printed: the number of steps, milliseconds a step, checksums."""

    steps: int
    step_ms: float
    checksums: list[float]


def run_program(path: Path, python: str, limit_s: float) -> Outcome:
    """Runs one program in its own folder; raises RuntimeError when it fails."""
    done = subprocess.run(
        [python, path.name],
        cwd=path.parent,
        capture_output=True,
        text=True,
        timeout=limit_s,
        env={**os.environ, "PYTHONWARNINGS": "ignore", "PYTHONDONTWRITEBYTECODE": "1"},
    )
    timing, checksum = TIMING.search(done.stdout), CHECKSUM.search(done.stdout)
    if done.returncode or not timing or not checksum:
        raise RuntimeError(f"{path}: exit {done.returncode}\n{done.stdout}{done.stderr[-2000:]}")
    steps = int(timing[1])
    step_ms = 1e3 * float(timing[2]) / steps
    return Outcome(steps, step_ms, [float(value) for value in checksum[1].split()])


def agree(left: list[float], right: list[float], tolerance: float) -> bool:
    """Whether two checksum lines agree, relative to the larger of each two numbers."""
    return len(left) == len(right) and all(
        abs(a - b) <= tolerance * max(abs(a), abs(b), 1e-30) for a, b in zip(left, right)
    )


def interleaved(runs: int) -> list[str]:
    """bad good good bad bad good ..., each of the two `runs` times."""
    return [side for i in range(runs) for side in (("bad", "good") if i % 2 == 0 else ("good", "bad"))]


def measure_pair(pair: dict[str, Any], python: str, runs: int, limit_s: float) -> list[str]:
    """Fills the measured fields of `pair`; gives what is wrong with it."""
    seen: dict[str, list[Outcome]] = {"bad": [], "good": []}
    for side in interleaved(runs):
        seen[side].append(run_program(HERE / pair[side], python, limit_s))
    medians = {side: statistics.median(o.step_ms for o in outs) for side, outs in seen.items()}
    pair["steps"] = seen["bad"][0].steps
    for side, value in medians.items():
        pair[f"{side}_step_ms"] = float(f"{value:.4g}")
    pair["saved_fraction"] = round(1.0 - medians["good"] / medians["bad"], 3)
    pair["spread"] = {
        f"{side}_step_ms": [float(f"{pick(o.step_ms for o in outs):.4g}") for pick in (min, max)]
        for side, outs in seen.items()
    }
    wrong = []
    if not agree(seen["bad"][0].checksums, seen["good"][0].checksums, pair["tolerance"]):
        wrong.append(f"checksums differ: {seen['bad'][0].checksums} {seen['good'][0].checksums}")
    if pair["saved_fraction"] < LEAST_SAVED:
        wrong.append("saves too little")
    return wrong


def main() -> int:
    """Runs what was asked for; the exit status is 1 when something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3, help="runs of each program of a pair")
    parser.add_argument("--only", nargs="*", help="ids to measure; all by default")
    parser.add_argument("--python", default=sys.executable, help="interpreter that has the libraries")
    parser.add_argument("--torch-python", help="interpreter for the programs of PyTorch; that of --python by default")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds one run may take")
    parser.add_argument("--healthy", action="store_true", help="run the healthy programs instead")
    parser.add_argument("--write", action="store_true", help="keep what was measured in blind.json")
    options = parser.parse_args()
    listing = HERE / "blind.json"
    suite = json.loads(listing.read_text())
    failures = 0
    for entry in suite["healthy" if options.healthy else "pairs"]:
        if options.only and entry["id"] not in options.only:
            continue
        torch_python = options.torch_python or options.python
        python = torch_python if entry.get("python") == "torch" else options.python
        try:
            if options.healthy:
                outcome = run_program(HERE / entry["program"], python, options.limit)
                line, wrong = f"{outcome.step_ms:.3f} ms a step", []
            else:
                wrong = measure_pair(entry, python, options.runs, options.limit)
                line = f"{entry['bad_step_ms']} -> {entry['good_step_ms']} ms, saved {entry['saved_fraction']}"
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            line, wrong = "failed", [str(error)]
        failures += bool(wrong)
        print(f"{entry['id']}: {line}", *wrong, sep="  ", flush=True)
        if options.write and not options.healthy:
            fresh = json.loads(listing.read_text())
            fresh["pairs"] = [entry if p["id"] == entry["id"] else p for p in fresh["pairs"]]
            listing.write_text(json.dumps(fresh, indent=1, ensure_ascii=False) + "\n")
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
