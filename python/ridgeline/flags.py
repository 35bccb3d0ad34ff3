"""Add to XLA_FLAGS without ever ending the program.

XLA ends the process over a flag that it does not know, so a flag is added only if each XLA library that may read it holds its name.
Flags that the program or its user has set stay, and win: nothing is added that they set already.
"""

from __future__ import annotations

import importlib.util
import mmap
import os
from pathlib import Path
from typing import Any

VARIABLE = "XLA_FLAGS"

#: Libraries that read XLA_FLAGS: jaxlib's own and those of the plugins for GPUs.
_LIBRARIES = (
    ("jaxlib", "libjax_common.so"),
    ("jax_plugins.xla_cuda12", "xla_cuda_plugin.so"),
    ("jax_plugins.xla_cuda13", "xla_cuda_plugin.so"),
    ("jax_plugins.xla_rocm7", "xla_rocm_plugin.so"),
)


def wanted_flags(config: dict[str, Any]) -> list[str]:
    """The flags that `config` asks for."""
    flags = []
    if config.get("expand_command_buffers"):
        flags.append("--xla_gpu_enable_command_buffer=")
    if config.get("keep_command_buffers"):
        # Off by default: XLA's `CommandBufferThunk` runs its thunks one by one while a profiler session is active.
        flags.append("--xla_enable_command_buffers_during_profiling=true")
    if dump := config.get("xla_dump"):
        flags += dump_flags(Path(config["out"]) / "hlo_dump", dump.get("formats", ()), dump.get("passes"))
    return flags


def dump_flags(folder: Path, formats: Any, passes: str | None = None) -> list[str]:
    """Flags that make XLA dump every module into `folder`."""
    flags = [f"--xla_dump_to={folder}"]
    flags += [f"--xla_dump_hlo_{'snapshots' if name == 'snapshots' else f'as_{name}'}" for name in formats]
    if passes:
        flags.append(f"--xla_dump_hlo_pass_re={passes}")
    return flags


def add_flags(flags: list[str]) -> tuple[list[str], list[tuple[str, str]]]:
    """Append `flags` to XLA_FLAGS; returns those added, and `(flag, why)` for those left out.

    Works until the first backend is initialized, which is when XLA reads the variable.
    """
    present = os.environ.get(VARIABLE, "")
    names_present = {_name(flag) for flag in present.split()}
    added, left_out = [], []
    for flag in flags:
        if flag in present.split():
            added.append(flag)
        elif _name(flag) in names_present:
            left_out.append((_name(flag), "the program sets this flag itself"))
        elif " " in flag:
            left_out.append((_name(flag), "XLA_FLAGS cannot contain a value with a space"))
        elif why := _why_unknown(_name(flag)):
            left_out.append((_name(flag), why))
        else:
            added.append(flag)
            present = f"{present} {flag}".strip()
    if added:
        os.environ[VARIABLE] = present
    return added, left_out


def _name(flag: str) -> str:
    return flag.lstrip("-").partition("=")[0]


def _why_unknown(name: str) -> str | None:
    libraries = [path for package, file in _LIBRARIES if (path := _library(package, file))]
    if not libraries:
        return "no XLA library was found to check that it knows the flag"
    for path in libraries:
        if not _holds(path, name.encode()):
            return f"{path.name} does not know the flag and would end the program"
    return None


def _library(package: str, file: str) -> Path | None:
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return None
    for folder in (spec.submodule_search_locations or []) if spec else []:
        if (path := Path(folder) / file).is_file():
            return path
    return None


def _holds(path: Path, text: bytes) -> bool:
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content.find(text) >= 0
