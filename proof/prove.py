"""Lays Ridgeline's numbers beside other people's of the same runs: CUDA events, hardware counters, nvidia-smi, data sheets.

What a machine does not have is skipped, and the report says so. Each proof keeps its captures, logs and tables under `--out`;
`report.md` and `results.json` there hold all tables of this run, and are written anew after each proof.

    python3 proof/prove.py --ridgeline target/release/ridgeline --python .venv/bin/python --out proof-out
    python3 proof/prove.py --only counters,kernel_times --budget 540
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import sys
import time
import traceback
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from context import ROOT, Context, Missing, Proof  # noqa: E402 - beside this file

#: In order of what is worth most where time is short.
PROOFS = ("counters", "kernel_times", "busy", "command_buffers", "recordings", "overhead", "ceilings", "suites")


def main() -> int:
    """Run the proofs and return 0, or 1 if one broke, or 130 if interrupted."""
    options = parsed()
    out = options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + (options.budget if options.budget is not None else math.inf)
    context = Context(str(options.ridgeline.resolve()), options.python, out, deadline, options.quick)
    results: list[dict[str, Any]] = []
    status = 0
    for name in options.only:
        begun = time.monotonic()
        print(f"== {name}", flush=True)
        try:
            result = told(name, importlib.import_module(name).prove(context))
        except Missing as missing:
            result = {"proof": name, "skipped": str(missing)}
        except KeyboardInterrupt:
            result, status = {"proof": name, "skipped": "interrupted"}, 130
        except Exception as error:  # noqa: BLE001 - the other proofs are worth having
            traceback.print_exc()
            result, status = {"proof": name, "broke": f"{type(error).__name__}: {error}"}, 1
        result["seconds"] = time.monotonic() - begun
        results.append(result)
        (out / "results.json").write_text(json.dumps(results, indent=1))
        (out / "report.md").write_text("\n".join(map(markdown, results)))
        print(text(result), flush=True)
        if status == 130:
            break
    return status


def parsed() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ridgeline", type=Path, default=ROOT / "target" / "release" / "ridgeline", help="the program to prove")
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has JAX, PyTorch or both [default: this one]")
    parser.add_argument("--out", type=Path, default=Path("proof-out"), help="folder for captures, logs and tables")
    parser.add_argument("--only", type=lambda names: names.split(","), default=list(PROOFS),
                        help=f"proofs to make, with commas: {', '.join(PROOFS)}")
    parser.add_argument("--budget", type=float, help="seconds; what is running then is interrupted and keeps what it has")
    parser.add_argument("--quick", action="store_true", help="small sizes: to see that everything runs")
    options = parser.parse_args()
    if unknown := [name for name in options.only if name not in PROOFS]:
        parser.error(f"no such proof: {', '.join(unknown)} (there are {', '.join(PROOFS)})")
    if not options.ridgeline.exists():
        parser.error(f"{options.ridgeline} is not there: build it with `cargo build --release -p ridge_cli`, or name one")
    return options


def told(name: str, proof: Proof) -> dict[str, Any]:
    """A proof as it goes into the results."""
    return {"proof": name, "title": proof.title, "columns": proof.columns, "rows": proof.rows, "facts": proof.facts}


def cell(value: Any) -> str:
    """A value with four digits that matter; nothing where nothing is known."""
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.4g}" if not 1e4 <= abs(value) < 1e7 else f"{value:.0f}"
    return str(value)


def text(result: dict[str, Any]) -> str:
    """A result as aligned text."""
    if "columns" not in result:
        return "".join(f"{key}: {result[key]}\n" for key in ("skipped", "broke") if key in result)
    rows = [result["columns"], *[[cell(value) for value in row] for row in result["rows"]]]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(value.ljust(width) for value, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([result["title"], *lines, *result["facts"], ""])


def markdown(result: dict[str, Any]) -> str:
    """A result as a section of Markdown."""
    if "columns" not in result:
        return f"## {result['proof']}\n\n{text(result)}"
    lines = [result["columns"], ["---"] * len(result["columns"]), *[[cell(value) for value in row] for row in result["rows"]]]
    table = "\n".join("| " + " | ".join(value.replace("|", "\\|") for value in line) + " |" for line in lines)
    return f"## {result['title']}\n\n{table}\n\n" + "".join(f"{fact}\n" for fact in result["facts"])


if __name__ == "__main__":
    sys.exit(main())
