"""Finish the recording however the program ends, and let it end as it would have.

Ordinary ends (falling off the end, `sys.exit`, an exception, Ctrl-C) come through `atexit`.
`os._exit`, `os.abort` and `os.exec*` are wrapped, and a signal that would end the process is caught, finished for, and sent again.
Nothing can be done about SIGKILL or a crash; the piece of the manifest tells.
"""

from __future__ import annotations

import atexit
import functools
import os
import signal
import threading
from collections.abc import Callable
from typing import Any

#: Signals that end a process, that it may catch, and that somebody sends to end it. SIGINT is KeyboardInterrupt, an ordinary end.
ENDING_SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


def finish_at_exit(finish: Callable[[str], None]) -> None:
    """Call `finish(how)` when the interpreter ends in an ordinary way."""
    atexit.register(finish, "the program ended")


def finish_before_hard_exits(finish: Callable[[str], None]) -> None:
    """Call `finish(how)` before `os._exit`, `os.abort` and the `os.exec` functions; it must not raise."""
    for name in ("_exit", "abort", "execv", "execve"):
        setattr(os, name, _finishing_first(getattr(os, name), finish))


def _finishing_first(original: Callable[..., Any], finish: Callable[[str], None]) -> Callable[..., Any]:
    @functools.wraps(original)
    def finishing(*args: Any, **kwargs: Any) -> Any:
        finish(f"os.{original.__name__} was called")
        return original(*args, **kwargs)

    return finishing


class EndingSignals:
    """Catches signals that would end the process, while the program itself does not.

    To the program it is as if nothing were caught: `signal.getsignal` says SIG_DFL, and a handler that it installs takes over.
    """

    def __init__(self, finish: Callable[[str], bool]) -> None:
        """`finish(how)` returns False if it cannot be done at this moment; it will then call `send_again` later."""
        self._finish = finish
        self._real_signal = signal.signal
        self._real_getsignal = signal.getsignal
        self._pending: int | None = None

    def install(self) -> None:
        """Catch each ending signal that has its default action; raises ValueError outside the main thread."""
        if threading.current_thread() is not threading.main_thread():
            raise ValueError("signals can be caught only if jax is imported in the main thread")
        for number in ENDING_SIGNALS:
            if self._real_getsignal(number) == signal.SIG_DFL:
                self._real_signal(number, self._caught)
        self._stand_in("signal", self._signal)
        self._stand_in("getsignal", self._getsignal)

    @staticmethod
    def _stand_in(name: str, replacement: Callable[..., Any]) -> None:
        @functools.wraps(getattr(signal, name))
        def stand_in(*args: Any) -> Any:
            return replacement(*args)

        setattr(signal, name, stand_in)

    def send_again(self) -> None:
        """End the process by a signal that came at a bad moment, if one did."""
        if self._pending is not None:
            self._die(self._pending)

    def _caught(self, number: int, _frame: Any) -> None:
        if self._finish(f"{signal.Signals(number).name} ended the program"):
            self._die(number)
        self._pending = number

    def _die(self, number: int) -> None:
        self._real_signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def _signal(self, number: Any, handler: Any) -> Any:
        if number in ENDING_SIGNALS and handler == signal.SIG_DFL:
            handler = self._caught
        return self._as_seen(self._real_signal(number, handler))

    def _getsignal(self, number: Any) -> Any:
        return self._as_seen(self._real_getsignal(number))

    def _as_seen(self, handler: Any) -> Any:
        return signal.SIG_DFL if handler == self._caught else handler
