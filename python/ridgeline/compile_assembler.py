"""The assembler that XLA runs, with its report and its machine code kept.

XLA asks `ptxas` for machine code alone, and a second run for its report costs as much as the first.
So XLA is shown a folder of CUDA's in which `ptxas` is a script of ours: it runs the real one with `-v` and keeps what that said.
A program that XLA did not have assembled, because it had assembled the same one before, is looked up, else assembled here.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

#: `ptxas` on one program; a kernel with tens of thousands of instructions takes seconds.
_PTXAS_SECONDS = 120

#: Which file is the program is known by its place; where its machine code goes, by `-o`.
_SCRIPT = """#!/bin/sh
if [ "$1" = --version ]; then exec {real} "$@"; fi
kept={kept}/$$
code=
last=
for word in "$@"; do
    if [ "$last" = -o ]; then code=$word; fi
    last=$word
done
{real} -v "$@" 2> "$kept.txt"
status=$?
cat "$kept.txt" >&2
if [ $status = 0 ] && [ -n "$code" ]; then cp "$code" "$kept.cubin" && cp "$1" "$kept.ptx"; fi
exit $status
"""


def ptxas() -> str | None:
    """The assembler of the NVIDIA package beside JAX, else the one on the path."""
    with contextlib.suppress(ImportError, ValueError):
        for base in importlib.import_module("nvidia.cuda_nvcc").__path__:
            found = Path(base) / "bin" / "ptxas"
            if found.is_file():
                return str(found)
    return shutil.which("ptxas")


class Assembler:
    """An assembler for XLA, and what it said of each program so far."""

    def __init__(self) -> None:
        self._real = ptxas()
        self._kept: Path | None = None
        self._folder: Path | None = None
        #: Where report and machine code are (without their endings), by the program.
        self._known: dict[str, Path] = {}
        if self._real is not None:
            with contextlib.suppress(OSError):
                self._build(Path(self._real).resolve())

    def _build(self, real: Path) -> None:
        scratch = Path(tempfile.mkdtemp(prefix="ridgeline-ptxas-"))
        folder, kept, base = scratch / "cuda", scratch / "kept", real.parent.parent
        (folder / "bin").mkdir(parents=True)
        kept.mkdir()
        for entry in base.iterdir():
            if entry.name != "bin":
                (folder / entry.name).symlink_to(entry)
        for entry in real.parent.iterdir():
            if entry.name != real.name:
                (folder / "bin" / entry.name).symlink_to(entry)
        script = folder / "bin" / "ptxas"
        script.write_text(_SCRIPT.format(real=shlex.quote(str(real)), kept=shlex.quote(str(kept))), encoding="utf-8")
        script.chmod(0o755)
        self._folder, self._kept = folder, kept

    def options(self) -> list[tuple[str, str]]:
        """What makes XLA run it."""
        return [] if self._folder is None else [("xla_gpu_cuda_data_dir", str(self._folder))]

    def reports(self, folder: Path) -> list[str]:
        """Write machine code and reports beside the programs in `folder`; the names of the files.

        Raises OSError where they cannot be written.
        """
        self._look()
        programs = sorted((folder / "kernels").glob("*.ptx"), key=lambda path: int(path.stem))
        if not programs or self._real is None:
            return []
        with ThreadPoolExecutor(max_workers=max(1, min(4, os.cpu_count() or 1))) as pool:
            said = list(pool.map(self._report, programs))
        (folder / "kernels" / "ptxas.txt").write_text("".join(said), encoding="utf-8")
        return ["kernels/ptxas.txt", *(f"kernels/{path.name}" for path in sorted((folder / "kernels").glob("*.cubin")))]

    def _look(self) -> None:
        """Take notice of what XLA had assembled since the last time."""
        for program in self._kept.glob("*.ptx") if self._kept is not None else ():
            known = program.with_name(_digest(program))
            for ending in (".txt", ".cubin"):
                with contextlib.suppress(OSError):
                    program.with_suffix(ending).replace(known.with_suffix(ending))
            program.unlink()
            self._known[known.name] = known

    def _report(self, program: Path) -> str:
        known = self._known.get(_digest(program))
        if known is None:
            return self._assembled(program)
        shutil.copyfile(known.with_suffix(".cubin"), program.with_suffix(".cubin"))
        return known.with_suffix(".txt").read_text(encoding="utf-8", errors="replace")

    def _assembled(self, program: Path) -> str:
        arch = next((line.split()[1] for line in _lines(program) if line.startswith(".target ")), "").rstrip(",")
        command = [str(self._real), "-v", f"-arch={arch}", str(program), "-o", str(program.with_suffix(".cubin"))]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_PTXAS_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return f"ptxas error   : {program.name}: no result after {_PTXAS_SECONDS} s\n"
        return done.stderr + done.stdout


def _digest(program: Path) -> str:
    return hashlib.sha256(program.read_bytes()).hexdigest()


def _lines(program: Path) -> Iterator[str]:
    with program.open(encoding="utf-8", errors="replace") as file:
        yield from file
