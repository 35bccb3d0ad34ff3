"""Tests datasets in a bucket, and queries on several machines: `python scripts/test_fleet.py [--hosts N] [--captures N] [--ports]`.

The bucket is one of moto's server, which speaks S3 on this machine and is installed into `.venv-fleet`. The machines are network
namespaces, each with an address of its own, where this runs as root; else, and with `--ports`, ports of localhost.
Needs `ridgeline` (target/) and both programs of `query/` (`cargo build --features fleet`). Prints what it measures.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fleet import ROOT, VENV, collected, install, linked, program, real_captures

EXECUTORS = 3
ADDRESS = "s3://traces/fleet"

QUERIES = {
    "kernels by name": "select name, count(*), sum(dur_ns), median(dur_ns) from event where kind = 'kernel' group by name order by 1",
    "events by host": "select host, kind, count(*), sum(dur_ns), max(start_ns) from event group by host, kind order by 1, 2",
    "launches": """select k.name, count(*), avg(k.start_ns - l.start_ns) from event k
        join event l on k.caused_by = l.row and k.job = l.job and k.host = l.host and k.rank = l.rank
        where k.kind = 'kernel' group by k.name order by 1""",
    "one host": "select count(*), sum(dur_ns) from event where host = 'host00003'",
    "steps": "select host, median(wall_ns) from step group by host order by 1",
}
#: Of captures that executors read themselves: the rows of a table, of a view, of a join, and of some captures only.
OF_CAPTURES = {
    "events by host": "select host, rank, kind, count(*), sum(dur_ns), min(start_ns) from event group by host, rank, kind order by 1, 2, 3",
    "kernels by name": "select name, count(*), sum(dur_ns), median(dur_ns) from event where kind = 'kernel' group by name order by 1",
    "launches": QUERIES["launches"],
    "operations": "select host, category, count(*), sum(self_ns) from op group by host, category order by 1, 2",
    "some hosts": "select host, count(*) from event where host in ('node003', 'node017') group by host order by host",
    "rows": "select job, host, rank, row, name, dur_ns from event where kind = 'kernel' order by host, rank, row limit 2000",
}


@dataclass
class Place:
    """Where processes run: machines with addresses, or one machine and its ports."""

    namespaces: bool
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def address(self, machine: int) -> str:
        """The address of a machine; 0 is that of the scheduler, the bucket and the queries."""
        return f"10.77.{machine}.2" if self.namespaces else "127.0.0.1"

    def port(self, machine: int) -> int:
        return 50051 if self.namespaces else 50051 + 10 * machine

    def on(self, machine: int) -> list[str]:
        """What stands before a command that runs on a machine."""
        return ["ip", "netns", "exec", f"ridge{machine}"] if self.namespaces else []

    @contextlib.contextmanager
    def there(self) -> Iterator[None]:
        """Makes the machines: each has a line to machine 0, which passes on what is for others."""
        names = [f"ridge{machine}" for machine in range(EXECUTORS + 1)]
        try:
            if self.namespaces:
                for machine, name in enumerate(names):
                    ip("netns", "add", name)
                    ip("-n", name, "link", "set", "lo", "up")
                    # Connections must not take the ports that servers listen at later.
                    ports = "net.ipv4.ip_local_port_range=10000 40000"
                    subprocess.run(["ip", "netns", "exec", name, "sysctl", "-qw", ports], check=True)
                    ip("-n", name, "addr", "add", f"10.77.{machine}.2/32", "dev", "lo")
                subprocess.run(["ip", "netns", "exec", names[0], "sysctl", "-qw", "net.ipv4.ip_forward=1"], check=True)
                for machine in range(1, EXECUTORS + 1):
                    self.connect(machine, names)
            yield
        finally:
            for child in self.started:
                if child.poll() is None:
                    child.kill()
                child.wait()
            for name in names if self.namespaces else []:
                subprocess.run(["ip", "netns", "del", name], stderr=subprocess.DEVNULL, check=False)

    def connect(self, machine: int, names: list[str]) -> None:
        near, far = f"ridgeh{machine}", f"ridgee{machine}"
        ip("link", "add", near, "netns", names[0], "type", "veth", "peer", "name", far, "netns", names[machine])
        for name, link, host in ((names[0], near, 254), (names[machine], far, 253)):
            ip("-n", name, "addr", "add", f"10.78.{machine}.{host}/24", "dev", link)
            ip("-n", name, "link", "set", link, "up")
        ip("-n", names[0], "route", "add", self.address(machine), "via", f"10.78.{machine}.253")
        ip("-n", names[machine], "route", "add", "default", "via", f"10.78.{machine}.254", "src", self.address(machine))

    def start(self, machine: int, command: list[str], log: Path) -> subprocess.Popen[bytes]:
        with log.open("wb") as file:
            child = subprocess.Popen([*self.on(machine), *command], stdout=file, stderr=file, env=environment(self))
        self.started.append(child)
        return child


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


def environment(place: Place, endpoint: str | None = None) -> dict[str, str]:
    """Credentials and address of the bucket."""
    kept = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy") and not name.startswith("AWS_")}
    endpoint = endpoint or f"http://{place.address(0)}:5000"
    return kept | {
        "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1", "AWS_ENDPOINT_URL": endpoint,
    }


def main() -> int:
    """Runs all of it; 1 where rows differ."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--hosts", type=int, default=48, help="hosts of the dataset that the executors read")
    arguments.add_argument("--captures", type=int, default=48, help="captures that the executors read themselves")
    arguments.add_argument("--ports", action="store_true", help="ports of localhost instead of namespaces")
    options = arguments.parse_args()
    install()
    place = Place(namespaces=os.geteuid() == 0 and shutil.which("ip") is not None and not options.ports)
    print(f"machines are {'network namespaces' if place.namespaces else 'ports of localhost'}", flush=True)
    with tempfile.TemporaryDirectory() as temporary, place.there():
        folder = Path(temporary)
        parts = collected(folder / "captures")
        dataset = linked(folder / "fleet", parts, options.hosts)
        serve(place, folder)
        bucket(place, folder, dataset)
        executors = machines(place, folder, dataset)
        captures(place, folder, executors, options.captures)
        killed(place, folder, executors, ADDRESS, QUERIES["launches"], "a dataset in the bucket")
    return 0


def serve(place: Place, folder: Path) -> None:
    """Starts the server, and makes the bucket."""
    place.start(0, [str(VENV / "bin" / "moto_server"), "-H", "0.0.0.0", "-p", "5000"], folder / "moto.log")
    make = "import urllib.request as u; u.urlopen(u.Request('http://127.0.0.1:5000/traces', method='PUT'))"
    for _ in range(100):
        done = subprocess.run([*place.on(0), sys.executable, "-c", make], capture_output=True, check=False)
        if done.returncode == 0:
            return
        time.sleep(0.2)
    sys.exit(f"moto's server does not answer: {(folder / 'moto.log').read_text()}")


Where = str | list[str]


def query(place: Place, where: Where, *words: str, endpoint: str | None = None, fleet: bool = False) -> tuple[list[tuple[Any, ...]], float]:
    """The rows of an answer, and seconds."""
    started = time.monotonic()
    done = asked(place, where, *words, endpoint=endpoint, fleet=fleet)
    if done.returncode:
        sys.exit(f"{words} on {where} failed: {done.stderr}")
    return [tuple(row.values()) for row in json.loads(done.stdout)["rows"]], time.monotonic() - started


def asked(
    place: Place, where: Where, *words: str, endpoint: str | None = None, fleet: bool = False
) -> subprocess.CompletedProcess[str]:
    command = [query_program("ridgeline-query")]
    if fleet:
        command = [query_program("ridgeline-fleet"), "query", "--scheduler", f"{place.address(0)}:50050"]
    command = [*place.on(0), *command, *paths(where), *words, "-f", "json"]
    return subprocess.run(command, capture_output=True, text=True, env=environment(place, endpoint), check=False)


def paths(where: Where) -> list[str]:
    return [where] if isinstance(where, str) else where


def query_program(name: str) -> str:
    return program(*(f"target/query/{profile}/{name}" for profile in ("dist", "release", "debug")))


def bucket(place: Place, folder: Path, dataset: Path) -> None:
    """The same rows from a bucket as from a directory; a part is replaced as a whole; what cannot be reached is told."""
    for host in sorted(dataset.glob("job=*/host=*"))[:2]:
        put(place, host)
    started = time.monotonic()
    command = [*place.on(0), query_program("ridgeline-query"), "--put", str(dataset), ADDRESS]
    told = subprocess.run(command, env=environment(place), check=True, capture_output=True, text=True).stdout.strip()
    print(f"sent in {time.monotonic() - started:.1f} s: {told}", flush=True)
    for name, sql in QUERIES.items():
        (near, near_s), (far, far_s) = query(place, str(dataset), sql), query(place, ADDRESS, sql)
        expect(same(near, far), f"{name}: {len(near)} rows from a directory ({near_s:.2f} s) and from the bucket ({far_s:.2f} s)")
    for table in ("hosts", "findings"):
        (near, _), (far, _) = query(place, str(dataset), f"--fleet={table}"), query(place, ADDRESS, f"--fleet={table}")
        expect(same(near, far), f"--fleet={table}: {len(near)} rows from both")
    lost = asked(place, "s3://traces/nothing", "select 1")
    expect(lost.returncode == 1 and "no dataset at s3://traces/nothing" in lost.stderr, "a prefix without a dataset is told")
    lost = asked(place, "s3://other/fleet", "select 1")
    expect(lost.returncode == 1 and "cannot reach s3://other/fleet" in lost.stderr, f"a bucket that is not there is told: {lost.stderr.splitlines()[0]}")
    started = time.monotonic()
    lost = asked(place, ADDRESS, "select 1", endpoint="http://127.0.0.1:9")
    took = time.monotonic() - started
    expect(lost.returncode == 1 and took < 60, f"a service that does not answer is told after {took:.1f} s")
    replaced(place, folder)


def put(place: Place, host: Path) -> None:
    """Sends a part by itself, as each host does."""
    with tempfile.TemporaryDirectory() as temporary:
        own = Path(temporary) / host.parent.name / host.name
        shutil.copytree(host, own, copy_function=os.link)
        command = [*place.on(0), query_program("ridgeline-query"), "--put", temporary, ADDRESS]
        subprocess.run(command, env=environment(place), check=True, stdout=subprocess.DEVNULL)


def replaced(place: Place, folder: Path) -> None:
    """`ridgeline collect` into the bucket: a part takes the place of the earlier one, whatever that had."""
    capture = str(ROOT / "fixtures/real/kineto/cpu_mlp_3steps.json.gz")
    ridgeline = program("target/release/ridgeline", "target/debug/ridgeline")
    beside = folder / "bin"
    beside.mkdir()
    os.symlink(ridgeline, beside / "ridgeline")
    os.symlink(query_program("ridgeline-query"), beside / "ridgeline-query")
    collect = [*place.on(0), str(beside / "ridgeline"), "collect", capture, "-o", "s3://traces/one", "--host", "a"]
    own = environment(place) | {"PATH": f"{beside}:{os.environ['PATH']}"}
    subprocess.run(collect, env=own, check=True, stdout=subprocess.DEVNULL)
    stray = "import urllib.request as u; u.urlopen(u.Request('http://127.0.0.1:5000/traces/one/job=job/host=a/rank=0/raw/stray.parquet', data=b'x', method='PUT'))"
    subprocess.run([*place.on(0), sys.executable, "-c", stray], check=True)
    before = asked(place, "s3://traces/one", "--tables").stdout
    subprocess.run(collect, env=own, check=True, stdout=subprocess.DEVNULL)
    after = asked(place, "s3://traces/one", "--tables").stdout
    expect("raw.stray" in before and "raw.stray" not in after, "a part that is collected again replaces the earlier one")
    rows, _ = query(place, "s3://traces/one", "select host, count(*) from event group by host")
    local, _ = query(place, capture, "select 'a', count(*) from event")
    expect(rows == local, f"`ridgeline collect -o s3://…`: {rows}")


def machines(place: Place, folder: Path, dataset: Path) -> list[subprocess.Popen[bytes]]:
    """The same rows from executors as from one process; the executors."""
    fleet, at = query_program("ridgeline-fleet"), f"{place.address(0)}:50050"
    place.start(0, [fleet, "scheduler", "--listen", at, "--patience", "6", "--verbose"], folder / "scheduler.log")
    answers(place, folder)
    executors = [executor(place, folder, machine) for machine in range(1, EXECUTORS + 1)]
    time.sleep(3)
    for where in (str(dataset), ADDRESS):
        for name, sql in QUERIES.items():
            compare(place, folder, where, sql, f"{name} on {where if where == ADDRESS else 'a directory'}")
    return executors


def answers(place: Place, folder: Path) -> None:
    """Waits for the scheduler."""
    connect = f"import socket; socket.create_connection(('{place.address(0)}', 50050), 1)"
    for _ in range(100):
        if subprocess.run([*place.on(0), sys.executable, "-c", connect], capture_output=True, check=False).returncode == 0:
            return
        time.sleep(0.2)
    sys.exit(f"the scheduler does not answer: {(folder / 'scheduler.log').read_text()}")


def executor(place: Place, folder: Path, machine: int) -> subprocess.Popen[bytes]:
    """Starts the executor of a machine, with nothing left of an earlier one."""
    listen, work = f"{place.address(machine)}:{place.port(machine)}", folder / f"work{machine}"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    command = [query_program("ridgeline-fleet"), "executor", "--scheduler", f"{place.address(0)}:50050", "--listen", listen]
    return place.start(machine, [*command, "--tasks", "1", "--work", str(work), "--verbose"], folder / f"executor{machine}.log")


def compare(place: Place, folder: Path, where: Where, sql: str, name: str, *each: str) -> list[tuple[Any, ...]]:
    """Runs a query in one process and on the executors; the rows, which are the same."""
    one, one_s = query(place, where, sql, *each)
    before = shuffled(folder)
    many, many_s = query(place, where, sql, fleet=True)
    took = f"{one_s:.2f} s in one process, {many_s:.2f} s on {EXECUTORS} executors, {(shuffled(folder) - before) / 1e6:.2f} MB shuffled"
    expect(same(one, many), f"{name}: {len(one)} rows, {took}")
    return one


def captures(place: Place, folder: Path, executors: list[subprocess.Popen[bytes]], count: int) -> None:
    """Executors read captures themselves: the rows of the dataset of these captures, of one process, and of three executors."""
    real = real_captures()
    runs = folder / "runs"
    for host in range(count):
        source = real[host % len(real)]
        target = runs / f"node{host:03}" / ("run.xplane.pb" if source.name.endswith(".xplane.pb") else "run.pt.trace.json.gz")
        target.parent.mkdir(parents=True)
        shutil.copyfile(source, target)
    where = [str(path) for path in sorted(runs.glob("node*"))]
    size = sum(path.stat().st_size for path in runs.rglob("*.*"))
    print(f"{count} captures, {size / 1e6:.1f} MB", flush=True)
    own = folder / "own"
    command = [program("target/release/ridgeline", "target/debug/ridgeline"), "collect", *where, "-o", str(own), "--no-redact"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for name, sql in OF_CAPTURES.items():
        rows = compare(place, folder, where, sql, f"{name} of captures", "--each")
        expected, took = query(place, str(own), sql)
        expect(same(expected, rows), f"{name}: the rows of the dataset of these captures, which has them in {took:.2f} s")
    peak = [peak_memory(child) for child in executors]
    print(f"peak memory of the executors: {', '.join(f'{megabytes:.0f} MB' for megabytes in peak)}", flush=True)
    by_command(place, folder, where)
    unreadable(place, folder, where)
    executors[-1] = killed(place, folder, executors, where, OF_CAPTURES["events by host"], "captures", "--each")


def by_command(place: Place, folder: Path, where: list[str]) -> None:
    """`ridgeline query --scheduler` asks the executors."""
    os.symlink(query_program("ridgeline-fleet"), folder / "bin" / "ridgeline-fleet")
    words = ["query", "--scheduler", f"{place.address(0)}:50050", *where, "select count(*) from event", "-f", "json"]
    own = environment(place) | {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
    done = subprocess.run([*place.on(0), str(folder / "bin" / "ridgeline"), *words], env=own, check=True, capture_output=True, text=True)
    one, _ = query(place, where, "select count(*) from event", "--each")
    expect([tuple(row.values()) for row in json.loads(done.stdout)["rows"]] == one, f"`ridgeline query --scheduler`: {one[0][0]} events")


def unreadable(place: Place, folder: Path, where: list[str]) -> None:
    """A capture that cannot be read is named, and left out only if that is asked for."""
    broken = folder / "runs" / "node999" / "run.pt.trace.json.gz"
    broken.parent.mkdir()
    broken.write_text("no capture")
    sql = OF_CAPTURES["events by host"]
    failed = asked(place, [*where, str(broken.parent)], sql, fleet=True)
    named = f"cannot read the capture {broken.parent}"
    expect(failed.returncode == 1 and named in failed.stderr, f"an unreadable capture is told: {failed.stderr.strip()}")
    started = time.monotonic()
    left_out = asked(place, [*where, str(broken.parent)], sql, "--skip-unreadable", fleet=True)
    took = time.monotonic() - started
    rows = [tuple(row.values()) for row in json.loads(left_out.stdout)["rows"]]
    one, _ = query(place, where, sql, "--each")
    expect(same(one, rows) and f"left out {broken.parent}" in left_out.stderr, f"and left out in {took:.2f} s: {left_out.stderr.strip()}")
    shutil.rmtree(broken.parent)


def killed(
    place: Place, folder: Path, executors: list[subprocess.Popen[bytes]], where: Where, sql: str, name: str, *each: str
) -> subprocess.Popen[bytes]:
    """Kills the last executor in the middle of a query; one that takes its place."""
    one, _ = query(place, where, sql, *each)
    _, usual = query(place, where, sql, fleet=True)
    work = folder / f"work{EXECUTORS}"
    least = bytes_in(work)
    command = [*place.on(0), query_program("ridgeline-fleet"), "query", "--scheduler", f"{place.address(0)}:50050"]
    command += [*paths(where), sql, "-f", "json"]
    started = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment(place)) as child:
        # When it has left something that others would read; what earlier queries left is removed at any time.
        while (now := bytes_in(work)) <= least and child.poll() is None:
            least = min(least, now)
            time.sleep(0.01)
        was_running = child.poll() is None
        executors[-1].send_signal(signal.SIGKILL)
        after = time.monotonic() - started
        text = child.stdout.read() if child.stdout else ""
    took = time.monotonic() - started
    rows = [tuple(row.values()) for row in json.loads(text)["rows"]]
    expect(
        was_running and same(one, rows),
        f"{name}, an executor killed after {after:.2f} s: {len(rows)} rows in {took:.2f} s ({usual:.2f} s with all)",
    )
    lines = (folder / "scheduler.log").read_text(errors="replace").splitlines()
    lost = [line for line in lines if any(word in line.lower() for word in ("lost", "retry", "resubmit", "rerun", "expired", "dead"))]
    print("\n".join(["the scheduler:", *(f"    {line[:200]}" for line in lost[-8:])]), flush=True)
    executors[-1].wait()
    return executor(place, folder, EXECUTORS)


def peak_memory(child: subprocess.Popen[bytes]) -> float:
    """The most memory that a running process held, in megabytes, as Linux counts it."""
    lines = Path(f"/proc/{child.pid}/status").read_text().splitlines()
    return next((int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith("VmHWM:")), 0.0)


def shuffled(folder: Path) -> int:
    return sum(bytes_in(folder / f"work{machine}") for machine in range(1, EXECUTORS + 1))


def bytes_in(folder: Path) -> int:
    def size(path: Path) -> int:
        with contextlib.suppress(OSError):
            return path.stat().st_size if path.is_file() else 0
        return 0

    return sum(map(size, folder.rglob("*")))


def same(rows: list[tuple[Any, ...]], others: list[tuple[Any, ...]]) -> bool:
    """Whether two answers have the same rows in the same order; sums of reals depend on the order of adding."""

    def is_same(one: Any, other: Any) -> bool:
        if isinstance(one, float) and isinstance(other, float):
            return math.isclose(one, other, rel_tol=1e-9)
        return one == other

    return len(rows) == len(others) and all(
        len(row) == len(other) and all(map(is_same, row, other)) for row, other in zip(rows, others, strict=True)
    )


def expect(holds: bool, what: str) -> None:
    if not holds:
        sys.exit(f"FAILED: {what}")
    print(f"ok: {what}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
