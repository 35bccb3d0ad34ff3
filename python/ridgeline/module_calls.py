"""Hear of each call of some compiled modules.

JAX calls a compiled module from C++ once it knows it, and asks no Python.
It does so only for calls of its own class, so a module whose calls are to be heard gets an object of another one, and all others stay as
they are.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

#: What is called in the place of a module: the module's own call, and what goes in.
Heard = Callable[[Callable[..., Any], tuple[Any, ...]], Any]


class ModuleCalls:
    """The modules whose calls are heard."""

    def __init__(self) -> None:
        # Kept with the executable, so that its id is not given to another one.
        self._heard: dict[int, tuple[Any, Heard]] = {}

    def install(self) -> None:
        """Wrap what makes a compiled module callable; `jax` must be imported.

        Raises AttributeError or ImportError if this JAX keeps it elsewhere.
        """
        owner = importlib.import_module("jax._src.interpreters.pxla").UnloadedMeshExecutable
        original = owner.load

        @functools.wraps(original)
        def load(unloaded: Any) -> Any:
            loaded = original(unloaded)
            _, heard = self._heard.get(id(loaded.xla_executable), (None, None))
            if heard is not None:
                loaded._unsafe_call = _HeardCall(loaded.unsafe_call, heard)
            return loaded

        owner.load = load

    def hear(self, executable: Any, heard: Heard) -> None:
        """From now on `heard(call, args)` is called where `executable` would be; only arguments that the module keeps are in `args`."""
        self._heard[id(executable)] = (executable, heard)


class _HeardCall:
    def __init__(self, call: Any, heard: Heard) -> None:
        self._call = call
        self._heard = heard

    def __call__(self, *args: Any) -> Any:
        kept = tuple(arg for at, arg in enumerate(args) if at in self._call.kept_var_idx)
        return self._heard(lambda: self._call(*args), kept)

    def __getattr__(self, name: str) -> Any:
        if name == "_call":  # not yet set, as when copied
            raise AttributeError(name)
        return getattr(self._call, name)
