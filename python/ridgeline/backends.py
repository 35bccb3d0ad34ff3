"""Tell when the program has initialized its first backend, and never initialize one.

The profiler needs a backend, and its own look-up of one may not run inside JAX's: since 0.12 the look-up is cached by a cache that
refuses to be entered twice.
So each sign of a backend is followed by a trial, and one that comes at a bad moment is left for the next.
"""

from __future__ import annotations

import functools
import importlib
import threading
from collections.abc import Callable
from typing import Any

from .environment import backends_are_ready

#: Functions of `jax._src.xla_bridge` after which a backend may be there; not every JAX has every one.
_SIGNS = ("backends", "get_backend")


class FirstBackend:
    """Waits for the first backend."""

    def __init__(self, ready: Callable[[], Any]) -> None:
        """`ready()` is called once, when devices can be used; it must not raise."""
        self._ready = ready
        self._is_over = False
        self._trial = threading.Lock()
        self._bridge = importlib.import_module("jax._src.xla_bridge")

    def watch(self) -> None:
        """Look after each call of the functions that find backends; raises AttributeError if JAX has none of them."""
        names = [name for name in _SIGNS if hasattr(self._bridge, name)]
        if not names:
            raise AttributeError("this JAX has no known sign of a new backend")
        for name in names:
            self._look_after(name)

    def look(self) -> None:
        """Call `ready` if there is a backend and this is a good moment; never raises."""
        if self._is_over or not self._trial.acquire(blocking=False):
            return
        try:
            if self._is_good_moment():
                self._is_over = True
                self._ready()
        finally:
            self._trial.release()

    def _is_good_moment(self) -> bool:
        try:
            if not backends_are_ready():
                return False
            # What the profiler and the snapshots will ask; JAX's caches hold the two ways of asking for a backend apart.
            self._bridge.get_backend()
            self._bridge.get_backend(None)
            self._bridge.process_index()
            self._bridge.local_devices()
        except Exception:  # noqa: BLE001 - RecursionError inside JAX's own look-up, or no backend that works
            return False
        return True

    def _look_after(self, name: str) -> None:
        original = getattr(self._bridge, name)

        @functools.wraps(original)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            self.look()
            if self._is_over and getattr(self._bridge, name, None) is wrapper:
                setattr(self._bridge, name, original)
            return result

        for extra in ("cache_clear", "cache_info"):
            if hasattr(original, extra):
                setattr(wrapper, extra, getattr(original, extra))
        setattr(self._bridge, name, wrapper)
