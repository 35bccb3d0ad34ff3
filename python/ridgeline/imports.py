"""Mark in the trace when the program imports a library that is not yet loaded, so that this time has a name.

An `import` of what is loaded never gets here: Python looks at `sys.modules` first, and calls the one function that is replaced
for what is left. It is replaced while a capture runs, and not otherwise.
"""

from __future__ import annotations

import contextlib
import importlib
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

#: How marks are called: this, and the name of what is imported. The reader takes it off.
PREFIX = "ridgeline import: "

#: The replacement, compiled under the file name of what it replaces: Python leaves frames of that file out of tracebacks.
_SOURCE = """
def _find_and_load(name, import_):
    mark = _begin(name)
    try:
        return _original(name, import_)
    finally:
        _end(mark)
"""


class ImportWatch:
    """Marks the outermost imports of each thread while it is on."""

    def __init__(self, annotation: Callable[[str], AbstractContextManager[Any]]) -> None:
        """`annotation(name)` is a range in the trace of the library that is captured."""
        self._annotation = annotation
        self._thread = threading.local()
        self._bootstrap: Any = None
        self._original: Any = None
        self._replacement: Any = None

    def start(self) -> None:
        """Replace Python's function; raises AttributeError if this Python has none of that name."""
        if self._original is not None:
            return
        bootstrap = importlib.import_module("_frozen_importlib")
        names = {"_begin": self._begin, "_end": self._end, "_original": bootstrap._find_and_load}
        exec(compile(_SOURCE, "<frozen importlib._bootstrap>", "exec"), names)  # noqa: S102 - it is the text above
        self._bootstrap, self._original = bootstrap, bootstrap._find_and_load
        self._replacement = bootstrap._find_and_load = names["_find_and_load"]

    def stop(self) -> None:
        """Put Python's own back, unless somebody else replaced ours."""
        if self._original is not None and self._bootstrap._find_and_load is self._replacement:
            self._bootstrap._find_and_load = self._original
            self._original = None

    def _begin(self, name: str) -> AbstractContextManager[Any] | None:
        """Begin a mark; None inside another, and where none can be made."""
        if getattr(self._thread, "is_importing", False):
            return None
        # Making a mark may import something itself.
        self._thread.is_importing = True
        try:
            mark = self._annotation(PREFIX + name)
            mark.__enter__()
        except Exception:  # noqa: BLE001 - a mark is a courtesy
            self._thread.is_importing = False
            return None
        return mark

    def _end(self, mark: AbstractContextManager[Any] | None) -> None:
        if mark is not None:
            self._thread.is_importing = False
            with contextlib.suppress(Exception):
                mark.__exit__(None, None, None)
