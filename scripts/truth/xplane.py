"""Sums of an XPlane capture, from its protobuf alone; field numbers are those of `xplane.proto` (openxla/xla)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sums import Table, busy, covered, summed


def varint(data: bytes, at: int) -> tuple[int, int]:
    """A number, and where it ends."""
    value, shift = 0, 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a message; fixed ones are left out."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
            yield key >> 3, value
        elif kind == 2:
            length, at = varint(data, at)
            yield key >> 3, data[at : at + length]
            at += length
        else:
            at += 8 if kind == 1 else 4


def one(data: bytes, number: int, default: int | bytes) -> int | bytes:
    """The last field of a number, as protobuf has it."""
    found = default
    for key, value in fields(data):
        found = value if key == number else found
    return found


def read(path: Path) -> dict[str, Table]:
    """The tables of the capture at `path`: work on streams of GPUs."""
    kernels, devices, tracks = [], {}, []
    for number, plane in fields(path.read_bytes()):
        name = one(plane, 2, b"").decode() if number == 1 else ""
        if not name.startswith("/device:GPU"):
            continue
        entries = [entry for key, entry in fields(plane) if key == 4]
        names = {one(entry, 1, 0): one(one(entry, 2, b""), 2, b"").decode() for entry in entries}
        spans = []
        for line in (value for key, value in fields(plane) if key == 3):
            title = one(line, 2, b"").decode()
            if not title.startswith("Stream #"):
                continue
            begun, own = one(line, 3, 0), []
            for event in (value for key, value in fields(line) if key == 4):
                # Picoseconds behind the line's nanoseconds; each end is rounded down.
                start = begun * 1000 + one(event, 2, 0)
                span = (start // 1000, (start + one(event, 3, 0)) // 1000)
                own.append(span)
                kernels.append((names[one(event, 1, 0)], {"events": 1, "total_ns": span[1] - span[0]}))
            spans += own
            tracks.append((f"{name} {title}", {"events": len(own), "busy_ns": covered(own)}))
        if spans:
            devices[name] = busy(spans)
    return {"work": summed(kernels), "devices": devices, "tracks": summed(tracks)}
