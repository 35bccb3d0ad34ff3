"""Lay a compiled module out in a capture folder: one folder per module, one file per piece.

The after-optimization module is written as an `HloProto`, the message that XLA's own dumps hold, so that one reader serves both.
Nothing is converted here: a piece that was not collected has no file.
"""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

from .modules import CompiledModule

#: Files that are written whatever forms are wanted.
_ALWAYS = ("cost.json", "memory.json")

#: Fields of HloProto: the module, and where its buffers are.
_HLO_MODULE_FIELD = 1
_BUFFER_ASSIGNMENT_FIELD = 3


def write_module(module: CompiledModule, out_dir: Path, *, prefix: str = "") -> dict[str, Any]:
    """Write `module` under `out_dir/hlo` and return its manifest entry.

    `prefix` goes before the number in the folder's name; it keeps the modules of two processes apart.
    The folder of a module is `hlo/<name>.<prefix><index>`.

    Raises OSError if the files cannot be written.
    """
    folder = out_dir / "hlo" / f"{file_name(module.name)}.{prefix}{module.index}"
    folder.mkdir(parents=True, exist_ok=True)
    files, size = [], 0
    for name, content in _pieces(module).items():
        if content is not None:
            started = time.perf_counter()
            size += _write(folder / name, content)
            files.append(name)
            if name not in _ALWAYS:
                module.forms_s += time.perf_counter() - started
    return {
        "name": module.name,
        "dir": str(folder.relative_to(out_dir)),
        "files": files,
        "bytes": size,
        "compile_s": round(module.compile_s, 6),
        "collect_s": round(module.collect_s, 6),
        "flops": module.cost.get("flops"),
        "bytes_accessed": module.cost.get("bytes accessed"),
        "memory": module.memory,
        "at": module.at,
        "types": module.types,
    }


def file_name(module_name: str) -> str:
    """`module_name` with everything but letters, digits, `_`, `-` and `.` replaced, at most 100 characters."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", module_name)[:100] or "module"


def _pieces(module: CompiledModule) -> dict[str, bytes | str | None]:
    return {
        "jaxpr.txt": module.jaxpr,
        "stablehlo.mlir": module.stablehlo,
        "portable.mlirbc": module.portable,
        "lowered.mlirbc": module.lowered,
        "before.txt": module.before_text,
        "after.txt": module.after_text,
        "after.hlo.pb": hlo_proto(module),
        "after.dot": module.after_dot,
        "cost.json": _json(module.cost),
        "memory.json": _json(module.memory),
    }


def hlo_proto(module: CompiledModule) -> bytes | None:
    """The collected module and its buffer assignment as a serialized HloProto."""
    if module.after_proto is None:
        return None
    proto = _record(_HLO_MODULE_FIELD, module.after_proto)
    if module.buffer_assignment:
        proto += _record(_BUFFER_ASSIGNMENT_FIELD, module.buffer_assignment)
    return proto


def _record(field: int, content: bytes) -> bytes:
    """One length-delimited protobuf field."""
    length, header = len(content), bytearray([field << 3 | 2])
    while length >= 0x80:
        header.append(length & 0x7F | 0x80)
        length >>= 7
    header.append(length)
    return bytes(header) + content


def _json(content: dict[str, Any]) -> str | None:
    return json.dumps(content, indent=1, sort_keys=True) if content else None


def _write(path: Path, content: bytes | str) -> int:
    return path.write_bytes(content.encode("utf-8", "replace") if isinstance(content, str) else content)
