"""Tell whether a module is one that is known, and make one that calls something else in its place.

Modules are compared by the StableHLO that JAX made of them, else by the instructions that XLA made of that.
"""

from __future__ import annotations

import importlib
import re
from collections import Counter
from typing import Any

#: Constants longer than this many elements are elided from StableHLO text, as a recording has it.
_LARGEST_PRINTED_CONSTANT = 1024

#: Types by XLA's names.
TYPES = {
    "float32": "f32", "float64": "f64", "bool": "pred", "int8": "s8", "int16": "s16", "int32": "s32", "int64": "s64",
    "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
}  # fmt: skip

_RESULT_INFO = re.compile(r' \{jax\.result_info = "[^"]*"\}')
_INSTRUCTION = re.compile(r"^\s*(?:ROOT )?%?[\w.\-]+ = (\([^=]*?\)|\S+) ([a-z][\w\-]*)\((.*)", re.MULTILINE)
_LAYOUT = re.compile(r"\{[^{}]*\}|/\*.*?\*/")


def name_of(module: Any) -> str:
    """The name of a StableHLO module."""
    return module.operation.attributes["sym_name"].value


def text_of(module: Any) -> str:
    """StableHLO as a recording keeps it."""
    return module.operation.get_asm(large_elements_limit=_LARGEST_PRINTED_CONSTANT)


def is_same_code(one: str, other: str) -> bool:
    """Whether two texts of StableHLO are one module; what results are called does not matter."""
    return _RESULT_INFO.sub("", one).strip() == _RESULT_INFO.sub("", other).strip()


def are_same_instructions(one: str, other: str) -> bool:
    """Whether two texts of HLO have the same operations with the same shapes, and the same constants."""
    return bool(instructions := _instructions(one)) and instructions == _instructions(other)


def _instructions(text: str) -> Counter[tuple[str, str, str]]:
    found = _INSTRUCTION.findall(text)
    return Counter((_LAYOUT.sub("", shape), operation, _value(rest) if operation == "constant" else "") for shape, operation, rest in found)


def _value(rest: str) -> str:
    return rest.partition(")")[0].replace(" ", "")


def ports_of(module: Any) -> tuple[list[str], list[str]]:
    """What goes into a module and what comes out, `f32[8,8]` each; a type that is no array as MLIR says it."""
    kind = _main(module).type
    return [_port(one) for one in kind.inputs], [_port(one) for one in kind.results]


def _port(kind: Any) -> str:
    found = re.fullmatch(r"tensor<((?:\d+x)*)(f32|f64|i1|u?i(?:8|16|32|64))>", str(kind))
    if found is None:
        return str(kind)
    dims, element = found.group(1).rstrip("x").replace("x", ","), found.group(2)
    element = "pred" if element == "i1" else element.replace("ui", "u") if element[0] == "u" else element.replace("i", "s")
    return f"{element}[{dims}]"


def port_of(array: Any) -> str:
    """An array, or what stands for one, in the same words."""
    return f"{TYPES.get(str(array.dtype), str(array.dtype))}[{','.join(map(str, array.shape))}]"


def _main(module: Any) -> Any:
    ir = importlib.import_module("jax._src.lib.mlir").ir
    return ir.SymbolTable(module.operation)["main"]


def calling(module: Any, target: str) -> Any:
    """A module in the place of `module` that gives what the custom call `target` makes of its arguments and of its own results.

    The code of the original stays inside, so that it is compiled and computed beside.
    """
    lib = importlib.import_module("jax._src.lib.mlir")
    dialects = importlib.import_module("jax._src.lib.mlir.dialects")
    mlir = importlib.import_module("jax._src.interpreters.mlir")
    ir, func = lib.ir, dialects.func
    with module.context, ir.Location.unknown(module.context):
        copy = ir.Module.parse(mlir.module_to_bytecode(module))
        main = _main(copy)
        kind = main.type
        attributes = {name: main.attributes[name] for name in ("arg_attrs", "res_attrs") if name in main.attributes}
        for name in attributes:
            del main.attributes[name]
        main.attributes["sym_name"] = ir.StringAttr.get("ridgeline_original")
        main.attributes["sym_visibility"] = ir.StringAttr.get("private")
        with ir.InsertionPoint(copy.body):
            outer = func.FuncOp("main", kind, visibility="public")
        for name, value in attributes.items():
            outer.attributes[name] = value
        with ir.InsertionPoint(outer.add_entry_block()):
            arguments = list(outer.arguments)
            original = list(func.CallOp(main, arguments).results)
            call = mlir.custom_call(
                target,
                result_types=list(kind.results),
                operands=[*arguments, *original],
                backend_config={},
                api_version=4,
                operand_layouts=[_falling(one) for one in [*kind.inputs, *kind.results]],
                result_layouts=[_falling(one) for one in kind.results],
            )
            func.ReturnOp(list(call.results))
        return copy


def _falling(kind: Any) -> list[int]:
    """Dimensions from the one that lies closest in memory."""
    ir = importlib.import_module("jax._src.lib.mlir").ir
    return list(range(ir.RankedTensorType(kind).rank - 1, -1, -1))
