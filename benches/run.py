"""`make bench`: wall time, processor time and peak memory of `ridgeline stats` beside XProf, `json.load` and a bare scan.

    python3 benches/run.py [--only NAME,...] [--rounds N] [--no-xprof]

Each measurement is a fresh process on a file that is in the page cache; the best of some rounds counts.
What is absent (the corpus with its tools, XProf, rustc) is said in a line and left out; the exit status stays 0.
Writes `bench-out/results.json`. Captures are kept in `bench-out/`, but for the 3 GB one.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "bench-out"
TOOLS = ROOT / ".." / "shared" / "corpus" / "xplane" / "tools"
SOURCE = TOOLS.parent / "mi300_conv_08.xplane.pb"
KINETO = TOOLS.parents[1] / "kineto"
KINETO_SOURCE = KINETO / "h100_qwen15_0.5b_infer.json.gz"
# Further tools that read such traces, with the module that each needs.
KINETO_PEERS = (("HTA", "hta"), ("TraceLens", "TraceLens"))
# What a script that only wants the events does first.
JSON_LOAD = "import json, sys; print(len(json.load(open(sys.argv[1]))['traceEvents']))"
NSYS_SOURCE = ROOT / ".." / "shared" / "corpus" / "nsys" / "h100_2gpu_1s.sqlite"
PYTHON = ROOT / ".venv-bench" / "bin" / "python"
# What answers about a capture; `info` reads it and does little else.
READING = "ridgeline info"
ANALYSES = ("stats", "idle", "memory", "transfers", "roofline")
XPROF_TOOLS = ("hlo_stats", "kernel_stats", "overview_page")


@dataclass(frozen=True)
class Capture:
    """A capture to measure on."""

    name: str
    what: str
    # Arguments of the generator; empty where another way makes the capture.
    generate: tuple[str, ...] = ()
    # XProf reads one protobuf message, at most 2 GiB.
    xprof: bool = True
    keep: bool = True
    # A PyTorch trace of so many bytes, rather than an XPlane capture.
    json_bytes: int = 0
    # Whether each analysis is measured beside reading alone.
    analyses: bool = False


@dataclass(frozen=True)
class Measured:
    """The best of some runs of one tool on one capture."""

    capture: str
    tool: str
    wall_s: float
    cpu_s: float
    peak_mb: float
    rounds: int


CAPTURES = (
    Capture("small", "29 kB, a real CPU capture of three steps"),
    Capture("half_million", "0.5 M events, 1 GPU", ("--device-events", "250000", "--steps", "50")),
    Capture("five_million", "5 M events, 1 GPU", ("--device-events", "2500000", "--steps", "50"), analyses=True),
    Capture(
        "five_million_8",
        "5 M events, 8 GPUs",
        ("--device-events", "2500000", "--gpus", "8", "--steps", "50"),
        analyses=True,
    ),
    Capture("cold_cpu", "a real CPU capture with compilation and the Python tracer"),
    Capture("kineto_tenth", "a PyTorch trace of an H100, repeated to 100 MB of JSON", xprof=False, json_bytes=100_000_000),
    Capture("kineto", "the same, repeated to 1 GB", xprof=False, json_bytes=1_000_000_000),
    Capture("nsys_gigabyte", "1 GB Nsight Systems export, 14 M events", xprof=False, keep=False),
    Capture("three_gigabytes", "50 M events, 1 GPU", ("--device-events", "25000000", "--steps", "50"), False, False),
)


def main() -> int:
    """Measures everything that can be measured here."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="captures, with commas")
    parser.add_argument("--rounds", type=int, default=3, help="runs of Ridgeline and the scan, of which the best counts")
    parser.add_argument("--no-xprof", action="store_true", help="leave XProf out")
    parser.add_argument("--python", type=Path, default=PYTHON, help="an interpreter that has xprof, protobuf and mbirjax")
    options = parser.parse_args()
    OUT.mkdir(exist_ok=True)
    skipped: list[str] = []
    wanted = [capture for capture in CAPTURES if not options.only or capture.name in options.only.split(",")]
    python = environment(options.python, skipped)
    scan = compile_scan(skipped)
    measured: list[Measured] = []
    sizes: dict[str, int] = {}
    load = os.getloadavg()[0]
    for capture in wanted:
        path = make(capture, python, skipped)
        if path is None:
            continue
        sizes[capture.name] = path.stat().st_size
        measured += measure(capture, path, python, scan, options, skipped)
        print_table(capture, sizes[capture.name], measured)
        if not capture.keep:
            path.unlink()
    write_results(measured, sizes, skipped, load)
    return 0


def ridgeline() -> Path:
    """The binary as it is handed out."""
    return ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "dist" / "ridgeline"


def skip(what: str, why: str, skipped: list[str]) -> None:
    """Says what is left out."""
    skipped.append(f"{what}: {why}")
    print(f"skipped: {what}: {why}", flush=True)


def environment(python: Path, skipped: list[str]) -> Path | None:
    """The interpreter that runs XProf and the generator; made on first use."""
    if python == PYTHON and not python.exists():
        print("installing xprof, mbirjax and protobuf into .venv-bench", flush=True)
        venv = subprocess.run([sys.executable, "-m", "venv", str(ROOT / ".venv-bench")])
        pip = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        if venv.returncode or subprocess.run([*pip, "xprof", "mbirjax", "protobuf"]).returncode:
            shutil.rmtree(ROOT / ".venv-bench", ignore_errors=True)
    if python.exists():
        return python
    skip("XProf and generated captures", "no Python environment with xprof", skipped)
    return None


def compile_scan(skipped: list[str]) -> Path | None:
    """The bare scan of every event and stat: the floor under any reader."""
    source, binary = TOOLS / "scan.rs", OUT / "scan"
    if not source.exists():
        skip("the bare scan", "no ../shared/corpus folder", skipped)
        return None
    if not binary.exists() and subprocess.run(["rustc", "-O", "-o", str(binary), str(source)]).returncode:
        skip("the bare scan", "rustc failed", skipped)
        return None
    return binary


def make(capture: Capture, python: Path | None, skipped: list[str]) -> Path | None:
    """The capture's file, made if it is not there."""
    if capture.name == "small":
        return ROOT / "fixtures" / "xplane" / "train_steps.xplane.pb"
    if capture.json_bytes:
        return make_json(capture, skipped)
    if capture.name == "nsys_gigabyte":
        return multiplied_export(OUT / f"{capture.name}.sqlite", skipped)
    path = OUT / f"{capture.name}.xplane.pb"
    if path.exists():
        return path
    if python is None:
        skip(capture.name, "no Python environment to make it with", skipped)
        return None
    if not capture.generate:
        return cold_capture(path, python, skipped)
    if not SOURCE.exists():
        skip(capture.name, "no ../shared/corpus folder to make it from", skipped)
        return None
    command = [str(python), str(TOOLS / "gen_synth.py"), str(SOURCE), str(path), *capture.generate]
    print(f"making {capture.name} ({capture.what})", flush=True)
    if subprocess.run(command, stdout=subprocess.DEVNULL).returncode:
        skip(capture.name, "its generator failed", skipped)
        path.unlink(missing_ok=True)
        return None
    return path


def make_json(capture: Capture, skipped: list[str]) -> Path | None:
    """A trace of the corpus, repeated with new ids and later times."""
    path = OUT / f"{capture.name}.json"
    if path.exists():
        return path
    if not KINETO_SOURCE.exists():
        skip(capture.name, "no ../shared/corpus folder to make it from", skipped)
        return None
    print(f"making {capture.name} ({capture.what})", flush=True)
    generator = [sys.executable, str(KINETO / "tools" / "gen_big_trace.py")]
    command = [*generator, str(KINETO_SOURCE), str(path), str(capture.json_bytes)]
    if subprocess.run(command, stdout=subprocess.DEVNULL).returncode:
        skip(capture.name, "its generator failed", skipped)
        path.unlink(missing_ok=True)
        return None
    return path


def multiplied_export(path: Path, skipped: list[str]) -> Path | None:
    """The corpus's export with its rows doubled nine times."""
    if not NSYS_SOURCE.exists():
        skip(path.stem, "no ../shared/corpus folder to make it from", skipped)
        return None
    print(f"making {path.stem} by doubling the rows of {NSYS_SOURCE.name} nine times", flush=True)
    command = [sys.executable, str(ROOT / "benches" / "nsys_multiply.py"), str(NSYS_SOURCE), str(path), "9"]
    if subprocess.run(command).returncode:
        skip(path.stem, "its rows could not be multiplied", skipped)
        path.unlink(missing_ok=True)
        return None
    return path


def cold_capture(path: Path, python: Path, skipped: list[str]) -> Path | None:
    """Runs `cold_capture.py` and takes the file it leaves."""
    folder = OUT / "cold_cpu"
    print("making cold_cpu (compiles MBIRJAX; about a minute)", flush=True)
    run = subprocess.run([str(python), str(ROOT / "benches" / "cold_capture.py"), str(folder)])
    found = sorted(folder.rglob("*.xplane.pb"))
    if run.returncode or not found:
        skip("cold_cpu", "the program that is captured failed", skipped)
        return None
    found[-1].rename(path)
    shutil.rmtree(folder)
    return path


def measure(capture, path, python, scan, options, skipped) -> list[Measured]:
    """Every tool on one capture."""
    warm(path)
    rounds = max(options.rounds, 20) if capture.name == "small" else options.rounds
    results = [best(capture, "ridgeline stats", [str(ridgeline()), "stats", str(path)], rounds)]
    if capture.json_bytes:
        results.append(best(capture, "json.load", [sys.executable, "-c", JSON_LOAD, str(path)], 1))
        if capture.name == "kineto_tenth":
            results += beside_kineto_peers(capture, path, python, skipped)
        return [result for result in results if result.wall_s >= 0]
    if capture.name == "nsys_gigabyte":
        results += beside_pandas(capture, path, python, skipped)
        return [result for result in results if result.wall_s >= 0]
    if capture.analyses:
        results += beside_reading(capture, path, rounds)
    if scan is not None:
        results.append(best(capture, "scan", [str(scan), str(path)], rounds))
    if not capture.xprof or options.no_xprof:
        skip(f"XProf on {capture.name}", "over 2 GiB" if not capture.xprof else "left out by --no-xprof", skipped)
    elif python is None or not TOOLS.exists():
        skip(f"XProf on {capture.name}", "XProf or ../shared/corpus is absent", skipped)
    else:
        for tool in XPROF_TOOLS:
            command = [str(python), str(TOOLS / "xprof_run.py"), str(path), tool, "-"]
            results.append(best(capture, f"XProf {tool}", command, 1))
    for failed in [result for result in results if result is not None and result.wall_s < 0]:
        skip(f"{failed.tool} on {capture.name}", "it failed", skipped)
    return [result for result in results if result.wall_s >= 0]


def beside_reading(capture: Capture, path: Path, rounds: int) -> list[Measured]:
    """Reading alone, and each analysis in a run of its own; `stats` was measured before."""
    commands = ("info", *(analysis for analysis in ANALYSES if analysis != "stats"))
    return [best(capture, f"ridgeline {name}", [str(ridgeline()), name, str(path)], rounds) for name in commands]


def beside_pandas(capture: Capture, path: Path, python: Path | None, skipped: list[str]) -> list[Measured]:
    """The same tables through sqlite3 and pandas."""
    interpreter = str(python or sys.executable)
    if subprocess.run([interpreter, "-c", "import pandas"], stderr=subprocess.DEVNULL).returncode:
        skip(f"pandas on {capture.name}", "no Python environment with pandas", skipped)
        return []
    return [best(capture, "sqlite3 + pandas", [interpreter, str(ROOT / "benches" / "nsys_pandas.py"), str(path)], 1)]


def beside_kineto_peers(capture: Capture, path: Path, python: Path | None, skipped: list[str]) -> list[Measured]:
    """HTA and TraceLens, where they are installed; TraceLens takes 15 bytes of memory for a byte of trace."""
    interpreter, results = str(python or sys.executable), []
    for tool, module in KINETO_PEERS:
        if subprocess.run([interpreter, "-c", f"import {module}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
            skip(f"{tool} on {capture.name}", f"not installed for {interpreter}", skipped)
            continue
        command = [interpreter, str(ROOT / "benches" / "kineto_peers.py"), module.lower(), str(path)]
        results.append(best(capture, tool, command, 1))
    return results


def warm(path: Path) -> None:
    """Brings the file into the page cache."""
    with path.open("rb") as file:
        while file.read(1 << 24):
            pass


def best(capture: Capture, tool: str, command: list[str], rounds: int) -> Measured:
    """The fastest of `rounds` runs; a negative time where one failed."""
    runs = [once(command) for _ in range(rounds)]
    wall_s, cpu_s, peak_mb = min(runs)
    return Measured(capture.name, tool, wall_s, cpu_s, peak_mb, rounds)


def once(command: list[str]) -> tuple[float, float, float]:
    """Wall seconds, processor seconds and peak megabytes of one process."""
    begun = time.perf_counter()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdout=said, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        wall_s = time.perf_counter() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        # XProf's runner exits well even where XProf failed, and says so in one line of JSON.
        said.seek(0)
        failed = process.returncode != 0 or bool(re.search(rb'"err": "', said.read(1 << 20)))
    # Linux counts in kilobytes, macOS in bytes.
    scale = 1 if sys.platform == "darwin" else 1024
    return -1.0 if failed else wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * scale / 1e6


def print_table(capture: Capture, size: int, measured: list[Measured]) -> None:
    """The rows of one capture, with ratios to Ridgeline."""
    rows = [row for row in measured if row.capture == capture.name]
    print(f"\n{capture.name}: {capture.what}, {size / 1e6:.3g} MB")
    print(f"  {'tool':<22}{'wall':>10}{'cpu':>10}{'peak':>11}{'wall ratio':>12}{'peak ratio':>12}")
    ours = next((row for row in rows if row.tool == "ridgeline stats"), None)
    for row in rows:
        ratios = f"{row.wall_s / ours.wall_s:>11.2f}x{row.peak_mb / ours.peak_mb:>11.2f}x" if ours else ""
        print(f"  {row.tool:<22}{row.wall_s:>8.3f} s{row.cpu_s:>8.3f} s{row.peak_mb:>8.1f} MB{ratios}", flush=True)
    added = added_to_reading(rows)
    if added is not None:
        print(f"  all analyses together add {added:.0%} to the time of reading", flush=True)


def added_to_reading(rows: list[Measured]) -> float | None:
    """What each analysis takes beyond reading, summed, as a part of reading; `None` where one was not measured."""
    wall = {row.tool: row.wall_s for row in rows}
    tools = [f"ridgeline {analysis}" for analysis in ANALYSES]
    if not wall.keys() >= {READING, *tools}:
        return None
    return sum(max(wall[tool] - wall[READING], 0.0) for tool in tools) / wall[READING]


def write_results(measured: list[Measured], sizes: dict[str, int], skipped: list[str], load: float) -> None:
    """`bench-out/results.json`."""
    results = {
        "schema": "ridgeline.bench_against.v1",
        "machine": {"processor": platform.machine(), "cores": os.cpu_count(), "load_at_start": load},
        "capture_bytes": sizes,
        "measurements": [asdict(row) for row in measured],
        "skipped": skipped,
    }
    path = OUT / "results.json"
    path.write_text(json.dumps(results, indent=1) + "\n")
    print(f"\n{path.relative_to(ROOT)}: {len(measured)} measurements, {len(skipped)} skipped, load {load:.1f} at the start")


if __name__ == "__main__":
    sys.exit(main())
