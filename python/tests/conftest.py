"""What the tests of the Python side share: where the package and the recording program are."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Runs pytest inside of a test, to see the plugin at work.
pytest_plugins = ["pytester"]

sys.path.insert(0, str(ROOT / "python"))
sys.path.insert(0, str(ROOT / "python" / "tests"))

from recording import Recorder  # noqa: E402 - found by the path above


@pytest.fixture(scope="session")
def record_once() -> Path:
    """The program that makes one recording; `RIDGELINE_RECORD_ONCE` names one that is built already."""
    if named := os.environ.get("RIDGELINE_RECORD_ONCE"):
        return Path(named)
    if shutil.which("cargo") is None:
        pytest.skip("no cargo to build the recording program with")
    # The whole workspace, as the Rust tests: a package by itself has other features and would be built anew.
    subprocess.run(["cargo", "build", "-q", "--workspace", "--example", "record_once"], cwd=ROOT, check=True)
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug" / "examples" / "record_once"


@pytest.fixture
def ridgeline() -> Path:
    """The command, as it was built last."""
    built = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug" / "ridgeline"
    if not built.exists():
        pytest.skip("no target/debug/ridgeline")
    return built


@pytest.fixture
def record(record_once: Path, tmp_path: Path) -> Recorder:
    """Records programs in a folder of the test's own."""
    return Recorder(record_once, tmp_path)
