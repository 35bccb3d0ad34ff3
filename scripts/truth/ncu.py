"""Sums of the pages that `ncu --csv --page raw` prints, from their cells alone."""

from __future__ import annotations

import csv
from pathlib import Path

from sums import Table, summed

#: Units of `gpu__time_duration.sum` in nanoseconds.
UNITS = {"second": 1_000_000_000, "s": 1_000_000_000, "msecond": 1_000_000, "ms": 1_000_000, "usecond": 1_000, "us": 1_000, "nsecond": 1, "ns": 1}


def read(path: Path) -> dict[str, Table]:
    """The launches of the page at `path` by kernel."""
    lines = [line for line in path.read_text().splitlines() if line.startswith('"')]
    rows = list(csv.reader(lines))
    names, units, launches = rows[0], rows[1], rows[2:]
    kernel, time = names.index("Kernel Name"), names.index("gpu__time_duration.sum")
    factor = UNITS[units[time]]
    total = [(row[kernel], {"duration_ns": round(float(row[time].replace(",", "")) * factor)}) for row in launches]
    return {"profiles": summed(total)}
