"""Runs a Python program under the profiler of its library alone: what recording with Ridgeline is laid against.

    python under_profiler.py jax FOLDER PROGRAM ARGUMENTS...
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path


def main() -> None:
    """Run the program as `python PROGRAM ARGUMENTS` would."""
    library, folder, program, *arguments = sys.argv[1:]
    sys.argv = [program, *arguments]
    sys.path[0] = str(Path(program).resolve().parent)
    if library == "jax":
        import jax

        with jax.profiler.trace(folder):
            runpy.run_path(program, run_name="__main__")
        return
    import torch

    with torch.profiler.profile() as profiler:
        runpy.run_path(program, run_name="__main__")
    Path(folder).mkdir(parents=True, exist_ok=True)
    profiler.export_chrome_trace(str(Path(folder) / "trace.json"))


if __name__ == "__main__":
    main()
