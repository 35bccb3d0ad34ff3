"""Holds Ridgeline's sums against those of readers of their own, to the nanosecond.

    python scripts/truth/truth.py RIDGELINE [FOLDER ...]

The readers beside this file use the standard library and no code of Ridgeline. Captures are those of `fixtures/real` and, where they
are there, of the corpus. Prints a line per capture and table, each difference, and ends with 1 if there is one.
"""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import kineto
import ncu
import nsys
import xplane
from sums import Table, summed

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = [ROOT / "fixtures" / "real", ROOT.parent / "shared" / "corpus"]
#: How files end, and what reads them.
READERS: list[tuple[str, Callable[[Path], dict[str, Table]]]] = [
    (".json.gz", kineto.read), (".sqlite", nsys.read), (".xplane.pb", xplane.read), (".raw.csv", ncu.read),
]
#: For each table: the view that holds it, and the column of its keys.
VIEWS = {
    "kernels": ("kernel", "kernel"), "copies": ("copy", "copy"), "calls": ("call", "call"), "operators": ("operator", "operator"),
    "ranges": ("range", "operation"), "owned": ("range", "operation"), "profiles": ("profile", "kernel"),
}


def table(ridgeline: str, path: Path, view: str, key: str, columns: list[str]) -> Table:
    """A table of Ridgeline, with its rows of one key summed."""
    ran = subprocess.run([ridgeline, "stats", str(path), "--by", view, "-f", "csv"], capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise RuntimeError(f"{path.name}: {ran.stderr.strip()}")
    csv.field_size_limit(1 << 30)
    rows = csv.DictReader(io.StringIO(ran.stdout))
    return summed([(row[key], {column: int(float(row[column] or 0)) for column in columns if column in row}) for row in rows])


def devices(ridgeline: str, path: Path) -> Table:
    """Busy and idle time of each device."""
    ran = subprocess.run([ridgeline, "idle", str(path), "-f", "json"], capture_output=True, text=True, check=True)
    found = {}
    for section in json.loads(ran.stdout)["overview"]:
        if section["title"].startswith("Idle time of "):
            facts = {fact["key"]: fact["value"] for fact in section["facts"]}
            # A device that several processes share is named with each of them.
            name = re.sub(r" process \d+$", "", section["title"].removeprefix("Idle time of "))
            found[name] = {key: facts[key] for key in ("busy_ns", "idle_ns", "gaps") if key in facts}
    return found


def without_names(rows: Table) -> list[tuple]:
    """The rows' numbers alone, where names are written otherwise."""
    return sorted(tuple(sorted(row.items())) for row in rows.values())


def compare(ridgeline: str, path: Path, name: str, expected: Table) -> list[str]:
    """What differs between Ridgeline's table and `expected`."""
    if not expected:
        return []
    columns = sorted({column for row in expected.values() for column in row})
    if name == "devices":
        found = devices(ridgeline, path)
        # Of many devices the four that were busiest are shown.
        expected = {key: row for key, row in expected.items() if key in found or len(found) < 4}
    elif name in ("work", "tracks"):
        found = table(ridgeline, path, "track", "track", ["events", "busy_ns"])
        if name == "work":
            return [] if sum(row["events"] for row in expected.values()) <= sum(row["events"] for row in found.values()) else ["events are missing"]
        return [] if set(without_names(expected)) <= set(without_names(found)) else [f"tracks: {without_names(expected)} is not in {without_names(found)}"]
    else:
        view, key = VIEWS[name]
        found = table(ridgeline, path, view, key, columns)
    if name in ("ranges", "owned"):
        found = {key: row for key, row in found.items() if key in expected}
    if found == expected or name == "kernels" and without_names(found) == without_names(expected):
        return []
    keys = sorted(set(found) | set(expected), key=str)
    return [f"{name}: {key[:80]}: expected {expected.get(key)}, found {found.get(key)}" for key in keys if found.get(key) != expected.get(key)]


def main() -> int:
    """Compares everything."""
    ridgeline, folders = sys.argv[1], [Path(folder) for folder in sys.argv[2:]] or FOLDERS
    compared, failed, skipped = 0, 0, [folder for folder in folders if not folder.is_dir()]
    for folder in folders:
        for ending, read in READERS:
            for path in sorted(folder.rglob(f"*{ending}")):
                for name, expected in read(path).items():
                    differences = compare(ridgeline, path, name, expected)
                    compared += len(expected)
                    failed += len(differences)
                    print(f"{path.name}: {name}: {len(expected)} rows, {len(differences)} differ")
                    print("".join(f"  {line}\n" for line in differences[:8]), end="")
    print("".join(f"skipped: {folder}: it is absent\n" for folder in skipped), end="")
    print(f"{compared} rows compared, {failed} differ")
    return 1 if failed or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
