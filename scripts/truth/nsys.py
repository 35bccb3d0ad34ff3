"""Sums of an export of Nsight Systems, from SQL alone."""

from __future__ import annotations

import re
import sqlite3
from collections import defaultdict
from pathlib import Path

from sums import Span, Table, averages, busy, summed

#: `ENUM_CUDA_MEMCPY_OPER`.
DIRECTIONS = {1: "copy host to device", 2: "copy device to host", 8: "copy device to device", 10: "copy peer"}
#: What `getNvtxStr` of PyTorch puts behind the name of an operator.
OPERATOR = re.compile(r"(?:, seq = \d+)?, op_id = .*$")
NAMES = {1: "MemcpyH2D", 2: "MemcpyD2H", 8: "MemcpyD2D", 10: "MemcpyP2P"}
DEVICE_TABLES = ("KERNEL", "MEMCPY", "MEMSET")


def without_version(name: str) -> str:
    """`cudaLaunchKernel_v7000` as the tool's own reports show it."""
    return re.sub(r"_v\d{4,}$", "", name)


def read(path: Path) -> dict[str, Table]:
    """The tables of the export at `path`."""
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    texts = dict(database.execute("SELECT id, value FROM StringIds"))

    def rows(table: str, columns: str) -> list[tuple]:
        name = f"CUPTI_ACTIVITY_KIND_{table}"
        return database.execute(f"SELECT {columns} FROM {name}").fetchall() if name in tables else []

    work: dict[int, list] = defaultdict(list)
    for table in DEVICE_TABLES:
        for device, start, end in rows(table, "deviceId, start, end"):
            work[device].append((start, end))
    copies = [(DIRECTIONS.get(kind, "copy"), {"count": 1, "total_ns": end - start, "bytes": size}) for kind, start, end, size in rows("MEMCPY", "copyKind, start, end, bytes")]
    copies += [("memset", {"count": 1, "total_ns": end - start, "bytes": size}) for start, end, size in rows("MEMSET", "start, end, bytes")]
    calls = [(without_version(texts[name]), {"count": 1, "total_ns": end - start}) for name, start, end in rows("RUNTIME", "nameId, start, end")]
    kernels = [(texts[name], {"events": 1, "total_ns": end - start}) for name, start, end in rows("KERNEL", "demangledName, start, end")]
    kernels += [(NAMES.get(kind, "Memcpy"), {"events": 1, "total_ns": end - start}) for kind, start, end in rows("MEMCPY", "copyKind, start, end")]
    kernels += [("Memset", {"events": 1, "total_ns": end - start}) for start, end in rows("MEMSET", "start, end")]
    # `ENUM_CUPTI_OVERHEAD_TYPE`: what is neither the compiler's (2) nor the profiler's own (3 to 5).
    waits = [row for row in rows("OVERHEAD", "nameId, start, end, overheadType") if row[3] not in (2, 3, 4, 5)]
    calls += [(texts[name], {"count": 1, "total_ns": end - start}) for name, start, end, _ in waits]
    found = {
        "kernels": summed(kernels),
        "copies": summed(copies),
        "calls": summed(calls),
        "devices": {f"/device:GPU:{device}": busy(spans) for device, spans in work.items()},
    }
    if "NVTX_EVENTS" in tables:
        found["ranges"] = ranges(database, texts)
        spans = rows("RUNTIME", "globalTid, start, end, nameId") + rows("OVERHEAD", "globalTid, start, end, nameId")
        named = [(thread, start, end, without_version(texts[name])) for thread, start, end, name in spans]
        found["operators"] = operators(database, texts, named)
    return found


def operators(database: sqlite3.Connection, texts: dict[int, str], calls: list[Span]) -> Table:
    """Operators of PyTorch, which `emit_nvtx` writes as ranges, and the calls within and beside them."""
    query = "SELECT globalTid, start, end, coalesce(text, ''), textId FROM NVTX_EVENTS WHERE eventType IN (59, 60) AND end IS NOT NULL"
    rows = [(thread, start, end, text or texts.get(number, "")) for thread, start, end, text, number in database.execute(query)]
    named = [(thread, start, end, OPERATOR.sub("", name)) for thread, start, end, name in rows if OPERATOR.search(name)]
    return averages(named + calls) if named else {}


def ranges(database: sqlite3.Connection, texts: dict[int, str]) -> Table:
    """Ranges by name: how many, how long, and the device work whose call lies within (the NVTX projection)."""
    calls = defaultdict(list)
    for thread, start, correlation in database.execute("SELECT globalTid, start, correlationId FROM CUPTI_ACTIVITY_KIND_RUNTIME"):
        calls[thread].append((start, thread >> 24, correlation))
    took: dict[tuple[int, int], int] = defaultdict(int)
    for table in DEVICE_TABLES:
        try:
            rows = database.execute(f"SELECT globalPid, correlationId, end - start FROM CUPTI_ACTIVITY_KIND_{table}").fetchall()
        except sqlite3.OperationalError:
            continue
        for process, correlation, time in rows:
            took[process >> 24, correlation] += time
    found = []
    query = "SELECT start, end, globalTid, coalesce(text, ''), textId FROM NVTX_EVENTS WHERE eventType IN (59, 60) AND end IS NOT NULL"
    for start, end, thread, text, number in database.execute(query):
        name = text or texts.get(number, "")
        if OPERATOR.search(name):
            continue
        device = sum(took[process, correlation] for at, process, correlation in calls[thread] if start <= at < end)
        found.append((name, {"count": 1, "wall_ns": end - start, "device_ns": device}))
    return summed(found)
