"""Put a region's generated code in the place of the region, in a program that may know nothing of it.

`attach` is called once, by `sitecustomize`.
A module that is the region's own is compiled again with a custom call in it; a function that the program calls the region (`regions`)
is traced with the same custom call.
Both compute the original beside, so that the custom call can say how its own result differs.
In the mode `original` nothing is replaced: calls are counted and timed, and results are kept.

What happens goes to files that are whole at every moment: counts into a mapped one, everything else as lines of JSON.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import json
import mmap
import os
import re
import struct
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from . import module_code, regions
from .attach import AfterImport
from .module_calls import ModuleCalls
from .provided import provide
from .safely import Parts

#: The custom call, as the library exports it.
TARGET = "ridgeline_region"

#: Results of one name that are kept.
_MOST_RESULTS = 256

#: Calls of the region, nanoseconds in them, calls of others of its name.
_COUNTS = struct.Struct("<QQQ")


def attach(config_path: str) -> None:
    """Begin as told by the file at `config_path`; raises OSError or ValueError if it cannot be read."""
    config = json.loads(Path(config_path).read_text(encoding="utf-8"))
    emulation = Emulation(config)
    provide()
    regions.listener = emulation
    sys.meta_path.insert(0, AfterImport("jax", emulation.jax_imported))


class Emulation:
    """One run of the program, as it is or with the region replaced."""

    def __init__(self, config: dict[str, Any]) -> None:
        """`config` is what the command wrote: see `ridge_record::emulate`."""
        self._config = config
        self._out = Path(config["out"])
        self._is_replaced = config["library"] is not None
        self._ports: list[str] = [*config["inputs"], *config["outputs"]]
        self._parts = Parts(lambda part, why: self._say("lost", part=part, why=why))
        self._calls = ModuleCalls()
        self._counts: mmap.mmap | None = None
        self._results: dict[str, int] = {}
        self._said: set[str] = set()
        self._hooked: set[str] = set()
        self._is_registered = False
        self._say("attached")

    def jax_imported(self, jax: ModuleType) -> None:
        """Hook the compiler; never raises."""
        self._parts.run("replace", self._hook, jax)

    def _hook(self, jax: ModuleType) -> None:
        self._say("jax", version=jax.__version__, include=importlib.import_module("jax.ffi").include_dir())
        self._calls.install()
        owner = importlib.import_module("jax._src.compiler")
        original = owner.compile_or_get_cached

        @functools.wraps(original)
        def compile_or_get_cached(*args: Any, **kwargs: Any) -> Any:
            return self._compile(original, args, kwargs)

        owner.compile_or_get_cached = compile_or_get_cached
        for module in ("jax._src.source_info_util", "jax._src.traceback_util"):
            importlib.import_module(module).register_exclusion(__file__)

    # Modules.

    def _compile(self, original: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        module = args[1] if len(args) > 1 else kwargs.get("computation")
        role = self._parts.run("modules", self._role_by_code, module)
        if role == "region" and self._is_replaced:
            return self._replaced(original, module, args, kwargs)
        executable = original(*args, **kwargs)
        if role == "named":
            role = self._parts.run("modules", self._role_by_instructions, module, executable)
            if role == "region" and self._is_replaced:
                return self._replaced(original, module, args, kwargs)
        if role == "hooked":
            self._parts.run("modules", self._hear_hooked, executable, module)
        if role == "region":
            self._say("region", module=module_code.name_of(module))
            self._calls.hear(executable, self._hear_region)
        if role == "other":
            self._say("other", module=module_code.name_of(module), ports=_side_by_side(module))
            self._calls.hear(executable, self._hear_other)
        if role is None:
            self._parts.run("inside", self._look_inside, module)
        return executable

    def _role_by_code(self, module: Any) -> str | None:
        """`region`, `named` where only the name is known to be the same, `hooked` where a hook hears of it, or None."""
        name = module_code.name_of(module)
        if name.removeprefix("jit_") in self._hooked:
            return "hooked"
        if name != self._config["module"]:
            return None
        text = module_code.text_of(module)
        if self._config["stablehlo"] and module_code.is_same_code(text, Path(self._config["stablehlo"]).read_text(encoding="utf-8")):
            return "region"
        return "named"

    def _role_by_instructions(self, module: Any, executable: Any) -> str:
        inputs, outputs = module_code.ports_of(module)
        if [*inputs, *outputs] != self._ports:
            return "other"
        text = executable.hlo_modules()[0].to_string()
        known = Path(self._config["hlo"]).read_text(encoding="utf-8")
        return "region" if module_code.are_same_instructions(text, known) else "other"

    def _hear_hooked(self, executable: Any, module: Any) -> None:
        """Hear of a function that the program calls the region; what the custom call counts itself is not counted here."""
        inputs, outputs = module_code.ports_of(module)
        name = module_code.name_of(module).removeprefix("jit_")
        if [*inputs, *outputs] != self._ports:
            self._say("other", hook=name, ports=_side_by_side(module))
            self._calls.hear(executable, self._hear_other)
        elif not self._is_replaced:
            self._say("region", hook=name, inside=False)
            self._calls.hear(executable, self._hear_region)

    def _replaced(self, original: Callable[..., Any], module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The module with the custom call, compiled; the original where that fails."""

        def compile_replaced() -> Any:
            self._register()
            ours = module_code.calling(module, TARGET)
            if len(args) > 1:
                return original(args[0], ours, *args[2:], **kwargs)
            return original(*args, **(kwargs | {"computation": ours}))

        executable = self._parts.run("replace", compile_replaced)
        if executable is None:
            return original(*args, **kwargs)
        self._say("region", module=module_code.name_of(module))
        return executable

    def _look_inside(self, module: Any) -> None:
        """Say once that a larger module holds the region's line of the program."""
        location = self._config["location"]
        if not location or "inside" in self._said or module_code.name_of(module) == self._config["module"]:
            return
        file, _, line = location.rpartition(":")
        if f'"{file}":{line}:' in module.operation.get_asm(enable_debug_info=True, large_elements_limit=16):
            self._said.add("inside")
            self._say("inside", module=module_code.name_of(module))

    def _hear_region(self, call: Callable[[], Any], args: tuple[Any, ...]) -> Any:
        for arg in args:
            self._parts.run("clock", lambda arg=arg: arg.block_until_ready())
        began = time.perf_counter_ns()
        outputs = call()
        for output in outputs:
            self._parts.run("clock", lambda output=output: output.block_until_ready())
        self._count(1, time.perf_counter_ns() - began, 0)
        return outputs

    def _hear_other(self, call: Callable[[], Any], args: tuple[Any, ...]) -> Any:
        self._count(0, 0, 1)
        return call()

    # Functions that the program calls a region.

    def called(self, region: regions.Region, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call from outside, which is a call of a module of that name."""
        call = region.jitted(inside=False)
        if region.name in self._config["names"]:
            self._hooked.add(region.name)
        return call(*args, **kwargs)

    def traced(self, region: regions.Region, args: tuple[Any, ...], kwargs: dict[str, Any], *, inside: bool) -> Any:
        """The region's code with the custom call behind it, or the region's own."""
        if region.name not in self._config["names"]:
            return region.function(*args, **kwargs)
        replaced = self._parts.run("replace", self._traced, region, args, kwargs, inside) if self._is_replaced else None
        if replaced is None:
            if inside and not self._is_replaced:
                self._say("traced", region=region.name)
            return region.function(*args, **kwargs)
        return replaced[0]

    def _traced(self, region: regions.Region, args: tuple[Any, ...], kwargs: dict[str, Any], inside: bool) -> tuple[Any] | None:
        """The value in a tuple of its own; None where the region is called with what the bundle is not for."""
        jax = sys.modules["jax"]
        leaves, tree = jax.tree_util.tree_flatten((args, kwargs))
        places = [at for at, leaf in enumerate(leaves) if isinstance(leaf, jax.Array)]
        arrays = [leaves[at] for at in places]

        def original(*arrays: Any) -> Any:
            filled = list(leaves)
            for at, array in zip(places, arrays):
                filled[at] = array
            args, kwargs = jax.tree_util.tree_unflatten(tree, filled)
            return region.function(*args, **kwargs)

        shapes, out_tree = jax.tree_util.tree_flatten(jax.eval_shape(original, *arrays))
        if not self._fits(region, arrays, shapes):
            return None
        self._register()
        self._say("region", hook=region.name, inside=inside)

        @jax.custom_jvp
        def replaced(*arrays: Any) -> tuple[Any, ...]:
            beside = jax.tree_util.tree_leaves(original(*arrays))
            results = [jax.ShapeDtypeStruct(shape.shape, shape.dtype) for shape in shapes]
            return tuple(jax.ffi.ffi_call(TARGET, results, vmap_method="sequential")(*arrays, *beside))

        @replaced.defjvp
        def derived(primals: Any, tangents: Any) -> Any:
            own = lambda *arrays: tuple(jax.tree_util.tree_leaves(original(*arrays)))  # noqa: E731 - one line says it
            return replaced(*primals), jax.jvp(own, primals, tangents)[1]

        return (jax.tree_util.tree_unflatten(out_tree, list(replaced(*arrays))),)

    def _fits(self, region: regions.Region, arrays: list[Any], results: list[Any]) -> bool:
        ports = [module_code.port_of(one) for one in [*arrays, *results]]
        if ports != self._ports or len(arrays) != len(self._config["inputs"]):
            self._say("other", hook=region.name, ports=f"{', '.join(ports[: len(arrays)])} -> {', '.join(ports[len(arrays) :])}")
            return False
        return True

    # What the program says of itself.

    def result(self, name: str, array: Any) -> None:
        """Keep a result as a file of NumPy."""
        self._parts.run("result", self._keep_result, name, array)

    def _keep_result(self, name: str, array: Any) -> None:
        jax = sys.modules.get("jax")
        if jax is not None and isinstance(array, jax.core.Tracer):
            raise ValueError(f"result {name!r} was marked inside a jitted function, where it has no value")
        numpy = importlib.import_module("numpy")
        count = self._results[name] = self._results.get(name, 0) + 1
        if count > _MOST_RESULTS:
            return
        folder = self._out / "results"
        folder.mkdir(exist_ok=True)
        plain = re.sub(r"[^A-Za-z0-9_-]", "_", name)[:80] or "result"
        numpy.save(folder / f"{plain}.{count:03}.npy", numpy.asarray(array))

    # Files.

    def _register(self) -> None:
        if self._is_registered:
            return
        jax = sys.modules["jax"]
        ffi = importlib.import_module("jax.ffi")
        library = ctypes.CDLL(self._config["library"])
        path = str(self._out / f"tally.{os.getpid()}.bin").encode()
        if library.ridgeline_count_in(path) != 0:
            raise OSError(f"no file to count in: {path!r}")
        ffi.register_ffi_target(TARGET, ffi.pycapsule(library.ridgeline_region), platform="cpu")
        self._is_registered = True
        self._say("backend", platform=jax.default_backend())

    def _count(self, calls: int, took_ns: int, others: int) -> None:
        self._parts.run("count", self._add, calls, took_ns, others)

    def _add(self, *more: int) -> None:
        if self._counts is None:
            with open(self._out / f"counts.{os.getpid()}.bin", "w+b") as file:
                file.write(bytes(_COUNTS.size))
                file.flush()
                self._counts = mmap.mmap(file.fileno(), _COUNTS.size)
        before = _COUNTS.unpack_from(self._counts)
        _COUNTS.pack_into(self._counts, 0, *(a + b for a, b in zip(before, more)))

    def _say(self, what: str, **fields: Any) -> None:
        line = json.dumps({"what": what, **fields})
        if line in self._said:
            return
        self._said.add(line)
        with open(self._out / f"events.{os.getpid()}.jsonl", "a", encoding="utf-8") as file:
            file.write(line + "\n")


def _side_by_side(module: Any) -> str:
    inputs, outputs = module_code.ports_of(module)
    return f"{', '.join(inputs)} -> {', '.join(outputs)}"
