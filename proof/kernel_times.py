"""Times of kernels and copies in a capture against CUDA events in the same run.

Events span from before the first to after the last launch of a row; so does what the capture says, from the start of the first to
the end of the last piece of work that the row's launches caused.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from context import ON_A_DEVICE, PROOFS, Context, Missing, Proof, gpu_name, last_line, ranges


def prove(context: Context) -> Proof:
    """Record the rows of launches, and compare."""
    gpu = gpu_name()
    folder = context.folder("kernel_times")
    truth = folder / "events.json"
    recorded = context.record(folder / "run", [PROOFS / "timed_by_events.py", "--out", truth], limit_s=120)
    if not truth.exists():
        raise Missing(f"the launches did not run: {last_line(recorded.output)}")
    proof = compared(json.loads(truth.read_text()), list(context.events(folder / "run")))
    proof.title += f", {gpu}"
    return proof


def compared(truth: Iterable[dict[str, Any]], events: list[dict[str, str]]) -> Proof:
    """One row per row of launches."""
    proof = Proof("Times against CUDA events", [
        "row", "launches", "pieces", "events ms", "capture ms", "capture/events", "difference per launch µs", "pieces' sum ms"])
    starts = {event["row"]: int(event["start_ns"]) for event in events}
    rows = ranges(events, "row ")
    work = [(starts[event["caused_by"]], int(event["start_ns"]), int(event["dur_ns"])) for event in events
            if event["kind"] in ON_A_DEVICE and event["caused_by"] in starts]
    lost = []
    for row in truth:
        begin, end = rows.get(f"row {row['name']}", (0, 0))
        pieces = [(start, duration) for launched, start, duration in work if begin <= launched < end]
        if not pieces:
            lost.append(row["name"])
            continue
        span_ms = (max(start + duration for start, duration in pieces) - min(start for start, _ in pieces)) / 1e6
        proof.rows.append([row["name"], row["launches"], len(pieces), row["ms"], span_ms, span_ms / row["ms"],
                           (row["ms"] - span_ms) * 1e3 / row["launches"], sum(duration for _, duration in pieces) / 1e6])
    if lost:
        proof.facts.append(f"nothing in the capture for: {', '.join(lost)}")
    return proof
