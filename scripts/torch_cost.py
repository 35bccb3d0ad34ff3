"""What recording costs PyTorch programs on a processor, beside what `ridgeline record` says it costs.

    python scripts/torch_cost.py --python .venv-torch/bin/python [--runs 3] [--only lstm] [-- RECORD OPTIONS]

Each program of `suites/torch` runs without and with a recording, in turn. Times are seconds of processors, of the program, the
recorder, and all that they start, because a machine that others use, too, lends a program more or less of itself. The smallest of
several runs counts.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

#: Programs, with arguments that let each run for some seconds.
PROGRAMS = {
    "mlp_loader": ["--steps", "200"],
    "cnn": ["--steps", "60"],
    "transformer": ["--steps", "40"],
    "compiled": ["--steps", "100"],
    "lstm": ["--steps", "20"],
    "lstm tiny": ["--steps", "80", "--length", "100"],
}


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--python", default=".venv-torch/bin/python")
    parser.add_argument("--ridgeline", default=str(ROOT / "target" / "debug" / "ridgeline"))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", action="append", help="programs whose name begins so")
    parser.add_argument("--longer", type=int, default=1, help="how many times as many steps each program takes")
    parser.add_argument("options", nargs="*", help="options of `ridgeline record`")
    options = parser.parse_args()
    # What loads the program's modules for the first time reads them from the disk.
    subprocess.run([options.python, "-c", "import torch"], check=True)
    print(f"{'program':12} {'plain':>8} {'recorded':>9} {'ratio':>6} {'added':>7} {'said':>7}  (seconds of processors)")
    for name, arguments in PROGRAMS.items():
        if options.only and not any(name.startswith(only) for only in options.only):
            continue
        steps, *others = arguments[1:]
        command = [options.python, str(ROOT / "suites" / "torch" / f"{name.split()[0]}.py")]
        command += ["--steps", str(int(steps) * options.longer), *others]
        plain, recorded, said = [], [], []
        for _ in range(options.runs):
            plain.append(_cost(command))
            folder = Path(tempfile.mkdtemp(prefix="torch_cost"))
            try:
                recorded.append(_cost([options.ridgeline, "record", *options.options, "-o", str(folder / "run"), "--", *command]))
                said.append(json.loads((folder / "run" / "manifest.json").read_text())["overhead"]["harness_s"])
            finally:
                shutil.rmtree(folder, ignore_errors=True)
        least, most = min(plain), min(recorded)
        print(f"{name:12} {least:8.2f} {most:9.2f} {most / least:6.2f} {most - least:7.2f} {min(said):7.2f}", flush=True)


def _cost(command: list[str]) -> float:
    """Seconds of processors that a command and all that it starts take."""
    before = _children()
    began = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    if os.environ.get("TORCH_COST_WALL"):
        print(f"  {time.perf_counter() - began:.2f} s of the clock, {_children() - before:.2f} s of processors: {' '.join(command[-4:])}")
    return _children() - before


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
