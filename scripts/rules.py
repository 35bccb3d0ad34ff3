"""Holds the rules of `ridgeline check` against pairs of real programs, one before and one after the advice was taken.

    python scripts/rules.py [--python PYTHON] [--runs 5] [--write] [PAIR...]
    python scripts/rules.py --quick

All pairs here are *tuned*: rules were written and changed with them at hand. What they show of programs that nobody has seen is
for *blind* pairs to say (`scripts/accuracy.py`).
A pair is a folder of `suites/rules/`: `bad.py` and `good.py` do the same work, and say how long a step took once they are
warm. Its name is the rule's, or the rule's and a word of its own after two hyphens (`defensive-copies--cache`).
Both run without a profiler for the measured saving, and recorded for what `check` says: the rule must speak of the bad one
and be silent about the good one, and what it predicted is laid beside what was measured.
The two take turns, so that whatever else the machine does meets both, and the median of each counts.
`--quick` measures nothing: a few pairs are recorded once, to see that their rules speak and are silent.
`--write` keeps the record in `crates/ridge_diagnose/rules.toml`, from which the intervals of later answers are made; pairs
that were not measured this time keep theirs.
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
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAIRS = ROOT / "suites" / "rules"
RECORD = ROOT / "crates" / "ridge_diagnose" / "rules.toml"
QUICK = ("defensive-copies", "recompilation", "sequential-updates")
# What comes after this line in the record is of `scripts/accuracy.py`, which runs programs that no rule was tuned with.
BLIND = "# Blind pairs: written by `make accuracy`."
# What a prediction may be wrong by, and still be worth something.
GOOD = (0.5, 2.0)
KINDS = ("bad", "good")
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
    claimed: float
    low: float | None
    high: float | None
    basis: str | None

    @property
    def measured(self) -> float:
        """The part of a step that the advice saved."""
        return 1 - self.after_s / self.before_s

    @property
    def ratio(self) -> float | None:
        """Predicted over measured; nothing where no amount was predicted or nothing was saved.

        The interval is made of earlier records, so what the findings hold of the time is what a record is made of.
        """
        if self.low is None or self.basis == "bound" or self.measured < 0.02:
            return None
        predicted = self.claimed if self.basis == "wall" else (self.low + self.high) / 2
        return predicted / self.measured


def main() -> int:
    arguments = parsed()
    names = arguments.pairs or sorted(folder.name for folder in PAIRS.iterdir() if (folder / "bad.py").is_file())
    if arguments.quick:
        return quick(arguments)
    results = []
    print(f"{'pair':42} {'fires':>5} {'silent':>6} {'before':>12} {'after':>12} {'measured':>9} {'holds':>6} {'predicted':>13} {'ratio':>6}")
    for name in names:
        result = measured(name, arguments)
        results.append(result)
        print(line(result), flush=True)
    wrong = [result.pair for result in results if not (result.fires and result.silent)]
    ratios = sorted(result.ratio for result in results if result.ratio is not None)
    if ratios:
        within = sum(GOOD[0] <= ratio <= GOOD[1] for ratio in ratios)
        print(f"\n{len(ratios)} of {len(results)} pairs predict an amount; predicted/measured: median "
              f"{statistics.median(ratios):.2f}, from {ratios[0]:.2f} to {ratios[-1]:.2f}, "
              f"{within} within {GOOD[0]} to {GOOD[1]}")
    if nothing := [result.pair for result in results if result.basis not in (None, "bound") and result.ratio is None]:
        print(f"nothing was saved: {', '.join(nothing)}")
    if wrong:
        print(f"not as promised: {', '.join(wrong)}")
    if arguments.write:
        measured_now = {result.pair for result in results}
        kept = [result for result in recorded() if result.pair not in measured_now]
        blind = RECORD.read_text().partition(BLIND)[2]
        RECORD.write_text(record(sorted(results + kept, key=lambda result: result.pair)) + BLIND + (blind or "\n"))
    return 1 if wrong else 0


def quick(arguments: argparse.Namespace) -> int:
    """Whether a few rules speak of the program before and are silent about the one after."""
    if subprocess.run([arguments.python, "-c", "import jax"], capture_output=True).returncode != 0:
        print(f"skipped: rules on real programs: {arguments.python} has no JAX")
        return 0
    begun, failed = time.monotonic(), 0
    for name in arguments.pairs or QUICK:
        before, after = said(name, arguments)
        fires, silent = bool(before), not after
        failed += not (fires and silent)
        print(f"{name}: {'speaks' if fires else 'DOES NOT SPEAK'} before, {'silent' if silent else 'NOT SILENT'} after", flush=True)
    passed = len(arguments.pairs or QUICK) - failed
    print(f"{passed} passed, {failed} failed in {time.monotonic() - begun:.1f}s")
    return 1 if failed else 0


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pairs", nargs="*", metavar="PAIR", help="folders of suites/rules; all if none is named")
    parser.add_argument("--python", default=sys.executable, help="the Python that has JAX")
    parser.add_argument("--ridgeline", default=str(ROOT / "target" / "release" / "ridgeline"))
    parser.add_argument("--runs", type=int, default=5, help="runs of each without a profiler; the median counts")
    parser.add_argument("--quick", action="store_true", help="only whether rules speak and are silent; a few pairs if none is named")
    parser.add_argument("--write", action="store_true", help="keep the record")
    return parser.parse_args()


def measured(name: str, arguments: argparse.Namespace) -> Result:
    runs = [[seconds(arguments.python, PAIRS / name / f"{kind}.py") for kind in KINDS] for _ in range(arguments.runs)]
    before_s, after_s = (statistics.median(times) for times in zip(*runs))
    found = said(name, arguments)
    savings = [finding["saving"] for finding in found[0] if finding["saving"]]
    return Result(
        pair=name,
        rule=name.split("--")[0],
        fires=bool(found[0]),
        silent=not found[1],
        before_s=before_s,
        after_s=after_s,
        # Several findings of one rule are of different places; mending the program mends them all.
        claimed=min(1.0, sum(finding["holds_share"] or 0.0 for finding in found[0])),
        low=min(1.0, sum(saving["share_low"] for saving in savings)) if savings else None,
        high=min(1.0, sum(saving["share_high"] for saving in savings)) if savings else None,
        basis=savings[0]["basis"] if savings else None,
    )


def said(name: str, arguments: argparse.Namespace) -> list[list[dict]]:
    """What a pair's rule found before and after: causes worth mending, or what it tells where it names none."""
    rule = name.split("--")[0]
    both = [[finding for finding in check(name, kind, arguments) if finding["rule"] == rule] for kind in KINDS]
    causes = [[finding for finding in found if finding["level"] != "info"] for found in both]
    return causes if any(causes) else both


def seconds(python: str, program: Path) -> float:
    """How long a step of `program` took, as it says itself."""
    run = subprocess.run([python, str(program)], capture_output=True, text=True, timeout=300)
    found = SECONDS.search(run.stdout)
    if run.returncode != 0 or found is None:
        sys.exit(f"{program} failed:\n{run.stderr[-2000:]}")
    return float(found.group(1))


def check(name: str, kind: str, arguments: argparse.Namespace) -> list[dict]:
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
    is_amount = result.low is not None and result.basis != "bound"
    predicted = f"{100 * result.low:.0f} to {100 * result.high:.0f}%" if is_amount else "-"
    ratio = "-" if result.ratio is None else f"{result.ratio:.2f}"
    marks = ("yes" if result.fires else "NO", "yes" if result.silent else "NO")
    return (f"{result.pair:42} {marks[0]:>5} {marks[1]:>6} {1e6 * result.before_s:9.1f} µs {1e6 * result.after_s:9.1f} µs "
            f"{100 * result.measured:7.0f}% {100 * result.claimed:4.0f}% {predicted:>13} {ratio:>6}")


def recorded() -> list[Result]:
    """The pairs of the record that are still there."""
    pairs = tomllib.loads(RECORD.read_text()).get("pair", [])
    return [
        Result(
            pair=pair["name"], rule=pair["name"].split("--")[0], fires=pair["fires"], silent=pair["silent"],
            before_s=pair["before_us"] / 1e6, after_s=pair["after_us"] / 1e6, claimed=pair.get("claimed_share", 0.0),
            low=pair.get("predicted_low"), high=pair.get("predicted_high"), basis=pair.get("basis"),
        )
        for pair in pairs if (PAIRS / pair["name"]).is_dir()
    ]  # fmt: skip


def record(results: list[Result]) -> str:
    """The record as TOML: a table for each rule, and one for each pair with all that was measured."""
    import jax  # the record says which

    lines = [
        "# Predicted against measured savings, rule by rule; written by `make rules`.",
        "",
        "[made]",
        f'processors = "{os.cpu_count()} of {platform.machine()}"',
        f'python = "{platform.python_version()}"',
        f'jax = "{jax.__version__}"',
        "",
    ]
    judged = [result for result in results if result.ratio is not None]
    for basis in sorted({result.basis for result in judged}):
        of_basis = sorted(result.ratio for result in judged if result.basis == basis)
        lines += table(f"all.{basis}", of_basis, nine_of_ten(of_basis))
        for rule in sorted({result.rule for result in judged if result.basis == basis}):
            ratios = sorted(result.ratio for result in judged if result.basis == basis and result.rule == rule)
            lines += table(f"rule.{rule}.{basis}", ratios, (ratios[0], ratios[-1]))
    for result in results:
        lines += [
            "[[pair]]",
            f'name = "{result.pair}"',
            # Rules were written with these pairs at hand, so they promise nothing of other programs.
            'kind = "tuned"',
            f"fires = {str(result.fires).lower()}",
            f"silent = {str(result.silent).lower()}",
            f"before_us = {1e6 * result.before_s:.1f}",
            f"after_us = {1e6 * result.after_s:.1f}",
            f"measured_share = {result.measured:.3f}",
        ]
        if result.ratio is not None:
            lines += [f'basis = "{result.basis}"', f"claimed_share = {result.claimed:.3f}", f"predicted_low = {result.low:.3f}",
                      f"predicted_high = {result.high:.3f}", f"ratio = {result.ratio:.3f}"]
        lines.append("")
    return "\n".join(lines)


def table(name: str, ratios: list[float], limits: tuple[float, float]) -> list[str]:
    return [f"[{name}]", f"pairs = {len(ratios)}", f"lowest_ratio = {limits[0]:.3f}",
            f"median_ratio = {statistics.median(ratios):.3f}", f"highest_ratio = {limits[1]:.3f}", ""]


def nine_of_ten(ratios: list[float]) -> tuple[float, float]:
    """The limits above and below which nine of ten lie."""
    aside = len(ratios) // 10
    return ratios[aside], ratios[-1 - aside]


if __name__ == "__main__":
    sys.exit(main())
