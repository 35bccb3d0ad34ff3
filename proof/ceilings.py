"""What the device reaches, measured by `ridgeline calibrate`, against its data sheet."""

from __future__ import annotations

import json
import tomllib
from typing import Any

from context import ROOT, Context, Missing, Proof, gpu_name, last_line

SHEETS = ROOT / "crates" / "ridge_analysis" / "devices"


def prove(context: Context) -> Proof:
    """Measure, find the sheet, compare."""
    gpu = gpu_name()
    folder = context.folder("ceilings")
    output = folder / "ceilings.json"
    quick = ["--quick"] if context.quick else []
    command = [context.ridgeline, "calibrate", "--only", "device", "--no-keep", "--python", context.python, *quick,
               "--format", "json", "-o", output]
    finished = context.run(command, log=folder / "log.txt", limit_s=200)
    if not output.exists():
        raise Missing(f"calibrate failed: {last_line(finished.output)}")
    return compared(json.loads(output.read_text()), gpu, sheet_of(gpu))


def sheet_of(gpu: str) -> dict[str, Any]:
    """The data sheet whose driver names hold `gpu`."""
    for path in sorted(SHEETS.glob("*.toml")):
        sheet = tomllib.loads(path.read_text())
        if gpu in sheet.get("driver_names", []):
            return sheet
    raise Missing(f"no data sheet for {gpu!r}")


def compared(measured: dict[str, Any], gpu: str, sheet: dict[str, Any]) -> Proof:
    """One row per figure; those that no sheet states have no ratio."""
    proof = Proof(f"Measured ceilings against the data sheet, {gpu}", ["figure", "measured", "sheet", "unit", "measured/sheet"])
    for device in measured["devices"]:
        for figure in device["figures"]:
            stated = stated_by(sheet, figure["what"], figure.get("type"))
            value = figure["value"]
            proof.rows.append([" ".join(filter(None, (figure["what"], figure.get("type")))), value, stated, figure["unit"],
                               value / stated if stated else None])
    return proof


def stated_by(sheet: dict[str, Any], what: str, type_: str | None) -> float | None:
    """The sheet's number for a figure, in the figure's unit."""
    if what.startswith("stream_"):
        return sheet["memory_gb_per_s"]["value"] * 1e9
    table = {"matrix": "matrix", "multiply_add": "plain"}.get(what)
    entry = sheet.get(table, {}).get(type_) if table else None
    return entry["value"] * 1e12 if entry else None
