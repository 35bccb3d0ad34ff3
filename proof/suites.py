"""Ridgeline's suites at several sizes on the device that is there, by `ridgeline bench`."""

from __future__ import annotations

import json

from context import ROOT, Context, Missing, Proof, last_line, scaled

#: Suite, sizes, sizes of a quick run, variant.
RUNS = [
    ("mbirjax", "32,64,128,256", "16", None),
    ("mbirjax", "128", "16", "no_pallas"),
    ("shallow_water", "96,384", "16", None),
]


def prove(context: Context) -> Proof:
    """Run each suite for its part of the time that is left."""
    proof = Proof("Suites", ["suite", "operation", "size", "status", "median ms", "spread ms", "compile s", "late modules"])
    folder = context.folder("suites")
    for number, (suite, sizes, quick, variant) in enumerate(RUNS):
        out = folder / "_".join(filter(None, (suite, variant)))
        options = ["--variant", variant] if variant else []
        budget = max(20, context.left_s() / (len(RUNS) - number) - 10)
        command = [context.ridgeline, "bench", ROOT / "suites" / f"{suite}.py", "--python", context.python, "--sizes",
                   quick if context.quick else sizes, "--runs", "3", "--budget", f"{budget:.0f}s", "-o", out, *options]
        finished = context.run(command, log=folder / f"{out.name}.log", limit_s=budget + 20)
        results = out / "results.json"
        if not results.exists():
            proof.facts.append(f"{suite}: {last_line(finished.output)}")
            continue
        proof.rows += [[out.name, *row] for row in rows(json.loads(results.read_text()))]
    if not proof.rows:
        raise Missing("; ".join(proof.facts))
    return proof


def rows(results: dict) -> list[list]:
    """The rows of a suite's results."""
    return [[row["operation"], row["volume_size"], row["status"] if row["status"] == "ok" else f"{row['status']}: {row['reason']}",
             scaled(row.get("median_s"), 1e-3), scaled(row.get("spread_s"), 1e-3), row.get("compile_s"), row.get("late_modules")]
            for row in results["summary"]]
