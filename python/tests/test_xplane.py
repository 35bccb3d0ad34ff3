"""The host name leaves a capture, and nothing else does."""

from __future__ import annotations

from pathlib import Path

import pytest
from ridgeline.xplane import write_xspace

PLANE = b"\x0a\x05plane"
HOST = b"\x22\x04vm-1"


@pytest.mark.parametrize(
    ("xspace", "want"),
    [
        (PLANE + HOST + PLANE, PLANE + PLANE),
        (b"", b""),
        (PLANE + b"\x0a\xff", PLANE + b"\x0a\xff"),  # cut: kept as it is
        (PLANE + b"\x08\x01" + HOST, PLANE + b"\x08\x01" + HOST),  # not an XSpace: kept as it is
        (b"\xff" * 12, b"\xff" * 12),
    ],
)
def test_write_xspace(tmp_path: Path, xspace: bytes, want: bytes) -> None:
    path = tmp_path / "trace" / "host0.xplane.pb"
    assert write_xspace(xspace, path, keep_hostnames=False) == len(want)
    assert path.read_bytes() == want
    assert write_xspace(xspace, path, keep_hostnames=True) == len(xspace)
    assert path.read_bytes() == xspace
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]
