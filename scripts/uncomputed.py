"""Has a JAX program run on without its large computations, where only what it compiles is wanted.

Each large module is compiled as one that fills its results with numbers near one, or with zeros where they are integers, so that
a solver at 256³ takes as long as its Python. Small modules are computed, because programs take shapes and counts from them, and so
are those without a loop whose results are single numbers or truths, because programs decide by them (`which are finite`, `all are`).
Where XLA chooses how a result is spread over devices, each has the whole of it: run such programs on one device.
What the program does by the values of large arrays may differ: how often it iterates, which branch it takes.
Call `begin` once JAX may be imported; whoever watches the compiler still sees what the program meant.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any

#: Elements of all results of all operations of a module, loops once, from which on it is large.
MOST_ELEMENTS = 1 << 20


class Uncomputed:
    """What became of the modules so far."""

    def __init__(self, most_elements: int) -> None:
        self.most_elements = most_elements
        self.computed = 0
        #: Names of those that were filled instead.
        self.filled: list[str] = []


def begin(most_elements: int = MOST_ELEMENTS) -> Uncomputed:
    """From now on JAX compiles a filler for each module of more than `most_elements`.

    Raises AttributeError or ImportError if this JAX keeps its compiler elsewhere.
    """
    owner = importlib.import_module("jax._src.compiler")
    original = owner.backend_compile_and_load
    counts = Uncomputed(most_elements)

    @functools.wraps(original)
    def compiled(backend: Any, module: Any, *rest: Any, **named: Any) -> Any:
        if elements(module) <= most_elements or is_a_decision(module):
            counts.computed += 1
            return original(backend, module, *rest, **named)
        ir = importlib.import_module("jax._src.lib.mlir").ir
        counts.filled.append(ir.StringAttr(module.operation.attributes["sym_name"]).value)
        return original(backend, filler(module), *rest, **named)

    owner.backend_compile_and_load = compiled
    return counts


def elements(module: Any) -> int:
    """Elements of all results of all operations, loops once."""
    ir = importlib.import_module("jax._src.lib.mlir").ir
    total = 0

    def add(operation: Any) -> Any:
        nonlocal total
        for result in operation.results:
            if isinstance(result.type, ir.RankedTensorType):
                count = 1
                for extent in result.type.shape:
                    count *= max(extent, 0)
                total += count
        return ir.WalkResult.ADVANCE

    module.operation.walk(add)
    return total


def is_a_decision(module: Any) -> bool:
    """Whether a module has no loop, and as results only single numbers, or arrays of true and false."""
    ir = importlib.import_module("jax._src.lib.mlir").ir
    has_loop = False

    def look(operation: Any) -> Any:
        nonlocal has_loop
        has_loop |= operation.name == "stablehlo.while"
        return ir.WalkResult.ADVANCE

    module.operation.walk(look)
    kinds = ir.FunctionType(ir.TypeAttr(_main(ir, module).attributes["function_type"]).value).results
    return not has_loop and all(isinstance(kind, ir.RankedTensorType) and (not kind.shape or str(kind.element_type) == "i1") for kind in kinds)


def _main(ir: Any, module: Any) -> Any:
    operations = (operation.operation for operation in module.body.operations)
    return next(one for one in operations if one.name == "func.func" and ir.StringAttr(one.attributes["sym_name"]).value == "main")


def filler(module: Any) -> Any:
    """A module that takes and gives what `module` does, with the same donations and shardings, and computes nothing."""
    ir = importlib.import_module("jax._src.lib.mlir").ir
    func = importlib.import_module("jaxlib.mlir.dialects.func")
    dialect = importlib.import_module("jaxlib.mlir.dialects.stablehlo")
    with module.context, ir.Location.unknown(module.context):
        operations = [operation.operation for operation in module.body.operations]
        main = _main(ir, module)
        made = ir.Module.create()
        for name in module.operation.attributes:
            made.operation.attributes[name] = module.operation.attributes[name]
        with ir.InsertionPoint(made.body):
            for one in operations:
                if one.name == "sdy.mesh":
                    one.clone()
            kind = ir.TypeAttr(main.attributes["function_type"]).value
            function = func.FuncOp("main", kind)
            for name in ("arg_attrs", "res_attrs", "sym_visibility"):
                if name in main.attributes:
                    function.operation.attributes[name] = main.attributes[name]
            with ir.InsertionPoint(function.add_entry_block()):
                func.return_([_filled(ir, dialect, result) for result in ir.FunctionType(kind).results])
        return made


def _filled(ir: Any, dialect: Any, kind: Any) -> Any:
    """A value of this type: 1 to 1.5 along the last dimension of floating numbers, so that no spread is nothing."""
    if not isinstance(kind, ir.RankedTensorType):
        return dialect.after_all([])
    element, shape = str(kind.element_type), list(kind.shape)

    def all_of(text: str, like: Any = kind) -> Any:
        scalar = ir.RankedTensorType.get([], like.element_type)
        constant = dialect.constant(ir.Attribute.parse(f"dense<{text}> : {scalar}"))
        return dialect.broadcast_in_dim(like, constant, ir.DenseI64ArrayAttr.get([]))

    if element == "i1":
        return all_of("false")
    if element.startswith(("i", "ui")):
        return all_of("0")
    if element.startswith("complex"):
        parts = ir.RankedTensorType.get(shape, ir.ComplexType(kind.element_type).element_type)
        return dialect.complex(all_of("1.0", parts), all_of("0.0", parts))
    if not shape or not element.startswith(("f16", "bf16", "f32", "f64")):
        return all_of("1.0")
    whole = ir.RankedTensorType.get(shape, ir.IntegerType.get_signless(32))
    last = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), len(shape) - 1)
    place = dialect.and_(dialect.iota(whole, last), all_of("63", whole))
    return dialect.add(all_of("1.0"), dialect.multiply(dialect.convert(kind, place), all_of("0.0078125")))
