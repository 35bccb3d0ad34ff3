"""Attach to a program that knows nothing of it: wait until it imports jax or torch, then hook what a recording needs.

`attach` is called once, by `sitecustomize`, before the program's first line.
Until the program imports one of them nothing is done but to watch for that import.
A device is never initialized here: programs choose platforms and start distributed systems between importing a library and using it.
What is hooked in PyTorch is in `torch_attach`.
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
from . import regions
from .annotations import hear_annotations, hear_steps
from .backends import FirstBackend
from .golden import Golden
from .manifest import Piece
from .modules import ModuleWatch
from .own_traces import hear_own_traces
from .provided import provide
from .safely import Parts
from .jax_tracer import JaxTracer
from .session import Session
from .step_function import hear_calls
from .torch_attach import hook_torch, torch_session

#: Libraries that compute on devices; the manifest names those that a program without a recorded one imported.
KNOWN_LIBRARIES = ("tensorflow", "cupy", "numba", "triton", "warp", "pycuda", "mxnet", "paddle", "onnxruntime")


def attach(config_path: str) -> None:
    """Begin to watch for imports, as told by the file at `config_path`.

    Raises OSError or ValueError if the file cannot be read; the caller keeps that from the program.
    """
    started = time.perf_counter()
    config = json.loads(Path(config_path).read_text(encoding="utf-8"))
    recording = Recording(config)
    recording.watch_for_imports()
    provide()
    recording.piece.add_time("attach_s", time.perf_counter() - started)


class Recording:
    """The harness in one process, from its first moment."""

    def __init__(self, config: dict[str, Any]) -> None:
        """Claims a piece of the manifest; raises OSError if it cannot be written."""
        self.config = config
        self.sessions: list[Session] = []
        self._first_backend: FirstBackend | None = None
        self._signals: endings.EndingSignals | None = None
        self._golden: Golden | None = None
        self._begin()
        endings.finish_at_exit(self._at_exit)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._after_fork)

    def _begin(self) -> None:
        self.piece = Piece(Path(self.config["pieces"]))
        self.parts = Parts(self.piece.lost)

    def watch_for_imports(self) -> None:
        """Have `jax_imported` or `torch_imported` called when the program has imported that library."""
        sys.meta_path.insert(0, AfterImport("jax", self.jax_imported))
        sys.meta_path.insert(0, AfterImport("torch", self.torch_imported))

    def jax_imported(self, jax: ModuleType) -> None:
        """Hook everything that a recording of JAX needs; never raises."""
        self._imported("jax", lambda piece, parts: Session(self.config, piece, parts, JaxTracer()), functools.partial(self._hook_jax, jax))

    def torch_imported(self, torch: ModuleType) -> None:
        """Hook everything that a recording of PyTorch needs; never raises."""
        self._imported(
            "torch",
            lambda piece, parts: torch_session(torch, self.config, piece, parts),
            lambda session, piece: hook_torch(torch, session, self.config, piece),
        )

    def _imported(
        self, library: str, make: Callable[[Piece, Parts], Session], hook: Callable[[Session, Piece], None]
    ) -> None:
        started = time.perf_counter()
        piece, parts = self._piece_of_next()
        if piece is None or parts is None:
            return
        piece.set(state="waiting", **{library: True})
        session = parts.run("session", make, piece, parts)
        if session is not None:
            self.sessions.append(session)
            self._hook_endings(session)
            hook(session, piece)
        piece.add_time("attach_s", time.perf_counter() - started)
        piece.write()

    def _piece_of_next(self) -> tuple[Piece | None, Parts | None]:
        """The piece of the next library: this process's own for the first, one more for another."""
        if not self.piece.content["jax"] and not self.piece.content["torch"]:
            return self.piece, self.parts
        piece = self.parts.run("session", Piece, Path(self.config["pieces"]))
        return piece, Parts(piece.lost) if piece else None

    def _hook_endings(self, session: Session) -> None:
        # Once more: functions registered last run first, and jax takes its backends down in one registered before this.
        session.parts.run("attach", endings.finish_at_exit, self._at_exit)
        if self._signals is None:
            self._signals = endings.EndingSignals(lambda how: self._finish(how, drain=False))
            session.parts.run("signals", self._signals.install)
            session.parts.run("hard_exits", endings.finish_before_hard_exits, lambda how: self._finish(how, drain=False))
        session.after_busy = self._signals.send_again

    def _hook_jax(self, jax: ModuleType, session: Session, piece: Piece) -> None:
        hooks: list[tuple[str, Callable[[], None]]] = [
            ("golden", lambda: self._keep_golden(session)),
            ("modules", lambda: self._watch_modules(session)),
            ("own_traces", lambda: hear_own_traces(jax, session, Path(self.config["out"]), piece)),
            ("annotations", lambda: self._hear_annotations(jax, session)),
            ("step_function", lambda: self._hear_step_function(jax, session)),
            ("xla_flags", lambda: self._add_flags(piece)),
            ("attach", lambda: self._await_backend(jax, session)),
        ]
        for part, hook in hooks:
            session.parts.run(part, hook)

    def _keep_golden(self, session: Session) -> None:
        names = self.config.get("golden") or []
        golden = Golden(names, int(self.config.get("max_golden_bytes") or 0), Path(self.config["out"]), session.parts)
        # Functions that the program calls regions become modules of their own in any recording.
        regions.listener = golden
        if names:
            golden.install()
            self._golden = golden

    def _watch_modules(self, session: Session) -> None:
        golden = self._golden
        watch = ModuleWatch(
            formats=set(self.config["hlo"]),
            parts=session.parts,
            sink=session.module_compiled,
            compiled=golden.compiled if golden else lambda _executable, _module: None,
            before_compile=lambda: self._first_backend and self._first_backend.look(),
        )
        try:
            watch.install()
        except (ImportError, AttributeError) as error:
            # This JAX keeps its compiler elsewhere: XLA's own dump is the way that needs no hook.
            self.config.setdefault("xla_dump", None)
            self.config["xla_dump"] = self.config["xla_dump"] or {"formats": ["text", "proto"]}
            raise RuntimeError(f"{error}; XLA's own dump in hlo_dump/ was requested instead") from error

    def _hear_annotations(self, jax: ModuleType, session: Session) -> None:
        if session.schedule.kind in ("steps", "whole") and not self.config.get("step_function"):
            hear_steps(jax, session.step_begins, session.step_ends)
        if session.schedule.followed_annotation is not None:
            hear_annotations(jax, session.annotation_begins, session.annotation_ends)

    def _hear_step_function(self, jax: ModuleType, session: Session) -> None:
        if name := self.config.get("step_function"):
            hear_calls(jax, name, session.step_begins, session.step_ends)

    def _add_flags(self, piece: Piece) -> None:
        wanted = flags.wanted_flags(self.config)
        if not wanted:
            return
        added, left_out = flags.add_flags(wanted)
        piece.set(added_flags=added)
        for name, why in left_out:
            piece.append("missing", {"what": f"XLA flag {name}", "why": why})

    def _await_backend(self, jax: ModuleType, session: Session) -> None:
        self._first_backend = FirstBackend(lambda: session.parts.run("backends", session.backend_ready))
        self._first_backend.watch()

    def _at_exit(self, how: str) -> None:
        self._finish(how, drain=True)

    def _finish(self, how: str, *, drain: bool) -> bool:
        """End every session; False if one of them is in the middle of starting or stopping a capture."""
        if not self.sessions:
            libraries = [name for name in KNOWN_LIBRARIES if name in sys.modules]
            self.parts.run("finish", self.piece.set, state="ended", how=how, libraries=libraries)
        if self._golden is not None:
            if why := self._golden.not_found():
                self.sessions[0].parts.switch_off("golden", why)
            self._golden = None
        ends = [session.parts.run("finish", session.finish, how, drain=drain) for session in self.sessions]
        if False in ends:
            return False
        for session in self.sessions:
            session.abandon()
        return True

    def _after_fork(self) -> None:
        """A forked copy of a process that is recorded records nothing; one that is not may still import a library itself."""
        for session in self.sessions:
            session.let_go()
        if not self.sessions:
            self.piece.let_go()
            self.parts.run("fork", self._begin)


class AfterImport:
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
