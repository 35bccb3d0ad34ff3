"""Have the main thread call a function at its next chance, without a signal and whatever it does.

CPython runs *pending calls* between two instructions of the main thread; its C API is reached through `ctypes`.
While the main thread is inside a long call of an extension the function waits for its end.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

#: Callbacks that CPython may yet call, which must stay alive until then.
_waiting: dict[int, Any] = {}


def call_in_main_thread(work: Callable[[], None]) -> None:
    """Have `work()` called once; an exception that it raises is dropped.

    Raises AttributeError where this Python has no pending calls and RuntimeError if too many wait.
    """

    def called(_argument: Any) -> int:
        _waiting.pop(id(callback), None)
        try:
            work()
        except Exception:  # noqa: BLE001 - it would surface in the program
            pass
        return 0

    callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(called)
    _waiting[id(callback)] = callback
    if ctypes.pythonapi.Py_AddPendingCall(callback, None) != 0:
        _waiting.pop(id(callback), None)
        raise RuntimeError("too many calls wait for the main thread")
