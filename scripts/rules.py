"""Holds the rules of `ridgeline check` against pairs of real programs, one before and one after the advice was taken.

    python scripts/rules.py [--python PYTHON] [--runs 5] [--write] [PAIR...]

A pair is a folder of `suites/rules/`: `bad.py` and `good.py` do the same work, and say how long a step took once they are
warm. Its name is the rule's, or the rule's and a word of its own after two hyphens (`defensive-copies--cache`).
Both run without a profiler for the measured saving, and recorded for what `check` says: the rule must speak of the bad one
and be silent about the good one, and what it predicted is laid beside what was measured.
`--write` keeps the record in `crates/ridge_diagnose/rules.toml`, from which the intervals of later answers are made.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAIRS = ROOT / "suites" / "rules"
RECORD = ROOT / "crates" / "ridge_diagnose" / "rules.toml"
SECONDS = re.compile(r"^seconds per step: ([0-9.e+-]+)$", re.MULTILINE)


@dataclass
class Result:
    """What one pair showed."""

    pair: str
    rule: str
    fires: bool
    silent: bool
    before_s: float
    after_s: float
    low: float | None
    high: float | None
    basis: str | None

    @property
    def measured(self) -> float:
        """The part of a step that the advice saved."""
        return 1 - self.after_s / self.before_s

    @property
    def ratio(self) -> float | None:
        """Predicted over measured; nothing where no amount was predicted or nothing was saved."""
        if self.low is None or self.basis != "replay" or self.measured < 0.02:
            return None
        return (self.low + self.high) / 2 / self.measured


def main() -> int:
    arguments = parsed()
    names = arguments.pairs or sorted(folder.name for folder in PAIRS.iterdir() if (folder / "bad.py").is_file())
    results = []
    print(f"{'pair':32} {'fires':>5} {'silent':>6} {'before':>11} {'after':>11} {'measured':>9} {'predicted':>14} {'ratio':>6}")
    for name in names:
        result = measured(name, arguments)
        results.append(result)
        print(line(result), flush=True)
    wrong = [result.pair for result in results if not (result.fires and result.silent)]
    ratios = sorted(result.ratio for result in results if result.ratio is not None)
    if ratios:
        print(f"\n{len(ratios)} of {len(results)} pairs predict an amount; predicted/measured: median "
              f"{statistics.median(ratios):.2f}, from {ratios[0]:.2f} to {ratios[-1]:.2f}")
    if wrong:
        print(f"not as promised: {', '.join(wrong)}")
    if arguments.write:
        RECORD.write_text(record(results))
    return 1 if wrong else 0


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pairs", nargs="*", metavar="PAIR", help="folders of suites/rules; all if none is named")
    parser.add_argument("--python", default=sys.executable, help="the Python that has JAX")
    parser.add_argument("--ridgeline", default=str(ROOT / "target" / "release" / "ridgeline"))
    parser.add_argument("--runs", type=int, default=5, help="runs without a profiler; the fastest counts")
    parser.add_argument("--write", action="store_true", help="keep the record")
    return parser.parse_args()


def measured(name: str, arguments: argparse.Namespace) -> Result:
    rule = name.split("--")[0]
    times = {}
    for kind in ("bad", "good"):
        runs = [seconds(arguments.python, PAIRS / name / f"{kind}.py") for _ in range(arguments.runs)]
        times[kind] = min(runs)
    found = {kind: check(name, kind, rule, arguments) for kind in ("bad", "good")}
    own = [finding for finding in found["bad"] if finding["rule"] == rule and finding["level"] != "info"]
    saving = next((finding["saving"] for finding in own if finding["saving"]), None)
    return Result(
        pair=name,
        rule=rule,
        fires=bool(own),
        silent=not [finding for finding in found["good"] if finding["rule"] == rule and finding["level"] != "info"],
        before_s=times["bad"],
        after_s=times["good"],
        low=saving and saving["share_low"],
        high=saving and saving["share_high"],
        basis=saving and saving["basis"],
    )


def seconds(python: str, program: Path) -> float:
    """How long a step of `program` took, as it says itself."""
    run = subprocess.run([python, str(program)], capture_output=True, text=True, timeout=300)
    found = SECONDS.search(run.stdout)
    if run.returncode != 0 or found is None:
        sys.exit(f"{program} failed:\n{run.stderr[-2000:]}")
    return float(found.group(1))


def check(name: str, kind: str, rule: str, arguments: argparse.Namespace) -> list[dict]:
    """What `check` finds in one recorded run."""
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        program = [arguments.python, str(PAIRS / name / f"{kind}.py")]
        subprocess.run([arguments.ridgeline, "record", "-o", str(run), "--", *program], check=True, capture_output=True, timeout=600)
        found = subprocess.run(
            [arguments.ridgeline, "check", str(run), "--format", "json"], capture_output=True, text=True, timeout=600
        )
    if found.returncode == 2:
        sys.exit(f"check failed on {name}/{kind}: {found.stderr}")
    return json.loads(found.stdout)["findings"]


def line(result: Result) -> str:
    predicted = "-" if result.basis != "replay" else f"{100 * result.low:.0f} to {100 * result.high:.0f} %"
    ratio = "-" if result.ratio is None else f"{result.ratio:.2f}"
    marks = ("yes" if result.fires else "NO", "yes" if result.silent else "NO")
    return (f"{result.pair:32} {marks[0]:>5} {marks[1]:>6} {1e6 * result.before_s:8.1f} µs {1e6 * result.after_s:8.1f} µs "
            f"{100 * result.measured:7.0f} % {predicted:>14} {ratio:>6}")


def record(results: list[Result]) -> str:
    """The record as TOML: a table for each rule, and one for each pair with all that was measured."""
    import jax

    lines = [
        "# Predicted against measured savings, rule by rule; written by `make rules`.",
        "",
        "[made]",
        f'processors = "{os.cpu_count()} of {platform.machine()}"',
        f'python = "{platform.python_version()}"',
        f'jax = "{jax.__version__}"',
        "",
    ]
    for rule in sorted({result.rule for result in results}):
        ratios = sorted(r.ratio for r in results if r.rule == rule and r.ratio is not None)
        if ratios:
            lines += [f"[rule.{rule}]", f"pairs = {len(ratios)}", f"lowest_ratio = {ratios[0]:.3f}",
                      f"median_ratio = {statistics.median(ratios):.3f}", f"highest_ratio = {ratios[-1]:.3f}", ""]
    for result in results:
        lines += [
            "[[pair]]",
            f'name = "{result.pair}"',
            f"fires = {str(result.fires).lower()}",
            f"silent = {str(result.silent).lower()}",
            f"before_us = {1e6 * result.before_s:.1f}",
            f"after_us = {1e6 * result.after_s:.1f}",
            f"measured_share = {result.measured:.3f}",
        ]
        if result.basis == "replay":
            lines += [f"predicted_low = {result.low:.3f}", f"predicted_high = {result.high:.3f}"]
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
