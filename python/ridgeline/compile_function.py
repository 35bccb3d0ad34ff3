"""Lower one function of a file for a platform, with shapes for its arguments; nothing of it runs.

`python -m ridgeline.compile_function FILE FUNCTION FOLDER ARGUMENT…`, in the environment that the file needs; no plugin is needed.
An argument is a shape (`f32[8,8]`, `i32[]`) or a Python value, which is passed as it is; `name=` before it makes it a keyword.
Leaves `jaxpr.txt`, `stablehlo.mlir` with source locations, and `lowered.mlirbc` for the compiler.
"""

from __future__ import annotations

import ast
import functools
import importlib.util
import json
import os
import re
import sys
import traceback
from pathlib import Path
from typing import Any

from .elsewhere import lowering_elsewhere

_SHAPE = re.compile(r"([a-z]+[0-9]*(?:e[0-9]m[0-9][a-z]*)?)\[([0-9, ]*)\]")

#: Types by the names of HLO and of jaxprs.
_TYPES = {
    "pred": "bool", "bool": "bool", "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64",
    "s8": "int8", "i8": "int8", "s16": "int16", "i16": "int16", "s32": "int32", "i32": "int32", "s64": "int64", "i64": "int64",
    "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64", "c64": "complex64", "c128": "complex128",
}  # fmt: skip

#: Types that JAX makes half as wide unless it is told not to.
_WIDE = ("float64", "int64", "uint64", "complex128")

#: Constants longer than this many elements are elided from the text.
_LARGEST_PRINTED_CONSTANT = 1024


#: The exit status where the file, or what it imports, cannot be imported.
NOT_IMPORTED = 3


class Refused(Exception):
    """What was asked cannot be done, in words for the user."""


def main(arguments: list[str] | None = None) -> int:
    """Lower and return the exit status: 0, or another with the reason as the last line of standard error."""
    file, name, folder, *given = sys.argv[1:] if arguments is None else arguments
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    try:
        _lower(Path(file), name, Path(folder), given)
    except Refused as why:
        print(why, file=sys.stderr)
        return 1
    except Exception as error:  # noqa: BLE001 - whatever the file or JAX raises
        # JAX ends its traces with remarks of its own.
        print(_in_words(error, Path(file)), file=sys.stderr)
        return NOT_IMPORTED if isinstance(error, ImportError) else 1
    return 0


def _in_words(error: Exception, file: Path) -> str:
    """An exception in one line, with the last line of the file that led to it."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).resolve() == file.resolve()]
    said = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    place = f" ({file.name}:{lines[-1]})" if lines else ""
    return f"{type(error).__name__}: {said}{place}" if said else f"{type(error).__name__}{place}"


def _lower(file: Path, name: str, folder: Path, given: list[str]) -> None:
    import jax  # noqa: PLC0415 - where it is not installed the parent is told

    parsed = [_argument(text) for text in given]
    if any(isinstance(value, tuple) and value[0] in _WIDE for _, value in parsed):
        jax.config.update("jax_enable_x64", True)  # noqa: FBT003 - JAX's own way
    function = _function(file, name)
    positional, keywords = [], {}
    for key, value in parsed:
        made = _Fixed(value) if not isinstance(value, tuple) else jax.ShapeDtypeStruct(value[1], jax.numpy.dtype(value[0]))
        if key is None:
            positional.append(made)
        else:
            keywords[key] = made
    jitted, shapes, shape_keywords = _with_fixed(function, positional, keywords)
    traced = (jitted if hasattr(jitted, "trace") else jax.jit(jitted)).trace(*shapes, **shape_keywords)
    with lowering_elsewhere():
        lowered = traced.lower(lowering_platforms=("cuda",))
    module = lowered.compiler_ir()
    mlir = importlib.import_module("jax._src.interpreters.mlir")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "jaxpr.txt").write_text(str(traced.jaxpr), encoding="utf-8")
    text = module.operation.get_asm(large_elements_limit=_LARGEST_PRINTED_CONSTANT, enable_debug_info=True)
    (folder / "stablehlo.mlir").write_text(text, encoding="utf-8")
    (folder / "lowered.mlirbc").write_bytes(mlir.module_to_bytecode(module))
    versions = {"jax": jax.__version__, "jaxlib": importlib.import_module("jaxlib").__version__}
    (folder / "versions.json").write_text(json.dumps(versions), encoding="utf-8")


class _Fixed:
    """A Python value that is no shape."""

    def __init__(self, value: Any) -> None:
        self.value = value


def _with_fixed(function: Any, positional: list[Any], keywords: dict[str, Any]) -> tuple[Any, list[Any], dict[str, Any]]:
    """The function with the Python values in their places, and the shapes that are left.

    A function that is jitted already knows which of its arguments are static, and gets the values as they are.
    """
    if hasattr(function, "trace"):
        plain = [each.value if isinstance(each, _Fixed) else each for each in positional]
        return function, plain, {key: each.value if isinstance(each, _Fixed) else each for key, each in keywords.items()}

    @functools.wraps(function)
    def with_fixed(*shapes: Any, **shape_keywords: Any) -> Any:
        left = iter(shapes)
        every = [each.value if isinstance(each, _Fixed) else next(left) for each in positional]
        fixed = {key: each.value for key, each in keywords.items() if isinstance(each, _Fixed)}
        return function(*every, **fixed, **shape_keywords)

    shapes = [each for each in positional if not isinstance(each, _Fixed)]
    return with_fixed, shapes, {key: each for key, each in keywords.items() if not isinstance(each, _Fixed)}


def _function(file: Path, name: str) -> Any:
    if not file.is_file():
        raise Refused(f"no file {file}")
    sys.path.insert(0, str(file.parent))
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        raise Refused(f"{file} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            known = ", ".join(sorted(key for key, value in vars(module).items() if callable(value) and not key.startswith("_")))
            raise Refused(f"{file} has no function `{name}`; it has {known or 'none'}")
        found = getattr(found, part)
    return found


def _argument(text: str) -> tuple[str | None, Any]:
    """The keyword, and the type and extents of a shape, or else a Python value."""
    key, found, rest = text.partition("=")
    if found and key.isidentifier():
        return key, _value(rest)
    return None, _value(text)


def _value(text: str) -> Any:
    match = _SHAPE.fullmatch(text.strip())
    if match and match.group(1) in _TYPES:
        extents = tuple(int(extent) for extent in match.group(2).replace(" ", "").split(",") if extent)
        return _TYPES[match.group(1)], extents
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        raise Refused(f"expected a shape such as `f32[8,8]`, or a Python value, found `{text}`") from None
    return list(value) if isinstance(value, tuple) else value


if __name__ == "__main__":
    sys.exit(main())
