"""Keep every failure of the harness inside the harness.

A harness runs in somebody else's process, so nothing it does may change what that process does.
Each piece of work belongs to a named *part*; the first exception in a part switches that part off and leaves a note.
This file decides nothing else: what a part is, and what its loss means, is said by the callers.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any, TypeVar

Result = TypeVar("Result")

#: Names a part that raises at its next use; only tests set it.
FAILURE_VARIABLE = "RIDGELINE_TEST_FAIL"


class Parts:
    """The parts of the harness that still work, and notes on those that do not."""

    def __init__(self, note: Callable[[str, str], None]) -> None:
        """`note(what, why)` is called once for each part that fails."""
        self._note = note
        self._off: set[str] = set()
        self._lock = threading.Lock()

    def is_on(self, part: str) -> bool:
        """True until `part` fails for the first time."""
        return part not in self._off

    def run(self, part: str, work: Callable[..., Result], *args: Any, **kwargs: Any) -> Result | None:
        """Result of `work(*args, **kwargs)`, or None if `part` is off or fails now.

        Only `Exception` is caught: KeyboardInterrupt and SystemExit belong to the program.
        """
        if part in self._off:
            return None
        try:
            if os.environ.get(FAILURE_VARIABLE) == part:
                raise RuntimeError("failure injected by a test")
            return work(*args, **kwargs)
        except Exception as error:  # noqa: BLE001 - nothing may reach the program
            self.switch_off(part, describe(error))
            return None

    def switch_off(self, part: str, why: str) -> None:
        """Switch `part` off and note `why`, the first time only."""
        with self._lock:
            if part in self._off:
                return
            self._off.add(part)
        try:
            self._note(part, why)
        except Exception:  # noqa: BLE001 - a note that cannot be written is lost, the program is not
            pass


def describe(error: BaseException) -> str:
    """One line that says what `error` is, at most 500 characters long."""
    first_line = (str(error).strip() or "no message").splitlines()[0]
    return f"{type(error).__name__}: {first_line}"[:500]
