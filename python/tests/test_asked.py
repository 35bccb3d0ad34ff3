"""Every capability that `docs/asked.md` lists has a command that exists and a test that exists."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def _rows() -> list[list[str]]:
    page = (ROOT / "docs" / "asked.md").read_text()
    page = page[: page.index("## Not available")]
    rows = [line.strip("|").split("|") for line in page.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in row] for row in rows if row[0].strip() != "capability"]


def missing_of(row: list[str], root: Path) -> list[str]:
    """What a row names and is not there."""
    capability, command, tests = row
    missing = []
    known = (root / "docs" / "cli.md").read_text()
    for word in re.findall(r"`ridgeline ([a-z-]+)", command):
        if f"## ridgeline {word}\n" not in known:
            missing.append(f"{capability}: no command {word}")
    for option in re.findall(r" (--[a-z-]+)", command) if "ridgeline" in command else []:
        if not re.search(rf"{option}\b", known):
            missing.append(f"{capability}: no option {option}")
    named = re.findall(r"`((?:crates|python)/[^`]+)`", tests)
    if not named and "not run" not in tests and "by hand" not in tests:
        missing.append(f"{capability}: no test")
    missing += [f"{capability}: no {name}" for name in named if not is_test(name, root)]
    return missing


def is_test(name: str, root: Path) -> bool:
    """Whether `FILE::FUNCTION` is a test that is there."""
    path, _, function = name.partition("::")
    text = (root / path).read_text() if function and (root / path).is_file() else ""
    if path.endswith(".py"):
        return bool(re.search(rf"^def {function}\(", text, re.MULTILINE)) and function.startswith("test_")
    # Attributes and comments may stand between.
    return bool(re.search(rf"#\[test\]\n(?:\s*(?:#|//).*\n)*\s*fn {function}\(", text))


def test_every_row_names_what_is_there():
    rows = _rows()
    assert len(rows) > 40
    assert [missing for row in rows for missing in missing_of(row, ROOT)] == []


def test_a_row_that_names_what_is_not_there_is_found():
    row = ["x", "`ridgeline nothing --no-such-option`", "`python/tests/test_asked.py::test_nothing`"]
    assert len(missing_of(row, ROOT)) == 3
    assert missing_of(["x", "`ridgeline stats run/`", "somebody looked"], ROOT) == ["x: no test"]
    for name in ("crates/ridge_cli/tests/emulate.rs", "crates/ridge_cli/tests/emulate.rs::python", "python/tests/recording.py::told"):
        assert missing_of(["x", "`ridgeline stats run/`", f"`{name}`"], ROOT) == [f"x: no {name}"]
