"""Lower programs for a platform that is not there.

JAX asks for a backend of the platform when it lowers a call back to Python, and does nothing with it on GPUs (jax 0.10).
So while this thread lowers for elsewhere the question is answered with the backend that there is; at all other times, and on all
other threads, JAX answers as ever.
"""

from __future__ import annotations

import contextlib
import importlib
import threading
from collections.abc import Iterator
from typing import Any

_thread = threading.local()


@contextlib.contextmanager
def lowering_elsewhere() -> Iterator[None]:
    """While this is entered, this thread may lower for a platform without a backend.

    Raises AttributeError or ImportError if this JAX keeps the question elsewhere.
    """
    _teach(importlib.import_module("jax._src.interpreters.mlir").ModuleContext)
    _thread.is_elsewhere = True
    try:
        yield
    finally:
        _thread.is_elsewhere = False


def _teach(context: Any) -> None:
    original = context.get_backend
    if getattr(original, "answers_elsewhere", False):
        return

    def get_backend(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return original(self, *args, **kwargs)
        except Exception:
            if not getattr(_thread, "is_elsewhere", False):
                raise
            return importlib.import_module("jax._src.xla_bridge").get_backend()

    get_backend.answers_elsewhere = True  # type: ignore[attr-defined]
    context.get_backend = get_backend
