"""Read StableHLO that a recording keeps: as bytecode, portable or not, or as text from which large constants were left out.

What was lowered for a CPU calls back to Python by another name than what is lowered for a GPU: the name is changed, the rest is alike.

A constant that was left out gets values of its own that are all different, because XLA would fold a constant of one value away.
So the program is compiled as it is, and what it would compute is not what the recorded one did.
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

#: Bytes of constants that were left out of one module; larger ones would take longer to make up than to compile.
_MOST_MADE_UP_BYTES = 256 << 20

_ELIDED = re.compile(r"dense_resource<__elided__> : tensor<((?:\d+x)*)([a-zA-Z0-9]+(?:<[a-z0-9]+>)?)>")

#: How portable bytecode is known from other bytecode: its producer stands at the beginning.
_PORTABLE = b"StableHLO_v"

#: What JAX lowers a call back to Python to, on a CPU and on a GPU.
_CALL_BACK = ("xla_ffi_python_cpu_callback", "xla_ffi_python_gpu_callback")

_BYTES = {
    "i1": 1, "i8": 1, "ui8": 1, "i16": 2, "ui16": 2, "i32": 4, "ui32": 4, "i64": 8, "ui64": 8,
    "f16": 2, "bf16": 2, "f32": 4, "f64": 8, "complex<f32>": 8, "complex<f64>": 16,
}  # fmt: skip


def read_source(path: Path) -> tuple[Any, list[str]]:
    """The module in `path`, in the context that is entered, and what a reader must know of it.

    Raises ValueError where a constant that was left out cannot be made up.
    """
    ir = importlib.import_module("jax._src.lib.mlir").ir
    content = path.read_bytes()
    notes: list[str] = []
    if content.startswith(b"ML\xefR") and _PORTABLE in content[:64]:
        dialect = importlib.import_module("jaxlib.mlir.dialects.stablehlo")
        module = dialect.deserialize_portable_artifact(ir.Context.current, content)
    elif content.startswith(b"ML\xefR"):
        module = ir.Module.parse(content)
    else:
        text, count = _made_up(content.decode("utf-8"))
        notes += [f"{count} large constants were not recorded: other values stand for them"] if count else []
        module = ir.Module.parse(text)
    return module, notes + _with_callbacks_of_a_gpu(module, ir)


def _with_callbacks_of_a_gpu(module: Any, ir: Any) -> list[str]:
    """Names the callbacks of a module that was lowered for a CPU as on a GPU, and says so where there are any."""
    count = 0

    def renamed(operation: Any) -> Any:
        nonlocal count
        if operation.name == "stablehlo.custom_call":
            target = ir.StringAttr(operation.attributes["call_target_name"]).value
            if target == _CALL_BACK[0]:
                operation.attributes["call_target_name"] = ir.StringAttr.get(_CALL_BACK[1])
                count += 1
        return ir.WalkResult.ADVANCE

    module.operation.walk(renamed)
    return [f"{count} callbacks to Python were lowered for a CPU, and are compiled as calls from a GPU"] if count else []


def _made_up(text: str) -> tuple[str, int]:
    left, count = _MOST_MADE_UP_BYTES, 0

    def values(match: re.Match[str]) -> str:
        nonlocal left, count
        size = _BYTES.get(match.group(2))
        if size is None:
            raise ValueError(f"a large constant was not recorded, and its type is {match.group(2)}")
        elements = 1
        for extent in match.group(1).split("x"):
            elements *= int(extent or 1)
        left -= elements * size
        if left < 0:
            raise ValueError(f"constants of more than {_MOST_MADE_UP_BYTES >> 20} MiB were not recorded")
        count += 1
        return f'dense<"0x{_pattern(match.group(2), elements, size).hex().upper()}"> : tensor<{match.group(1)}{match.group(2)}>'

    return _ELIDED.sub(values, text), count


def _pattern(kind: str, elements: int, size: int) -> bytes:
    if kind == "i1":
        return bytes(at % 3 & 1 for at in range(elements))
    if kind.startswith(("i", "ui")):
        # Small numbers, which an index may be.
        return b"".join((at % 97).to_bytes(size, "little") for at in range(elements))
    # Halves, singles and doubles alike: an exponent near that of one, and a mantissa that differs.
    return b"".join((at % 251).to_bytes(size - 1, "little") + b"\x3f" for at in range(elements))

