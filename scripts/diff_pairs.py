"""Hold `ridgeline diff` against pairs of programs whose change is known, and against pairs that are the same program twice.

    python scripts/diff_pairs.py target/release/ridgeline --null 20 --known 1

Records `suites/diff/program.py` with the ridgeline that is named, so JAX must be importable. Prints a line a pair; fails where more than
one null pair of twenty is called a change, or where a known change is not the first row. Anything else that runs on the
machine meanwhile belongs to the experiment: the sides of a pair are recorded one after the other, in turn before and after.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = Path(__file__).parent.parent / "suites/diff/program.py"
# What the first row of a known change must be about: its kind and words of its subject, line or reasons.
KNOWN = {
    "slower": ("operation", "jnp.sin"),
    "copy": ("copy", ""),
    "sleep": ("idle", "host late"),
    "recompile": ("idle", "compil"),
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
        f"{name:<12}{found['verdict']['state']:<14}{100 * whole['share']:+8.1f} % ({ends[0]} to {ends[1]})   "
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


def main() -> int:
    """Record, compare, count."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ridgeline")
    parser.add_argument("--null", type=int, default=20, help="pairs of the same program")
    parser.add_argument("--known", type=int, default=1, help="pairs of each known change")
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--runs", type=int, default=1, help="runs of each side")
    options = parser.parse_args()
    ridgeline = str(Path(options.ridgeline).resolve())
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
                    what, words = KNOWN[kind]
                    first = found["changes"][0]
                    about = json.dumps([first["subject"], first["why"], first["location"]]).lower()
                    wrong += not (first["what"] == what and words in about)
    allowed = max(1, options.null // 20)
    print(f"{called} of {options.null + options.known} null pairs called a change, at most {allowed} allowed; {wrong} wrong")
    return int(called > allowed or wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
