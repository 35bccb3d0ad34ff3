"""Sizes as a reader wants them: a unit, and three digits that matter."""

from __future__ import annotations

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def size_text(size: float) -> str:
    """`size` bytes with the largest unit that leaves at least one whole: `512 MiB`, `1.5 GiB`."""
    unit = 0
    while size >= 1024 and unit < len(_UNITS) - 1:
        size /= 1024
        unit += 1
    return f"{size:.0f} {_UNITS[unit]}" if size >= 999.5 else f"{size:.3g} {_UNITS[unit]}"
