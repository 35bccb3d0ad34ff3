"""Exceptions: each is a `RidgelineError`, and also Python's own exception for the same problem if there is one."""

from __future__ import annotations

from collections.abc import Iterable


class RidgelineError(Exception):
    """Base class of all errors.

    `hints` are sentences with advice; `path` is the file or directory, if the error is about one.
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
    """The path doesn't exist."""


class NotACaptureError(RidgelineError, ValueError):
    """The file or directory is not a capture."""


class UnknownNameError(RidgelineError, KeyError):
    """Unknown name of a view, module or format."""


class UnreadableError(RidgelineError, OSError):
    """No permission to read it."""


class BadInputError(RidgelineError, ValueError):
    """Invalid arguments, whatever the capture."""


class NotRecordedError(RidgelineError, LookupError):
    """The capture doesn't have the requested data."""


class RecordError(RidgelineError, RuntimeError):
    """Recording failed."""
