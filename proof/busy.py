"""How much of the time a GPU was busy: by a capture, and by nvidia-smi beside the same run."""

from __future__ import annotations

import csv
import datetime
import json
import subprocess
from collections.abc import Iterable
from typing import Any

from context import ON_A_DEVICE, PROOFS, Context, Missing, Proof, facts_of, gpu_name, last_line, ranges, span, tool
from intervals import union_ns, within

#: Seconds at both ends of a part in which the monitor's own window reaches beyond it.
MARGIN_S = 1.5


def prove(context: Context) -> Proof:
    """Record parts of known busyness beside two monitors, and compare."""
    gpu = gpu_name()
    folder = context.folder("busy")
    truth, log, dmon = folder / "parts.json", folder / "monitor.csv", folder / "dmon.log"
    query = ["--query-gpu=timestamp,utilization.gpu,power.draw,clocks.sm", "--format=csv,nounits", "-lms", "200"]
    with log.open("w") as queried, dmon.open("w") as watched:
        monitors = [subprocess.Popen([tool("nvidia-smi"), *query], stdout=queried),
                    subprocess.Popen([tool("nvidia-smi"), "dmon", "-s", "pucm", "-o", "DT"], stdout=watched)]
        try:
            seconds = "3" if context.quick else "8"
            program = [PROOFS / "duty_cycle.py", "--out", truth, "--seconds", seconds]
            recorded = context.record(folder / "run", program, limit_s=100)
        finally:
            for monitor in monitors:
                monitor.terminate()
                monitor.wait()
    if not truth.exists():
        raise Missing(f"the work did not run: {last_line(recorded.output)}")
    proof = compared(json.loads(truth.read_text()), read_monitor(log.read_text()), list(context.events(folder / "run")))
    proof.title += f", {gpu}"
    read = facts_of(context.answer("info", dmon))
    proof.facts.append(f"of dmon's log Ridgeline reads {read.get('samples')} samples")
    return proof


def read_monitor(text: str) -> list[tuple[float, float]]:
    """Seconds since 1970 and utilization in percent of each sample; the log's times are local."""
    samples = []
    for row in csv.reader(text.splitlines()[1:], skipinitialspace=True):
        try:
            at = datetime.datetime.strptime(row[0], "%Y/%m/%d %H:%M:%S.%f").timestamp()
            samples.append((at, float(row[1])))
        except (ValueError, IndexError):
            continue  # A line that was cut, or a sample the driver did not have.
    return samples


def compared(parts: Iterable[dict[str, Any]], samples: list[tuple[float, float]], events: list[dict[str, str]]) -> Proof:
    """One row per part."""
    proof = Proof("Busy time against nvidia-smi", ["part", "asked %", "nvidia-smi %", "samples", "capture %", "difference"])
    work = [span(event) for event in events if event["kind"] in ON_A_DEVICE]
    windows = ranges(events, "part ")
    for part in parts:
        name = f"part {part['percent']} %"
        inside = [value for at, value in samples if part["begin_s"] + MARGIN_S <= at <= part["end_s"]]
        window = windows.get(name)
        smi = sum(inside) / len(inside) if inside else None
        busy = 100 * union_ns(within(work, window)) / (window[1] - window[0]) if window else None
        difference = busy - smi if busy is not None and smi is not None else None
        proof.rows.append([name, part["percent"], smi, len(inside), busy, difference])
    return proof
