"""Changes of JAX itself, made when the program has imported it.

Each is a function of the module; its name is that of the change with an underscore. What they replace gives what it gave before, except
where the change says otherwise.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from .experiment_algebra import algebra
from .experiment_calls import ChangingJit, equal_function
from .experiment_kept import equal

_SOURCES = ("jax._src.source_info_util", "jax._src.traceback_util")


def change(jax: ModuleType, experiment: Any) -> None:
    """Make the change that is asked for; raises whatever JAX of this version has not."""
    arrays = importlib.import_module("jax._src.array").ArrayImpl
    experiment.clock.wait = arrays.block_until_ready
    experiment.jitted = {}
    experiment.plain_jit = jax.jit
    # Frames of these files are no place in the user's program.
    for name in _SOURCES:
        for file in ("hooks", "traced", "loops", "calls", "algebra", "jax", "donate", "kept", "late"):
            importlib.import_module(name).register_exclusion(__file__.replace("experiment_jax", f"experiment_{file}"))
    known = _CHANGES.get(experiment.change or "")
    if known is not None:
        known(jax, experiment)
    elif experiment.change == "donate":
        _hear_jit(jax, experiment, lambda made, function, options: made)


def _hear_jit(jax: ModuleType, experiment: Any, made_of: Callable[[Any, Any, dict[str, Any]], Any]) -> None:
    """Have `made_of` say what each `jax.jit(function, **options)` gives."""
    original = jax.jit

    @functools.wraps(original)
    def jit(*args: Any, **options: Any) -> Any:
        if not args and "fun" not in options:
            return functools.partial(jit, **options)
        function = args[0] if args else options.pop("fun")
        made = original(function, **options)
        experiment.jitted[id(made)] = {"function": function, "options": options, "made": made}
        return made_of(made, function, options)

    jax.jit = jit


def _hoist_jit(jax: ModuleType, experiment: Any) -> None:
    seen: list[tuple[Any, str, Any]] = []

    def made_of(made: Any, function: Any, options: dict[str, Any]) -> Any:
        for other, others, earlier in seen:
            if others == repr(options) and other is not function and equal_function(function, other):
                experiment.did(getattr(function, "__qualname__", "jit"))
                return earlier
        if len(seen) < 500:
            seen.append((function, repr(options), made))
        return made

    _hear_jit(jax, experiment, made_of)


def _changing(kind: str) -> Callable[[ModuleType, Any], None]:
    def install(jax: ModuleType, experiment: Any) -> None:
        _hear_jit(jax, experiment, lambda made, function, options: ChangingJit(kind, experiment, made, function, options))

    return install


def _late(jax: ModuleType, experiment: Any) -> None:
    arrays = importlib.import_module("jax._src.array").ArrayImpl
    method, function = arrays.block_until_ready, jax.block_until_ready

    def wait(self: Any) -> Any:
        if experiment.clock.is_inside():
            experiment.did("block_until_ready")
            return self
        return method(self)

    def block_until_ready(tree: Any) -> Any:
        if experiment.clock.is_inside():
            experiment.did("block_until_ready")
            return tree
        return function(tree)

    arrays.block_until_ready = wait
    jax.block_until_ready = block_until_ready


def _arrays_kept(jax: ModuleType, experiment: Any) -> None:
    """Arrays of the host that were put on the device before, by the same call in the user's code."""
    numpy = importlib.import_module("numpy")
    importlib.import_module("jax.numpy")
    kept: dict[Any, tuple[Any, Any]] = {}

    def keeping(name: str, original: Any) -> Any:
        @functools.wraps(original)
        def call(value: Any, *args: Any, **kwargs: Any) -> Any:
            fits = isinstance(value, numpy.ndarray) and value.nbytes >= 64 and experiment.clock.is_inside()
            if not fits:
                return original(value, *args, **kwargs)
            frame = sys._getframe(1)
            key = (name, frame.f_code, frame.f_lasti, value.shape, value.dtype.str, repr(args), repr(kwargs))
            known = kept.get(key)
            if known is not None and not known[1].is_deleted() and equal(value, known[0]):
                experiment.did(f"{frame.f_code.co_filename}:{frame.f_lineno}")
                return known[1]
            made = original(value, *args, **kwargs)
            if isinstance(made, jax.Array) and len(kept) < 200:
                kept[key] = (value.copy(), made)
            return made

        return call

    for owner, name in ((jax, "device_put"), (jax.numpy, "asarray"), (jax.numpy, "array")):
        setattr(owner, name, keeping(name, getattr(owner, name)))


def _no_callbacks(jax: ModuleType, experiment: Any) -> None:
    """Callbacks are not called; results that they would have given are an operand of the same shape, else zeros."""
    numpy = jax.numpy
    tree = jax.tree_util

    def results(shapes: Any, args: tuple[Any, ...]) -> Any:
        operands = tree.tree_leaves(args)

        def one(shape: Any) -> Any:
            alike = [value for value in operands if getattr(value, "shape", None) == shape.shape]
            return numpy.asarray(alike[0]).astype(shape.dtype) if alike else numpy.zeros(shape.shape, shape.dtype)

        return tree.tree_map(one, shapes)

    def with_results(callback: Any, result_shape_dtypes: Any, *args: Any, **kwargs: Any) -> Any:
        experiment.did(getattr(callback, "__qualname__", "callback"))
        return results(result_shape_dtypes, args)

    def without(*args: Any, **kwargs: Any) -> None:
        experiment.did(f"debug callback {args[0]!r}"[:100])

    callbacks = importlib.import_module("jax._src.callback")
    debugging = importlib.import_module("jax._src.debugging")
    places = [(jax, "pure_callback"), (callbacks, "pure_callback"), (callbacks, "io_callback"), (sys.modules.get("jax.experimental"), "io_callback")]
    for owner, name in places:
        if owner is not None and hasattr(owner, name):
            setattr(owner, name, with_results)
    for owner in (jax.debug, debugging):
        for name in ("callback", "debug_callback", "print", "debug_print"):
            if hasattr(owner, name):
                setattr(owner, name, without)


def _without_setting(jax: ModuleType, experiment: Any, name: str, value: Any) -> None:
    """Set an option and keep the program from setting it."""
    config = jax.config
    original = type(config).update
    original(config, name, value)

    def update(self: Any, which: str, new: Any) -> None:
        if which == name:
            experiment.did(f"jax.config.update({name!r}, {new!r})")
            return
        original(self, which, new)

    type(config).update = update


def _single_precision(jax: ModuleType, experiment: Any) -> None:
    if jax.config.jax_enable_x64:
        experiment.did("JAX_ENABLE_X64")
    _without_setting(jax, experiment, "jax_enable_x64", False)


def _matmul_precision(jax: ModuleType, experiment: Any) -> None:
    _without_setting(jax, experiment, "jax_default_matmul_precision", "tensorfloat32")
    experiment.did("jax_default_matmul_precision")


def _no_checkpoint(jax: ModuleType, experiment: Any) -> None:
    @functools.wraps(jax.checkpoint)
    def checkpoint(*args: Any, **kwargs: Any) -> Any:
        if not args and "fun" not in kwargs:
            return functools.partial(checkpoint, **kwargs)
        function = args[0] if args else kwargs["fun"]
        experiment.did(getattr(function, "__qualname__", "checkpoint"))
        return function

    jax.checkpoint = jax.remat = checkpoint
    module = importlib.import_module("jax.ad_checkpoint")
    module.checkpoint = checkpoint  # type: ignore[attr-defined]


def _batched_map(jax: ModuleType, experiment: Any) -> None:
    def batched(f: Any, xs: Any, **_: Any) -> Any:
        experiment.did(getattr(f, "__qualname__", "map"))
        return jax.vmap(f)(xs)

    jax.lax.map = batched


def _algebra(jax: ModuleType, experiment: Any) -> None:
    algebra(jax, experiment)


_CHANGES: dict[str, Callable[[ModuleType, Any], None]] = {
    "hoist-jit": _hoist_jit,
    "traced-numbers": _changing("traced-numbers"),
    "pad": _changing("pad"),
    "late": _late,
    "arrays-kept": _arrays_kept,
    "no-callbacks": _no_callbacks,
    "single-precision": _single_precision,
    "matmul-precision": _matmul_precision,
    "no-checkpoint": _no_checkpoint,
    "batched-map": _batched_map,
    "algebra": _algebra,
}
