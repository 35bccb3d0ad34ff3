"""`make instructions`: instructions that reading a capture and making its tables take, by callgrind: the same on a busy machine.

    python3 benches/instructions.py [RIDGELINE ...] [--events 200000] [--capture FILE]

Counts whole processes under `valgrind --tool=callgrind` on one thread, and prints what each phase takes beyond the one before it:
starting, reading (`info`), and each analysis. Times say how a machine felt; these numbers differ between two builds only where the
code does. With several programs, such as builds of two commits, each further one is set against the first.

The capture is made here: kernels of one GPU, launched by one thread, in steps. Counts are by event of it, those of its host too.
Needs valgrind (Debian's will do); says so and ends with 0 where it is absent.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TOTAL = re.compile(r"Collected : (\d+)")
# What is measured, each beyond the second: nothing, the start of the process, or reading.
PHASES = [("start", ["--version"], None), ("read", ["info"], "start")] + [
    (name, [name], "read") for name in ("stats", "idle", "roofline", "transfers", "memory")
]
KERNELS = 200
LAUNCHES_A_STEP = 100


def varint(number: int) -> bytes:
    """A number as protobuf writes it."""
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    found.append(number)
    return bytes(found)


def field(number: int, value: int | str | bytes) -> bytes:
    """A field of a message: a number, or bytes with their length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def named(number: int, names: list[str], stats: dict[int, bytes] | None = None) -> bytes:
    """A table of names by id, from 1: `event_metadata` (4) or `stat_metadata` (5) of a plane."""
    rows = (field(1, at) + field(2, name) + (stats or {}).get(at, b"") for at, name in enumerate(names, 1))
    return b"".join(field(number, field(1, at) + field(2, row)) for at, row in enumerate(rows, 1))


def xspace(events: int) -> bytes:
    """An XPlane capture: half of the events launch, the other half is what they launched."""
    stats = ["correlation_id", "hlo_op", "hlo_module", "step_num", *(f"fusion.{at}" for at in range(KERNELS)), "jit_step"]
    ids = {name: at for at, name in enumerate(stats, 1)}
    kernels, calls, steps = [], [], []
    for at in range(events // 2):
        start, kernel = at * 10_000_000, at % KERNELS
        correlation = field(4, field(1, ids["correlation_id"]) + field(3, at + 1))
        op = field(4, field(1, ids["hlo_op"]) + field(7, ids[f"fusion.{kernel}"]))
        module = field(4, field(1, ids["hlo_module"]) + field(7, ids["jit_step"]))
        kernels.append(field(4, field(1, kernel + 1) + field(2, start + 3_000_000) + field(3, 6_000_000) + correlation + op + module))
        calls.append(field(4, field(1, 1) + field(2, start) + field(3, 2_000_000) + correlation))
        if at % LAUNCHES_A_STEP == 0:
            step = field(4, field(1, ids["step_num"]) + field(4, at // LAUNCHES_A_STEP))
            steps.append(field(4, field(1, 2) + field(2, start) + field(3, 10_000_000 * LAUNCHES_A_STEP - 1000) + step))
    line = lambda number, name, rows: field(3, field(1, number) + field(2, name) + field(3, 1_000_000_000) + b"".join(rows))
    gpu = field(1, 1) + field(2, "/device:GPU:0") + line(7, "Stream #7(Compute)", kernels)
    gpu += named(4, [f"loop_fusion_{at}" for at in range(KERNELS)]) + named(5, stats)
    # A step comes before the calls inside of it: the reader sorts them by their start.
    host = field(1, 2) + field(2, "/host:CPU") + line(1, "python", [*steps, *calls])
    host += named(4, ["cuLaunchKernel", "train"]) + named(5, stats)
    return field(1, gpu) + field(1, host)


def instructions(ridgeline: str, words: list[str]) -> int:
    """What a process took from its start to its end."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", ridgeline, *words]
        environment = {**os.environ, "RAYON_NUM_THREADS": "1", "XDG_DATA_HOME": "/nowhere", "NO_COLOR": "1"}
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    found = TOTAL.search(ran.stderr)
    if ran.returncode != 0 or found is None:
        sys.exit(f"{' '.join(words)} under valgrind: {ran.stderr[-800:]}")
    return int(found[1])


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("ridgeline", nargs="*", default=[str(ROOT / "target/release/ridgeline")])
    asked.add_argument("--events", type=int, default=200_000)
    asked.add_argument("--capture", type=Path, help="count on this capture instead of the one that is made")
    options = asked.parse_args()
    if shutil.which("valgrind") is None:
        print("skipped: instructions: valgrind is not installed (apt-get install valgrind)")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        capture = options.capture or Path(folder) / "made.xplane.pb"
        if options.capture is None:
            capture.write_bytes(xspace(options.events))
        print(f"{capture.name}: {capture.stat().st_size / 1e6:.1f} MB, millions of instructions on one thread")
        counts: list[dict[str, int]] = []
        for ridgeline in options.ridgeline:
            found: dict[str, int] = {}
            for name, words, _ in PHASES:
                found[name] = instructions(ridgeline, words if name == "start" else [*words, str(capture), "-f", "json"])
            counts.append(found)
        per_event = options.capture is None
        print(f"{'phase':12}" + "".join(f"{Path(one).name[:14]:>16}" for one in options.ridgeline) + ("  an event" if per_event else ""))
        for name, _, beyond in PHASES:
            own = [found[name] - (found[beyond] if beyond else 0) for found in counts]
            ratios = "".join(f"{number / 1e6:16.1f}" for number in own[:1]) + "".join(
                f"{number / 1e6:9.1f} ×{number / max(1, own[0]):5.2f}" for number in own[1:]
            )
            print(f"{name:12}{ratios}" + (f"{own[0] / options.events:10.0f}" if per_event else ""), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
