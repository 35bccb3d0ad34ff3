"""Write what a profiler session returns as an `.xplane.pb` file, without the name of the host.

An XSpace is a protobuf message whose top level holds a few large records (planes) and the host names.
Only that top level is walked; nothing inside a plane is read or changed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

#: Field of XSpace that lists host names.
HOSTNAMES_FIELD = 4
_LENGTH_DELIMITED = 2


def write_xspace(xspace: bytes, path: Path, *, keep_hostnames: bool) -> int:
    """Write `xspace` to `path` by way of a temporary file beside it; returns the bytes written.

    If the top level cannot be walked the bytes are written as they are: a capture is worth more than a redaction
    of something that is not understood.
    """
    view = memoryview(xspace)
    spans = [(0, len(view))] if keep_hostnames else list(_spans_without_hostnames(view))
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    written = 0
    try:
        with open(partial, "wb") as file:
            for start, end in spans:
                written += file.write(view[start:end])
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
    return written


def _spans_without_hostnames(view: memoryview) -> Iterator[tuple[int, int]]:
    """Byte ranges of the top-level records of an XSpace, less the host names."""
    try:
        spans = []
        position = 0
        while position < len(view):
            start = position
            key, position = _varint(view, position)
            if key & 7 != _LENGTH_DELIMITED:
                raise ValueError(f"expected a length-delimited field, found wire type {key & 7} at byte {start}")
            length, position = _varint(view, position)
            position += length
            if position > len(view):
                raise ValueError(f"record at byte {start} ends past the message")
            if key >> 3 != HOSTNAMES_FIELD:
                spans.append((start, position))
    except (ValueError, IndexError):
        spans = [(0, len(view))]
    yield from spans


def _varint(view: memoryview, position: int) -> tuple[int, int]:
    """The protobuf varint at `position`, and the position after it."""
    value = 0
    for shift in range(0, 70, 7):
        byte = view[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
    raise ValueError(f"varint longer than 10 bytes at byte {position}")
