"""Measures `ridgeline query` on datasets of up to a thousand hosts, made of the real captures in `fixtures/real/`.

    python scripts/fleet.py [--hosts 10,100,1000] [--folder DIR]

The captures are collected once, and their parts copied under the names of as many hosts as are wanted, each with a clock of its
own: by pyarrow, which is installed into `.venv-fleet`. Each query is a fresh process; its rows are held against those of one
capture at a time. Needs `ridgeline` (target/release) and `ridgeline-query` (target/query); prints the tables of docs/fleet.md.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
REAL = ROOT / "fixtures" / "real"
VENV = ROOT / ".venv-fleet"
PACKAGES = ("moto[server,s3]", "pyarrow")
#: Columns with times on the clock of a capture.
TIMES = {"raw/event.parquet": ("start_ns", "end_ns"), "raw/counter.parquet": ("time_ns",), "raw/process.parquet": ("first_ns", "last_ns")}
QUERIES = {
    "kernel time by name": "select name, sum(dur_ns) from event where kind = 'kernel' group by name order by 2 desc, 1 limit 20",
    "kernel time by host": "select host, sum(dur_ns), count(*) from event where kind = 'kernel' group by host order by 1",
    "events of one host": "select count(*), sum(dur_ns) from event where host = 'host00003'",
    "median step by host": "select host, median(wall_ns) from step group by host order by 1",
}


def main() -> int:
    """Prints a row for each query and number of hosts."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--hosts", default="10,100,1000", help="how many hosts, several numbers")
    arguments.add_argument("--folder", type=Path, help="where the datasets are made and kept [default: a temporary directory]")
    options = arguments.parse_args()
    install()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        parts = collected(folder / "captures")
        print("| hosts | query | rows | wall | CPU | peak memory |\n|---|---|---|---|---|---|")
        for hosts in map(int, options.hosts.split(",")):
            dataset = linked(folder / f"fleet{hosts}", parts, hosts)
            size = sum(path.stat().st_size for path in dataset.rglob("*.parquet"))
            print(f"| {hosts:,} | the dataset | | | | {size / 1e6:.0f} MB in {sum(1 for _ in dataset.rglob('*.parquet')):,} files |", flush=True)
            for name, sql in QUERIES.items():
                rows, measured = ran([query_program(), str(dataset), sql, "-f", "json", "--rows", "0"])
                expect(name, rows, hosts, parts)
                print(f"| {hosts:,} | {name} | {len(rows):,} | {measured} |", flush=True)
            for table in ("hosts", "findings"):
                rows, measured = ran([query_program(), str(dataset), f"--fleet={table}", "-f", "json"])
                print(f"| {hosts:,} | `--fleet={table}` | {len(rows):,} | {measured} |", flush=True)
            page = folder / f"fleet{hosts}.html"
            _, measured = ran([query_program(), str(dataset), "--fleet", "--html", str(page)], has_rows=False)
            print(f"| {hosts:,} | `--fleet --html`, {page.stat().st_size / 1e6:.1f} MB | | {measured} |", flush=True)
    return 0


def install() -> None:
    """Restarts in an environment with the packages."""
    if Path(sys.prefix) == VENV:
        return
    python = VENV / "bin" / "python"
    if not python.exists():
        venv.create(VENV, with_pip=True)
        subprocess.run([python, "-m", "pip", "-q", "install", "--disable-pip-version-check", *PACKAGES], check=True)
    os.execv(python, [str(python), *sys.argv])


def program(*places: str) -> str:
    """The newest of some builds."""
    found = [ROOT / place for place in places if (ROOT / place).is_file()]
    if not found:
        sys.exit(f"expected one of {', '.join(places)}: build it first")
    return str(max(found, key=lambda path: path.stat().st_mtime))


def query_program() -> str:
    return program("target/query/dist/ridgeline-query", "target/query/debug/ridgeline-query")


def real_captures() -> list[Path]:
    """The captures that everything here is made of."""
    kineto, xplane = (REAL / "kineto").rglob("*.json.gz"), (REAL / "xplane").glob("*.xplane.pb")
    return sorted([*kineto, *xplane])[:16]


def collected(folder: Path) -> list[Path]:
    """The parts of all real captures, collected once."""
    captures = real_captures()
    command = [program("target/release/ridgeline", "target/debug/ridgeline"), "collect", *map(str, captures), "-o", str(folder)]
    started = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    parts = sorted(folder.glob("job=*/host=*/rank=*"))
    size = sum(path.stat().st_size for path in folder.rglob("*.parquet"))
    print(f"{len(parts)} captures collected in {time.monotonic() - started:.2f} s, {size / 1e6:.1f} MB of Parquet\n", flush=True)
    return parts


def linked(dataset: Path, parts: list[Path], hosts: int) -> Path:
    """A dataset of so many hosts: the parts, one after the other, with other clocks."""
    for host in range(hosts):
        part = parts[host % len(parts)]
        place = dataset / "job=fleet" / f"host=host{host:05}" / "rank=0"
        for path in part.rglob("*.parquet"):
            name = str(path.relative_to(part))
            target = place / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.exists():
                continue
            if name in TIMES:
                shifted(path, target, TIMES[name], 1_000_003 * host)
            else:
                os.link(path, target)
    return dataset


def shifted(source: Path, target: Path, columns: tuple[str, ...], by: int) -> None:
    """Copies a table whose clock shows so many nanoseconds more."""
    from pyarrow import compute, parquet

    table = parquet.read_table(source, partitioning=None)
    for name in columns:
        moved = compute.add(table.column(name), by)
        table = table.set_column(table.schema.get_field_index(name), name, moved)
    parquet.write_table(table, target)


def ran(command: list[str], *, has_rows: bool = True) -> tuple[list[dict[str, object]], str]:
    """The rows of a query, if it prints any; wall time, CPU time and peak memory of its process."""
    started = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        text = child.stdout.read() if child.stdout else b""
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {child.returncode}")
    wall, cpu = time.monotonic() - started, usage.ru_utime + usage.ru_stime
    rows = json.loads(text)["rows"] if has_rows else []
    return rows, f"{wall:.2f} s | {cpu:.2f} s | {usage.ru_maxrss / 1024:.0f} MB"


def expect(name: str, rows: list[dict[str, object]], hosts: int, parts: list[Path]) -> None:
    """Holds the sums by host against each capture's own."""
    if name != "kernel time by host":
        return
    sql = "select sum(dur_ns), count(*) from event where kind = 'kernel'"
    own = {part: ran([query_program(), str(part.parents[2]), f"{sql} and host = '{part.parent.name.removeprefix('host=')}'", "-f", "json"])[0] for part in parts}
    wanted = {f"host{host:05}": list(own[parts[host % len(parts)]][0].values()) for host in range(hosts)}
    found = {str(row.pop("host")): list(row.values()) for row in rows}
    if found != {host: values for host, values in wanted.items() if values[1]}:
        sys.exit("the sums by host are not those of the captures")


if __name__ == "__main__":
    sys.exit(main())
