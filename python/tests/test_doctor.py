"""`ridgeline doctor` asks a real interpreter."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def ridgeline() -> str:
    """The command line, where it is built already."""
    built = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug" / "ridgeline"
    if not built.is_file():
        pytest.skip("no target/debug/ridgeline")
    return str(built)


def checks(ridgeline: str, python: str | Path) -> tuple[int, dict[str, dict[str, str]]]:
    done = subprocess.run([ridgeline, "doctor", "--python", str(python), "-f", "json"], capture_output=True, text=True, check=False)
    return done.returncode, {check["name"]: check for check in json.loads(done.stdout)["checks"]}


def test_this_interpreter_can_record(ridgeline: str) -> None:
    pytest.importorskip("jax")
    status, found = checks(ridgeline, sys.executable)
    assert status == 0
    assert found["python"]["state"] == "fine" and ".".join(map(str, sys.version_info[:2])) in found["python"]["found"]
    assert found["jax"]["state"] != "missing"


def test_an_interpreter_that_does_not_start_is_named_with_its_last_words(ridgeline: str, tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho some library >&2\necho 'it is broken' >&2\nexit 3\n")
    python.chmod(0o755)
    status, found = checks(ridgeline, python)
    assert status == 1
    assert found["python"]["state"] == "missing" and "it is broken" in found["python"]["found"]
