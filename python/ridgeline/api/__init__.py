"""Captures in Python: `ridgeline.open`, `ridgeline.record`, `ridgeline.diff`.

The numbers are those of the command line: the extension module is the same library, and `ridgeline` on the path the same program.
"""

from __future__ import annotations

from .errors import (
    BadInputError,
    NotACaptureError,
    NotFoundError,
    NotRecordedError,
    RecordError,
    RidgelineError,
    UnknownNameError,
    UnreadableError,
)
from .findings import Check, Evidence, Finding, Location, Saving
from .recording import Recording, record
from .run import Change, Diff, Guide, Run, WhatIf, change, diff, explain, open
from .tables import Column, Table, Tables

__all__ = [
    "BadInputError",
    "Change",
    "Check",
    "Column",
    "Diff",
    "Evidence",
    "Finding",
    "Guide",
    "Location",
    "NotACaptureError",
    "NotFoundError",
    "NotRecordedError",
    "RecordError",
    "Recording",
    "RidgelineError",
    "Run",
    "Saving",
    "Table",
    "Tables",
    "UnknownNameError",
    "UnreadableError",
    "WhatIf",
    "change",
    "diff",
    "explain",
    "open",
    "record",
]
