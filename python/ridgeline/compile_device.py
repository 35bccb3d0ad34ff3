"""Compile StableHLO for a GPU that is not there, by XLA's own compiler, and keep what it says.

Runs in an environment of its own that has JAX with its CUDA plugin and `ptxas`; no driver is needed.
Facts about the GPU come as text (`GpuTargetConfigProto`), so nothing here knows any.
Each module gets a folder; what XLA dumps is put there under names that do not depend on it.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from .compile_source import read_source

#: What is kept of XLA's dump: how a file's name ends, and what it is called here; of one name the first that is there.
_KEPT = (
    (".before_optimizations.txt", "before.txt"),
    ("gpu_after_optimizations.txt", "after.txt"),
    ("gpu_after_optimizations.hlo.pb", "after.hlo.pb"),
    (".thunk_sequence_after_thunk_passes.txt", "thunks.txt"),
    (".thunk_sequence.txt", "thunks.txt"),
    (".thunk_metadata.txt", "thunk_metadata.txt"),
)

#: `ptxas` on one program; a kernel with tens of thousands of instructions takes seconds.
_PTXAS_SECONDS = 120

#: Set for every module; they change what is written, not what is compiled.
_DUMP_OPTIONS = (("xla_dump_hlo_as_text", True), ("xla_dump_hlo_as_proto", True))

#: XLA writes what its analytical model says beside each instruction. It has tables of some GPUs alone, and fails for others.
_MODEL_OPTION = ("xla_gpu_collect_cost_model_stats", True)


class Target:
    """A GPU that XLA compiles for."""

    def __init__(self, text: str) -> None:
        """`text` is a `GpuTargetConfigProto`.

        Raises what JAX raises where there is no plugin, or where the plugin does not take the text.
        """
        topologies = importlib.import_module("jax.experimental.topologies")
        topology = topologies.get_topology_desc(platform="cuda", target_config=text, topology="1x1x1")
        self._devices = topology.devices
        self._client = topology.devices[0].client
        self._has_model = True

    def compile(self, source: Path, folder: Path) -> dict[str, Any]:
        """Compile the StableHLO in `source`, and write into `folder` what XLA made of it.

        Returns name, files, notes, `compile_s` (XLA's own time) and `beyond_s` (all else), in seconds, and sizes in bytes.
        """
        started = time.perf_counter()
        compiler = importlib.import_module("jax._src.compiler")
        mlir = importlib.import_module("jax._src.interpreters.mlir")
        client = importlib.import_module("jax._src.lib").xla_client
        with mlir.make_ir_context() as context, _location(context):
            module, notes = read_source(source)
            options = compiler.get_compile_options(num_replicas=1, num_partitions=1, device_assignment=None)
            dump, devices = folder / ".dump", client.DeviceList(tuple(self._devices))
            try:
                executable, compile_s = self._compiled(module, devices, options, dump)
                name = executable.hlo_modules()[0].name
                memory = _memory(executable)
                files = _keep(dump, folder)
            finally:
                shutil.rmtree(dump, ignore_errors=True)
        (folder / "memory.json").write_text(json.dumps(memory, indent=1, sort_keys=True))
        files += ["memory.json", *_assemble(folder)]
        beyond_s = time.perf_counter() - started - compile_s
        return {
            "name": name, "files": sorted(files), "notes": notes, "memory": memory,
            "compile_s": round(compile_s, 6), "beyond_s": round(beyond_s, 6),
        }  # fmt: skip

    def _compiled(self, module: Any, devices: Any, options: Any, dump: Path) -> tuple[Any, float]:
        """The executable and XLA's time, with the words of its model if it has any of this GPU."""
        dumped = [("xla_dump_to", str(dump)), *_DUMP_OPTIONS]
        if self._has_model:
            options.env_option_overrides = [*dumped, _MODEL_OPTION]
            with contextlib.suppress(Exception):
                before = time.perf_counter()
                return self._client.compile(module, devices, options), time.perf_counter() - before
            shutil.rmtree(dump, ignore_errors=True)
        options.env_option_overrides = dumped
        before = time.perf_counter()
        executable = self._client.compile(module, devices, options)
        # It compiles without the model and not with it.
        self._has_model = False
        return executable, time.perf_counter() - before


def ptxas() -> str | None:
    """The assembler of the NVIDIA package beside JAX, else the one on the path."""
    with contextlib.suppress(ImportError, ValueError):
        for base in importlib.import_module("nvidia.cuda_nvcc").__path__:
            found = Path(base) / "bin" / "ptxas"
            if found.is_file():
                return str(found)
    return shutil.which("ptxas")


def _location(context: Any) -> Any:
    return importlib.import_module("jax._src.lib.mlir").ir.Location.unknown(context)


def _memory(executable: Any) -> dict[str, int]:
    stats = executable.get_compiled_memory_stats()
    return {name: int(getattr(stats, name)) for name in dir(stats) if name.endswith("_in_bytes")}


def _keep(dump: Path, folder: Path) -> list[str]:
    names = sorted(os.listdir(dump)) if dump.is_dir() else []
    kept: list[str] = []
    for ending, name in _KEPT:
        found = next((entry for entry in names if entry.endswith(ending)), None)
        if found is not None and name not in kept:
            (dump / found).replace(folder / name)
            kept.append(name)
    programs = sorted((entry for entry in names if entry.endswith(".ptx")), key=_number)
    for number, entry in enumerate(programs):
        (folder / "kernels").mkdir(exist_ok=True)
        (dump / entry).replace(folder / "kernels" / f"{number}.ptx")
        kept.append(f"kernels/{number}.ptx")
    return kept


def _number(entry: str) -> int:
    with contextlib.suppress(ValueError):
        return int(entry.split(".")[-2])
    return 0


def _assemble(folder: Path) -> list[str]:
    """Assemble each program once more, for the machine code and for what the assembler says of each kernel."""
    programs, assembler = sorted((folder / "kernels").glob("*.ptx")), ptxas()
    if not programs or assembler is None:
        return []
    with ThreadPoolExecutor(max_workers=max(1, min(4, os.cpu_count() or 1))) as pool:
        said = list(pool.map(lambda program: _assemble_one(assembler, program), programs))
    (folder / "kernels" / "ptxas.txt").write_text("".join(said))
    return ["kernels/ptxas.txt", *(f"kernels/{path.name}" for path in sorted((folder / "kernels").glob("*.cubin")))]


def _assemble_one(assembler: str, program: Path) -> str:
    arch = next((line.split()[1] for line in _lines(program) if line.startswith(".target ")), "").rstrip(",")
    command = [assembler, "-v", f"-arch={arch}", str(program), "-o", str(program.with_suffix(".cubin"))]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_PTXAS_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"ptxas error   : {program.name}: no result after {_PTXAS_SECONDS} s\n"
    return done.stderr + done.stdout


def _lines(program: Path) -> Iterator[str]:
    with program.open(encoding="utf-8", errors="replace") as file:
        yield from file
