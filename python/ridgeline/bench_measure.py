"""Measure one operation: first run, traced run, timed runs, and what was compiled for it.

The order is fixed: inputs, then compilation caches are cleared, so that an operation's compile time and modules do not depend on
which operations ran before it; then the first run (compiles), one run under the profiler, and the timed runs.
Every run ends when all arrays that the operation returned are ready.

An exception of the operation is a failed row. An exception of the tracing or collecting around it is a note: the times still count.
"""

from __future__ import annotations

import contextlib
import gc
import math
import os
import shutil
import statistics
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import bench_memory
from .layout import RUN, RUNS
from .suite import Declared, FixtureError, Inputs, Suite, SuiteError

#: Longest reason that a row keeps, in characters; the whole traceback is in the worker's log.
LONGEST_REASON = 600

#: Names of modules compiled late that a row keeps, the most frequent first.
MOST_LATE_NAMES = 8

Emit = Callable[..., None]


@dataclass
class Plan:
    """How to measure: the suite at one size, where to write, how many timed runs, when to stop (`time.monotonic` seconds)."""

    suite: Suite
    size: int
    out_dir: Path
    runs: int
    deadline: float
    formats: set[str]
    emit: Emit
    warm_up: int = 0
    dump: Path | None = None

    def is_over(self) -> bool:
        """True when the budget is used up."""
        return time.monotonic() >= self.deadline


@dataclass
class Row:
    """What is known of one operation at one size so far. Times are in seconds, memory in bytes."""

    operation: str
    size: int
    phase: str = "inputs"
    times: list[float] = field(default_factory=list)
    measured: dict[str, Any] = field(default_factory=dict)
    notes: list[dict[str, str]] = field(default_factory=list)

    def finished(self, status: str, reason: str | None = None) -> dict[str, Any]:
        """The row as it goes into the results; `status` is `ok`, `failed` or `not_run`."""
        return {
            "operation": self.operation,
            "volume_size": self.size,
            "status": status,
            "reason": reason,
            "phase": self.phase if status == "failed" else None,
            **summary(self.times),
            **self.measured,
            "notes": self.notes,
        }


def summary(times: list[float]) -> dict[str, Any]:
    """Count, least, median, greatest and spread of `times`; the spread is half the distance between the quartiles."""
    if not times:
        return {"runs": 0, "min_s": None, "median_s": None, "max_s": None, "spread_s": None}
    low, high = min(times), max(times)
    if len(times) > 1:
        low_quartile, _, high_quartile = statistics.quantiles(times, n=4, method="inclusive")
    else:
        low_quartile = high_quartile = low
    return {
        "runs": len(times),
        "min_s": low,
        "median_s": statistics.median(times),
        "max_s": high,
        "spread_s": (high_quartile - low_quartile) / 2,
    }


def measure(plan: Plan, declared: Declared, inputs: Inputs) -> dict[str, Any]:
    """Measure one operation and return its row, whatever the operation does short of ending the process."""
    row = Row(declared.name, plan.size)
    try:
        _measure(plan, declared, inputs, row)
    except (FixtureError, SuiteError) as error:
        return row.finished("failed", shortened(str(error)))
    except Exception as error:  # noqa: BLE001 - any failure is this row's result
        traceback.print_exc()
        return row.finished("failed", reason_of(error))
    finally:
        gc.collect()
    return row.finished("ok")


def _measure(plan: Plan, declared: Declared, inputs: Inputs, row: Row) -> None:
    _enter(plan, row, "inputs")
    started = time.perf_counter()
    arguments = inputs.arguments(declared)
    row.measured["inputs_s"] = time.perf_counter() - started
    with _harmless(row, "XLA's dump"):
        _sort_dump(plan, "inputs")

    def run() -> float:
        return _timed(plan.suite, declared, arguments)

    _first_run(plan, row, run)
    token = _module_token(plan, row)
    _traced_run(plan, row, run)
    traced = _module_token(plan, row)
    _timed_runs(plan, row, run)
    _count_late_modules(row, token)
    # Those that the trace is of, where each run compiles its own.
    if token is not None and traced is not None and traced > token:
        with _harmless(row, "modules"):
            _write_modules(plan, row, since=token, until=traced)
    with _harmless(row, "XLA's dump"):  # What was compiled late is the operation's, too.
        _sort_dump(plan, row.operation)


def _first_run(plan: Plan, row: Row, run: Callable[[], float]) -> None:
    _enter(plan, row, "first run")
    if "jax" in sys.modules:
        sys.modules["jax"].clear_caches()
    token = _module_token(plan, row)
    gc.collect()
    bench_memory.forget_peak()
    try:
        row.measured["first_run_s"] = run()
        row.measured["first_run_peak_rss_bytes"] = bench_memory.peak_bytes()
    finally:  # What was compiled for a run that fails says most of all.
        with _harmless(row, "modules"):
            if token is not None:
                _collect(plan, row, token)
        with _harmless(row, "XLA's dump"):
            _sort_dump(plan, row.operation)


def _traced_run(plan: Plan, row: Row, run: Callable[[], float]) -> None:
    """One run in a trace of its own: if the process dies here, only this operation's trace is lost."""
    if "jax" not in sys.modules:
        return
    _enter(plan, row, "traced run")
    from . import capture  # noqa: PLC0415 - needs jax, which only the suite imports

    scratch = plan.out_dir / f".trace-{os.getpid()}"
    failure: Exception | None = None
    with _harmless(row, "trace"):
        with capture.trace(scratch, options={}), sys.modules["jax"].profiler.TraceAnnotation(row.operation):
            try:
                seconds = run()
            except Exception as error:  # noqa: BLE001 - the operation's own, raised again below
                failure = error
        if failure is None:
            row.measured["traced_s"] = seconds
            row.measured["traces"] = _moved_traces(scratch, plan.out_dir, row.operation)
            plan.emit("measurement", operation=row.operation, volume_size=row.size, run=0, time=seconds, traced=True)
    shutil.rmtree(scratch, ignore_errors=True)
    if failure is not None:
        raise failure


def _timed_runs(plan: Plan, row: Row, run: Callable[[], float]) -> None:
    """Up to `plan.runs` runs; at least one, then no more once the budget is used up."""
    if plan.warm_up:
        _enter(plan, row, "warm-up")
        row.measured["warm_up_s"] = [run() for _ in range(plan.warm_up)]
    _enter(plan, row, "timed runs")
    gc.collect()
    row.measured["peak_rss_is_of"] = "timed runs" if bench_memory.forget_peak() else "process"
    row.measured["rss_before_bytes"] = bench_memory.resident_bytes()
    for number in range(1, plan.runs + 1):
        if number > 1 and plan.is_over():
            row.notes.append({"what": "timed runs", "why": f"budget used up after {number - 1} of {plan.runs}"})
            break
        seconds = run()
        row.times.append(seconds)
        plan.emit("measurement", operation=row.operation, volume_size=row.size, run=number, time=seconds, traced=False)
    row.measured["peak_rss_bytes"] = bench_memory.peak_bytes()
    with _harmless(row, "device memory"):
        row.measured["device_peak_bytes"] = bench_memory.device_peaks()


def _timed(suite: Suite, declared: Declared, arguments: dict[str, Any]) -> float:
    """Seconds of one run until everything it returned is ready."""
    for prepare in suite.before_each_run:
        prepare()
    jax = sys.modules.get("jax")
    started = time.perf_counter()
    result = declared.function(**arguments)
    if jax is not None:
        jax.block_until_ready(result)
    return time.perf_counter() - started


def _module_token(plan: Plan, row: Row) -> int | None:
    """The present point in the sequence of compilations; None if they cannot be watched."""
    if "jax" not in sys.modules:
        return None
    with _harmless(row, "modules"):
        from . import capture  # noqa: PLC0415 - needs jax, which only the suite imports

        return capture.module_token(formats=plan.formats)
    return None


def _count_late_modules(row: Row, token: int | None) -> None:
    """Say what the traced and timed runs compiled: an operation that compiles at every call has no warm time."""
    if token is None:
        return
    with _harmless(row, "modules"):
        from . import capture  # noqa: PLC0415

        late = capture.xla_costs(since=token)
        row.measured["late_modules"] = len(late)
        row.measured["late_compile_s"] = sum(module["compile_s"] for module in late)
        if late:
            row.measured["late_runs_s"] = row.measured.get("traced_s", 0.0) + sum(row.times)
            row.measured["late_names"] = dict(Counter(module["name"] for module in late).most_common(MOST_LATE_NAMES))


def _collect(plan: Plan, row: Row, token: int) -> None:
    """Write the modules of the operation's first run under `hlo/<operation>`, and keep XLA's costs."""
    from . import capture  # noqa: PLC0415

    costs = capture.xla_costs(since=token)
    shutil.rmtree(plan.out_dir / "hlo" / row.operation, ignore_errors=True)
    row.measured["compile_s"] = sum(module["compile_s"] for module in costs)
    _write_modules(plan, row, since=token, costs=[{"name": module["name"], "cost": finite(module["cost"])} for module in costs])


def _write_modules(
    plan: Plan, row: Row, *, since: int, until: int | None = None, costs: list[dict[str, Any]] | None = None
) -> None:
    """Write modules beside those that the operation has already; `costs` are those of its first run."""
    from . import capture  # noqa: PLC0415

    scratch = plan.out_dir / f".hlo-{os.getpid()}"
    modules = capture.collect_modules(scratch, formats=plan.formats, since=since, until=until)
    target = plan.out_dir / "hlo" / row.operation
    target.mkdir(parents=True, exist_ok=True)
    for module in modules:
        name = Path(module["dir"]).name
        shutil.move(scratch / "hlo" / name, target / name)
        module["dir"] = str(Path("hlo") / row.operation / name)
    shutil.rmtree(scratch, ignore_errors=True)
    plan.emit("modules", operation=row.operation, volume_size=row.size, modules=modules, costs=costs)
    for what, why in capture.notes:
        row.notes.append({"what": what, "why": why})
    capture.notes.clear()


def _sort_dump(plan: Plan, name: str) -> None:
    """Move what XLA has dumped since to a folder of its own, `hlo_dump/<name>`; a module is files and a folder."""
    if plan.dump is None or not plan.dump.is_dir():
        return
    target = plan.dump / name
    for path in [path for path in plan.dump.iterdir() if path.name.startswith("module_")]:
        target.mkdir(exist_ok=True)
        path.rename(target / path.name)


def finite(cost: dict[str, float]) -> dict[str, float]:
    """`cost` without the values that JSON cannot hold."""
    return {key: value for key, value in cost.items() if math.isfinite(value)}


def _moved_traces(scratch: Path, out_dir: Path, operation: str) -> list[str]:
    """Move the captures of `scratch` to the run `<operation>`; their paths from `out_dir`."""
    target = out_dir / RUNS / operation
    shutil.rmtree(target, ignore_errors=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(scratch / RUNS / RUN, target)
    return [str(path.relative_to(out_dir)) for path in sorted(target.rglob("*.xplane.pb"))]


def _enter(plan: Plan, row: Row, phase: str) -> None:
    row.phase = phase
    plan.emit("phase", operation=row.operation, volume_size=row.size, phase=phase)


@contextlib.contextmanager
def _harmless(row: Row, what: str) -> Iterator[None]:
    """Turn a failure of what surrounds the operation into a note on its row."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - the operation's times are worth more than this
        traceback.print_exc()
        row.notes.append({"what": what, "why": reason_of(error)})


def reason_of(error: BaseException) -> str:
    """Type and message of an exception, bounded, with the home folder written as `~`."""
    return shortened(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)


def shortened(text: str) -> str:
    """`text` on one line, at most `LONGEST_REASON` characters, with the home folder written as `~`."""
    home = os.path.expanduser("~")
    if len(home) > 1:
        text = text.replace(home, "~")
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_REASON else text[: LONGEST_REASON - 1] + "…"
