"""Makes a large Nsight Systems export by multiplying the rows of a small one.

    python3 benches/nsys_multiply.py SOURCE.sqlite OUT.sqlite 9

Each round doubles every event table; times and correlation ids of the copies are moved on, so that work still finds
its call and nothing overlaps. Nine rounds of the corpus's 2 MB give about 1 GB.
"""

from __future__ import annotations

import shutil
import sqlite3
import sys
from pathlib import Path

TIMES = {"start", "end", "timestamp"}
IDS = {"correlationId"}


def main(source: str, out: str, rounds: int) -> None:
    """Writes `out`."""
    Path(out).unlink(missing_ok=True)
    shutil.copyfile(source, out)
    Path(out).chmod(0o644)
    database = sqlite3.connect(out)
    database.execute("PRAGMA journal_mode = OFF")
    database.execute("PRAGMA synchronous = OFF")
    tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    columns = {name: [row[1] for row in database.execute(f"PRAGMA table_info({name})")] for name in tables}
    events = [name for name in tables if "start" in columns[name] and "end" in columns[name]]
    first = min(least(database, name, "start") for name in events)
    last = max(most(database, name, "end") for name in events)
    with_ids = [name for name in events if "correlationId" in columns[name]]
    step = max(most(database, name, "correlationId") for name in with_ids) - min(
        least(database, name, "correlationId") for name in with_ids if least(database, name, "correlationId") > 0
    ) + 1
    span = last - first + 1_000
    for done in range(rounds):
        for name in events:
            moved = [move(column, span << done, step << done) for column in columns[name]]
            database.execute(f"INSERT INTO {name} SELECT {', '.join(moved)} FROM {name}")
        database.commit()
    database.close()


def move(column: str, span: int, step: int) -> str:
    """The column's value in a copy."""
    if column in TIMES:
        return f'"{column}" + {span}'
    if column in IDS:
        return f'iif("{column}" > 0, "{column}" + {step}, "{column}")'
    return f'"{column}"'


def least(database: sqlite3.Connection, table: str, column: str) -> int:
    """The smallest value; a large number where there is none."""
    return database.execute(f'SELECT coalesce(min("{column}"), {1 << 62}) FROM {table}').fetchone()[0]


def most(database: sqlite3.Connection, table: str, column: str) -> int:
    """The largest value; 0 where there is none."""
    return database.execute(f'SELECT coalesce(max("{column}"), 0) FROM {table}').fetchone()[0]


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
