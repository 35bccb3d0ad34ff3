"""Keeps a GPU busy for a known part of the time, one part after the other, and writes when each began and ended.

Times are seconds since 1970, as a monitor's log has them; each part lies in a `record_function` range `part N %`.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import torch

#: Seconds of work and rest together.
CYCLE_S = 0.05


def products(matrix: torch.Tensor, seconds: float) -> None:
    """Matrix products for about this long."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        torch.mm(matrix, matrix)
        torch.cuda.synchronize()


def main() -> None:
    """Work and rest."""
    parser = argparse.ArgumentParser(description="A known part of the time busy")
    parser.add_argument("--out", type=Path, required=True, help="file to write")
    parser.add_argument("--seconds", type=float, default=8, help="of each part")
    parser.add_argument("--parts", type=int, nargs="+", default=[20, 50, 80, 100], help="percent of the time busy")
    options = parser.parse_args()
    matrix = torch.randn(2048, 2048, device="cuda")
    products(matrix, 1)
    parts = []
    for percent in options.parts:
        with torch.profiler.record_function(f"part {percent} %"):
            begin = time.time()
            while time.time() < begin + options.seconds:
                products(matrix, CYCLE_S * percent / 100)
                time.sleep(CYCLE_S * (1 - percent / 100))
            parts.append({"percent": percent, "begin_s": begin, "end_s": time.time()})
    options.out.write_text(json.dumps(parts, indent=1))


if __name__ == "__main__":
    main()
