"""Whose work the kernels inside command buffers are: inferred in one run, named by the capture in another without them."""

from __future__ import annotations

from typing import Any

from context import KNOWN_BY, PROGRAMS, Context, Missing, Proof, facts_of, last_line, scaled


def prove(context: Context) -> Proof:
    """Record training steps twice, and compare operation by operation."""
    folder = context.folder("command_buffers")
    small = ["--layers", "2", "--width", "128", "--length", "64", "--batch", "4"] if context.quick else []
    answers = {}
    for name, options in (("with", ["--keep-command-buffers"]), ("without", ["--expand-command-buffers"])):
        program = [PROGRAMS / "transformer_jax.py", "--steps", "8", *small]
        recorded = context.record(folder / name, program, options=["--steps", "3..7", *options], limit_s=150)
        if recorded.status != 0:
            raise Missing(f"the program failed: {last_line(recorded.output)}")
        answers[name] = (context.answer("stats", folder / name, "--by", "op", "--top", "100000"),
                         facts_of(context.answer("stats", folder / name)))
    return compared(*answers["with"], *answers["without"])


def compared(with_: dict[str, Any], with_facts: dict[str, Any], without: dict[str, Any], without_facts: dict[str, Any]) -> Proof:
    """Totals of both runs, then the operations with the most time in either."""
    proof = Proof("Command buffers on and off", ["operation", "module", "with µs", "without µs", "with/without", "found by"])
    for key in KNOWN_BY:
        values = [part_of_kernels(facts, key) for facts in (with_facts, without_facts)]
        proof.rows.append([f"all kernels, {key.replace('_', ' ')}", None, *values, None, "share of the kernels' time"])
    found = [operations(answer) for answer in (with_, without)]
    keys = sorted(set(found[0]) | set(found[1]), key=lambda key: -max(f.get(key, (0, ""))[0] for f in found))
    for key in keys:
        (with_ns, how), (without_ns, _) = (f.get(key, (None, None)) for f in found)
        if len(proof.rows) < 30:
            quotient = with_ns / without_ns if with_ns and without_ns else None
            proof.rows.append([key[0], key[1], scaled(with_ns, 1e3), scaled(without_ns, 1e3), quotient, how])
    proof.facts.append(f"{100 * shared(*found):.1f}% of the time is on the same operations in both runs")
    return proof


def shared(one: dict[Any, tuple[int, str]], other: dict[Any, tuple[int, str]]) -> float:
    """The part of the time that two runs spend on the same operations, each run's time being 1."""
    wholes = [sum(ns for ns, _ in found.values()) or 1 for found in (one, other)]
    return sum(min(one[key][0] / wholes[0], other[key][0] / wholes[1]) for key in one.keys() & other.keys())


def operations(answer: dict[str, Any]) -> dict[tuple[str, str | None], tuple[int, str]]:
    """Self time and how it was found, by operation and module; kernels of modules alone."""
    found: dict[tuple[str, str | None], tuple[int, str]] = {}
    for row in answer["tables"][0]["rows"]:
        if row["module"]:
            key = (row["op"], row["module"])
            before = found.get(key, (0, row["attribution"]))
            found[key] = (before[0] + row["self_ns"], before[1])
    return found


def part_of_kernels(facts: dict[str, Any], key: str) -> float | None:
    """The part of the kernels' time that was found this way."""
    whole = sum(facts.get(f"{each}_ns", 0) for each in KNOWN_BY)
    return facts.get(f"{key}_ns", 0) / whole if whole else None
