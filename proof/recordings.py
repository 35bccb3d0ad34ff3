"""Programs recorded as they are, and what Ridgeline says of each capture: versions, losses, and whether the numbers hang together."""

from __future__ import annotations

import shutil
from pathlib import Path

from context import KNOWN_BY, ON_A_DEVICE, PROGRAMS, Context, Missing, Proof, facts_of, last_line, scaled, span
from intervals import union_ns


def prove(context: Context) -> Proof:
    """Record every program; look at each capture; keep a copy that can be shared."""
    proof = Proof("Recordings", [
        "program", "status", "whole s", "folder MB", "wall ms", "busy ms", "busy, summed anew", "kernels", "named", "inferred", "notes"])
    folder = context.folder("recordings")
    for name, options, program, env in programs(context.quick):
        run = folder / name
        try:
            recorded = context.record(run, program, options=options, limit_s=150, env=env)
            proof.rows.append([name, recorded.status, recorded.seconds, *described(context, run)])
        except Missing as missing:
            proof.facts.append(f"{name}: {missing}")
        except Exception as error:  # noqa: BLE001 - one capture that cannot be read is a finding, not the end
            proof.facts.append(f"{name}: {type(error).__name__}: {last_line(getattr(error, 'stderr', None) or str(error))}")
    return proof


def programs(quick: bool) -> list[tuple[str, list[str], list[str | Path], dict[str, str]]]:
    """Name, options of the recorder, command line and environment of each program."""
    small = ["--layers", "2", "--width", "128", "--length", "64", "--batch", "4"] if quick else []
    listed: list[tuple[str, list[str], list[str | Path], dict[str, str]]] = []
    for n in ("16",) if quick else ("96", "384"):
        for loop in ("python", "fori_loop"):
            program = [PROGRAMS / "shallow_water.py", "--n", n, "--loop", loop, "--rounds", "2"]
            listed.append((f"shallow_water_{n}_{loop}", [], program, {}))
    jax = [PROGRAMS / "transformer_jax.py", "--steps", "7", *small]
    listed.append(("transformer_jax", ["--steps", "4..6"], jax, {}))
    listed.append(("transformer_jax_kept", ["--steps", "4..6", "--keep-command-buffers"], jax, {}))
    listed.append(("transformer_jax_expanded", ["--steps", "4..6", "--expand-command-buffers"], jax, {}))
    torch = [PROGRAMS / "transformer_torch.py", "--steps", "7", *small]
    listed.append(("transformer_torch", ["--steps", "4..6", "--shapes", "--allocator-history"], torch, {}))
    listed.append(("transformer_torch_stacks", ["--steps", "4..5", "--python-tracer", "--allocations"], torch, {}))
    listed.append(("transformer_torch_compiled", ["--steps", "4..6"], [*torch, "--compile"], {}))
    limit = ["--largest-gib", "1"] if quick else []
    for library in ("jax", "torch"):
        program = [PROGRAMS / "out_of_memory.py", "--library", library, *limit]
        listed.append((f"out_of_memory_{library}", [], program, {}))
    return listed


def described(context: Context, run: Path) -> list[object]:
    """What Ridgeline says of a capture, its busy time beside that of a plain union of its events."""
    answer = context.answer("stats", run)
    facts = facts_of(answer)
    work = [span(event) for event in context.events(run) if event["kind"] in ON_A_DEVICE]
    whole = sum(facts.get(f"{key}_ns", 0) for key in KNOWN_BY)
    inferred = facts.get("by_module_ns", 0) + facts.get("by_order_ns", 0)
    size = sum(path.stat().st_size for path in run.rglob("*") if path.is_file())
    share_copy(context, run)
    return [size / 1e6, scaled(facts.get("wall_ns"), 1e6), scaled(facts.get("busy_ns"), 1e6), union_ns(work) / 1e6, facts.get("kernels"),
            facts.get("by_stat_ns", 0) / whole if whole else None, inferred / whole if whole else None,
            len(answer["notes"])]


def share_copy(context: Context, run: Path) -> None:
    """A copy of the capture without what is private, beside it."""
    copy = run.with_name(run.name + ".redacted")
    shutil.rmtree(copy, ignore_errors=True)
    finished = context.run([context.ridgeline, "redact", run, copy], log=run.with_name(run.name + ".redact.log"), limit_s=60)
    if finished.status != 0:
        raise Missing(f"the copy to share failed: {last_line(finished.output)}")
