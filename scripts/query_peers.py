"""Compares `ridgeline query` with other engines on the same captures.

    python scripts/query_peers.py [--write] [--large CAPTURE]

- sqlite3 runs the queries of `query/tests/queries/nsys` on the exports themselves, and those of `rocpd` on the databases.
- Perfetto's trace processor runs those of `perfetto` on PyTorch's traces, where its program can be had; sqlite3 runs them on
  tables that a reader of a few lines fills from the JSON, wherever it can or not.
- DuckDB runs all of them on the tables of `ridgeline export --to parquet -o DIR/`, with the views of `views.sql`.

`--write` keeps the answers beside the queries for the tests of `query/`; `--large` measures three queries on one capture.
Needs `ridgeline-query` (target/query) and `ridgeline` (target), and PyPI: packages go into `.venv-query`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import os
import re
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
import venv
from decimal import Decimal
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
QUERIES = ROOT / "query" / "tests" / "queries"
FIXTURES = ROOT / "fixtures"
VENV = ROOT / ".venv-query"

NSYS = ["real/nsys/h100_2gpu.sqlite"]
KINETO = ["real/kineto/h100_qwen15_0.5b_infer.json.gz", "real/kineto/mi300_torch_compile_triton.json.gz"]
ROCPD = ["nsys/rocpd_3_0.sqlite", "nsys/rocpd_4_1.sqlite"]

Row = tuple[Any, ...]

#: Queries whose answers differ on purpose, with the reason (docs/query.md).
ON_PURPOSE = {
    "rocpd/regions": "ranges have the text of roctx, not the call that made them",
    "rocpd/top_kernels": "sizes of grids are whole work-groups",
    "perfetto/counters": "counters of memory are read from events, which the peer's reader leaves out",
    "perfetto/threads": "threads and streams have the names that every command shows",
}


def main() -> int:
    """Compares, and ends with how many answers agree."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--write", action="store_true", help="keep the peers' answers beside the queries")
    arguments.add_argument("--large", type=Path, metavar="CAPTURE", help="measure three queries on an export of Nsight Systems")
    options = arguments.parse_args()
    install()
    if options.large:
        return measure(options.large)
    counts = {"agree": 0, "differ": 0, "skipped": 0}
    for capture in NSYS:
        compare("nsys", capture, nsys(FIXTURES / capture), "sqlite3", counts, options.write)
    for capture in ROCPD:
        compare("rocpd", capture, rocpd(FIXTURES / capture), "sqlite3", counts, options.write)
    for capture in KINETO:
        compare("perfetto", capture, slices(FIXTURES / capture), "sqlite3 on a reader of its own", counts, options.write)
        trace_processor(capture, counts)
    for capture in NSYS + KINETO:
        duckdb(capture, counts)
    print(f"{counts['agree']} agree, {counts['differ']} differ, {counts['skipped']} skipped")
    return 1 if counts["differ"] else 0


def install() -> None:
    """Restarts in an environment with the packages."""
    if Path(sys.prefix) == VENV:
        return
    python = VENV / "bin" / "python"
    if not python.exists():
        venv.create(VENV, with_pip=True)
        subprocess.run([python, "-m", "pip", "-q", "install", "duckdb", "perfetto"], check=True)
    os.execv(python, [str(python), *sys.argv])


def program(name: str, folders: list[str]) -> Path:
    """The newest build of a program."""
    built = [path for folder in folders if (path := ROOT / "target" / folder / name).exists()]
    if not built:
        sys.exit(f"expected {name} in target/, found none: `make query` builds it")
    return max(built, key=lambda path: path.stat().st_mtime)


def ridgeline(capture: Path, sql: str) -> list[Row]:
    """The answer of `ridgeline query`."""
    command = [program("ridgeline-query", ["query/dist", "query/release", "query/debug"]), capture, "-f", "json", sql]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError(done.stderr.strip())
    return [tuple(row.values()) for row in json.loads(done.stdout)["rows"]]


def compare(
    tool: str, capture: str, peer: sqlite3.Connection, name: str, counts: dict[str, int], write: bool
) -> None:
    """Every query of a tool on one capture."""
    for path in sorted((QUERIES / tool).glob("*.sql")):
        sql = path.read_text()
        columns, expected = on_sqlite(peer, sql)
        found = attempt(lambda sql=sql: ridgeline(FIXTURES / capture, sql))
        query = f"{tool}/{path.stem}"
        told(f"{name}: {query} on {capture}", found, expected, counts, ON_PURPOSE.get(query))
        if write and query not in ON_PURPOSE:
            kept = path.with_suffix(".json")
            answers = json.loads(kept.read_text()) if kept.exists() else {}
            answers[capture] = {"columns": columns, "rows": sorted(map(list, expected), key=str)}
            kept.write_text(json.dumps(answers, indent=1) + "\n")


def attempt(ask: Any) -> list[Row] | str:
    """The rows, or why there are none."""
    try:
        return ask()
    except Exception as error:  # noqa: BLE001: whatever an engine raises is told
        return str(error).splitlines()[0]


def told(
    what: str, found: list[Row] | str, expected: list[Row] | str, counts: dict[str, int], reason: str | None = None
) -> None:
    """Says whether two answers agree; where they differ for a `reason`, only that."""
    if isinstance(expected, str):
        counts["skipped"] += 1
        print(f"skipped: {what}: {expected}")
    elif not isinstance(found, str) and same(found, expected):
        counts["agree"] += 1
        print(f"agree: {what} ({len(expected)} rows)")
    elif reason and not isinstance(found, str):
        counts["skipped"] += 1
        print(f"differs on purpose: {what}: {reason}")
    else:
        counts["differ"] += 1
        print(f"DIFFER: {what}")
        if isinstance(found, str):
            print(f"    {found}")
            return
        ours, theirs = ordered(found), ordered(expected)
        for one, other in [pair for pair in zip(ours, theirs, strict=False) if not same([pair[0]], [pair[1]])][:3]:
            print(f"    ours   {one}\n    theirs {other}")
        print(f"    {len(ours)} rows, theirs {len(theirs)}")


def ordered(rows: list[Row]) -> list[Row]:
    """In an order that the last digits of numbers do not change."""
    return sorted(rows, key=lambda row: str([cell for cell in row if not isinstance(cell, float)]))


def same(rows: list[Row], others: list[Row]) -> bool:
    """Whether two answers hold the same rows."""

    def cells(one: Any, other: Any) -> bool:
        if isinstance(one, (int, float)) and isinstance(other, (int, float)):
            return math.isclose(one, other, rel_tol=1e-9)
        return one == other

    pairs = zip(ordered(rows), ordered(others), strict=False)
    return len(rows) == len(others) and all(all(map(cells, one, other)) for one, other in pairs)


def on_sqlite(peer: sqlite3.Connection, sql: str) -> tuple[list[str], list[Row]]:
    """Names of columns and rows."""
    cursor = peer.execute(sql)
    return [column[0] for column in cursor.description], cursor.fetchall()


def nsys(path: Path) -> sqlite3.Connection:
    """An export with names as Ridgeline's reader makes them: calls without version, ranges of PyTorch without numbers."""
    peer = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    peer.create_function("readable", 1, lambda text: text and re.sub(r"_v[0-9]{4,}$|(, seq = [0-9]+)?, op_id = .*$", "", text))
    columns = [row[1] for row in peer.execute("PRAGMA table_info(NVTX_EVENTS)")]
    shown = ", ".join(f'readable("{name}") AS "{name}"' if name == "text" else f'"{name}"' for name in columns)
    peer.executescript(
        f"""CREATE TEMP TABLE StringIds AS SELECT id, readable(value) AS value FROM main.StringIds;
        CREATE TEMP TABLE NVTX_EVENTS AS SELECT {shown} FROM main.NVTX_EVENTS;"""
    )
    return peer


def slices(path: Path) -> sqlite3.Connection:
    """The slices of a trace of PyTorch as Perfetto's tables, read without Ridgeline."""
    text = gzip.decompress(path.read_bytes()).decode()
    document = json.loads(text, parse_float=Decimal)
    events = [event for event in document["traceEvents"] if event.get("ph") == "X" and event.get("cat") != "Trace"]
    names = {
        (event["pid"], event["tid"]): event["args"]["name"]
        for event in document["traceEvents"]
        if event.get("ph") == "M" and event["name"] == "thread_name"
    }
    peer = sqlite3.connect(":memory:")
    peer.executescript(
        """CREATE TABLE slice(id, ts, dur, track_id, category, name, depth, parent_id);
        CREATE TABLE thread(utid, tid, name, upid); CREATE TABLE process(upid, pid, name);
        CREATE TABLE thread_track(id, utid); CREATE TABLE counter(id, ts, track_id, value);
        CREATE TABLE counter_track(id, name); CREATE TABLE trace_bounds(start_ts, end_ts);"""
    )
    by_track: dict[tuple[Any, Any], list[Any]] = {}
    for event in events:
        by_track.setdefault((event["pid"], event["tid"]), []).append(event)
    number = 0
    for track, (place, rows) in enumerate(by_track.items()):
        peer.execute("INSERT INTO thread VALUES (?, ?, ?, ?)", (track, str(place[1]), names.get(place), str(place[0])))
        peer.execute("INSERT INTO thread_track VALUES (?, ?)", (track, track))
        spans = [(ns(event["ts"]), ns(event["ts"] + event.get("dur", 0)), event) for event in rows]
        around: list[tuple[int, int, int]] = []
        for start, end, event in sorted(spans, key=lambda span: (span[0], -span[1])):
            while around and around[-1][1] <= start and not (around[-1][1] == start == end):
                around.pop()
            # What ends later is not inside, though it begins there.
            parent, _, above = next((open_ for open_ in reversed(around) if open_[1] >= end), (None, 0, -1))
            values = (number, start, end - start, track, event.get("cat"), event["name"], above + 1, parent)
            peer.execute("INSERT INTO slice VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values)
            if end > start:
                around.append((number, end, above + 1))
            number += 1
    peer.execute("INSERT INTO trace_bounds SELECT min(ts), max(ts + dur) FROM slice")
    return peer


def ns(microseconds: Any) -> int:
    """Whole nanoseconds."""
    return int((Decimal(microseconds) * 1000).to_integral_value())


def rocpd(path: Path) -> sqlite3.Connection:
    """A database of rocpd with its data views, as AMD's templates define their columns."""
    peer = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    tables = [name for (name,) in peer.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]

    def table(name: str) -> str:
        return '"' + next(found for found in tables if re.fullmatch(f"{name}_[0-9a-f_]{{36}}", found)) + '"'

    peer.executescript(
        f"""CREATE TEMP VIEW kernels AS SELECT S.display_name AS name, K.start, K.end, K.end - K.start AS duration,
            K.grid_size_x AS grid_x FROM {table("rocpd_kernel_dispatch")} K
            JOIN {table("rocpd_info_kernel_symbol")} S ON S.id = K.kernel_id;
        CREATE TEMP VIEW memory_copies AS SELECT S.string AS name, M.start, M.end, M.end - M.start AS duration, M.size
            FROM {table("rocpd_memory_copy")} M JOIN {table("rocpd_string")} S ON S.id = M.name_id;
        CREATE TEMP VIEW regions AS SELECT S.string AS name, R.start, R.end, R.end - R.start AS duration
            FROM {table("rocpd_region")} R JOIN {table("rocpd_string")} S ON S.id = R.name_id;"""
    )
    return peer


def trace_processor(capture: str, counts: dict[str, int]) -> None:
    """Perfetto's own engine, whose program is downloaded by its package."""
    from perfetto.trace_processor import TraceProcessor

    try:
        peer = TraceProcessor(trace=str(FIXTURES / capture))
    except Exception as error:  # noqa: BLE001: without the network the download fails in several ways
        counts["skipped"] += 1
        print(f"skipped: trace_processor on {capture}: {str(error).splitlines()[0][:100]}")
        return
    for path in sorted((QUERIES / "perfetto").glob("*.sql")):
        sql = path.read_text()
        expected = attempt(lambda sql=sql: [tuple(row.__dict__.values()) for row in peer.query(sql)])
        found = attempt(lambda sql=sql: ridgeline(FIXTURES / capture, sql))
        told(f"trace_processor: {path.stem} on {capture}", found, expected, counts)
    peer.close()


def duckdb(capture: str, counts: dict[str, int]) -> None:
    """DuckDB on the tables as Parquet, with the views of `views.sql`."""
    import duckdb as engine

    with tempfile.TemporaryDirectory() as folder:
        tables = Path(folder) / "tables"
        command = [program("ridgeline", ["dist", "release", "debug"]), "export", FIXTURES / capture, "--to", "parquet"]
        subprocess.run([*command, "--no-redact", "-o", f"{tables}/"], check=True)
        here = Path.cwd()
        os.chdir(tables)
        try:
            peer = engine.connect()
            peer.execute((tables / "views.sql").read_text())
            for path in sorted(QUERIES.glob("*/*.sql")):
                sql = path.read_text()
                expected = attempt(lambda sql=sql: [tuple(map(plain, row)) for row in peer.execute(sql).fetchall()])
                found = attempt(lambda sql=sql: ridgeline(FIXTURES / capture, sql))
                told(f"duckdb: {path.parent.name}/{path.stem} on {capture}", found, expected, counts)
        finally:
            os.chdir(here)


def plain(cell: Any) -> Any:
    """Sums of DuckDB are 128 bits wide, and Python's decimals."""
    return int(cell) if isinstance(cell, Decimal) else cell


LARGE = {
    "sum by name": (QUERIES / "nsys" / "kernels_by_name.sql"),
    "launch delays": (QUERIES / "nsys" / "launches.sql"),
    "gaps": (QUERIES / "nsys" / "gaps.sql"),
}


def measure(capture: Path) -> int:
    """Three queries on one large export: time and memory of each engine, every one in a process of its own."""
    query = program("ridgeline-query", ["query/dist", "query/release", "query/debug"])
    script = "import sqlite3, sys; [0 for _ in sqlite3.connect(sys.argv[1]).execute(sys.argv[2])]"
    for name, path in LARGE.items():
        sql = path.read_text()
        for engine, command in {
            "ridgeline query": [query, capture, "-f", "csv", sql],
            "sqlite3": [sys.executable, "-c", script, capture, sql],
        }.items():
            started = time.monotonic()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            seconds = time.monotonic() - started
            peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
            print(f"{name:14} {engine:16} {seconds:8.2f} s, at most {peak:.0f} MiB so far")
    return 0


if __name__ == "__main__":
    sys.exit(main())
