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
    "mlp_loader": ({"data-loading"}, ["--samples", "48"], ["--samples", "72"]),
    "cnn": ({None, "kernel-hotspot", "hot-line"}, [], ["--channels", "40"]),
    "transformer": ({None, "unfused-eager"}, [], ["--layers", "3"]),
    "lstm": ({"small-calls-in-loop"}, [], ["--length", "56"]),
    "compiled": ({None}, ["--fixed"], ["--fixed", "--width", "384"]),
}

#: Recordings of each side: on a processor that others use, too, one run says little of another.
RUNS = 3


def ridgeline(*arguments: str) -> str:
    """What the command prints; a failure is shown with what it said."""
    done = subprocess.run([str(RIDGELINE), *arguments], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def recorded(folder: Path, program: str, arguments: list[str]) -> str:
    """A recording of steps of a program of `suites/torch`, the first ones left out."""
    source = ROOT / "suites" / "torch" / f"{program}.py"
    ridgeline("record", "--steps", "4..24", "-o", str(folder), "--", sys.executable, str(source), "--steps", "30", *arguments)
    return str(folder)


@pytest.mark.skipif(not RIDGELINE.exists(), reason="no ridgeline is built; `cargo build` makes it")
@pytest.mark.parametrize("program", list(PROGRAMS))
def test_a_program_and_its_slower_sister(tmp_path: Path, program: str) -> None:
    allowed, arguments, slower = PROGRAMS[program]
    # In turn, so that what changes on the machine meanwhile is on both sides.
    sides: dict[str, list[str]] = {"before": [], "after": []}
    for run in range(RUNS):
        sides["before"].append(recorded(tmp_path / f"before{run}", program, arguments))
        sides["after"].append(recorded(tmp_path / f"after{run}", program, slower))
    checked = json.loads(ridgeline("check", sides["before"][0], "-f", "json"))
    assert checked["verdict"]["state"] != "cannot judge", checked["verdict"]
    loud = [finding["rule"] for finding in checked["findings"] if finding["level"] in ("warning", "error")]
    assert (loud[0] if loud else None) in allowed, loud
    compared = ["--before", *sides["before"], "--after", *sides["after"], "--causes", "never", "-f", "json"]
    found = json.loads(ridgeline("diff", *compared))
    if found["verdict"]["state"] == "cannot judge" and os.getloadavg()[0] > 1.5 * (os.cpu_count() or 1):
        pytest.skip("others use the processors, and the runs of one program differ more than the change")
    assert found["verdict"]["state"] == "slower", found["verdict"]
    assert found["changes"][0]["after_ns"] > found["changes"][0]["before_ns"]
