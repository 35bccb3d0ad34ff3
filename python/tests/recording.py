"""Programs under the real recorder, behind a small driver, and what their recordings say."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Recorded:
    """A finished recording."""

    out: Path
    returncode: int
    stdout: str
    stderr: str
    manifest: dict

    def told(self) -> str:
        """Status, captures and what is missing, in a line each."""
        program = self.manifest["program"]
        lines = [f"exit {program['exit_code']} signal {program['signal']}"]
        lines += [f"trace {trace['path']}" for trace in self.manifest["traces"]]
        lines += [f"missing {lost['what']}: {lost['why']}" for lost in self.manifest["missing"]]
        lines += [f"note {note['what']}: {note['why']}" for note in self.manifest["notes"]]
        return "\n".join(lines)

    def events(self, trace: int = 0) -> list[str]:
        """Names of the host's events in a capture, as JAX's own reader gives them."""
        import jax  # noqa: PLC0415 - only tests that recorded it ask

        profile = jax.profiler.ProfileData.from_file(str(self.out / self.manifest["traces"][trace]["path"]))
        planes = [plane for plane in profile.planes if plane.name == "/host:CPU"]
        return [event.name for plane in planes for line in plane.lines for event in line.events]


def _hear_signals() -> None:
    """Programs hear what a background job, as tests may run in, is started to ignore."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


@dataclass
class Recorder:
    """Makes recordings in a folder of the test's own."""

    program: Path
    folder: Path
    #: Python that runs the programs.
    python: str = sys.executable

    def start(self, text: str, options: dict, env: dict, command: list[str] | None) -> subprocess.Popen:
        script = self.folder / "program.py"
        script.write_text(text)
        command = command or [self.python, str(script)]
        return subprocess.Popen(
            [self.program, json.dumps({"out": "run"} | options), "--", *command],
            cwd=self.folder,
            env={key: value for key, value in os.environ.items() if key != "XLA_FLAGS"} | env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=_hear_signals,
        )

    def wait(self, process: subprocess.Popen) -> Recorded:
        stdout, stderr = process.communicate(timeout=120)
        out = self.folder / "run"
        return Recorded(out, process.returncode, stdout, stderr, json.loads((out / "manifest.json").read_text()))

    def __call__(
        self, text: str, options: dict | None = None, env: dict | None = None, command: list[str] | None = None
    ) -> Recorded:
        return self.wait(self.start(text, options or {}, env or {}, command))
