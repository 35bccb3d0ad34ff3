"""The usual tables of an Nsight Systems export through sqlite3 and pandas, for comparison.

    python3 benches/nsys_pandas.py FILE.sqlite

Kernels, copies, API calls and ranges by name, and how long each device was busy: what `ridgeline stats` answers.
"""

from __future__ import annotations

import sqlite3
import sys

import pandas as pd


def main(path: str) -> None:
    """Prints the heads of the tables."""
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    strings = dict(database.execute("SELECT id, value FROM StringIds"))
    read = lambda columns, table: pd.read_sql_query(f"SELECT {columns} FROM CUPTI_ACTIVITY_KIND_{table}", database)
    kernels = read("start, end, deviceId, streamId, correlationId, globalPid, demangledName", "KERNEL")
    copies = read("start, end, deviceId, streamId, correlationId, globalPid, bytes, copyKind", "MEMCPY")
    calls = read("start, end, globalTid, correlationId, nameId", "RUNTIME")
    ranges = pd.read_sql_query("SELECT start, end, globalTid, text FROM NVTX_EVENTS", database)
    for table in (kernels, copies, calls, ranges):
        table["duration"] = table["end"] - table["start"]
    kernels["name"] = kernels["demangledName"].map(strings)
    calls["name"] = calls["nameId"].map(strings)
    ranges["name"] = ranges["text"].str.split(", ").str[0]
    for table, key in ((kernels, "name"), (copies, "copyKind"), (calls, "name"), (ranges, "name")):
        grouped = table.groupby(key)["duration"].agg(["sum", "count", "mean", "median", "min", "max", "std"])
        print(grouped.sort_values("sum", ascending=False).head(10))
    work = pd.concat([kernels, copies])[["start", "end", "deviceId"]].sort_values("start")
    for device, spans in work.groupby("deviceId"):
        until = spans["end"].cummax().shift(fill_value=spans["start"].iloc[0])
        print(device, (spans["end"].clip(lower=until) - spans["start"].clip(lower=until)).sum())
    calls["pid"] = calls["globalTid"] // (1 << 24)
    kernels["pid"] = kernels["globalPid"] // (1 << 24)
    joined = kernels.merge(calls, on=["pid", "correlationId"], how="left")
    print(joined["name_y"].isna().sum(), "kernels without a call")


if __name__ == "__main__":
    main(sys.argv[1])
