"""Hold `ridgeline diff` against sums of our own over public pairs of captures, to the nanosecond.

    python scripts/diff_public.py target/release/ridgeline BEFORE AFTER

BEFORE and AFTER are two traces of PyTorch's profiler (JSON, gzip or not) or two SQLite exports of Nsight Systems; docs/diff.md says
where the pairs of its table are from. Nothing of Ridgeline is used but its answer: the time of the steps, the time in which the device
worked, and what each kernel has of it are computed here from the plain file.

- A step is done when its range and the device work that it launched have ended, and no earlier than the step before it; the time is
  from when the first step was done to when the last one was, and of a single step from its start. Without steps it is from the first
  device work to the end of the last.
- A moment belongs to the work that runs in it; where several streams work, it is divided among them. Whole nanoseconds do not always
  divide: a kernel may differ by one for each moment that it shares, and by no more.
"""

import collections
import gzip
import heapq
import json
import re
import sqlite3
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

# Traces of 2021 call copies otherwise.
WORK = ("kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset")
STEP = re.compile(r"ProfilerStep\s*#\d+")


def nanoseconds(microseconds) -> int:
    """Exact, from the digits of the file."""
    return int((Decimal(microseconds) * 1000).to_integral_value())


def kineto(path: Path):
    """Work by device as (start, end, stream, name), and the steps as (start, end, done)."""
    raw = path.read_bytes()
    text = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    events = json.loads(text, parse_float=Decimal, parse_int=Decimal)
    events = events["traceEvents"] if isinstance(events, dict) else events
    work, steps, launches, ends = collections.defaultdict(list), [], {}, collections.defaultdict(int)
    for event in events:
        if event.get("ph") != "X":
            continue
        kind, arguments = (event.get("cat") or "").lower(), event.get("args") or {}
        start = nanoseconds(event["ts"])
        end = start + nanoseconds(event.get("dur", 0))
        if kind in WORK:
            work[event["pid"]].append((start, end, event["tid"], event["name"]))
            ends[arguments.get("correlation")] = max(ends[arguments.get("correlation")], end)
        elif kind in ("cuda_runtime", "cuda_driver", "runtime") and "correlation" in arguments:
            launches[arguments["correlation"]] = (start, event["tid"])
        elif STEP.match(event["name"]) and kind in ("user_annotation", "cpu_op", "operator"):
            steps.append((start, end))
    steps.sort()
    done, last = [], 0
    for start, end in steps:
        caused = [ends[id] for id, (at, _) in launches.items() if start <= at < end and id in ends]
        last = max([last, end, *caused])
        done.append(last)
    if len(done) == 1:
        return work, (steps[0][0], done[0], 1)
    return work, (done[0], done[-1], len(done) - 1) if done else None


def nsys(path: Path):
    """Work by device; no steps."""
    base = sqlite3.connect(path)
    names = dict(base.execute("SELECT id, value FROM StringIds"))
    tables = {name for (name,) in base.execute("SELECT name FROM sqlite_master")}
    work = collections.defaultdict(list)
    for table in ("KERNEL", "MEMCPY", "MEMSET"):
        table = f"CUPTI_ACTIVITY_KIND_{table}"
        if table in tables:
            name = "demangledName" if table.endswith("KERNEL") else "0"
            query = f"SELECT start, end, streamId, deviceId, {name} FROM {table}"
            for start, end, stream, device, name in base.execute(query):
                work[device].append((start, end, stream, names.get(name, table)))
    return work, None


def divided(work, start: int, end: int):
    """What each name has of the moments from `start` to `end`, how much of them anything has, and how many each name shares."""
    shares, shared, busy = collections.Counter(), collections.Counter(), 0
    cuts = sorted({start, end, *(t for row in work for t in row[:2] if start < t < end)})
    order = sorted(work)
    active, at = [], 0
    for left, right in zip(cuts, cuts[1:]):
        while at < len(order) and order[at][0] <= left:
            heapq.heappush(active, (order[at][1], at))
            at += 1
        while active and active[0][0] <= left:
            heapq.heappop(active)
        # Of one stream the innermost has the moment: the one that began last.
        streams = {}
        for _, row in active:
            if order[row][1] > left:
                streams[order[row][2]] = max(row, streams.get(order[row][2], -1))
        if streams:
            busy += right - left
            for row in streams.values():
                shares[order[row][3]] += Fraction(right - left, len(streams))
                shared[order[row][3]] += len(streams) > 1
    return shares, shared, busy


def side(path: Path):
    """Time, busy time, units of one capture; what each name has, and how many moments it shares."""
    work, steps = nsys(path) if path.suffix == ".sqlite" else kineto(path)
    shares, shared, whole, busy, units = collections.Counter(), collections.Counter(), 0, 0, 0
    for rows in work.values():
        start, end, count = steps or (min(row[0] for row in rows), max(row[1] for row in rows), 1)
        found, moments, some = divided(rows, start, end)
        shares.update(found)
        shared.update(moments)
        whole, busy, units = whole + end - start, busy + some, units + count
    return whole, busy, units, shares, shared


def main() -> int:
    """Compare, and say what differs."""
    ridgeline, *paths = sys.argv[1:]
    command = [ridgeline, "diff", *paths, "--by", "kernel", "--causes", "never", "-f", "json"]
    found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    wrong = 0

    def say(side: str, what: str, ours, answer, bound: int = 0) -> None:
        nonlocal wrong
        same = abs(ours - answer) <= bound
        wrong += not same
        allowed = f", at most {bound} apart" if bound else ""
        print(f"{side:7}{what:15}{float(ours):>16.0f}{answer:>16}  {'same' if same else 'DIFFERS'}{allowed}")

    for key, path in zip(("before", "after"), paths):
        whole, busy, units, shares, shared = side(Path(path))
        rows = [row for row in found["changes"] if row["what"] in ("kernel", "copy", "operation", "work")]
        say(key, "time", whole, found[key]["total_ns"])
        say(key, "units", units, found[key]["units"])
        say(key, "busy", busy, sum(row[f"{key}_total_ns"] for row in rows))
        # Rows unite kernels of one name with other template arguments on the other side, so single names are looked for.
        name, longest = max(shares.items(), key=lambda item: item[1])
        like = min((row[f"{key}_total_ns"] for row in rows), key=lambda total: abs(total - longest))
        say(key, "longest kernel", longest, like, shared[name])
    print(found["headline"])
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
