"""Which code is the program's own: not Python's library, not an installed package, not the harness."""

from __future__ import annotations

import functools
import os
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])

#: Parts of the paths of installed packages.
INSTALLED = ("site-packages", "dist-packages")

#: Frames that are walked at most.
DEEPEST = 200


#: Code of the harness that stands in the place of a function of a library, and only calls it: whoever waits for it waits for that.
_passing: set[CodeType] = set()


def stands_for(original: Callable[..., Any]) -> Callable[[_Function], _Function]:
    """Mark what takes the place of `original`: it has its name, and looks at the program do not see it."""

    def marked(function: _Function) -> _Function:
        passes_on(function)
        return functools.wraps(original)(function)

    return marked


def passes_on(function: _Function) -> _Function:
    """Mark a function of the harness that only calls what it stands for."""
    _passing.add(function.__code__)
    return function


class OwnFiles:
    """Tells the program's own code, and remembers what it told."""

    def __init__(self) -> None:
        """Asks Python where its own files lie."""
        paths = sysconfig.get_paths()
        python = {f"{paths[name]}{os.sep}" for name in ("stdlib", "platstdlib")}
        self._others = (*python, f"{Path(__file__).parent.parent}{os.sep}")
        self._known: dict[int, bool] = {}
        #: What was asked of, by id, which stays its own while it is here.
        self.codes: dict[int, CodeType] = {}
        #: The names that it can see.
        self.globals: dict[int, dict[str, Any]] = {}

    def has(self, frame: FrameType) -> bool:
        """Whether the code of `frame` is the program's own."""
        code = frame.f_code
        known = self._known.get(id(code))
        if known is None:
            self.codes[id(code)] = code
            known = self._known[id(code)] = self._ask(code.co_filename, frame)
            if known:
                self.globals[id(code)] = frame.f_globals
        return known

    def is_harness(self, code: CodeType) -> bool:
        """Whether `code` is of this package."""
        return code.co_filename.startswith(self._others[-1])

    @staticmethod
    def is_passing(code: CodeType) -> bool:
        """Whether `code` is of this package and stands for what it calls."""
        return code in _passing

    def _ask(self, file: str, frame: FrameType) -> bool:
        if file.startswith("<") and not file.startswith("<ipython"):
            return file in ("<stdin>", "<string>") and frame.f_globals.get("__name__") == "__main__"
        return not any(part in file for part in INSTALLED) and not file.startswith(self._others)


def path_of(code: CodeType) -> str:
    """The file of `code` as it is shown: absolute, so that it means the same from any folder."""
    return code.co_filename if code.co_filename.startswith("<") else os.path.abspath(code.co_filename)


def innermost(own: OwnFiles) -> dict[str, Any] | None:
    """File, line and function of the innermost frame around the caller that is the program's own."""
    frame: FrameType | None = sys._getframe(1)
    for _ in range(DEEPEST):
        if frame is None:
            return None
        if own.has(frame):
            return {"file": path_of(frame.f_code), "line": frame.f_lineno, "function": frame.f_code.co_name}
        frame = frame.f_back
    return None
