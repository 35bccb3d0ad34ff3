"""Hold `ridgeline diff` against pairs of programs whose change is known, and against pairs that are the same program twice.

    python scripts/diff_pairs.py target/release/ridgeline --null 20 --known 1
    python scripts/diff_pairs.py target/release/ridgeline --spread 24

Records `suites/diff/program.py` with the ridgeline that is named, so JAX must be importable. Prints a line a pair; fails where more than
one null pair of twenty is called a change, or where a known change is not the first row. Anything else that runs on the
machine meanwhile belongs to the experiment: the sides of a pair are recorded one after the other, in turn before and after.

`--spread N` records the program N times instead and says how much runs differ, and how many of all pairs of runs, one a side, would be
called a change if runs were taken to differ by so much beside what their steps show: what `ridge_diff::statistics::BETWEEN_RUNS` is.
"""

import argparse
import itertools
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = Path(__file__).parent.parent / "suites/diff/program.py"
# What the first row of a known change may be about: its kind, and words of its subject, line or reasons.
KNOWN = {
    "slower": [("operation", "jnp.sin")],
    # Copying to a processor's device takes the host's time, and its copy within the device's memory the device's.
    "copy": [("copy", ""), ("idle", "copying data")],
    "sleep": [("idle", "host late")],
    "recompile": [("idle", "compil")],
}


def record(ridgeline: str, kind: str, steps: int, folder: Path) -> Path:
    """Record the program."""
    out = folder / kind
    command = [ridgeline, "record", "--hlo", "proto", "-o", str(out), "--", sys.executable, str(PROGRAM), kind, str(steps)]
    subprocess.run(command, check=True, capture_output=True, timeout=600)
    return out


def compared(ridgeline: str, before: list[Path], after: list[Path]) -> dict:
    """Compare two sides."""
    sides = ["--before", *map(str, before), "--after", *map(str, after)]
    done = subprocess.run([ridgeline, "diff", *sides, "--causes", "never", "-f", "json"], check=True, capture_output=True)
    return json.loads(done.stdout)


def said(name: str, found: dict) -> str:
    """One pair in one line."""
    whole, first = found["whole"], found["changes"][0]
    ends = [f"{100 * whole[key]:+.1f}" if whole[key] is not None else "?" for key in ("share_low", "share_high")]
    place = (first["location"] or {}).get("text") or ""
    return (
        f"{name:<12}{found['verdict']['state']:<14}{100 * whole['share']:+8.1f}% ({ends[0]} to {ends[1]})   "
        f"{first['what']} {first['subject']} {place}"
    )


def adds_up(found: dict) -> bool:
    """Whether all divisions add up to the whole."""
    whole = found["whole"]
    return all(
        sum(row[side] for row in rows) == whole[side]
        for rows in [found["changes"], *found["divisions"].values()]
        for side in ("before_ns", "after_ns")
    )


def times(ridgeline: str, run: Path) -> tuple[float, list[float]]:
    """Nanoseconds a step of a recording, and of each stretch of its steps."""
    kept = run.with_suffix(".json")
    subprocess.run([ridgeline, "diff", str(run), "--causes", "never", "--write-summary", str(kept)], check=True)
    summary = json.loads(kept.read_text())
    return summary["whole_ns"] / summary["units"], [part["ns"] / part["units"] for part in summary["stretches"]]


def is_called(one: tuple[float, list[float]], other: tuple[float, list[float]], between: float) -> bool:
    """Whether a pair of like runs would be called a change, by the normal quantile: an interval that is rather too narrow."""
    variance = sum(statistics.variance(stretches) + (between * mean) ** 2 for mean, stretches in (one, other))
    return abs(one[0] - other[0]) > statistics.NormalDist().inv_cdf(0.975) * math.sqrt(variance)


def spread(ridgeline: str, count: int, steps: int) -> int:
    """Record the same program `count` times, and say how much its runs differ."""
    found = []
    with tempfile.TemporaryDirectory() as scratch:
        for number in range(count):
            folder = Path(scratch) / str(number)
            folder.mkdir()
            found.append(times(ridgeline, record(ridgeline, "base", steps, folder)))
            print(f"run {number + 1}: {found[-1][0] / 1e6:.2f} ms a step, load {os.getloadavg()[0]:.1f}", flush=True)
    means = [mean for mean, _ in found]
    within = statistics.mean(statistics.stdev(stretches) / mean for mean, stretches in found)
    print(f"runs differ by {statistics.stdev(means) / statistics.mean(means):.1%}, stretches of one run by {within:.1%}")
    pairs = list(itertools.combinations(found, 2))
    for between in (0, 0.03, 0.1, 0.2, 0.3, 0.4):
        called = sum(is_called(one, other, between) for one, other in pairs)
        print(f"taken to differ by {between:.0%}: {called} of {len(pairs)} pairs called a change")
    return 0


def main() -> int:
    """Record, compare, count."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ridgeline")
    parser.add_argument("--null", type=int, default=20, help="pairs of the same program")
    parser.add_argument("--known", type=int, default=1, help="pairs of each known change")
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--runs", type=int, default=1, help="runs of each side")
    parser.add_argument("--spread", type=int, default=0, help="runs of the same program, to see how much they differ")
    options = parser.parse_args()
    ridgeline = str(Path(options.ridgeline).resolve())
    if options.spread:
        return spread(ridgeline, options.spread, options.steps)
    wrong = 0
    called = 0
    with tempfile.TemporaryDirectory() as scratch:
        for kind, count in [("base", options.null), ("renamed", options.known), *((k, options.known) for k in KNOWN)]:
            for pair in range(count):
                sides: dict[str, list[Path]] = {"before": [], "after": []}
                for run in range(options.runs):
                    # In turn, so that what changes on the machine meanwhile is on both sides.
                    for side in ("before", "after") if (pair + run) % 2 == 0 else ("after", "before"):
                        folder = Path(scratch) / f"{kind}{pair}" / f"{side}{run}"
                        folder.mkdir(parents=True)
                        sides[side].append(record(ridgeline, "base" if side == "before" else kind, options.steps, folder))
                found = compared(ridgeline, sides["before"], sides["after"])
                print(said(kind if kind != "base" else "null", found), flush=True)
                wrong += not adds_up(found)
                if kind in ("base", "renamed"):
                    called += found["verdict"]["state"] in ("faster", "slower")
                else:
                    first = found["changes"][0]
                    about = json.dumps([first["subject"], first["why"], first["location"]]).lower()
                    wrong += not any(first["what"] == what and words in about for what, words in KNOWN[kind])
    allowed = max(1, options.null // 20)
    print(f"{called} of {options.null + options.known} null pairs called a change, at most {allowed} allowed; {wrong} wrong")
    return int(called > allowed or wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
