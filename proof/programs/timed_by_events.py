"""Launches kernels of many lengths in PyTorch and times each row of launches by CUDA events, into a file.

Each row lies in a `record_function` range `row NAME`, so that a capture of the same run can be laid beside it.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import torch

MIB = 1 << 20


def work() -> Iterator[tuple[str, int, Callable[[], object]]]:
    """Name, launches in a row, and one launch, of each kind of work."""
    for mib in (1, 16, 256, 2048):
        source = torch.randn(mib * MIB // 4, device="cuda")
        target = torch.empty_like(source)
        yield f"copy {mib} MiB", 50, lambda target=target, source=source: target.copy_(source)
    for edge in (512, 2048, 8192):
        for name, dtype in (("bf16", torch.bfloat16), ("f32", torch.float32), ("f64", torch.float64)):
            a = torch.randn(edge, edge, device="cuda", dtype=dtype)
            out = torch.empty_like(a)
            yield f"product {name} {edge}", 10, lambda a=a, out=out: torch.mm(a, a, out=out)
    x = torch.randn(8192, 8192, device="cuda")
    places = torch.randperm(8192, device="cuda")
    tiny = torch.ones(32, device="cuda")
    yield "softmax", 20, lambda: torch.softmax(x, 1)
    yield "layer norm", 20, lambda: torch.nn.functional.layer_norm(x, (8192,))
    yield "sum", 20, lambda: x.sum()
    yield "gather rows", 20, lambda: x[places]
    yield "tiny add", 500, lambda: tiny.add_(1)
    yield from copies()


def copies() -> Iterator[tuple[str, int, Callable[[], object]]]:
    """Copies between host and device, of pageable and of pinned memory."""
    for mib in (1, 64, 512):
        device = torch.empty(mib * MIB, dtype=torch.uint8, device="cuda")
        for kind, pin in (("pageable", False), ("pinned", True)):
            host = torch.zeros(mib * MIB, dtype=torch.uint8, pin_memory=pin)
            yield f"to device {kind} {mib} MiB", 5, lambda d=device, h=host, pin=pin: d.copy_(h, non_blocking=pin)
            yield f"to host {kind} {mib} MiB", 5, lambda d=device, h=host, pin=pin: h.copy_(d, non_blocking=pin)


def main() -> None:
    """Time every row."""
    parser = argparse.ArgumentParser(description="Kernels timed by CUDA events")
    parser.add_argument("--out", type=Path, required=True, help="file to write")
    options = parser.parse_args()
    rows = []
    for name, launches, launch in work():
        for _ in range(3):
            launch()
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        with torch.profiler.record_function(f"row {name}"):
            begin.record()
            for _ in range(launches):
                launch()
            end.record()
            torch.cuda.synchronize()
        rows.append({"name": name, "launches": launches, "ms": begin.elapsed_time(end)})
        print(rows[-1], flush=True)
    options.out.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
