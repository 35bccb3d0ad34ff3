"""Nsight Compute: which counters a device has, a run under it, and its table read with nothing of Ridgeline's.

Kernels are profiled at the clocks as they are; caches are emptied before each, so that what memory carries is what the kernel needs.
"""

from __future__ import annotations

import csv
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from context import Context, Finished, Missing, tool

TIME = "gpu__time_duration.sum"
DRAM = ("dram__bytes_read.sum", "dram__bytes_write.sum")
#: Operations per count: a multiply-add is two.
PLAIN = {
    f"sm__sass_thread_inst_executed_op_{type_}{what}_pred_on.sum": operations
    for type_ in "dfh" for what, operations in (("add", 1), ("mul", 1), ("fma", 2))
}
#: Counts of operations of the tensor units.
TENSOR = tuple(f"sm__ops_path_tensor_src_{types}.sum" for types in (
    "bf16_dst_fp32", "tf32_dst_fp32", "fp16", "fp16_dst_fp16", "fp16_dst_fp32", "fp64", "int8", "fp8"))
#: `src_fp16` holds what these count, where both exist.
PARTS_OF_FP16 = ("sm__ops_path_tensor_src_fp16_dst_fp16.sum", "sm__ops_path_tensor_src_fp16_dst_fp32.sum")
OTHERS = ("lts__t_bytes.sum", "l1tex__t_bytes.sum")


@dataclass
class Launch:
    """One profiled kernel: its name and the counters that were collected, in base units (bytes, nanoseconds, counts)."""

    kernel: str
    counters: dict[str, float]

    def total(self, names: Sequence[str]) -> float | None:
        """Sum of those counters that were collected; None without any."""
        found = [self.counters[name] for name in names if name in self.counters]
        return sum(found) if found else None

    def plain_operations(self) -> float | None:
        """Operations of the ordinary pipes."""
        found = [self.counters[name] * each for name, each in PLAIN.items() if name in self.counters]
        return sum(found) if found else None

    def tensor_operations(self) -> float | None:
        """Operations of the tensor units, each counted once."""
        whole = "sm__ops_path_tensor_src_fp16.sum" in self.counters
        return self.total([name for name in TENSOR if not (whole and name in PARTS_OF_FP16)])


def collectable(wanted: Sequence[str], listed: str) -> list[str]:
    """Those of `wanted` whose metric is in the text of `ncu --query-metrics`."""
    known = {line.split()[0] for line in listed.splitlines() if line.strip()}
    return [name for name in wanted if name.rsplit(".", 1)[0] in known]


def profile(context: Context, report: Path, program: Sequence[str | Path], *, limit_s: float = 300) -> Finished:
    """Run a program under ncu, which profiles what lies between cudaProfilerStart and cudaProfilerStop, into `report`."""
    ncu = tool("ncu")
    listed = subprocess.run([ncu, "--query-metrics"], capture_output=True, text=True)
    metrics = collectable([TIME, *DRAM, *OTHERS, *PLAIN, *TENSOR], listed.stdout)
    if TIME not in metrics:
        raise Missing(f"ncu lists no {TIME}: {(listed.stderr or listed.stdout).strip()[:200]}")
    command = [ncu, "--force-overwrite", "--clock-control", "none", "--profile-from-start", "off", "--target-processes", "all",
               "--metrics", ",".join(metrics), "--export", report, context.python, *program]
    # One allocation per array: ncu saves and restores what a kernel may write, and a pool would be all of the memory.
    env = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false", "XLA_PYTHON_CLIENT_ALLOCATOR": "platform"}
    finished = context.run(command, log=report.with_suffix(".log"), limit_s=limit_s, env=env)
    if not report.exists():
        raise Missing(f"ncu wrote no report: {finished.output.strip()[-300:]}")
    return finished


def export_csv(report: Path, output: Path) -> None:
    """Write the report's raw page in base units."""
    command = [tool("ncu"), "--import", str(report), "--csv", "--page", "raw", "--print-units", "base"]
    output.write_text(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def read_csv(text: str) -> list[Launch]:
    """The launches of a raw page in base units, in the order they ran.

    Raises ValueError for another page and for units that are not base units.
    """
    lines = [line for line in text.splitlines() if not line.startswith("==")]
    table = list(csv.reader(lines))
    if len(table) < 2 or "Kernel Name" not in table[0]:
        raise ValueError("expected ncu's raw page with a header and a row of units")
    header, units = table[0], table[1]
    for name, unit in zip(header, units, strict=False):
        if name == TIME and unit not in ("ns", "nsecond") or name in DRAM and unit != "byte":
            raise ValueError(f"{name} is in {unit!r}: expected base units, as --print-units base gives them")
    return [_launch(header, row) for row in table[2:] if row]


def _launch(header: list[str], row: list[str]) -> Launch:
    cells = dict(zip(header, row, strict=False))
    counters = {}
    for name in (TIME, *DRAM, *OTHERS, *PLAIN, *TENSOR):
        try:
            counters[name] = float(cells[name].replace(",", ""))
        except (KeyError, ValueError):
            continue  # Not collected: absent, not zero.
    return Launch(cells["Kernel Name"], counters)


def between_marks(launches: Sequence[Launch], mark: str) -> list[list[Launch]]:
    """The launches after each kernel whose name holds `mark`, up to the next one."""
    groups: list[list[Launch]] = []
    for launch in launches:
        if mark in launch.kernel:
            groups.append([])
        elif groups:
            groups[-1].append(launch)
    return groups
