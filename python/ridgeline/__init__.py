"""Ridgeline inside a Python process.

`region` and `result` are for programs; `capture` is for code that records itself; `attach` is what `ridgeline record` loads into a
program that knows nothing about it. These need nothing but the standard library: `jax` is the program's own, and is never imported by
the harness before the program has imported it.
`open`, `record`, `diff` and what else reads captures need the extension module, which the wheel has; they are loaded when they are
first asked for, so that a program that names its regions pays nothing for them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .regions import region, result

if TYPE_CHECKING:
    from .api import *  # noqa: F403 - what `__getattr__` finds

__all__ = ["region", "result"]


def __getattr__(name: str) -> Any:
    if not name.startswith("_"):
        try:
            api = import_module(".api", __name__)
        except ModuleNotFoundError:
            # The harness that the recorder lends to a program has no more than the hooks.
            api = None
        if api is not None and name in api.__all__:
            return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
