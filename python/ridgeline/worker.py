"""What workers share: the stream of events to the parent, and how the parent ends them.

One JSON object per line goes to what was standard output at the start; everything that others print goes to standard error.
When standard input ends, the parent is gone or wants an end, and the process interrupts itself.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
from typing import Any, TextIO

INTERRUPTED_STATUS = 130


class Events:
    """The stream of JSON lines to the parent."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def emit(self, event: str, **fields: Any) -> None:
        """Send one event at once. Does nothing when nobody reads: the parent is gone, and standard input will end."""
        with contextlib.suppress(BrokenPipeError):
            self._stream.write(json.dumps({"event": event, **fields}, allow_nan=False, default=str) + "\n")
            self._stream.flush()


def private_stdout() -> TextIO:
    """Keep the parent's pipe for events, and send everything else written to standard output to standard error."""
    sys.stdout.flush()
    private = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return private


def interrupt_at_end_of_stdin() -> None:
    """Raise KeyboardInterrupt in the main thread once: at the end of standard input or at SIGINT, whichever is first."""
    signal.signal(signal.SIGINT, _interrupt_once)

    def wait() -> None:
        with contextlib.suppress(OSError):
            while os.read(0, 4096):
                pass
        os.kill(os.getpid(), signal.SIGINT)

    if not sys.stdin.isatty():
        threading.Thread(target=wait, daemon=True, name="ridgeline-stdin").start()


def _interrupt_once(*_: object) -> None:
    """Raise KeyboardInterrupt for the first SIGINT only: a terminal and the parent may both send one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt
