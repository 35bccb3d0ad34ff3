"""Sums of a Kineto or Chrome trace, from its JSON alone. Times are whole nanoseconds, taken from the decimal text."""

from __future__ import annotations

import gzip
import json
import re
from collections import defaultdict
from pathlib import Path

from sums import Span, Table, averages, busy, summed

WORK = {"kernel": "kernel", "Kernel": "kernel", "gpu_memcpy": "copy", "Memcpy": "copy", "gpu_memset": "set", "Memset": "set"}
CALLS = ("cuda_runtime", "cuda_driver", "Runtime")
OPERATORS = ("cpu_op", "Operator")
#: Ranges that are steps: PyTorch's, and those of servers of language models.
STEPS = re.compile(r"ProfilerStep#|execute_(?:\d+_)?context_")
DIRECTIONS = {"HtoD": "copy host to device", "DtoH": "copy device to host", "DtoD": "copy device to device", "PtoP": "copy peer"}


def ns(micros: int | str) -> int:
    """Microseconds, as written, in whole nanoseconds."""
    whole, _, rest = str(micros).partition(".")
    return int(whole) * 1000 + int((rest + "000")[:3])


def spans(events: list[dict]) -> list[Span]:
    """Each event as its thread, start, end and name."""
    found = []
    for event in events:
        start = ns(event["ts"])
        name = "ProfilerStep*" if event["name"].startswith("ProfilerStep#") else event["name"]
        found.append(((event["pid"], event["tid"]), start, start + ns(event["dur"]), name))
    return found


def read(path: Path) -> dict[str, Table]:
    """The tables of the trace at `path`."""
    content = path.read_bytes()
    content = gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content
    trace = json.loads(content, parse_float=str, strict=False)
    events = trace["traceEvents"] if isinstance(trace, dict) else trace
    events = [event for event in events if event and event.get("ph") == "X" and "dur" in event]
    work = [(WORK[event["cat"]], event) for event in events if event.get("cat") in WORK]
    calls = [event for event in events if event.get("cat") in CALLS]
    operators = [event for event in events if event.get("cat") in OPERATORS]
    overhead = [event for event in events if event.get("cat") == "overhead"]
    annotations = [event for event in events if event.get("cat") == "user_annotation"]
    ranges = [event for event in annotations if not STEPS.match(event["name"])]

    def direction(event: dict) -> str:
        return next((name for part, name in DIRECTIONS.items() if part in event["name"]), "copy")

    devices: dict[str, list] = defaultdict(list)
    for _, event in work:
        start = ns(event["ts"])
        devices[str(event["args"].get("device", event["pid"]))].append((start, start + ns(event["dur"])))
    copies = [(direction(event), event) for kind, event in work if kind == "copy"] + [("memset", event) for kind, event in work if kind == "set"]
    return {
        "kernels": summed([(event["name"], {"events": 1, "total_ns": ns(event["dur"])}) for _, event in work]),
        "copies": summed([(key, {"count": 1, "total_ns": ns(event["dur"]), "bytes": int(event["args"].get("bytes", 0))}) for key, event in copies]),
        "calls": summed([(event["name"], {"count": 1, "total_ns": ns(event["dur"])}) for event in calls]),
        "operators": averages(spans(operators + calls + annotations + overhead)),
        "ranges": summed([(event["name"], {"count": 1, "wall_ns": ns(event["dur"])}) for event in ranges]),
        "devices": {f"/device:GPU:{device}": busy(spans) for device, spans in devices.items()},
    }
