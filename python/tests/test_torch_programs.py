"""Five PyTorch programs on a processor: what holds them back, and whether a change of a third is seen.

They are recorded for real, so `make test-torch` runs these tests; captures of the same programs are held in `fixtures/real/torch_cpu`,
by tests that need no torch.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch is not installed; `make test-torch` installs it and runs these tests")

ROOT = Path(__file__).resolve().parents[2]
RIDGELINE = Path(os.environ.get("RIDGELINE", ROOT / "target" / "debug" / "ridgeline"))

#: Of each program: the rules of which one may come first, `None` for no warning at all; arguments of a run, and of one with more to do.
PROGRAMS = {
    "mlp_loader": ({"data-loading"}, ["--steps", "30", "--samples", "48"], ["--steps", "30", "--samples", "96"]),
    "cnn": ({None, "kernel-hotspot", "hot-line"}, ["--steps", "30"], ["--steps", "30", "--channels", "40"]),
    "transformer": ({None, "unfused-eager"}, ["--steps", "16"], ["--steps", "16", "--layers", "4"]),
    "lstm": ({None, "host-bound-dispatch"}, ["--steps", "30"], ["--steps", "30", "--length", "64"]),
    "compiled": ({None}, ["--steps", "30", "--fixed"], ["--steps", "30", "--fixed", "--width", "512"]),
}


def ridgeline(*arguments: str) -> str:
    """What the command prints; a failure is shown with what it said."""
    done = subprocess.run([str(RIDGELINE), *arguments], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def recorded(folder: Path, program: str, arguments: list[str]) -> Path:
    """A recording of a program of `suites/torch`."""
    ridgeline("record", "-o", str(folder), "--", sys.executable, str(ROOT / "suites" / "torch" / f"{program}.py"), *arguments)
    return folder


@pytest.mark.skipif(not RIDGELINE.exists(), reason="no ridgeline is built; `cargo build` makes it")
@pytest.mark.parametrize("program", list(PROGRAMS))
def test_a_program_and_its_slower_sister(tmp_path: Path, program: str) -> None:
    allowed, arguments, slower = PROGRAMS[program]
    before = recorded(tmp_path / "before", program, arguments)
    checked = json.loads(ridgeline("check", str(before), "-f", "json"))
    assert checked["verdict"]["state"] != "cannot judge", checked["verdict"]
    loud = [finding["rule"] for finding in checked["findings"] if finding["level"] in ("warning", "error")]
    assert (loud[0] if loud else None) in allowed, loud
    after = recorded(tmp_path / "after", program, slower)
    found = json.loads(ridgeline("diff", str(before), str(after), "--causes", "never", "-f", "json"))
    assert found["verdict"]["state"] == "slower", found["verdict"]
    assert found["changes"][0]["after_ns"] > found["changes"][0]["before_ns"]
