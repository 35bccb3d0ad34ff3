"""Attach to a program that knows nothing of it: wait until it imports jax, then hook what a recording needs.

`attach` is called once, by `sitecustomize`, before the program's first line.
Until the program imports jax nothing is done but to watch for that import.
A backend is never initialized here: programs choose platforms and start distributed systems between importing jax and using it.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from . import endings, flags
from .annotations import hear_annotations, hear_steps
from .backends import FirstBackend
from .manifest import Piece
from .modules import ModuleWatch
from .own_traces import hear_own_traces
from .safely import Parts
from .session import Session
from .step_function import hear_calls

#: Libraries that compute on devices; the manifest names those that a program without jax imported.
KNOWN_LIBRARIES = ("torch", "tensorflow", "cupy", "numba", "triton", "warp", "pycuda", "mxnet", "paddle", "onnxruntime")


def attach(config_path: str) -> None:
    """Begin to watch for `import jax`, as told by the file at `config_path`.

    Raises OSError or ValueError if the file cannot be read; the caller keeps that from the program.
    """
    started = time.perf_counter()
    config = json.loads(Path(config_path).read_text(encoding="utf-8"))
    recording = Recording(config)
    recording.watch_for_jax()
    recording.piece.add_time("attach_s", time.perf_counter() - started)


class Recording:
    """The harness in one process, from its first moment."""

    def __init__(self, config: dict[str, Any]) -> None:
        """Claims a piece of the manifest; raises OSError if it cannot be written."""
        self.config = config
        self.session: Session | None = None
        self._first_backend: FirstBackend | None = None
        self._begin()
        endings.finish_at_exit(self._at_exit)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._after_fork)

    def _begin(self) -> None:
        self.piece = Piece(Path(self.config["pieces"]))
        self.parts = Parts(self.piece.lost)

    def watch_for_jax(self) -> None:
        """Have `jax_imported` called when the program has imported jax."""
        sys.meta_path.insert(0, _AfterImport("jax", self.jax_imported))

    def jax_imported(self, jax: ModuleType) -> None:
        """Hook everything that the recording needs; never raises."""
        started = time.perf_counter()
        self.piece.set(jax=True, state="waiting")
        self.session = self.parts.run("session", Session, self.config, self.piece, self.parts)
        if self.session is not None:
            self._hook(jax, self.session)
        self.piece.add_time("attach_s", time.perf_counter() - started)
        self.piece.write()

    def _hook(self, jax: ModuleType, session: Session) -> None:
        signals = endings.EndingSignals(lambda how: session.finish(how, drain=False))
        session.after_busy = signals.send_again
        hooks: list[tuple[str, Callable[[], None]]] = [
            # Once more: functions registered last run first, and jax takes its backends down in one registered before this.
            ("attach", lambda: endings.finish_at_exit(self._at_exit)),
            ("signals", signals.install),
            ("hard_exits", lambda: endings.finish_before_hard_exits(lambda how: self._finish(how, drain=False))),
            ("modules", lambda: self._watch_modules(session)),
            ("own_traces", lambda: hear_own_traces(jax, session, Path(self.config["out"]), self.piece)),
            ("annotations", lambda: self._hear_annotations(jax, session)),
            ("step_function", lambda: self._hear_step_function(jax, session)),
            ("xla_flags", self._add_flags),
            ("attach", lambda: self._await_backend(jax, session)),
        ]
        for part, hook in hooks:
            self.parts.run(part, hook)

    def _watch_modules(self, session: Session) -> None:
        watch = ModuleWatch(
            formats=set(self.config["hlo"]),
            parts=self.parts,
            sink=session.module_compiled,
            before_compile=lambda: self._first_backend and self._first_backend.look(),
        )
        try:
            watch.install()
        except (ImportError, AttributeError) as error:
            # This JAX keeps its compiler elsewhere: XLA's own dump is the way that needs no hook.
            self.config.setdefault("xla_dump", None)
            self.config["xla_dump"] = self.config["xla_dump"] or {"formats": ["text", "proto"]}
            raise RuntimeError(f"{error}; XLA's own dump in hlo_dump/ was asked for instead") from error

    def _hear_annotations(self, jax: ModuleType, session: Session) -> None:
        if session.schedule.counts_steps and not self.config.get("step_function"):
            hear_steps(jax, session.step_begins, session.step_ends)
        if session.schedule.followed_annotation is not None:
            hear_annotations(jax, session.annotation_begins, session.annotation_ends)

    def _hear_step_function(self, jax: ModuleType, session: Session) -> None:
        if name := self.config.get("step_function"):
            hear_calls(jax, name, session.step_begins, session.step_ends)

    def _add_flags(self) -> None:
        wanted = flags.wanted_flags(self.config)
        if not wanted:
            return
        added, left_out = flags.add_flags(wanted)
        self.piece.set(added_flags=added)
        for name, why in left_out:
            self.piece.append("missing", {"what": f"XLA flag {name}", "why": why})

    def _await_backend(self, jax: ModuleType, session: Session) -> None:
        self._first_backend = FirstBackend(lambda: self.parts.run("backends", session.backend_ready))
        self._first_backend.watch()

    def _at_exit(self, how: str) -> None:
        self._finish(how, drain=True)

    def _finish(self, how: str, *, drain: bool) -> None:
        if self.session is not None:
            self.parts.run("finish", self.session.finish, how, drain=drain)
        else:
            libraries = [name for name in KNOWN_LIBRARIES if name in sys.modules]
            self.parts.run("finish", self.piece.set, state="ended", how=how, libraries=libraries)

    def _after_fork(self) -> None:
        """A forked copy of a process that uses jax records nothing; one that does not may still import jax itself."""
        if self.session is not None:
            self.session.let_go()
            return
        self.piece.let_go()
        self.parts.run("fork", self._begin)


class _AfterImport:
    """A finder that finds nothing itself, but has a function called after one module was imported."""

    def __init__(self, name: str, imported: Callable[[ModuleType], None]) -> None:
        self._name = name
        self._imported = imported

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != self._name:
            return None
        # Out of the way first, so that the search below is the one that would have been made without it.
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        loader = getattr(spec, "loader", None)
        if loader is not None and hasattr(loader, "exec_module"):
            original = loader.exec_module

            def exec_module(module: ModuleType) -> None:
                original(module)
                self._imported(module)

            loader.exec_module = functools.wraps(original)(exec_module)
        return spec
