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
#: How PyTorch names each node of a backward pass.
ENGINE = "autograd::engine::evaluate_function"
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


def runs_autograd(operators: list[dict]) -> bool:
    """Whether a thread spends most of the time of its outermost operators in PyTorch's engine of the backward pass."""
    engine, others, until = 0, 0, -1
    for event in sorted(operators, key=lambda one: (ns(one["ts"]), -ns(one["dur"]))):
        start, took = ns(event["ts"]), ns(event["dur"])
        if start >= until:
            until = start + took
            engine += took if event["name"].startswith(ENGINE) else 0
            others += 0 if event["name"].startswith(ENGINE) else took
    return engine > others


def owned(work: list[dict], calls: list[dict], operators: list[dict], annotations: list[dict]) -> Table:
    """Device time by the names of the ranges that were open when it was launched.

    On the thread that launched it; where that thread runs the backward pass for another, or names no range, also on the one
    thread that names ranges and launches work. Every range counts work once for its name, steps aside.
    """
    launches = {event["args"]["correlation"]: event for event in calls if "correlation" in event.get("args", {})}
    by_thread: dict[object, list[dict]] = defaultdict(list)
    named: dict[object, list[dict]] = defaultdict(list)
    for event in operators:
        by_thread[event["tid"]].append(event)
    for event in annotations:
        named[event["tid"]].append(event)
    helping = {thread for thread in named if runs_autograd(by_thread[thread]) and not any(map(is_step, named[thread]))}
    launching = {event["tid"] for event in launches.values()}
    naming = [thread for thread in named if thread not in helping and thread in launching]
    sums: list[tuple[str, dict[str, int]]] = [(event["name"], {"device_ns": 0}) for event in annotations if not is_step(event)]
    for event in work:
        launch = launches.get(event["args"].get("correlation"))
        if launch is None:
            continue
        at, thread = ns(launch["ts"]), launch["tid"]
        looked_at = [thread] if thread in named and thread not in helping else [thread, *naming]
        if len(naming) > 1 and len(looked_at) > 1:
            return {}
        names = {one["name"] for place in looked_at for one in named.get(place, []) if open_at(one, at) and not is_step(one)}
        sums += [(name, {"device_ns": ns(event["dur"])}) for name in names]
    return summed(sums)


def is_step(event: dict) -> bool:
    """Whether a range is a step."""
    return STEPS.match(event["name"]) is not None


def open_at(event: dict, at: int) -> bool:
    """Whether a range is open at a moment."""
    return ns(event["ts"]) <= at < ns(event["ts"]) + ns(event["dur"])


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
        "owned": owned([event for _, event in work], calls, operators, annotations),
        "devices": {f"/device:GPU:{device}": busy(spans) for device, spans in devices.items()},
    }
