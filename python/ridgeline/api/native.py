"""The extension module, and advice if it is not built."""

from __future__ import annotations

from types import ModuleType


def native() -> ModuleType:
    """The module; ImportError with advice if this installation doesn't have it."""
    try:
        from .. import _native  # noqa: PLC0415 - regions and results need no extension module
    except ImportError as error:
        advice = "this installation of ridgeline has only the hooks for programs; `pip install ./` in a checkout builds the rest"
        raise ImportError(f"{advice} ({error})") from error
    return _native
