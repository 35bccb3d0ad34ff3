"""Capture by hand: for code that records itself, such as the suite runner or a notebook.

`trace` records a block, `module_token` and `collect_modules` bracket the modules compiled in it, `environment` says what it ran on.
Unlike the harness that `ridgeline record` loads, these functions raise: the caller asked for them and must know.
Watching compilations starts with the first `module_token()`; modules compiled before it are not seen.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator, Set
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NewType

from .environment import environment as environment
from .layout import RUN, xplane_path
from .module_files import write_module
from .modules import FORMATS, CompiledModule, ModuleWatch
from .profiler import start_profiler, stop_profiler
from .safely import Parts

#: A point in the sequence of compilations of this process.
ModuleToken = NewType("ModuleToken", int)

#: What may be kept of modules; what is lowered for elsewhere would be lowered at each compilation that is timed.
_WATCHED = FORMATS - {"lowered"}

#: Most bytes of collected modules that wait in memory; beyond it the oldest are dropped.
_MOST_WAITING_BYTES = 512 * 1024 * 1024

#: What could not be collected, as `(what, why)`; filled as it happens.
notes: list[tuple[str, str]] = []


@contextmanager
def trace(out_dir: Path, *, options: dict[str, Any] | None = None) -> Iterator[None]:
    """Record the block with JAX's profiler into `out_dir/plugins/profile/trace/host<N>.xplane.pb`, N being the JAX process index.

    `options` are `jax.profiler.ProfileOptions` fields or keys of its `advanced_configuration`.
    A further trace into the same folder is a run of its own, `trace.2` and so on.
    Asynchronous work still running at the end of the block is not waited for: block on it inside.

    Raises RuntimeError if the profiler is already running.
    """
    session = start_profiler(options or {})
    try:
        yield
    finally:
        stop_profiler(session, _free_trace_path(Path(out_dir)))


def module_token(*, formats: Set[str] = _WATCHED) -> ModuleToken:
    """The present point in the sequence of compilations; pass it to `collect_modules` later.

    Of the modules compiled from here on, what `formats` need is kept; what an earlier call asked for stays.
    """
    watch = _watch(formats)
    with watch.lock:
        return ModuleToken(watch.seen)


def collect_modules(
    out_dir: Path, *, formats: set[str] = FORMATS, since: ModuleToken = ModuleToken(0), until: ModuleToken | None = None
) -> list[dict[str, Any]]:
    """Write the modules compiled after `since`, and not after `until`, under `out_dir/hlo`; one entry each, as in the manifest.

    `formats` is a subset of `modules.FORMATS`; cost and memory analysis are always written.
    Collected modules are forgotten, together with all that were compiled before them.

    Raises ValueError for an unknown format and OSError if the files cannot be written.
    """
    if unknown := set(formats) - FORMATS:
        raise ValueError(f"expected formats among {sorted(FORMATS)}, found {sorted(unknown)}")
    taken = _watch().take(since)
    return [write_module(_only(module, formats), Path(out_dir)) for module in taken if until is None or module.index <= until]


def xla_costs(*, since: ModuleToken = ModuleToken(0)) -> list[dict[str, Any]]:
    """XLA's own cost and memory analysis of each module compiled after `since`; forgets none.

    Keys: `name`, `compile_s` (seconds), `cost` (XLA's keys; `flops` in operations, `bytes accessed` in bytes),
    `memory` (bytes).
    """
    return [
        {"name": module.name, "compile_s": module.compile_s, "cost": module.cost, "memory": module.memory}
        for module in _watch().after(since)
    ]


class _Watch:
    """Modules compiled in this process and not yet collected, bounded in bytes."""

    def __init__(self, formats: Set[str]) -> None:
        self.lock = threading.Lock()
        self.seen = 0
        self._waiting: deque[CompiledModule] = deque()
        self._bytes = 0
        parts = Parts(lambda what, why: notes.append((what, why)))
        self.modules = ModuleWatch(formats=set(_WATCHED & formats), parts=parts, sink=self._add)
        self.modules.install()

    def _add(self, module: CompiledModule) -> None:
        with self.lock:
            self.seen = module.index
            self._waiting.append(module)
            self._bytes += _size(module)
            while self._bytes > _MOST_WAITING_BYTES:
                dropped = self._waiting.popleft()
                self._bytes -= _size(dropped)
                notes.append((f"module {dropped.name}", "dropped: too many modules waited to be collected"))

    def after(self, since: int) -> list[CompiledModule]:
        with self.lock:
            return [module for module in self._waiting if module.index > since]

    def take(self, since: int) -> list[CompiledModule]:
        with self.lock:
            taken = [module for module in self._waiting if module.index > since]
            self._waiting.clear()
            self._bytes = 0
            return taken


_the_watch: _Watch | None = None
_starting = threading.Lock()


def _watch(formats: Set[str] = frozenset()) -> _Watch:
    global _the_watch
    with _starting:
        if _the_watch is None:
            import jax  # noqa: F401, PLC0415 - the caller's; the watch needs it imported

            _the_watch = _Watch(formats)
        _the_watch.modules.formats |= _WATCHED & formats
        return _the_watch


def _only(module: CompiledModule, formats: set[str]) -> CompiledModule:
    """`module` without the pieces that no format in `formats` asks for."""
    wanted = {
        "jaxpr": ("jaxpr",),
        "stablehlo": ("stablehlo",),
        "portable": ("portable",),
        "text": ("after_text",),
        "before": ("before_text",),
        "proto": ("after_proto", "buffer_assignment"),
        "dot": ("after_dot",),
    }
    for kind, attributes in wanted.items():
        if kind not in formats:
            for attribute in attributes:
                setattr(module, attribute, None)
    return module


def _size(module: CompiledModule) -> int:
    return sum(len(value) for value in vars(module).values() if isinstance(value, (bytes, str)))


def _free_trace_path(out_dir: Path) -> Path:
    """The file of this process in the first run below `out_dir` that has none."""
    import jax  # noqa: PLC0415 - the caller's

    process = jax.process_index()
    path = xplane_path(out_dir, RUN, process)
    number = 2
    while path.exists():
        path = xplane_path(out_dir, f"{RUN}.{number}", process)
        number += 1
    return path
