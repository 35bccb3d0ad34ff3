"""What is marked of imports, and that nobody notices."""

from __future__ import annotations

import contextlib
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest

from ridgeline.imports import ImportWatch


@pytest.fixture
def marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What a watch marks, with modules in `tmp_path` to import."""
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "marked_outer.py").write_text("import marked_inner\n")
    (tmp_path / "marked_inner.py").write_text("")
    (tmp_path / "marked_broken.py").write_text("1 / 0\n")
    marks: list[str] = []

    @contextlib.contextmanager
    def annotation(name: str) -> Iterator[None]:
        marks.append(f"begin {name}")
        yield
        marks.append("end")

    watch = ImportWatch(annotation)
    watch.start()
    yield marks
    watch.stop()
    for name in ("marked_outer", "marked_inner"):
        sys.modules.pop(name, None)


def test_what_is_not_loaded_yet_is_marked_once(marked: list[str]) -> None:
    import marked_outer  # noqa: F401, PLC0415 - it is what is tested
    import marked_inner  # noqa: F401, PLC0415 - loaded with the other

    assert marked == ["begin ridgeline import: marked_outer", "end"]


def test_errors_look_as_they_would_without_it(marked: list[str]) -> None:
    def frames(name: str) -> list[str]:
        try:
            __import__(name)
        except Exception as error:  # noqa: BLE001 - each is looked at
            return [frame.name for frame in traceback.extract_tb(error.__traceback__)]
        return []

    assert frames("marked_nowhere") == ["frames"]
    assert frames("marked_broken") == ["frames", "<module>"]
    assert [mark for mark in marked if mark == "end"] == ["end", "end"]


def test_pythons_own_is_put_back() -> None:
    import _frozen_importlib as bootstrap  # noqa: PLC0415 - as the watch does

    own = bootstrap._find_and_load
    watch = ImportWatch(contextlib.nullcontext)
    watch.start()
    watch.start()
    assert bootstrap._find_and_load is not own
    watch.stop()
    watch.stop()
    assert bootstrap._find_and_load is own


def test_a_mark_that_fails_costs_nothing() -> None:
    def broken(name: str) -> contextlib.AbstractContextManager[None]:
        raise RuntimeError(name)

    watch = ImportWatch(broken)
    watch.start()
    try:
        sys.modules.pop("this_or_that", None)
        with pytest.raises(ModuleNotFoundError):
            import this_or_that  # noqa: F401, PLC0415 - it is not there
    finally:
        watch.stop()
