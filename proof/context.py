"""What every proof shares: where things are, running programs within a time, asking Ridgeline, and the table that is the answer."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PROOFS = ROOT / "proof" / "programs"
PROGRAMS = ROOT / "suites" / "programs"
#: Kinds of events that are work of a device, as exports name them.
ON_A_DEVICE = ("kernel", "memset", "copy device to device", "copy host to device", "copy device to host", "copy peer to peer", "copy",
               "graph", "device operation")
#: How the operation of a kernel is known, as the overview's facts name it; the second and third are inferred.
KNOWN_BY = ("by_stat", "by_module", "by_order", "by_launch", "module_only", "unattributed")
#: Seconds that a program has to end after it was asked to.
GRACE_S = 10


class Missing(Exception):
    """Something that this machine does not have; the proof is skipped with the reason."""


@dataclass
class Proof:
    """The answer of one proof: what was laid against what, row by row, and what to know of it."""

    title: str
    columns: list[str]
    rows: list[list[Any]] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)


@dataclass
class Finished:
    """How a program ended: exit status (negative for a signal), seconds, and what it printed."""

    status: int
    seconds: float
    output: str


@dataclass
class Context:
    """Where the programs are, where to write, how large to measure and until when (`time.monotonic` seconds)."""

    ridgeline: str
    python: str
    out: Path
    deadline: float
    quick: bool = False

    def left_s(self) -> float:
        """Seconds until the deadline, at most an hour."""
        return max(0.0, min(3600.0, self.deadline - time.monotonic()))

    def folder(self, name: str) -> Path:
        """A folder for what the proof `name` leaves."""
        made = self.out / name
        made.mkdir(parents=True, exist_ok=True)
        return made

    def run(self, command: Sequence[str | Path], *, log: Path, limit_s: float = 240, env: Mapping[str, str] | None = None) -> Finished:
        """Run a program and wait; what it says goes to `log`.

        It is interrupted after `limit_s` or at the deadline, whichever comes first, and killed with all it started if that does
        not end it: so what it captured is kept.
        """
        words = [str(word) for word in command]
        limit = min(limit_s, self.left_s())
        if limit <= 0:
            raise Missing("no time left")
        begun = time.monotonic()
        with log.open("w") as output:
            process = subprocess.Popen(words, stdout=output, stderr=subprocess.STDOUT, env={**os.environ, **(env or {})},
                                       start_new_session=True, preexec_fn=_hear_interrupts)
            try:
                status = _ended(process, limit)
            except BaseException:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                raise
        return Finished(status, time.monotonic() - begun, log.read_text(errors="replace"))

    def record(self, out: Path, program: Sequence[str | Path], *, options: Sequence[str] = (), limit_s: float = 240,
               env: Mapping[str, str] | None = None) -> Finished:
        """`ridgeline record` of a Python program into the folder `out`."""
        shutil.rmtree(out, ignore_errors=True)
        command = [self.ridgeline, "record", "-o", out, *options, "--", self.python, *program]
        return self.run(command, log=out.with_name(out.name + ".log"), limit_s=limit_s, env=env)

    def answer(self, *arguments: str | Path) -> dict[str, Any]:
        """What a command of Ridgeline says, as JSON."""
        words = [self.ridgeline, *map(str, arguments), "--format", "json"]
        return json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)

    def events(self, capture: Path) -> Iterator[dict[str, str]]:
        """The events of a capture, as the columns of `ridgeline export --to csv`."""
        words = [self.ridgeline, "export", str(capture), "--to", "csv", "-o", "-"]
        text = subprocess.run(words, check=True, capture_output=True, text=True).stdout
        yield from csv.DictReader(io.StringIO(text))


def _hear_interrupts() -> None:
    """A background job starts with interrupts ignored, and so would what it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _ended(process: subprocess.Popen[Any], limit_s: float) -> int:
    """The exit status of `process`, which is interrupted after `limit_s` and killed if it goes on."""
    try:
        return process.wait(limit_s)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGINT)
    try:
        return process.wait(GRACE_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.wait()


def tool(name: str) -> str:
    """The path of a command; `Missing` if there is none."""
    found = shutil.which(name)
    if found is None:
        raise Missing(f"{name} is not installed")
    return found


def gpu_name() -> str:
    """The first GPU's name as its driver reports it; `Missing` without one."""
    listed = subprocess.run([tool("nvidia-smi"), "--query-gpu=name", "--format=csv,noheader"], capture_output=True, text=True)
    if listed.returncode != 0 or not listed.stdout.strip():
        raise Missing("nvidia-smi finds no GPU")
    return listed.stdout.splitlines()[0].strip()


def facts_of(answer: dict[str, Any]) -> dict[str, Any]:
    """The facts of an answer by key; the first of a key counts."""
    facts: dict[str, Any] = {}
    for part in answer.get("overview", answer.get("sections", [])):
        for fact in part["facts"]:
            facts.setdefault(fact["key"], fact["value"])
    return facts


def last_line(text: str) -> str:
    """The last line that says something, for a reason."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "it printed nothing"


def scaled(value: float | None, unit: float) -> float | None:
    """`value` in `unit`s; nothing where nothing is known."""
    return None if value is None else value / unit


def span(event: dict[str, str]) -> tuple[int, int]:
    """Begin and end of an exported event, ns."""
    begin = int(event["start_ns"])
    return begin, begin + int(event["dur_ns"])


def ranges(events: list[dict[str, str]], prefix: str) -> dict[str, tuple[int, int]]:
    """The ranges of the host whose names begin so, by name."""
    return {event["name"]: span(event) for event in events if event["name"].startswith(prefix) and not event["device"]}
