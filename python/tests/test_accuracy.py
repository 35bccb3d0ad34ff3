"""`scripts/accuracy.py`, with a made-up profiler in the place of the real one: what is recorded once is judged again and again."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

from conftest import ROOT

SCRIPT = ROOT / "scripts" / "accuracy.py"

#: Records by keeping the program's text, and finds what the text says that is to be found.
PROFILER = """#!{python}
import json, pathlib, sys
if sys.argv[1] == "record":
    run = pathlib.Path(sys.argv[3])
    run.mkdir(parents=True)
    (run / "program").write_text(pathlib.Path(sys.argv[6]).read_text())
    (run / "manifest.json").write_text("{{}}")
    sys.exit(3 if "unfit" in sys.argv[6] else 0)
text = (pathlib.Path(sys.argv[2]) / "program").read_text()
found = [json.loads(line[1:]) for line in text.splitlines() if line.startswith("#")]
print(json.dumps({{"findings": found}}))
sys.exit({status})
"""


def finding(rule: str, file: str, line: int, low: float, high: float, level: str = "warning") -> str:
    saving = {"share_low": low, "share_high": high, "basis": "wall"}
    at = {"file": file, "line": line}
    return "#" + json.dumps({"rule": rule, "message": f"{rule} is there", "level": level, "location": at, "saving": saving})


def suite(folder: Path) -> Path:
    """Two pairs, one of them right in all, and three sound programs, of which one cannot be recorded."""
    programs = {
        "copies/bad.py": finding("copies", "/elsewhere/copies/bad.py", 4, 0.4, 0.6) + "\nprint('10 steps in 2.0 s')\n",
        "copies/good.py": "print('10 steps in 1.0 s')\n",
        "calls/bad.py": finding("pause", "calls/helper.py", 9, 0.8, 0.9) + "\nprint('10 steps in 1.0 s')\n",
        "calls/good.py": finding("pause", "calls/good.py", 1, 0.1, 0.2) + "\nprint('10 steps in 0.9 s')\n",
        "sound/program.py": finding("note", "sound/program.py", 1, 0.1, 0.2, level="info") + "\n",
        "unfit/program.py": "",
    }
    for name, text in programs.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    pair = lambda name, must, line: {"id": name, "bad": f"{name}/bad.py", "good": f"{name}/good.py", "must": must, "line": line}  # noqa: E731
    helper = {"file": "calls/helper.py", "lines": [8, 9]}
    listed = {
        "pairs": [pair("copies", "cop(y|ies)", [4]), pair("calls", "eager", [1, helper])],
        "healthy": [{"id": name, "program": f"{name}/program.py"} for name in ("sound", "unfit")],
    }
    (folder / "blind.json").write_text(json.dumps(listed))
    return folder


def ran(tmp_path: Path, *arguments: str, status: int = 0) -> dict[str, str]:
    """The figures that are printed."""
    profiler = tmp_path / "profiler"
    profiler.write_text(PROFILER.format(python=sys.executable, status=status))
    profiler.chmod(0o755)
    command = [sys.executable, str(SCRIPT), "--ridgeline", str(profiler), "--python", sys.executable, "--set", str(tmp_path / "suite")]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=True)
    return {name.strip(): value for name, value in (line.split("  ", 1) for line in done.stdout.splitlines() if "  " in line)}


def test_recordings_are_judged_again_without_running_a_program(tmp_path: Path) -> None:
    folder = suite(tmp_path / "suite")
    kept = tmp_path / "kept"
    ran(tmp_path, "--keep", str(kept), "--runs", "1")
    notes = json.loads((kept / "kept.json").read_text())
    assert notes["savings"] == {"copies": 0.5, "calls": 0.1}
    assert len(notes["loads"]) == 6 and list(notes["failed"]) == ["unfit/program.py"]
    for program in folder.glob("*/*.py"):
        program.write_text("raise SystemExit('a program was run')\n")
    found = {name: " ".join(value.split()) for name, value in ran(tmp_path, "--again", str(kept)).items()}
    expected = {
        "first cause right (recall)": "1 of 2 (50%)",
        "line right": "2 of 2 (100%)",
        "fixed programs silent": "1 of 2 (50%)",
        "healthy programs silent": "1 of 2 (50%)",
        "right causes with an amount": "1 of 1",
        "amounts within a factor of two": "1 of 1 (100%)",
        "measured inside the interval (promised 80%)": "1 of 1 (100%)",
    }
    assert {name: found.get(name) for name in expected} == expected
    # Another binary, which cannot read what was recorded.
    found = ran(tmp_path, "--again", str(kept), status=2)
    assert found["first cause right (recall)"].strip() == "0 of 2 (0%)"


def test_a_line_of_another_file_with_the_same_number_is_wrong() -> None:
    described = importlib.util.spec_from_file_location("accuracy", SCRIPT)
    accuracy = importlib.util.module_from_spec(described)
    sys.modules["accuracy"] = accuracy
    described.loader.exec_module(accuracy)
    pair = {"bad": "a/bad.py", "line": [3, {"file": "a/model.py", "lines": [7]}]}
    at = lambda file, line: accuracy.is_at({"location": {"file": file, "line": line}}, pair)  # noqa: E731 - one line says it
    assert [at("bad.py", 3), at("/tmp/a/bad.py", 3), at("/tmp/a/model.py", 7)] == [True] * 3
    assert [at("/tmp/b/bad.py", 3), at("a/model.py", 3), at("a/bad.py", 7)] == [False] * 3


def test_every_program_is_listed_once_and_none_is_both_blind_and_seen() -> None:
    ids: dict[str, set[str]] = {}
    for name in ("blind", "seen"):
        folder = ROOT / "suites" / name
        listed = json.loads((folder / f"{name}.json").read_text())
        ids[name] = {one["id"] for one in [*listed["pairs"], *listed["healthy"]]}
        assert ids[name] == {path.name for path in folder.iterdir() if path.is_dir() and path.name != "__pycache__"}
        files = [pair[side] for pair in listed["pairs"] for side in ("bad", "good")] + [one["program"] for one in listed["healthy"]]
        assert [file for file in files if not (folder / file).is_file()] == []
    assert ids["blind"] & ids["seen"] == set()


def test_a_record_is_made_of_blind_programs_alone(tmp_path: Path) -> None:
    command = [sys.executable, str(SCRIPT), "--set", str(ROOT / "suites" / "seen"), "--again", str(tmp_path), "--write"]
    (tmp_path / "kept.json").write_text(json.dumps({"savings": {}, "loads": {}, "failed": {}}))
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode != 0 and "--write is for all programs of suites/blind" in done.stderr


def test_the_figures_of_the_readme_are_those_of_the_record() -> None:
    page = (ROOT / "docs" / "accuracy.md").read_text().partition("<!-- accuracy: begin -->")[2]
    rows = dict(line.strip("| ").split(" | ", 1) for line in page.splitlines() if " of " in line and line.count("|") == 3)
    counts = {name: cells.split(" (")[0] for name, cells in rows.items()}
    readme = (ROOT / "README.md").read_text()
    assert f"the first finding was right for {rows['first cause right (recall)']}" in readme
    assert f"{counts['fixed programs silent']} fixed and {counts['healthy programs silent']} healthy programs" in readme
