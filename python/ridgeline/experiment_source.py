"""Change the text of the user's modules between reading and compiling.

A file on disk is never written.
The program's main file is loaded through a path hook, as Python loads a folder or an archive that it is told to run; what it imports
is loaded through a finder in front of Python's own.
Lines and columns stay what they are, so tracebacks and source lines of compiled operations do, too.
"""

from __future__ import annotations

import importlib.machinery
import os
import sys
import sysconfig
from pathlib import Path
from typing import Any

#: Larger files are loaded as they are.
_LARGEST = 2_000_000


class Rewrite:
    """What is rewritten: the change, and the places that a finding names."""

    def __init__(self, change: str | None, places: list[tuple[str, int]]) -> None:
        self.change = change
        self.places = places

    def lines(self, file: str) -> set[int]:
        """The lines of `file` that a finding names, as far as its path is known there."""
        return {line for name, line in self.places if is_same_file(name, file)}


def is_same_file(name: str, file: str) -> bool:
    """Whether a path, perhaps relative or of another folder, names `file`."""
    if os.path.abspath(name) == os.path.abspath(file):
        return True
    short = os.path.normpath(name).lstrip("./")
    return not os.path.isabs(name) and os.path.abspath(file).endswith(os.sep + short)


def install(rewrite: Rewrite, experiment: Any) -> None:
    """Load the main file and the user's modules through `rewrite`."""
    main = sys.argv[0] if sys.argv else ""
    roots = [os.getcwd()]
    if main and main not in ("-m", "-c", "-") and os.path.isfile(main):
        roots.append(os.path.dirname(os.path.abspath(main)))
        if is_users(os.path.abspath(main), roots):
            sys.path_hooks.insert(0, _MainHook(main, rewrite, experiment))
            for path in (main, os.path.abspath(main)):
                sys.path_importer_cache.pop(path, None)
    sys.meta_path.insert(0, _Finder(roots, rewrite, experiment))


def is_users(file: str, roots: list[str]) -> bool:
    """Whether a file is the user's own and no library's."""
    paths = sysconfig.get_paths()
    libraries = [paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    # The harness itself may lie in the working folder.
    if Path(file).parent == Path(__file__).resolve().parent or Path(file).parent == Path(os.path.abspath(__file__)).parent:
        return False
    if any(part in ("site-packages", "dist-packages") for part in Path(file).parts):
        return False
    inside = lambda folder: os.path.commonpath([folder, file]) == folder  # noqa: E731 - one line says it
    return not any(inside(library) for library in libraries) and any(inside(root) for root in roots)


class _Loader(importlib.machinery.SourceFileLoader):
    """Python's own, which compiles what was rewritten and neither reads nor writes compiled files."""

    def __init__(self, name: str, path: str, rewrite: Rewrite, experiment: Any) -> None:
        super().__init__(name, path)
        self._rewrite = rewrite
        self._experiment = experiment

    def get_code(self, fullname: str) -> Any:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)

    def source_to_code(self, data: Any, path: Any, *, _optimize: int = -1) -> Any:  # type: ignore[override]
        from .experiment_rewrite import rewritten

        if isinstance(data, bytes) and len(data) <= _LARGEST:
            tree = self._experiment.parts.run("rewrite", rewritten, data, str(path), self._rewrite)
            if tree is not None:
                return compile(tree, path, "exec", dont_inherit=True, optimize=_optimize)
        return super().source_to_code(data, path, _optimize=_optimize)


class _Finder:
    """Finds nothing itself, but has the user's modules loaded by `_Loader`."""

    def __init__(self, roots: list[str], rewrite: Rewrite, experiment: Any) -> None:
        self._roots = roots
        self._rewrite = rewrite
        self._experiment = experiment

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and isinstance(spec.loader, _Loader):
            return spec
        if spec is None or type(spec.loader) is not importlib.machinery.SourceFileLoader or not spec.origin:
            return None
        file = os.path.abspath(spec.origin)
        if not (is_users(file, self._roots) or self._rewrite.lines(file)):
            return None
        spec.loader = _Loader(spec.loader.name, spec.loader.path, self._rewrite, self._experiment)
        return spec


class _MainHook:
    """Claims the path of the program's main file."""

    def __init__(self, main: str, rewrite: Rewrite, experiment: Any) -> None:
        self._main = main
        self._rewrite = rewrite
        self._experiment = experiment

    def __call__(self, path: str) -> Any:
        # Newer versions of Python make the path that was typed a whole one.
        if path not in (self._main, os.path.abspath(self._main)):
            raise ImportError("not the program's main file", path=path)
        self._main = path
        return self

    def find_spec(self, name: str, target: Any = None) -> Any:
        if name != "__main__":
            return None
        # Python put the file itself first, as it does with an archive.
        if sys.path and sys.path[0] == self._main:
            sys.path[0] = os.path.dirname(os.path.realpath(self._main))
        loader = _Loader(name, self._main, self._rewrite, self._experiment)
        return importlib.machinery.ModuleSpec(name, loader, origin=self._main)

    def invalidate_caches(self) -> None:
        """There is nothing to forget."""
