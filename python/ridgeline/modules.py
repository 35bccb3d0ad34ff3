"""Collect what is known of each module that JAX compiles in this process.

JAX has no public hook for this, so two functions inside it are wrapped: the one that lowers a jaxpr and the one that compiles a
module or reads it from the compilation cache.
A wrapper always calls the original with the same arguments and returns what it returns; what is collected on the side may be
missing, and a missing piece is noted, never raised.
Executables are not kept, because they hold device memory: each module is turned into bytes and text at once.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from .own_files import OwnFiles, innermost
from .elsewhere import lowering_elsewhere
from .safely import Parts

#: What can be collected. `text`, `proto` and `dot` are of the module after optimization, `before` is the text before it.
#: `before` takes more than all others together, because XLA reads the whole StableHLO once more for it
#: (2.4 of 3.4 s for 66 modules whose compilation took 31 s, jaxlib 0.10.2 on a CPU), and says what `stablehlo` says.
#: `lowered` is the module as JAX lowers it for GPUs, for a compiler of one that is not there.
FORMATS = frozenset({"text", "proto", "dot", "jaxpr", "stablehlo", "portable", "before", "lowered"})

#: What `lowered` is lowered for.
_LOWERED_FOR = "cuda"

#: Lowered programs whose jaxpr is remembered until they are compiled.
_MOST_PENDING_JAXPRS = 64

#: Arguments whose types are kept.
_MOST_TYPES = 64

#: Constants longer than this many elements are elided from StableHLO text.
_LARGEST_PRINTED_CONSTANT = 1024


#: What JAX says where an executable came from its persistent compilation cache.
_CACHE_HIT = "/jax/compilation_cache/cache_hits"


@dataclass
class CompiledModule:
    """One compilation: bytes and texts of the module, and what XLA says of its cost.

    `compile_s` is in seconds; of a module from the compilation cache it is what reading it took.
    `at` is the line of the program's own that had it compiled: file, line, function. `types` are those of its arguments as JAX compares
    them, which a number of Python makes weak (`f32[] weak`).
    `memory` is in bytes; `cost` holds XLA's own keys (`flops`, `bytes accessed`, …).
    `collect_s` is what collecting cost, in seconds; `forms_s` is what making and writing the forms took, which nobody pays who wants none.
    """

    index: int
    name: str
    compile_s: float
    is_from_cache: bool = False
    after_proto: bytes | None = None
    buffer_assignment: bytes | None = None
    after_text: str | None = None
    after_dot: str | None = None
    before_text: str | None = None
    stablehlo: str | None = None
    portable: bytes | None = None
    jaxpr: str | None = None
    lowered: bytes | None = None
    cost: dict[str, float] = field(default_factory=dict)
    memory: dict[str, int] = field(default_factory=dict)
    at: dict[str, Any] | None = None
    types: list[str] = field(default_factory=list)
    collect_s: float = 0.0
    forms_s: float = 0.0


class ModuleWatch:
    """Wraps JAX's compiler and hands each compiled module to a sink, until removed."""

    def __init__(
        self,
        *,
        formats: set[str],
        parts: Parts,
        sink: Callable[[CompiledModule], None],
        before_compile: Callable[[], None] = lambda: None,
        compiled: Callable[[Any, Any], None] = lambda _executable, _module: None,
    ) -> None:
        """`formats` is a subset of `FORMATS`; `sink`, `before_compile` and `compiled` run on the compiling thread.

        `compiled` gets the executable and the StableHLO that it was made of.
        """
        self._compiled = compiled
        self._before_compile = before_compile
        self.formats = set(formats)
        self._parts = parts
        self._sink = sink
        self._count = 0
        self._lock = threading.Lock()
        self._jaxprs: OrderedDict[int, tuple[Any, Any, bytes | None]] = OrderedDict()
        self._originals: list[tuple[Any, str, Any]] = []
        self._cache = threading.local()
        self._own = OwnFiles()

    def install(self) -> None:
        """Wrap the two functions; `jax` must be imported.

        Raises AttributeError or ImportError if this JAX keeps them elsewhere.
        """
        self._parts.run("source_exclusion", _exclude_own_frames)
        self._parts.run("compilation_cache", self._listen)
        self._wrap("jax._src.compiler", "compile_or_get_cached", self._compiling)
        self._parts.run("jaxpr", self._wrap, "jax._src.interpreters.pxla", "lower_sharding_computation", self._lowering)

    def remove(self) -> None:
        """Put the original functions back."""
        while self._originals:
            owner, name, original = self._originals.pop()
            setattr(owner, name, original)
        with contextlib.suppress(Exception):
            importlib.import_module("jax._src.monitoring").unregister_event_listener(self._heard)

    def _listen(self) -> None:
        importlib.import_module("jax.monitoring").register_event_listener(self._heard)

    def _heard(self, event: str, **_about: Any) -> None:
        if event == _CACHE_HIT:
            self._cache.is_hit = True

    def _wrap(self, module_name: str, name: str, replacement: Callable[..., Any]) -> None:
        owner = importlib.import_module(module_name)
        original = getattr(owner, name)

        @functools.wraps(original)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return replacement(original, *args, **kwargs)

        setattr(owner, name, wrapper)
        self._originals.append((owner, name, original))

    def _lowering(self, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        lowered = original(*args, **kwargs)
        if self.formats:
            elsewhere = _lowered_elsewhere(original, args, kwargs) if "lowered" in self.formats else None
            self._parts.run("jaxpr", self._remember_jaxpr, lowered, args, kwargs, elsewhere)
        return lowered

    def _remember_jaxpr(self, lowered: Any, args: tuple[Any, ...], kwargs: dict[str, Any], elsewhere: bytes | None) -> None:
        # The module is kept with its jaxpr so that its id is not given to another object.
        module = lowered.stablehlo()
        jaxpr = args[0] if args else kwargs["closed_jaxpr"]
        with self._lock:
            self._jaxprs[id(module)] = (module, jaxpr, elsewhere)
            while len(self._jaxprs) > _MOST_PENDING_JAXPRS:
                self._jaxprs.popitem(last=False)

    def _compiling(self, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        self._parts.run("before_compile", self._before_compile)
        self._cache.is_hit = False
        started = time.perf_counter()
        executable = original(*args, **kwargs)
        compile_s = time.perf_counter() - started
        self._parts.run("modules", self._collect, executable, args, kwargs, compile_s)
        self._parts.run("golden", self._compiled, executable, args[1] if len(args) > 1 else kwargs.get("computation"))
        return executable

    def _collect(self, executable: Any, args: tuple[Any, ...], kwargs: dict[str, Any], compile_s: float) -> None:
        started = time.perf_counter()
        with _annotated("ridgeline: collect module"):
            stablehlo = args[1] if len(args) > 1 else kwargs["computation"]
            (hlo, *_) = executable.hlo_modules()
            with self._lock:
                self._count += 1
                module = CompiledModule(self._count, hlo.name, compile_s, self._cache.is_hit)
                _, jaxpr, module.lowered = self._jaxprs.pop(id(stablehlo), (None, None, None))
            module.at = self._parts.run("module_place", innermost, self._own)
            module.types = self._parts.run("module_types", _types, jaxpr) or []
            forms_started = time.perf_counter()
            for part, collect in self._collectors(module, hlo, stablehlo, jaxpr):
                self._parts.run(part, collect)
            module.forms_s = time.perf_counter() - forms_started
            self._parts.run("cost_analysis", lambda: setattr(module, "cost", _cost(executable)))
            self._parts.run("memory_analysis", lambda: _set_memory(module, executable))
            module.collect_s = time.perf_counter() - started
            self._sink(module)

    def _collectors(
        self, module: CompiledModule, hlo: Any, stablehlo: Any, jaxpr: Any
    ) -> Iterator[tuple[str, Callable[[], None]]]:
        """One named step per form, so that the loss of one does not cost the others."""
        if "jaxpr" in self.formats and jaxpr is not None:
            yield "jaxpr", lambda: setattr(module, "jaxpr", str(jaxpr))
        if "stablehlo" in self.formats:
            yield "stablehlo", lambda: setattr(module, "stablehlo", _stablehlo_text(stablehlo))
        if "portable" in self.formats:
            yield "stablehlo_portable", lambda: setattr(module, "portable", _portable(stablehlo))
        if "before" in self.formats:
            yield "hlo_before", lambda: setattr(module, "before_text", _hlo_before(stablehlo))
        if "text" in self.formats:
            yield "hlo_text", lambda: setattr(module, "after_text", hlo.to_string())
        if "proto" in self.formats:
            yield "hlo_proto", lambda: setattr(module, "after_proto", hlo.as_serialized_hlo_module_proto())
        if "dot" in self.formats:
            yield "hlo_dot", lambda: setattr(module, "after_dot", _dot(hlo))


def _exclude_own_frames() -> None:
    """Keep the wrappers out of the source locations of HLO and out of the tracebacks that the program prints."""
    for module in ("jax._src.source_info_util", "jax._src.traceback_util"):
        importlib.import_module(module).register_exclusion(__file__)


def _lowered_elsewhere(original: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> bytes | None:
    """The program as JAX lowers it for GPUs; None where it cannot without one."""
    try:
        with lowering_elsewhere():
            lowered = original(*args, **{**kwargs, "lowering_platforms": (_LOWERED_FOR,)})
        return importlib.import_module("jax._src.interpreters.mlir").module_to_bytecode(lowered.stablehlo())
    except Exception:  # noqa: BLE001 - a rule of lowering may raise anything, and the program goes on
        return None


def _types(jaxpr: Any) -> list[str]:
    """The types of the arguments of `jaxpr`, at most 64; none where it is not known."""
    avals = list(getattr(jaxpr, "in_avals", None) or [])[:_MOST_TYPES]
    return [aval.str_short(True) + (" weak" if getattr(aval, "weak_type", False) else "") for aval in avals]


def _stablehlo_text(stablehlo: Any) -> str:
    return stablehlo.operation.get_asm(large_elements_limit=_LARGEST_PRINTED_CONSTANT)


def _portable(stablehlo: Any) -> bytes:
    """The module as bytecode that other versions and tools read, in the oldest version of StableHLO that holds it.

    Shardings are no part of StableHLO: a module that has some is written with them, for tools that know Shardy.
    """
    dialect = importlib.import_module("jaxlib.mlir.dialects.stablehlo")
    bytecode = importlib.import_module("jax._src.interpreters.mlir").module_to_bytecode(stablehlo)

    def written(version: str, *others: bool) -> bytes:
        # What is written is changed on the way, so it is a copy, in the context that knows every dialect in it.
        copy = type(stablehlo).parse(bytecode, stablehlo.context)
        return dialect.serialize_portable_artifact(copy, version, *others)

    current = dialect.get_current_version()
    if b"sdy.sharding" in bytecode:
        return written(current, True)
    try:
        return written(dialect.get_minimum_version())
    except ValueError:
        return written(current)


def _hlo_before(stablehlo: Any) -> str:
    """HLO as it is when XLA begins: the translation that `Lowered.as_text("hlo")` prints."""
    mlir = importlib.import_module("jax._src.interpreters.mlir")
    translator = importlib.import_module("jax._src.lib")._jax.mlir
    computation = translator.mlir_module_to_xla_computation(
        mlir.module_to_bytecode(stablehlo), use_tuple_args=False, return_tuple=False
    )
    return computation.as_hlo_text()


def _dot(hlo: Any) -> str:
    lib = importlib.import_module("jax._src.lib")
    # A module of its own since jaxlib 0.12.
    owner = next(owner for name in ("_jax", "hlo") if hasattr(owner := getattr(lib, name, None), "hlo_module_to_dot_graph"))
    return owner.hlo_module_to_dot_graph(hlo)


def _cost(executable: Any) -> dict[str, float]:
    found = executable.cost_analysis()
    if isinstance(found, (list, tuple)):  # one per partition in some releases; they are alike
        found = found[0] if found else {}
    return {str(key): float(value) for key, value in (found or {}).items()}


def _set_memory(module: CompiledModule, executable: Any) -> None:
    stats = executable.get_compiled_memory_stats()
    for name in dir(stats):
        if name.endswith("_in_bytes"):
            module.memory[name] = int(getattr(stats, name))
    assignment = getattr(stats, "serialized_buffer_assignment_proto", None)
    module.buffer_assignment = bytes(assignment) if assignment else None


@contextlib.contextmanager
def _annotated(name: str) -> Iterator[None]:
    """Mark the harness's own work in the trace, so that it is not taken for the program's."""
    try:
        annotation = importlib.import_module("jax").profiler.TraceAnnotation(name)
    except Exception:  # noqa: BLE001 - a mark is a courtesy
        annotation = contextlib.nullcontext()
    with annotation:
        yield
