"""Hands over regions of many programs and prints one table: made or refused and why, checks, resources, clocks.

    python scripts/handoff_regions.py --ridgeline target/debug/ridgeline --python .venv/bin/python --keep kept/

Programs are those of `suites/`: each is recorded on a CPU, and its regions are handed over with one number format. A recording
or a bundle that is in `--keep` already is taken as it is, so that a run that was interrupted goes on.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

MBIRJAX = "median_filter3d,parallel_back_project,parallel_forward_project,cone_back_project,gen_weights"
BENCHES = {
    "MBIRJAX at 16": ["mbirjax", "--sizes", "16", "--variant", "one_cpu_device", "--ops", MBIRJAX],
    "shallow water": ["shallow_water", "--sizes", "24"],
}

# What is handed over: a compiled module, or a region of `ridgeline offload` by its number.
REGIONS = {
    "MBIRJAX at 16": [
        "jit_scan",
        "jit__sparse_back_project",
        "jit__sparse_forward_project",
        "jit__sparse_back_project_band",
        "jit__jit_compute_scatter_centers",
        "jit_exp",
    ],
    "shallow water": ["jit_sat_parts", "jit_divergence_parts", "jit_tendency"],
    "ct_descent": [1, 2],
    "lens_warp": [1, "jit__map_coordinates"],
    "gel_particles": [1, 2],
    "sand_ripples": [1],
    "heat_sources": [1, 2],
    "healthy_dune_patterns": [1],
    "healthy_cavity_flow": [1],
    "healthy_kuramoto": [1],
    "healthy_radar_kalman": [1],
    "deconvolution": [1, 2],
}


def run(words, log, seconds):
    """Runs a command; what it says is kept in `log`."""
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "MBIRJAX_NUM_CPU_DEVICES": "1"}
    with open(log, "w") as file:
        try:
            return subprocess.run(words, stdout=file, stderr=file, env=environment, timeout=seconds, cwd=ROOT).returncode
        except subprocess.TimeoutExpired:
            return 124


def recorded(name, options):
    """The recording of a program; None where it failed."""
    folder = options.keep / "runs" / re.sub(r"\W+", "_", name)
    if not folder.exists():
        hlo = ["--hlo", "text,proto,stablehlo", "-o", str(folder)]
        if name in BENCHES:
            words = ["bench", *BENCHES[name], "--runs", "1", "--python", options.python, *hlo]
        else:
            folders = ROOT / "suites/seen" / name
            program = next(path for path in (folders / "good.py", folders / "program.py") if path.exists())
            words = ["record", *hlo, "--", options.python, str(program)]
        code = run([options.ridgeline, *words], Path(f"{folder}.log"), options.seconds)
        print(f"{name}: recorded, status {code}", file=sys.stderr)
    return folder if folder.exists() else None


def handed_over(name, folder, region, options):
    """The bundle of a region; None where there is none."""
    bundle = options.keep / "bundles" / f"{folder.name}.{region}"
    if not (bundle / "MANIFEST.json").exists():
        which = ["--region", str(region)] if isinstance(region, int) else ["--module", region]
        log = Path(f"{bundle}.log")
        words = [options.ridgeline, "handoff", str(folder), "--number-format", options.format, "-o", str(bundle)]
        words += ["--python", "/bin/false"]
        code = run([*words, *which], log, options.seconds)
        several = re.search(r"means \d+ modules: ([^,]+)", log.read_text())
        if several:
            code = run([*words, "--module", several[1].strip()], log, options.seconds)
        print(f"{name}, {region}: handed over, status {code}", file=sys.stderr)
    return bundle if (bundle / "MANIFEST.json").exists() else None


def text_of(bundle, path):
    return (bundle / path).read_text().strip() if (bundle / path).exists() else ""


def row(name, region, bundle):
    """The row of a bundle."""
    manifest = json.loads((bundle / "MANIFEST.json").read_text())
    source, ledger = manifest["source"], manifest["ledger"]
    core = json.loads(text_of(bundle, "rtl/core.json") or "{}")
    refusal = manifest["no_specification_because"]
    if refusal:
        made = f"refused: {refusal}"
    elif core.get("kind") == "engine":
        made = f"engine of {len(core['stages'])} stages"
    elif core:
        made = "core of a window"
    elif (bundle / "rtl/kernel.v").exists():
        made = "datapath; " + text_of(bundle, "spec/core.txt")
    else:
        made = "C++; " + text_of(bundle, "spec/verilog.txt")
    states = {"passed": [], "failed": [], "not finished": []}
    for check in ledger:
        states.get(check["state"], []).append(check["check"])
    checks = f"{len(states['passed'])} passed"
    for state in ("failed", "not finished"):
        if states[state]:
            checks += f", {state}: {', '.join(states[state])}"
    resources = []
    for check in ledger:
        if check["check"] in ("Yosys", "Yosys core") and check["state"] == "passed":
            found = check["found"].replace("all of the engine takes ", "").replace(" (UltraScale+, before place and route)", "")
            resources.append(found)
    clocks = core.get("predicted", {}).get("clocks_of_each_further_frame")
    simulated = any(check["check"] == "Verilator core" and check["state"] == "passed" for check in ledger)
    clocks = "–" if clocks is None else f"{clocks:,}" + ("" if simulated else " (not simulated)")
    bits = core.get("bits_of_memory", core.get("bits_of_earlier_items"))
    cells = [
        name,
        f"`{source['region']}`",
        made,
        checks,
        "; ".join(resources) or "–",
        clocks,
        "–" if bits is None else f"{bits:,}",
    ]
    return "| " + " | ".join(str(cell).replace("|", "/").replace("\n", " ") for cell in cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ridgeline", default=str(ROOT / "target/debug/ridgeline"))
    parser.add_argument("--python", default=sys.executable, help="a Python with JAX and MBIRJAX")
    parser.add_argument("--keep", type=Path, required=True, help="where recordings and bundles are kept")
    parser.add_argument("--format", default="fixed<16,8>")
    parser.add_argument("--seconds", type=int, default=900, help="most for one command")
    parser.add_argument("--only", help="these programs, comma-separated")
    options = parser.parse_args()
    options.keep = options.keep.resolve()
    for folder in ("runs", "bundles"):
        (options.keep / folder).mkdir(parents=True, exist_ok=True)
    print("| program | region | made | checks | resources before place and route | clocks a call | bits of memory |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for name, regions in REGIONS.items():
        if options.only and name not in options.only.split(","):
            continue
        folder = recorded(name, options)
        for region in regions if folder else []:
            bundle = handed_over(name, folder, region, options)
            if bundle:
                print(row(name, region, bundle), flush=True)


if __name__ == "__main__":
    main()
