"""Ridgeline inside a Python process.

The package needs nothing but the standard library: `jax` is the program's own, and is never imported by the harness before the
program has imported it.
`region` and `result` are for programs; `capture` is for code that records itself; `attach` is what `ridgeline record` loads into a
program that knows nothing about it.
"""

from .regions import region, result

__all__ = ["region", "result"]
