"""Compile StableHLO for a GPU that is not there, by XLA's own compiler, and keep what it says.

Runs in an environment of its own that has JAX with its CUDA plugin and `ptxas`; no driver is needed.
Facts about the GPU come as text (`GpuTargetConfigProto`), so nothing here knows any.
Each module gets a folder; what XLA dumps is put there under names that do not depend on it.
How its kernels are assembled, and what the assembler says of them, is in `compile_assembler`.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import re
import shutil
import time
from pathlib import Path
from typing import Any

from .compile_assembler import Assembler
from .compile_source import read_source

#: What is kept of XLA's dump: how a file's name ends, and what it is called here; of one name the first that is there.
_KEPT = (
    (".before_optimizations.txt", "before.txt"),
    ("gpu_after_optimizations.txt", "after.txt"),
    ("gpu_after_optimizations.hlo.pb", "after.hlo.pb"),
    (".thunk_sequence_after_thunk_passes.txt", "thunks.txt"),
    (".thunk_sequence.txt", "thunks.txt"),
    (".thunk_metadata.txt", "thunk_metadata.txt"),
    (".priority_fusion_dump.txt", "fusion_steps.txt"),
)

#: Set for every module; they change what is written, not what is compiled.
#: That pass writes what it fused and what it may not fuse, if it is dumped itself.
_DUMP_OPTIONS = (
    ("xla_dump_hlo_as_text", True), ("xla_dump_hlo_as_proto", True), ("xla_dump_hlo_pass_re", "priority-fusion"),
)  # fmt: skip

#: Nine in ten steps of the fusion pass are priorities, which nothing reads.
_PRIORITIES = re.compile(r"fusion_steps \{\n  update_priority \{.*?\n  \}\n\}\n", re.DOTALL)

#: The number that XLA gives a module, in the names of its files.
_MODULE_NUMBER = re.compile(r"module_(\d+)\.")

#: XLA writes what its analytical model says beside each instruction. It has tables of some GPUs alone, and fails for others.
_MODEL_OPTION = ("xla_gpu_collect_cost_model_stats", True)


class Target:
    """A GPU that XLA compiles for."""

    def __init__(self, text: str, *, devices: int = 1) -> None:
        """`text` is a `GpuTargetConfigProto`; a program is cut for so many such `devices` of one host.

        Raises what JAX raises where there is no plugin, or where the plugin does not take the text.
        """
        topologies = importlib.import_module("jax.experimental.topologies")
        topology = topologies.get_topology_desc(platform="cuda", target_config=text, topology=f"1x1x{devices}")
        self._devices = topology.devices
        self._client = topology.devices[0].client
        self._has_model = True
        self._assembler = Assembler()

    def compile(self, source: Path, folder: Path) -> dict[str, Any]:
        """Compile the StableHLO in `source`, and write into `folder` what XLA made of it.

        Returns name, XLA's number of the module, files, notes, `compile_s` (XLA's own time) and `beyond_s` (all else), in seconds, and sizes in bytes.
        """
        started = time.perf_counter()
        compiler = importlib.import_module("jax._src.compiler")
        mlir = importlib.import_module("jax._src.interpreters.mlir")
        client = importlib.import_module("jax._src.lib").xla_client
        with mlir.make_ir_context() as context, _location(context):
            module, notes = read_source(source)
            options = compiler.get_compile_options(num_replicas=1, num_partitions=len(self._devices), device_assignment=None)
            dump, devices = folder / ".dump", client.DeviceList(tuple(self._devices))
            try:
                executable, compile_s = self._compiled(module, devices, options, dump)
                name = executable.hlo_modules()[0].name
                memory = _memory(executable)
                number, files = _keep(dump, folder)
            finally:
                shutil.rmtree(dump, ignore_errors=True)
        (folder / "memory.json").write_text(json.dumps(memory, indent=1, sort_keys=True))
        files += ["memory.json", *self._assembler.reports(folder)]
        beyond_s = time.perf_counter() - started - compile_s
        return {
            "name": name, "number": number, "files": sorted(files), "notes": notes, "memory": memory,
            "compile_s": round(compile_s, 6), "beyond_s": round(beyond_s, 6),
        }  # fmt: skip

    def _compiled(self, module: Any, devices: Any, options: Any, dump: Path) -> tuple[Any, float]:
        """The executable and XLA's time, with the words of its model if it has any of this GPU."""
        dumped = [("xla_dump_to", str(dump)), *_DUMP_OPTIONS, *self._assembler.options()]
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


def _location(context: Any) -> Any:
    return importlib.import_module("jax._src.lib.mlir").ir.Location.unknown(context)


def _memory(executable: Any) -> dict[str, int]:
    stats = executable.get_compiled_memory_stats()
    return {name: int(getattr(stats, name)) for name in dir(stats) if name.endswith("_in_bytes")}


def _keep(dump: Path, folder: Path) -> tuple[int | None, list[str]]:
    """Move what is kept into the folder; XLA's number of the module, and the names of the files."""
    names = sorted(os.listdir(dump)) if dump.is_dir() else []
    numbers = (_MODULE_NUMBER.match(name) for name in names)
    number = next((int(found.group(1)) for found in numbers if found), None)
    kept: list[str] = []
    for ending, name in _KEPT:
        found = next((entry for entry in names if entry.endswith(ending)), None)
        if found is not None and name not in kept:
            (dump / found).replace(folder / name)
            kept.append(name)
    if "fusion_steps.txt" in kept:
        steps = folder / "fusion_steps.txt"
        steps.write_text(_PRIORITIES.sub("", steps.read_text(encoding="utf-8")), encoding="utf-8")
    # Of a module without a kernel of its own, XLA leaves a program without a line.
    programs = [entry for entry in names if entry.endswith(".ptx") and (dump / entry).stat().st_size]
    programs.sort(key=_number)
    for place, entry in enumerate(programs):
        (folder / "kernels").mkdir(exist_ok=True)
        (dump / entry).replace(folder / "kernels" / f"{place}.ptx")
        kept.append(f"kernels/{place}.ptx")
    return number, kept


def _number(entry: str) -> int:
    with contextlib.suppress(ValueError):
        return int(entry.split(".")[-2])
    return 0
