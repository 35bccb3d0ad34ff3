"""Redacted databases as others read them: Python's own sqlite3 finds them sound, and nothing private in them."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import ROOT

WORKED_IN = [ROOT / "crates" / "ridge_redact" / "databases" / name for name in ("small_pages.sqlite", "wide_text.sqlite")]
CORPUS = ROOT.parent / "shared" / "corpus" / "nsys" / "h100_2gpu_1s.sqlite"


@pytest.fixture(scope="session")
def ridgeline() -> Path:
    """The command line; `RIDGELINE` names one that is built already."""
    if named := os.environ.get("RIDGELINE"):
        return Path(named)
    if shutil.which("cargo") is None:
        pytest.skip("no cargo to build the command line with")
    # With the tests of the command line, as the Rust tests build it: else it would be built anew, with other features.
    subprocess.run(["cargo", "test", "-q", "--no-run", "--workspace", "--test", "cli"], cwd=ROOT, check=True)
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug" / "ridgeline"


def opened(path: Path) -> sqlite3.Connection:
    """The database, which cannot be changed by reading it."""
    return sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)


def rows(database: sqlite3.Connection) -> Iterator[tuple[str, list[tuple]]]:
    """Each table with its rows."""
    for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall():
        yield table, database.execute(f'SELECT * FROM "{table}"').fetchall()


def without_texts(row: tuple) -> tuple:
    """A row's numbers, and the lengths of its texts."""
    return tuple(len(value) if isinstance(value, (str, bytes)) else value for value in row)


@pytest.mark.parametrize("given", [*WORKED_IN, CORPUS], ids=lambda path: path.stem)
def test_a_copy_is_sound_and_holds_the_same_numbers(ridgeline: Path, tmp_path: Path, given: Path) -> None:
    if not given.exists():
        pytest.skip(f"no {given.name}: the corpus is not here")
    copy = tmp_path / "copy.sqlite"
    subprocess.run([ridgeline, "redact", given, copy], check=True, stdout=subprocess.DEVNULL)
    before, after = opened(given), opened(copy)
    assert before.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert after.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    for (table, old), (same, new) in zip(rows(before), rows(after), strict=True):
        assert table == same
        assert [without_texts(row) for row in new] == [without_texts(row) for row in old], table


def test_a_real_export_keeps_nothing_private(ridgeline: Path, tmp_path: Path) -> None:
    if not CORPUS.exists():
        pytest.skip("no h100_2gpu_1s.sqlite: the corpus is not here")
    copy = tmp_path / "copy.sqlite"
    subprocess.run([ridgeline, "redact", CORPUS, copy], check=True, stdout=subprocess.DEVNULL)
    before, after = opened(CORPUS), opened(copy)
    private = {name for (name,) in before.execute("SELECT name FROM PROCESSES")}
    for table, keys in [
        ("META_DATA_CAPTURE", ["DEVICE_DISPLAY_NAME", "PROCESS_0:ARGUMENT_0", "PROCESS_0:ARGUMENT_1", "PROFILING_SESSION_UUID"]),
        ("META_DATA_EXPORT", ["EXPORT_HOST", "EXPORT_USER", "EXPORT_TIME_LOCAL", "DERIVED_FROM", "EXPORT_PARAM_INPUT_FILE"]),
        ("TARGET_INFO_SYSTEM_ENV", ["Hostname", "DeviceEnvironment", "PluginsInfo", "TargetInstallDir"]),
    ]:
        found = before.execute(f"SELECT value FROM {table} WHERE name IN ({', '.join('?' * len(keys))})", keys).fetchall()
        assert len(found) == len(keys), table
        private |= {value for (value,) in found}
    # What somebody took out before is nobody's name.
    private.discard("(redacted)")
    cells = {cell for _, table in rows(after) for row in table for cell in row if isinstance(cell, str)}
    assert not private & cells
    # A short name is part of other words; a long one is in no byte.
    whole = copy.read_bytes()
    long = [text for text in private if len(text) > 4]
    assert "modal" in long and "python3" in long
    assert [text for text in long if text.encode() in whole] == []
