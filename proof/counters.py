"""Work, traffic and time of some fifty operations: as Ridgeline counts and measures them, as XLA does, and as the GPU's counters do.

One run is recorded, another runs under Nsight Compute. An operation is one compiled module, so a module's kernels are its kernels.
"""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

import ncu
from context import PROOFS, ROOT, Context, Missing, Proof, last_line, scaled

SUITE = ROOT / "suites" / "kernels.py"
PROGRAM = PROOFS / "one_by_one.py"
#: What the kernel between operations is called by XLA: its only operation.
MARK = "popcnt"
OF_A_MODULE = ("kernel", "memset", "copy device to device")


def prove(context: Context) -> Proof:
    """Record, profile, compare."""
    folder = context.folder("counters")
    size = "512" if context.quick else "8192"
    facts = folder / "facts.json"
    common = [PROGRAM, SUITE, "--size", size, "--facts"]
    recorded = context.record(folder / "run", [*common, facts, "--repeats", "5"], limit_s=240)
    if not facts.exists():
        raise Missing(f"the operations did not run: {last_line(recorded.output)}")
    told = json.loads(facts.read_text())
    groups: dict[str, list[ncu.Launch]] = {}
    try:
        groups, said = profiled(context, folder, common, list(told))
    except Missing as missing:
        said = f"without hardware counters: {missing}"
    proof = compared(told, counted(context, folder / "run"), durations(context, folder / "run", told), groups)
    proof.title += f", size {size}"
    proof.facts.append(said)
    return proof


def profiled(context: Context, folder: Path, common: list[Any], names: list[str]) -> tuple[dict[str, list[ncu.Launch]], str]:
    """The launches of each operation under Nsight Compute, and how Ridgeline reads the report.

    Operations that failed there have no launches.
    """
    marked = folder / "facts_marked.json"
    report = folder / "report.ncu-rep"
    ncu.profile(context, report, [*common, marked, "--repeats", "1", "--marked"])
    table = folder / "raw.csv"
    ncu.export_csv(report, table)
    launches = ncu.read_csv(table.read_text())
    groups = ncu.between_marks(launches, MARK)
    ran = [name for name in names if "failed" not in json.loads(marked.read_text()).get(name, {"failed": ""})]
    if len(groups) != len(ran):
        raise Missing(f"{len(groups)} marks in ncu's table, {len(ran)} operations ran: {table}")
    answer = context.answer("stats", report, "--by", "profile", "--top", "1000000")
    return dict(zip(ran, groups, strict=True)), report_as_read(answer, launches)


def report_as_read(answer: dict[str, Any], launches: list[ncu.Launch]) -> str:
    """How far Ridgeline's reading of a report is from the page that ncu makes of it."""
    rows = answer["tables"][0]["rows"]
    differences = [
        abs((total(row[key] for row in rows) or 0) - (total(launch.total(names) for launch in launches) or 0))
        for key, names in (("duration_ns", [ncu.TIME]), ("dram_bytes", ncu.DRAM))]
    return (f"of the report Ridgeline reads {len(rows)} launches, ncu's page has {len(launches)}; "
            f"their times differ by {differences[0]:.0f} ns, their DRAM bytes by {differences[1]:.0f}")


def counted(context: Context, run: Path) -> dict[str, dict[str, Any]]:
    """Ridgeline's row per module."""
    tables = context.answer("roofline", run, "--by", "module", "--top", "1000")["tables"]
    return {row["module"]: row for row in tables[0]["rows"]}


def durations(context: Context, run: Path, told: dict[str, Any]) -> dict[str, tuple[float, float]]:
    """Per module: kernels of a run, and the median over runs of the sum of their times, ns.

    A module whose kernels do not divide by its runs has none.
    """
    times: dict[str, list[int]] = {}
    for event in context.events(run):
        if event["kind"] in OF_A_MODULE and event["module"]:
            times.setdefault(event["module"], []).append(int(event["dur_ns"]))
    found = {}
    for name, facts in told.items():
        all_ns, runs = times.get(module_of(name), []), facts.get("runs")
        if runs and all_ns and len(all_ns) % runs == 0:
            each = len(all_ns) // runs
            found[name] = (each, statistics.median(sum(all_ns[i : i + each]) for i in range(0, len(all_ns), each)))
    return found


def compared(told: dict[str, Any], counts: dict[str, dict[str, Any]], times: dict[str, tuple[float, float]],
             groups: dict[str, list[ncu.Launch]]) -> Proof:
    """One row per operation; a cell that nobody measured is empty."""
    proof = Proof("Work, traffic and time against hardware counters", [
        "operation", "kernels", "time µs", "ncu µs", "time/ncu", "DRAM MB", "compulsory MB", "XLA MB", "compulsory/DRAM",
        "XLA/DRAM", "counter MFLOP", "counted MFLOP", "XLA MFLOP", "counted/counter"])
    by_compulsory, by_xla, by_flops, by_time = [], [], [], []
    for name, facts in told.items():
        if "failed" in facts:
            proof.facts.append(f"{name} did not run: {facts['failed']}")
            continue
        launches, row = groups.get(name, []), counts.get(module_of(name), {})
        runs = facts["runs"]
        # Without kernels, as on a CPU, the mean of the runs, the first with them.
        ns = times[name][1] if name in times else scaled(row.get("self_ns"), runs)
        ncu_ns = total(launch.counters.get(ncu.TIME) for launch in launches)
        dram = total(launch.total(ncu.DRAM) for launch in launches)
        flops = total(with_tensor(launch) for launch in launches)
        compulsory, work = scaled(row.get("compulsory_bytes"), runs), scaled(row.get("flops"), runs)
        ratios = [ratio(compulsory, dram), ratio(facts["xla_bytes"], dram), ratio(work, flops), ratio(ns, ncu_ns)]
        for value, values in zip(ratios, (by_compulsory, by_xla, by_flops, by_time), strict=True):
            values += [value] if value is not None else []
        proof.rows.append([
            name, len(launches) or times.get(name, (None,))[0], scaled(ns, 1e3), scaled(ncu_ns, 1e3), ratios[3], scaled(dram, 1e6),
            scaled(compulsory, 1e6), scaled(facts["xla_bytes"], 1e6), ratios[0], ratios[1], scaled(flops, 1e6),
            scaled(work, 1e6), scaled(facts["xla_flops"], 1e6), ratios[2]])
    for what, values in (("compulsory bytes / DRAM bytes", by_compulsory), ("XLA's bytes / DRAM bytes", by_xla),
                         ("counted operations / counters", by_flops), ("time / ncu's time", by_time)):
        if values:
            close = sum(0.9 <= value <= 1.1 for value in values)
            proof.facts.append(f"{what}: median {statistics.median(values):.3f}, {close} of {len(values)} within 10%")
    return proof


def module_of(name: str) -> str:
    """The compiled module of an operation."""
    return f"jit_kernels_{name}"


def with_tensor(launch: ncu.Launch) -> float | None:
    """Operations of the ordinary and the tensor pipes; None if neither was collected."""
    return total([launch.plain_operations(), launch.tensor_operations()])


def total(values: Any) -> float | None:
    """Sum of what is known; None if nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def ratio(ours: float | None, truth: float | None) -> float | None:
    """`ours` over `truth`, where both are known and there is something to divide by."""
    return ours / truth if ours is not None and truth else None
