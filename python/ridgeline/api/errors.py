"""What can go wrong, as exceptions: each is a `RidgelineError`, and where Python has one for the same thing, also that."""

from __future__ import annotations

from collections.abc import Iterable


class RidgelineError(Exception):
    """Why a question has no answer.

    `hints` are sentences that say what to do; `path` is the file or folder it is about.
    """

    def __init__(self, message: str, path: str | None = None, hints: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.hints = tuple(hints)

    def __str__(self) -> str:
        at = f" ({self.path})" if self.path else ""
        return "\n".join([self.message + at, *(f"hint: {hint}" for hint in self.hints)])


class NotFoundError(RidgelineError, FileNotFoundError):
    """A path leads nowhere."""


class NotACaptureError(RidgelineError, ValueError):
    """What is there is no capture."""


class UnknownNameError(RidgelineError, KeyError):
    """Nothing has the name that was given: a view, a module, a format."""


class UnreadableError(RidgelineError, OSError):
    """The system does not let it be read."""


class BadInputError(RidgelineError, ValueError):
    """What was asked makes no sense, whatever the capture."""


class NotRecordedError(RidgelineError, LookupError):
    """The capture does not hold what was asked for."""


class RecordError(RidgelineError, RuntimeError):
    """Nothing could be recorded."""
