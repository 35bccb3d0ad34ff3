"""Keep the text of source files, so that lines shown later are those that ran, whatever is edited meanwhile.

Kept are the program's own modules and what compiled modules name; not Python itself, nor installed packages that no module names.
A file that changed after the program began may not be what it runs, and is left out with a note.
A copy lies in the run folder under its own path, `sources/home/ada/solver.py`, so that the path alone finds it.
"""

from __future__ import annotations

import os
import re
import sys
import sysconfig
from collections.abc import Callable, Iterable
from pathlib import Path

#: What a path is made of.
_PART = rb"[^\x00-\x1f\x7f\"'<>|*?:]"
#: A source file's name in a serialized module. It is looked for only where such letters begin: from each of a megabyte of
#: them, the work would be the square of that.
_NAME = re.compile(rb"(?<!" + _PART + rb")" + _PART + rb"+\.py(?![A-Za-z0-9_.])")

#: Files larger than this many bytes are generated, and all together have at most that many.
_LARGEST_FILE = 1 << 20
_MOST_BYTES = 64 << 20

#: Parts of the paths of installed packages.
_INSTALLED = ("site-packages", "dist-packages")


class Sources:
    """The source files kept by one process."""

    def __init__(self, out: Path, *, began_unix_s: float, note: Callable[[str, str], None]) -> None:
        """The process began at `began_unix_s`; `note(what, why)` says which file was left out."""
        self._folder = out / "sources"
        self._began = began_unix_s
        self._note = note
        self._seen: set[str] = set()
        self._modules_seen = 0
        self._bytes_left = _MOST_BYTES
        paths = sysconfig.get_paths()
        self._python = tuple(f"{paths[name]}{os.sep}" for name in ("stdlib", "platstdlib"))
        self._harness = f"{Path(__file__).parent.parent}{os.sep}"

    def keep_imported(self) -> None:
        """Keep the program's own modules; raises OSError if one cannot be written."""
        if len(sys.modules) == self._modules_seen:
            return
        self._modules_seen = len(sys.modules)
        files = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
        self._keep(file for file in files if isinstance(file, str) and not any(part in file for part in _INSTALLED))

    def keep_named(self, module: bytes) -> None:
        """Keep the files that a serialized module or its text names; raises OSError if one cannot be written."""
        # The length of a name in front of it may look like a letter of it.
        names = {name.decode("utf-8", "replace") for name in _NAME.findall(module)}
        self._keep(name[name.find("/") :] for name in names if "/" in name)

    def _keep(self, files: Iterable[str]) -> None:
        for file in set(files) - self._seen:
            self._seen.add(file)
            if file.endswith(".py") and not self._is_known(file):
                self._copy(Path(file))

    def _is_known(self, file: str) -> bool:
        """True for Python's own files and the harness's; packages lie below Python's own folder."""
        is_installed = any(part in file for part in _INSTALLED)
        return file.startswith(self._harness) or (file.startswith(self._python) and not is_installed)

    def _copy(self, file: Path) -> None:
        try:
            status = file.stat()
            text = file.read_bytes() if status.st_size <= min(_LARGEST_FILE, self._bytes_left) else None
        except OSError:
            return  # of another machine, or inside an archive
        if status.st_mtime > self._began:
            self._note("a source file", f"{file} changed after the program began; its text is not kept")
        elif text is None:
            self._note("a source file", f"{file} is too large to keep")
        else:
            self._bytes_left -= len(text)
            # Without `..`, which would lead out of the folder.
            copy = self._folder / os.path.abspath(file).lstrip("/")
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(text)
