"""How often `ridgeline check` is right on programs that nobody had in mind: cause, line, false alarms, amounts, intervals.

    python scripts/accuracy.py [--python PYTHON] [--runs 2] [--take] [--write] [ID...]
    python scripts/accuracy.py --keep DIR                    # keep the recordings and what was measured
    python scripts/accuracy.py --again DIR --ridgeline OTHER # judge them with another binary; runs no program
    python scripts/accuracy.py --set FOLDER --json out.json

The programs are those of `suites/blind/`, which lists them in `blind.json`; `--set` names another folder of that form, such as
`suites/seen/`, whose programs were blind once, or one of training pairs. Each is recorded and given to `check`. The saving of a pair is measured now, without a profiler, `bad.py` and
`good.py` in turns, or `--take` takes what the list says.
Recording and measuring take long, judging does not: `--keep DIR` only does these two, into a folder, and goes on where an earlier run of
it was stopped; `--again DIR` has a binary judge what is there.
`--experiment` also has `ridgeline experiment` measure the findings of each `bad.py` and lays that beside the pair's saving.
`--write` keeps the tables in `docs/accuracy.md`, and the record of each rule in `crates/ridge_diagnose/rules.toml`, which `check`,
`rules` and `explain` print; the record needs every program of `suites/blind/`, and the page says how many were there.
A program that cannot be recorded counts as wrong.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
BLIND = ROOT / "suites" / "blind"
#: What the list of a folder is called.
LISTS = ("blind.json", "seen.json", "pairs.json")
PAGE = ROOT / "docs" / "accuracy.md"
RECORD = ROOT / "crates" / "ridge_diagnose" / "rules.toml"
RECORD_MARK = "# Blind pairs: written by `make accuracy`."
BEGIN, END = "<!-- accuracy: begin -->", "<!-- accuracy: end -->"
STEPS = re.compile(r"(\d+) steps in ([0-9.eE+-]+) s")
LOUD = ("warning", "error")
#: Rules that only inform, and that an experiment measures.
HOT = ("hot-line", "kernel-hotspot")
#: An experiment whose interval is wider tells too little to count as measured.
WIDEST = 0.5
#: What an interval of `check` promises.
NOMINAL = 0.8
GOOD = (0.5, 2.0)
LIMIT_S = 600


@dataclass
class Row:
    """What one program, or pair of programs, showed."""

    id: str
    is_pair: bool
    rule: str | None = None
    message: str = ""
    cause: bool = False
    line: bool = False
    #: Warnings on the program with the defect: all, and those that name it.
    warnings: int = 0
    right_warnings: int = 0
    #: Warnings on the mended or healthy program; None where that was not judged.
    alarms: list[str] | None = None
    low: float | None = None
    high: float | None = None
    basis: str | None = None
    saved: float | None = None
    #: What an experiment measured: of the first finding, and of how many of the findings that name the defect.
    experiment: tuple[float, float, float] | None = None
    experiment_how: str = ""
    right_findings: int = 0
    right_measured: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def has_amount(self) -> bool:
        return self.low is not None and self.high is not None and self.basis != "bound"

    @property
    def ratio(self) -> float | None:
        """The middle of the interval over what was measured."""
        if not self.has_amount or not self.saved or self.saved < 0.02:
            return None
        return (self.low + self.high) / 2 / self.saved

    @property
    def is_inside(self) -> bool:
        return self.has_amount and self.saved is not None and self.low <= self.saved <= self.high


def main() -> int:
    arguments = parsed()
    folder = arguments.set.resolve()
    kept = Kept.of(arguments)
    # Programs run in their own folder.
    for name in ("ridgeline", "python", "torch_python"):
        if os.sep in (path := getattr(arguments, name)):
            setattr(arguments, name, os.path.abspath(path))
    listed = json.loads(list_of(folder).read_text())
    pairs = listed["pairs"]
    healthy = [] if arguments.bad_only else listed.get("healthy", listed.get("nulls", []))
    wanted = set(arguments.ids)
    if unknown := wanted - {pair["id"] for pair in pairs} - {one["id"] for one in healthy}:
        sys.exit(f"no such program: {', '.join(sorted(unknown))}")
    chosen = lambda name: not wanted or name in wanted  # noqa: E731 - one line says it
    if arguments.keep:
        make(folder, [pair for pair in pairs if chosen(pair["id"])], [one for one in healthy if chosen(one["id"])], arguments, kept)
        return 0
    rows: list[Row] = []
    for pair in pairs:
        if chosen(pair["id"]) and kept.has(pair["bad"]) and (arguments.bad_only or kept.has(pair["good"])):
            rows.append(of_pair(folder, pair, arguments, kept))
            print(line_of(rows[-1]), flush=True)
    for one in healthy:
        if chosen(one["id"]) and kept.has(program_of(one)):
            rows.append(of_healthy(folder, one, arguments, kept))
            print(line_of(rows[-1]), flush=True)
    if missing := [one["id"] for one in [*pairs, *healthy] if chosen(one["id"]) and one["id"] not in {row.id for row in rows}]:
        print(f"\nnot recorded, and left out: {', '.join(missing)}")
    print("\n" + "\n".join(f"{name:44}  {value}" for name, value in figures(rows)))
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(row) for row in rows], indent=1))
    if arguments.write:
        if wanted or arguments.bad_only or folder != BLIND.resolve():
            sys.exit("--write is for all programs of suites/blind")
        write(rows, kept, len(pairs) + len(healthy), is_taken=arguments.take)
    return 0


def list_of(folder: Path) -> Path:
    """The file that lists the programs of a folder."""
    for name in LISTS:
        if (path := folder / name).is_file():
            return path
    sys.exit(f"{folder} has no list of programs ({', '.join(LISTS)})")


def program_of(one: dict[str, Any]) -> str:
    """The file of a healthy program."""
    return one.get("program") or one["good"]


def python_for(one: dict[str, Any], arguments: argparse.Namespace) -> str:
    """The Python that has the libraries of a program."""
    return arguments.torch_python if one.get("python") == "torch" else arguments.python


def make(folder: Path, pairs: list[Any], healthy: list[dict[str, Any]], arguments: argparse.Namespace, kept: Kept) -> None:
    """Records every program and measures every pair that the folder lacks."""
    for pair in pairs:
        row = Row(pair["id"], is_pair=True)
        for program in (pair["bad"],) if arguments.bad_only else (pair["bad"], pair["good"]):
            with kept.run_of(program) as run:
                recorded(folder, program, run, python_for(pair, arguments), arguments, kept)
        if not arguments.take:
            saving_of(folder, pair, row, arguments, kept)
        print(pair["id"], kept.notes["savings"].get(pair["id"], ""), *row.notes, flush=True)
    for one in healthy:
        with kept.run_of(program_of(one)) as run:
            recorded(folder, program_of(one), run, python_for(one, arguments), arguments, kept)
        print(one["id"], kept.notes["failed"].get(program_of(one), ""), flush=True)


class Kept:
    """What was recorded and measured of each program, in a folder if one is named."""

    def __init__(self, folder: Path | None, *, is_made: bool) -> None:
        self.folder = folder
        #: Whether nothing is recorded or measured any more.
        self.is_made = is_made
        self.notes: dict[str, Any] = {"savings": {}, "loads": {}, "failed": {}}
        if folder is not None and (folder / "kept.json").is_file():
            self.notes = json.loads((folder / "kept.json").read_text())

    @staticmethod
    def of(arguments: argparse.Namespace) -> Kept:
        if arguments.again:
            if not (arguments.again / "kept.json").is_file():
                sys.exit(f"{arguments.again} holds no recordings: make them with --keep")
            return Kept(arguments.again.resolve(), is_made=True)
        if arguments.keep:
            arguments.keep.mkdir(parents=True, exist_ok=True)
            return Kept(arguments.keep.resolve(), is_made=False)
        return Kept(None, is_made=False)

    def has(self, program: str) -> bool:
        """Whether a program can be judged: what a folder lacks was never tried, and says nothing."""
        run = self.where(program)
        return not self.is_made or program in self.notes["failed"] or (run is not None and (run / "manifest.json").is_file())

    def where(self, program: str) -> Path | None:
        return self.folder and self.folder / program.replace("/", "-").removesuffix(".py")

    @contextlib.contextmanager
    def run_of(self, name: str) -> Iterator[Path]:
        """Where the recording of the program `name` is, or is to be."""
        if run := self.where(name):
            yield run
        else:
            with tempfile.TemporaryDirectory() as scratch:
                yield Path(scratch) / "run"

    def note(self, what: str, name: str, value: Any) -> None:
        """Keeps a number or a sentence of a program."""
        self.notes[what][name] = value
        if self.folder is not None and not self.is_made:
            (self.folder / "kept.json").write_text(json.dumps(self.notes, indent=1) + "\n")


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ids", nargs="*", metavar="ID", help="only these programs")
    parser.add_argument("--set", type=Path, default=BLIND, help="folder of the programs and their list")
    parser.add_argument("--python", default=os.environ.get("JAX_PYTHON", sys.executable), help="the Python that has the libraries")
    parser.add_argument("--torch-python", default=os.environ.get("TORCH_PYTHON", sys.executable), help="the Python that has PyTorch")
    parser.add_argument("--ridgeline", default=str(ROOT / "target" / "release" / "ridgeline"))
    parser.add_argument("--runs", type=int, default=2, help="runs of each program without a profiler; the median counts")
    parser.add_argument("--take", action="store_true", help="take the savings of the list instead of measuring them")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--keep", type=Path, metavar="DIR", help="keep recordings and measured savings here; what is there already is taken")
    where.add_argument("--again", type=Path, metavar="DIR", help="judge what --keep left here, without running a program")
    parser.add_argument("--budget", default="5m", help="time for the experiments of one program")
    parser.add_argument("--experiment", action="store_true", help="have experiments measure the findings, too")
    parser.add_argument("--bad-only", action="store_true", help="leave mended and healthy programs out: causes, lines and experiments alone")
    parser.add_argument("--json", type=Path, help="write what each program showed here")
    parser.add_argument("--write", action="store_true", help="keep docs/accuracy.md and the record")
    return parser.parse_args()


def of_pair(folder: Path, pair: dict[str, Any], arguments: argparse.Namespace, kept: Kept) -> Row:
    row = Row(pair["id"], is_pair=True)
    is_right = lambda finding: re.search(pair["must"], words_of(finding)) is not None  # noqa: E731 - one line says it
    with kept.run_of(pair["bad"]) as run:
        found = checked(folder, pair["bad"], run, row, python_for(pair, arguments), arguments, kept)
        if arguments.experiment and found:
            experimented(folder, pair, run, row, arguments, is_right)
    if not arguments.bad_only:
        with kept.run_of(pair["good"]) as run:
            row.alarms = alarms_of(checked(folder, pair["good"], run, row, python_for(pair, arguments), arguments, kept))
    loud = [finding for finding in found or [] if finding["level"] in LOUD]
    row.warnings, row.right_warnings = len(loud), sum(map(is_right, loud))
    if found:
        first = found[0]
        row.rule, row.message = first["rule"], first["message"]
        row.cause, row.line = is_right(first), is_at(first, pair)
        if saving := first.get("saving"):
            row.low, row.high, row.basis = saving["share_low"], saving["share_high"], saving["basis"]
    row.saved = pair.get("saved_fraction") if arguments.take else saving_of(folder, pair, row, arguments, kept)
    return row


def saving_of(folder: Path, pair: dict[str, Any], row: Row, arguments: argparse.Namespace, kept: Kept) -> float | None:
    """The part of a step that mending saves: as kept, or measured now."""
    if pair["id"] not in kept.notes["savings"] and not kept.is_made:
        if (saved := measured(folder, pair, row, arguments)) is not None:
            kept.note("savings", pair["id"], saved)
    return kept.notes["savings"].get(pair["id"])


def of_healthy(folder: Path, one: dict[str, Any], arguments: argparse.Namespace, kept: Kept) -> Row:
    row = Row(one["id"], is_pair=False)
    with kept.run_of(program_of(one)) as run:
        row.alarms = alarms_of(checked(folder, program_of(one), run, row, python_for(one, arguments), arguments, kept))
    return row


def alarms_of(found: list[dict[str, Any]] | None) -> list[str]:
    """Warnings; a program that could not be judged has an alarm of its own, so that no failure looks like silence."""
    if found is None:
        return ["(not recorded)"]
    return [finding["rule"] for finding in found if finding["level"] in LOUD]


def words_of(finding: dict[str, Any]) -> str:
    return f"{finding['rule']} {finding['message']}".lower()


def is_at(finding: dict[str, Any], pair: dict[str, Any]) -> bool:
    """Whether a finding points at one of the lines: numbers are of `bad.py`, others name a file and its lines."""
    at = finding.get("location")
    if not at:
        return False
    places = {(pair["bad"], line) for line in pair["line"] if isinstance(line, int)}
    places |= {(other["file"], line) for other in pair["line"] if isinstance(other, dict) for line in other["lines"]}
    return any(same_file(at["file"], file) and at["line"] == line for file, line in places)


def same_file(found: str, listed: str) -> bool:
    """Whether a path that `check` prints, perhaps whole, is the one of the list, which is relative to the suite."""
    return Path(found).parts[-len(Path(listed).parts) :] == Path(listed).parts or found == Path(listed).name


def ran(command: list[str], folder: Path) -> tuple[int | None, str, str]:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        return None, "", f"took more than {LIMIT_S} s"
    return done.returncode, done.stdout, done.stderr


def checked(
    folder: Path, program: str, run: Path, row: Row, python: str, arguments: argparse.Namespace, kept: Kept
) -> list[dict[str, Any]] | None:
    """The findings, or None where the program could not be recorded."""
    recorded(folder, program, run, python, arguments, kept)
    if program in kept.notes["failed"] or not run.is_dir():
        row.notes.append(f"{program}: {kept.notes['failed'].get(program, 'there is no recording')}")
        return None
    status, out, said = ran([arguments.ridgeline, "check", str(run), "--format", "json"], folder)
    if status not in (0, 1):
        row.notes.append(f"{program}: check ended with {status}: {said.strip()[-200:]}")
        return None
    return json.loads(out)["findings"]


def recorded(folder: Path, program: str, run: Path, python: str, arguments: argparse.Namespace, kept: Kept) -> None:
    """Records a program that is not there yet; one that fails is not tried again."""
    if kept.is_made or (run / "manifest.json").is_file() or program in kept.notes["failed"]:
        return
    # What a stopped run of this script left unfinished.
    shutil.rmtree(run, ignore_errors=True)
    kept.note("loads", program, round(os.getloadavg()[0], 2))
    status, _, said = ran([arguments.ridgeline, "record", "-o", str(run), "--", python, program], folder)
    if status != 0:
        kept.note("failed", program, f"record ended with {status}: {said.strip()[-200:]}")


def measured(folder: Path, pair: dict[str, Any], row: Row, arguments: argparse.Namespace) -> float | None:
    """The part of a step that mending saves."""
    times: dict[str, list[float]] = {"bad": [], "good": []}
    for turn in range(arguments.runs):
        for which in ("bad", "good") if turn % 2 == 0 else ("good", "bad"):
            status, out, said = ran([python_for(pair, arguments), pair[which]], folder)
            found = STEPS.search(out)
            if status != 0 or found is None:
                row.notes.append(f"{pair[which]}: ended with {status}: {said.strip()[-200:]}")
                return None
            times[which].append(float(found[2]) / int(found[1]))
    return round(1 - statistics.median(times["good"]) / statistics.median(times["bad"]), 4)


def experimented(
    folder: Path, pair: dict[str, Any], run: Path, row: Row, arguments: argparse.Namespace, is_right: Callable[[dict[str, Any]], bool]
) -> None:
    """Has an experiment measure the findings; keeps what it says of the first, and how many of the right ones it measures."""
    program = pair["bad"]
    with tempfile.TemporaryDirectory() as scratch:
        command = [arguments.ridgeline, "experiment", "--no-record", "--budget", arguments.budget, "-f", "json", "-o", scratch]
        status, out, said = ran([*command, "--from", str(run), "--", python_for(pair, arguments), program], folder)
    try:
        answer = json.loads(out)
        rows, findings = answer["experiments"], answer["findings"]
    except (ValueError, KeyError):
        row.notes.append(f"{program}: experiment ended with {status}: {said.strip()[-200:]}")
        return
    is_known = lambda one: one["state"] == "measured" and one["saved_low"] is not None and one["saved_high"] - one["saved_low"] <= WIDEST  # noqa: E731
    of_finding = {one["finding"]: one for one in rows if is_known(one)}
    row.notes += [
        f"experiment {one['change']}: {one['saved']:.2f} ({one['saved_low']:.2f} .. {one['saved_high']:.2f}), too wide to count"
        for one in rows if one["finding"] not in of_finding and one["saved_low"] is not None
    ]  # fmt: skip
    # What only repeats another finding is not measured, and neither is what is said for information.
    asked = lambda finding: finding["level"] in LOUD or finding["rule"] in HOT  # noqa: E731 - one line says it
    right = [at for at, finding in enumerate(findings) if is_right(finding) and asked(finding)]
    row.right_findings, row.right_measured = len(right), sum(at in of_finding for at in right)
    if one := of_finding.get(0):
        row.experiment = one["saved"], one["saved_low"], one["saved_high"]
        row.experiment_how = f"{one['change']} ({one['kind']}, results {(one['results'] or {}).get('state', 'not compared')})"
    row.notes += [f"experiment {one['change']}: unknown: {one['what']}" for one in rows if one["state"] != "measured"][:2]


def line_of(row: Row) -> str:
    if not row.is_pair:
        text = f"{row.id:24} healthy: {'silent' if not row.alarms else 'ALARM ' + ', '.join(row.alarms)}"
    else:
        amount = f"{row.low:.2f} .. {row.high:.2f}" if row.has_amount else "-"
        saved = "-" if row.saved is None else f"{row.saved:.2f}"
        marks = ["cause" if row.cause else "CAUSE WRONG", "line" if row.line else "LINE WRONG"]
        marks += [] if row.alarms is None else ["ALARM" if row.alarms else "silent"]
        text = f"{row.id:24} {', '.join(marks):36} predicted {amount:14} measured {saved:6} {row.rule or '(nothing)'}: {row.message[:70]}"
        if row.experiment:
            text += "\n{:24} experiment {:.2f} ({:.2f} .. {:.2f}) {}".format("", *row.experiment, row.experiment_how)
    return "\n".join([text, *(f"{'':24} {note}" for note in row.notes)])


def share(rows: Iterable[bool]) -> str:
    """`12 of 31 (39%)`"""
    found = list(rows)
    return f"{sum(found)} of {len(found)}" + (f" ({100 * sum(found) / len(found):.0f}%)" if found else "")


def figures(rows: list[Row]) -> list[tuple[str, str]]:
    pairs = [row for row in rows if row.is_pair]
    healthy = [row for row in rows if not row.is_pair]
    right = [row for row in pairs if row.cause]
    amounts = [row for row in right if row.has_amount and row.saved is not None]
    warnings, true = sum(row.warnings for row in pairs), sum(row.right_warnings for row in pairs)
    sound = [row for row in rows if row.alarms is not None]
    alarms = sum(len(row.alarms or ()) for row in sound)
    found = [
        ("first cause right (recall)", share(row.cause for row in pairs)),
        ("warnings right (precision)", f"{true} of {warnings + alarms}"
         + (f" ({100 * true / (warnings + alarms):.0f}%)" if warnings + alarms else "")),
        ("line right", share(row.line for row in pairs)),
        ("fixed programs silent", share(not row.alarms for row in sound if row.is_pair)),
        ("healthy programs silent", share(not row.alarms for row in healthy)),
        ("false alarms per sound program", f"{alarms} in {len(sound)} ({alarms / max(len(sound), 1):.2f})"),
        ("right causes with an amount", f"{len(amounts)} of {len(right)}"),
        ("amounts within a factor of two", share(GOOD[0] <= (row.ratio or 0) <= GOOD[1] for row in amounts)),
        (f"measured inside the interval (promised {100 * NOMINAL:.0f}%)", share(row.is_inside for row in amounts)),
    ]
    if any(row.experiment for row in rows):
        total, known = sum(row.right_findings for row in pairs), sum(row.right_measured for row in pairs)
        found.append(("right first causes measured by experiment", share(row.experiment is not None for row in right)))
        found.append(("right findings measured by experiment", f"{known} of {total} ({100 * known / max(total, 1):.0f}%)"))
    return found


def write(rows: list[Row], kept: Kept, listed: int, *, is_taken: bool) -> None:
    """The page between its marks, and the record of each rule."""
    version = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    lines = [
        BEGIN, "",
        f"Made on {os.cpu_count()} cores of {platform.machine()}, revision `{version}`.", *load_lines(kept), "",
        f"{len(rows)} of the {listed} listed programs and pairs were recorded; the others are left out.",
        "What the fix saves was measured when the list was made." if is_taken else "What the fix saves was measured with them, in turns.", "",
        "| | blind |", "|---|---|", *(f"| {name} | {value} |" for name, value in figures(rows)), "",
        "| program | first finding | cause | line | predicted | measured | alarms on the sound one |", "|---|---|---|---|---|---|---|",
        *(page_line(row) for row in rows), "", END,
    ]  # fmt: skip
    before, _, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text(before + "\n".join(lines) + rest.partition(END)[2])
    if len(rows) < listed:
        print(f"written: {PAGE.relative_to(ROOT)}; the record of rules needs every program")
        return
    text = RECORD.read_text().partition(RECORD_MARK)[0]
    RECORD.write_text(text + RECORD_MARK + "\n" + record(rows))
    print(f"written: {PAGE.relative_to(ROOT)}, {RECORD.relative_to(ROOT)}")


def load_lines(kept: Kept) -> list[str]:
    """How busy the machine was with other work, without which times say little."""
    if not (loads := sorted(kept.notes["loads"].values())):
        return []
    middle = statistics.median(loads)
    return [f"While it recorded, the load of the machine (all runnable processes, over one minute) was {middle:.1f} in the middle, {loads[0]:.1f} to {loads[-1]:.1f} in all."]


def page_line(row: Row) -> str:
    yes = lambda is_so: "yes" if is_so else "no"  # noqa: E731 - one line says it
    alarms = ", ".join(f"`{rule}`" for rule in row.alarms or ()) or "none"
    if not row.is_pair:
        return f"| {row.id} | | | | | | {alarms} |"
    amount = f"{100 * row.low:.0f} to {100 * row.high:.0f}%" if row.has_amount else "none"
    saved = "not measured" if row.saved is None else f"{100 * row.saved:.0f}%"
    first = f"`{row.rule}`" if row.rule else "none"
    return f"| {row.id} | {first} | {yes(row.cause)} | {yes(row.line)} | {amount} | {saved} | {alarms} |"


def record(rows: list[Row]) -> str:
    """A table for each rule that came first in a blind pair."""
    text = ""
    for rule in sorted({row.rule for row in rows if row.rule}):
        own = [row for row in rows if row.rule == rule]
        ratios = sorted(row.ratio for row in own if row.cause and row.ratio is not None)
        text += f"\n[blind.{rule}]\npairs = {len(own)}\nright = {sum(row.cause for row in own)}\n"
        if ratios:
            text += f"lowest_ratio = {ratios[0]:.3f}\nhighest_ratio = {ratios[-1]:.3f}\n"
    return text


if __name__ == "__main__":
    sys.exit(main())
