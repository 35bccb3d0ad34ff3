"""What `torch.compile` says of its own work: where it broke a graph, and what it compiled again, each with its reason.

Dynamo counts both whether anyone looks or not (`torch._dynamo.utils`); nothing is switched on and nothing is slower for it.
"""

from __future__ import annotations

import sys
from typing import Any

#: Functions of which something is said: those that broke most often, and those compiled most often.
_MOST = 3
#: Letters of a reason.
_LONGEST = 160
#: How the names of the parts begin that dynamo makes of a function that it broke.
_RESUMED = "torch_dynamo_resume_in_"


def told() -> list[dict[str, str]]:
    """Notes for the manifest; none where nothing was compiled, or where this PyTorch counts otherwise."""
    utils = sys.modules.get("torch._dynamo.utils")
    metrics = getattr(utils, "get_compilation_metrics", None)
    return [] if metrics is None else notes_of(metrics())


def notes_of(metrics: list[Any]) -> list[dict[str, str]]:
    """A note for each function whose graph was broken or that was compiled again; `metrics` has one entry for each compilation."""
    functions: dict[tuple[str, int, str], list[Any]] = {}
    for entry in metrics:
        key = (str(getattr(entry, "co_filename", "")), int(getattr(entry, "co_firstlineno", 0) or 0), str(getattr(entry, "co_name", "")))
        functions.setdefault(key, []).append(entry)
    broken = [(key, reasons) for key, entries in functions.items() if (reasons := _breaks(entries))]
    again = [(key, entries) for key, entries in functions.items() if any(getattr(entry, "recompile_reason", None) for entry in entries)]
    broken.sort(key=lambda found: -len(found[1]))
    again.sort(key=lambda found: -len(found[1]))
    said = [f"{_name(key)} breaks its graph: {'; '.join(reasons)}" for key, reasons in broken[:_MOST]]
    said += [_compiled_again(key, entries) for key, entries in again[:_MOST]]
    return [{"what": "torch.compile", "why": text} for text in said]


def _breaks(entries: list[Any]) -> list[str]:
    """Why the graph of a function was broken, each reason once."""
    reasons: dict[str, None] = {}
    for entry in entries:
        for reason in sorted(getattr(entry, "restart_reasons", None) or ()):
            # A call is inlined on a second attempt, which breaks nothing.
            reasons[_first_line(str(reason))] = None
    return list(reasons)


def _compiled_again(key: tuple[str, int, str], entries: list[Any]) -> str:
    reasons: dict[str, None] = {}
    repeated = [entry for entry in entries if getattr(entry, "recompile_reason", None)]
    for entry in repeated:
        if reason := entry.recompile_reason:
            # "0/0: scale == 1.0      # the line that asked for it": the guard that did not hold.
            guard = str(reason).split(": ", 1)[-1].split("  #", 1)[0]
            reasons[_first_line(guard)] = None
    seconds = sum(float(getattr(entry, "entire_frame_compile_time_s", 0) or 0) for entry in repeated)
    guards = ", ".join(f"`{guard}`" for guard in list(reasons)[:_MOST])
    return f"{_name(key)} was compiled again {_times(len(repeated))}, {seconds:.2g} s: no longer true was {guards}"


def _name(key: tuple[str, int, str]) -> str:
    file, line, name = key
    is_rest = name.startswith(_RESUMED)
    what = f"the rest of `{name.removeprefix(_RESUMED).rsplit('_at_', 1)[0]}` after a break" if is_rest else f"`{name}`"
    return f"{what} ({file}:{line})"


def _first_line(text: str) -> str:
    line = text.strip().split("\n", 1)[0].strip()
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
