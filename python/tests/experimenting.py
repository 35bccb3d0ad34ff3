"""Programs under the harness of experiments, as they are and with one change."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from conftest import ROOT

HARNESS = ROOT / "python" / "ridgeline"


def run(tmp_path: Path, program: str, change: str | None, line: int | None = None) -> tuple[str, dict]:
    """What the program prints, and what the harness reports."""
    harness = tmp_path / "harness"
    shutil.rmtree(harness, ignore_errors=True)
    (harness / "_ridgeline_harness").mkdir(parents=True)
    for file in HARNESS.glob("*.py"):
        shutil.copy(file, harness / "_ridgeline_harness")
    shutil.copy(HARNESS / "site" / "sitecustomize.py", harness)
    (tmp_path / "pieces").mkdir(exist_ok=True)
    for report in tmp_path.glob("run.*.json"):
        report.unlink()
    (tmp_path / "program.py").write_text(program)
    places = [{"file": "program.py", "line": line}] if line else []
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"out": str(tmp_path), "change": change, "places": places}))
    env = os.environ | {"PYTHONPATH": str(harness), "RIDGELINE_EXPERIMENT": str(config), "JAX_PLATFORMS": "cpu"}
    done = subprocess.run([sys.executable, "program.py"], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "program.py").read_text() == program
    (report,) = [json.loads(path.read_text()) for path in tmp_path.glob("run.*.json")]
    return done.stdout, report
