"""Which source files a module names, and where their copies go."""

from __future__ import annotations

import os
import time
from pathlib import Path

from ridgeline.sources import _NAME, Sources


def test_names_are_found_in_a_module() -> None:
    module = b"\x12\x0d/home/ada/a.py\x08\x01\"b/c.py\" (d.py:3)\x00no.pyc\x00x.py.bak\x00/e/one.py two.py"
    assert _NAME.findall(module) == [b"\r/home/ada/a.py"[1:], b"b/c.py", b" (d.py", b"/e/one.py two.py"]


def test_the_search_is_work_in_proportion_to_the_module() -> None:
    def took(letters: int) -> float:
        module = b"/" * letters
        began = time.process_time()
        assert not _NAME.findall(module)
        return time.process_time() - began

    # Eight times the letters; work by the square would be 64 times as much. A millisecond says nothing.
    assert took(1 << 17) < 24 * max(took(1 << 14), 1e-3)


def test_no_copy_leaves_the_folder(tmp_path: Path) -> None:
    program = tmp_path / "program"
    (program / "inner").mkdir(parents=True)
    (program / "solver.py").write_text("x = 1\n")
    out = tmp_path / "run"
    sources = Sources(out, began_unix_s=time.time() + 60, note=lambda what, why: None)
    sources.keep_named(os.fsencode(f"/../..{program}/inner/../solver.py"))
    kept = [path for path in tmp_path.rglob("solver.py") if not path.is_relative_to(program)]
    assert kept == [out / "sources" / str(program / "solver.py").lstrip("/")]
