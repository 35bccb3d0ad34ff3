"""Kills, full disks, limits, odd names: what becomes of the files that commands write when something goes wrong.

    python scripts/faults.py [RIDGELINE] [--seconds 120] [--seed N] [--only kills,disk,limits,paths,names]

Every command that writes is killed at random moments (SIGKILL to its whole process group), over what an earlier run left.
Afterwards the earlier result must be there as it was, or the new one as a whole, never a part; and the next run must
leave nothing behind that is not its own. The same holds where the disk fills in the middle. No command may end by a panic,
under limits of memory, file size and threads, or for any name of a file; and no name in a capture may reach a terminal, a
shell, an XML file or a page as anything but text.

Prints a line a case, a table at the end, and ends with 1 if a promise was broken. What cannot run here says so.
docs/reliability.md says what is promised. Needs Python 3.11; recordings need JAX in the Python that --python names.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CAPTURE = ROOT / "fixtures/real/kineto/mi300_sglang_decode_hipgraph.json.gz"
PANIC = re.compile(r"panicked at|RUST_BACKTRACE|stack backtrace")
PARTIAL = ".ridgeline-partial"
# Bidirectional controls and everything below space but line end and tab: none of it may come from a capture.
RAW = re.compile("[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]|\x1b(?!\\[[0-9;]*m)")


@dataclass
class Score:
    """What was tried and what broke, by part."""

    tried: dict[str, int] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)

    def check(self, part: str, holds: bool, why: str) -> None:
        self.tried[part] = self.tried.get(part, 0) + 1
        if not holds:
            self.broken.append(f"{part}: {why}")
            print(f"BROKEN {part}: {why}", flush=True)


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("ridgeline", nargs="?", type=Path, default=ROOT / "target/release/ridgeline")
    asked.add_argument("--seconds", type=float, default=120.0, help="time for kills")
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--python", default=sys.executable, help="a Python with JAX, for recordings")
    asked.add_argument("--kills", type=int, default=3, help="kills of each command that takes long: bench, handoff, compile, experiment")
    asked.add_argument("--only", default="kills,disk,limits,paths,names,ranks")
    options = asked.parse_args()
    dice, score = random.Random(options.seed), Score()
    parts: dict[str, Callable[[], None]] = {
        "kills": lambda: kills(options, dice, score),
        "disk": lambda: disk(options, score),
        "limits": lambda: limits(options, score),
        "paths": lambda: paths(options, score),
        "names": lambda: names(options, score),
        "ranks": lambda: ranks(options, score),
    }
    for part in options.only.split(","):
        began = time.monotonic()
        parts[part]()
        print(f"{part}: {time.monotonic() - began:.0f} s", flush=True)
    print()
    for part, tried in score.tried.items():
        broken = sum(line.startswith(f"{part}:") for line in score.broken)
        print(f"{part:24} {tried:5} checked {broken:3} broken")
    for line in score.skipped:
        print(f"skipped: {line}")
    for line in score.broken:
        print(f"broken: {line}")
    return 1 if score.broken else 0


def run(options: argparse.Namespace, words: list, folder: Path, **more: object) -> subprocess.CompletedProcess:
    """Runs the program to its end; its output is bytes as they are."""
    environment = {**os.environ, "XDG_DATA_HOME": "/nowhere", "NO_COLOR": "1", "COLUMNS": "4000", **more.pop("env", {})}
    return subprocess.run(
        [options.ridgeline, *words], cwd=folder, env=environment, capture_output=True, timeout=300, check=False, **more
    )


def print_of(path: Path) -> str | None:
    """What is at a path: a digest of a file, of all files of a folder, or nothing."""
    if path.is_dir():
        files = sorted(p for p in path.rglob("*") if p.is_file())
        lines = [f"{p.relative_to(path)} {hashlib.sha256(p.read_bytes()).hexdigest()}" for p in files]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else None


# Kills


@dataclass
class Writer:
    """A command that writes `out`, and what it writes when nothing goes wrong."""

    name: str
    words: list
    out: str
    # Whether it takes the place of what an earlier run left; else it refuses that.
    replaces: bool = True
    # Whether two runs write the same bytes, so that the whole can be told by them.
    repeats: bool = True


def writers(folder: Path) -> list[Writer]:
    run_folder = folder / "capture"
    run_folder.mkdir()
    for number in range(6):
        shutil.copy(CAPTURE, run_folder / f"part{number}.json.gz")
    capture = str(CAPTURE)
    return [
        Writer("export", ["export", capture, "--to", "chrome", "-o", "out.json"], "out.json"),
        Writer("report", ["report", capture, "-o", "out.html"], "out.html"),
        Writer("stats -o", ["stats", capture, "--by", "op", "-f", "csv", "-o", "out.csv"], "out.csv"),
        Writer("check -o", ["check", capture, "--fail-on", "never", "-f", "sarif", "-o", "out.sarif"], "out.sarif"),
        Writer("diff --write-summary", ["diff", capture, "--write-summary", "s.json"], "s.json"),
        Writer("redact a file", ["redact", capture, "copy.json.gz"], "copy.json.gz", replaces=False),
        Writer("redact a folder", ["redact", str(run_folder), "copy"], "copy", replaces=False),
    ]


def kills(options: argparse.Namespace, dice: random.Random, score: Score) -> None:
    with tempfile.TemporaryDirectory(prefix="ridgeline-faults-") as made:
        folder = Path(made)
        alone = writers(folder)
        each = options.seconds / (len(alone) + 2)
        for writer in alone:
            kill(options, dice, score, writer, folder / writer.name.replace(" ", "-"), each)
        kill_try(options, dice, score, folder / "try", each)
        kill_record(options, score, folder / "record")
        kill_long(options, dice, score, folder)


def kill(
    options: argparse.Namespace, dice: random.Random, score: Score, writer: Writer, folder: Path, seconds: float
) -> None:
    """Kills a command at moments of its whole course, as often as the time allows."""
    folder.mkdir()
    began = time.monotonic()
    first = run(options, writer.words, folder)
    took = time.monotonic() - began
    out = folder / writer.out
    whole = print_of(out)
    score.check(f"kills: {writer.name}", first.returncode == 0 and whole is not None, first.stderr.decode()[:300])
    part, count = f"kills: {writer.name}", 0
    earlier = b"an earlier file\n"
    while time.monotonic() < began + seconds and whole is not None:
        if writer.replaces:
            out.write_bytes(earlier)
        elif out.exists():
            shutil.rmtree(out) if out.is_dir() else out.unlink()
        before = print_of(out)
        killed = killed_after(options, writer.words, folder, dice.uniform(0.0, 1.1 * took))
        now = print_of(out)
        score.check(part, now in (before, whole), f"after a kill at {killed:.3f} s of {took:.3f} s: neither old nor new")
        count += 1
    if not writer.replaces and out.exists():
        shutil.rmtree(out) if out.is_dir() else out.unlink()
    last = run(options, writer.words, folder)
    left = [path.name for path in folder.iterdir() if path != out]
    score.check(part, last.returncode == 0 and print_of(out) == whole, "the next run does not write the same")
    score.check(part, not left, f"left behind after the next run: {left}")
    print(f"{part}: {count} kills", flush=True)


def killed_after(options: argparse.Namespace, words: list, folder: Path, seconds: float, more: dict | None = None) -> float:
    """Starts the program in a group of its own and kills all of it after a while."""
    began = time.monotonic()
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    environment = {**os.environ, "XDG_DATA_HOME": "/nowhere", **(more or {})}
    with subprocess.Popen([options.ridgeline, *words], cwd=folder, env=environment, start_new_session=True, **quiet) as program:
        try:
            program.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(program.pid, signal.SIGKILL)
            program.wait()
    return time.monotonic() - began


def kill_try(options: argparse.Namespace, dice: random.Random, score: Score, folder: Path, seconds: float) -> None:
    """An earlier trial must be there, whole, whenever another is killed."""
    folder.mkdir()
    words = ["try", "--candidate-env", "A=1", "--runs", "2", "--discard", "0", "-o", "out", "--", "true"]
    began = time.monotonic()
    first = run(options, words, folder)
    took = time.monotonic() - began
    score.check("kills: try", first.returncode == 0, first.stderr.decode()[:300])
    count = 0
    while time.monotonic() < began + seconds and first.returncode == 0:
        killed_after(options, words, folder, dice.uniform(0.0, 1.1 * took))
        document = json.loads((folder / "out/try.json").read_text())
        runs = document.get("runs", [])
        there = all(Path(one["log"]).is_file() for one in runs)
        score.check("kills: try", len(runs) == 4 and there, f"{len(runs)} runs in try.json")
        count += 1
    last = run(options, words, folder)
    left = [path.name for path in folder.iterdir() if path.name != "out"]
    score.check("kills: try", last.returncode == 0 and not left, f"left behind after the next run: {left}")
    print(f"kills: try: {count} kills", flush=True)


PROGRAM = """
import sys, time
import jax, jax.numpy as jnp
def {name}(x):
    return jnp.sin(x) @ x
f = jax.jit({name})
for _ in range(int(sys.argv[1])):
    f(jnp.ones((64, 64))).block_until_ready()
    time.sleep(0.05)
"""


def kill_record(options: argparse.Namespace, score: Score, folder: Path) -> None:
    """The recorder alone is killed, its program runs on, and the next recording is of another program."""
    has_jax = subprocess.run([options.python, "-c", "import jax"], capture_output=True, check=False).returncode == 0
    if not has_jax:
        score.skipped.append(f"kills: record: {options.python} has no JAX")
        return
    folder.mkdir()
    for name in ["old_operation", "new_operation"]:
        (folder / f"{name}.py").write_text(PROGRAM.format(name=name))
    environment = {**os.environ, "JAX_PLATFORMS": "cpu"}
    record = ["record", "-o", "run", "--", options.python]
    run(options, [*record, "old_operation.py", "3"], folder, env=environment)
    for moment in [0.5, 2.0, 4.0]:
        words = [options.ridgeline, *record, "old_operation.py", "200"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        with subprocess.Popen(words, cwd=folder, env=environment, start_new_session=True, **quiet) as killed:
            time.sleep(moment)
            killed.kill()
        new = run(options, [*record, "new_operation.py", "3"], folder, env=environment)
        said = new.stderr.decode()
        elsewhere = re.search(r"this one in (.*)", said)
        where = folder / (elsewhere[1].strip() if elsewhere else "run")
        # The old program goes on meanwhile, and would write its trace at its end.
        try:
            os.killpg(killed.pid, signal.SIGTERM)
        except ProcessLookupError:
            pass
        stats = run(options, ["stats", str(where), "--by", "module", "-f", "csv"], folder).stdout.decode()
        holds = new.returncode == 0 and "new_operation" in stats and "old_operation" not in stats
        score.check("kills: record", holds, f"killed after {moment} s: {said[-300:]} {stats[:300]}")


SUITE = """
import jax.numpy as jnp
from ridgeline.suite import Suite

suite = Suite("small", sizes=(8, 16))

@suite.fixture
def image(size):
    return jnp.ones((size, size))

@suite.operation
def blur(image):
    return jnp.sin(image) @ image
"""

LOOP = """
import jax, jax.numpy as jnp
@jax.jit
def step(x):
    return jnp.tanh(x @ x)
x = jnp.ones((64, 64))
for _ in range(20):
    x = step(x)
    print("never printed") if x.shape == (1,) else None
x.block_until_ready()
"""


@dataclass
class Long:
    """A command that takes seconds and needs Python: what it runs, and whether what it left is whole."""

    name: str
    words: list
    out: str
    is_whole: Callable[[Path], bool]
    # Whether the result of an earlier run is there until another is whole.
    keeps: bool
    env: dict = field(default_factory=dict)
    succeeds: tuple = (0,)


def kill_long(options: argparse.Namespace, dice: random.Random, score: Score, folder: Path) -> None:
    """Commands of which each takes seconds, killed a few times: what is there is whole, or is not taken for it, and the next run works."""
    if subprocess.run([options.python, "-c", "import jax"], capture_output=True, check=False).returncode != 0:
        score.skipped.append(f"kills: bench, handoff, compile, experiment: {options.python} has no JAX")
        return
    place = folder / "long"
    place.mkdir()
    for name, text in [("small.py", SUITE), ("loop.py", LOOP)]:
        (place / name).write_text(text)
    on_cpu = {"JAX_PLATFORMS": "cpu"}
    run(options, ["record", "-o", "run", "--", options.python, "loop.py"], place, env=on_cpu)

    def sealed(out: Path) -> bool:
        return run(options, ["handoff", "verify", str(out), "--no-run"], place).returncode == 0

    def measured(out: Path) -> bool:
        results = document(out / "results.json")
        return not results.get("interrupted", True) and len({row["volume_size"] for row in results.get("measurements", [])}) == 2

    def compiled(out: Path) -> bool:
        return document(out / "h100/manifest.json").get("complete") is True

    python = ["--python", options.python]
    commands = [
        Long("bench", ["bench", "small.py", "--runs", "2", *python, "-o", "bench"], "bench", measured, True, on_cpu),
        Long("handoff", ["handoff", "run", "--module", "jit_step", *python, "-o", "bundle"], "bundle", sealed, False, on_cpu),
        Long(
            "experiment",
            ["experiment", "--change", "donate", "--rounds", "2", "--no-record", "-o", "tried", "--", options.python, "loop.py"],
            "tried", lambda out: "runs" in document(out / "experiment.json"), False, on_cpu, (0, 1),
        ),
    ]
    if os.environ.get("RIDGELINE_COMPILER"):
        words = ["compile", "--for", "h100", "loop.py:step", "--args", "f32[64,64]", *python, "-o", "compiled"]
        commands.append(Long("compile", words, "compiled", compiled, False, on_cpu))
    else:
        score.skipped.append("kills: compile: $RIDGELINE_COMPILER names no interpreter with the compiler")
    for long in commands:
        kill_one_long(options, dice, score, long, place)


def document(path: Path) -> dict:
    """A document of ours, or nothing."""
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return {}


def kill_one_long(options: argparse.Namespace, dice: random.Random, score: Score, long: Long, folder: Path) -> None:
    part, out = f"kills: {long.name}", folder / long.out
    before = set(folder.iterdir()) | {out}
    began = time.monotonic()
    first = run(options, long.words, folder, env=long.env)
    took = time.monotonic() - began
    whole = first.returncode in long.succeeds and long.is_whole(out)
    score.check(part, whole, f"{first.returncode} {first.stderr.decode(errors='replace')[-400:]}")
    for _ in range(options.kills if whole else 0):
        if long.name == "handoff":
            shutil.rmtree(out, ignore_errors=True)
        killed = killed_after(options, long.words, folder, dice.uniform(0.0, took), long.env)
        if long.keeps:
            score.check(part, long.is_whole(out), f"after a kill at {killed:.2f} s of {took:.2f} s the earlier result is not whole")
        elif long.name == "handoff":
            score.check(part, not out.exists() or long.is_whole(out), f"after a kill at {killed:.2f} s: a part of a bundle")
        # Whatever is there is read, or refused in words.
        said = run(options, ["info", str(out)], folder)
        text = (said.stdout + said.stderr).decode(errors="replace")
        score.check(part, said.returncode in (0, 1, 2) and not PANIC.search(text), f"info: {said.returncode} {text[:300]}")
    if whole:
        shutil.rmtree(out, ignore_errors=True) if long.name == "handoff" else None
        last = run(options, long.words, folder, env=long.env)
        said = last.stderr.decode(errors="replace")
        score.check(part, last.returncode in long.succeeds and long.is_whole(out), f"the next run: {last.returncode} {said[-400:]}")
        left = [path.name for path in folder.iterdir() if path not in before]
        score.check(part, not left, f"left behind after the next run: {left}")
    print(f"{part}: {options.kills if whole else 0} kills, {time.monotonic() - began:.0f} s", flush=True)


# Disks, limits


def disk(options: argparse.Namespace, score: Score) -> None:
    """The largest file may have so many bytes: like a disk that is full in the middle of a file."""
    with tempfile.TemporaryDirectory(prefix="ridgeline-faults-") as made:
        folder = Path(made)
        for writer in writers(folder):
            place = folder / writer.name.replace(" ", "-")
            place.mkdir()
            whole = run(options, writer.words, place)
            out = place / writer.out
            size = max((p.stat().st_size for p in ([out] if out.is_file() else out.rglob("*")) if p.is_file()), default=0)
            for part in [0.0, 0.3, 0.99]:
                if writer.replaces:
                    out.write_bytes(b"an earlier file\n")
                elif out.exists():
                    shutil.rmtree(out) if out.is_dir() else out.unlink()
                before = print_of(out)
                ran = run(options, writer.words, place, preexec_fn=lambda most=int(part * size): file_limit(most))
                said = ran.stderr.decode()
                name = f"disk: {writer.name}"
                score.check(name, whole.returncode == 0 and ran.returncode not in (0, 101), f"{ran.returncode} {said[:200]}")
                score.check(name, print_of(out) == before, f"at {part}: not as it was")
                left = [path.name for path in place.iterdir() if path != out]
                score.check(name, not left and not PANIC.search(said), f"left {left}; {said[:200]}")


def file_limit(most: int) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


def limits(options: argparse.Namespace, score: Score) -> None:
    """Little memory, few open files, no threads: an error in words, and never a panic."""
    with tempfile.TemporaryDirectory(prefix="ridgeline-faults-") as made:
        folder = Path(made)
        folder.chmod(0o777)
        commands = [
            ["stats", str(CAPTURE)],
            ["report", str(CAPTURE), "-o", "r.html"],
            ["redact", str(CAPTURE), "c.json.gz"],
            ["record", "-o", "run", "--", "true"],
            ["handoff", "verify", str(ROOT / "fixtures")],
        ]
        for words in commands:
            for what, limit, most in [
                ("open files", resource.RLIMIT_NOFILE, 8),
                ("stack", resource.RLIMIT_STACK, 256 << 10),
                ("threads", resource.RLIMIT_NPROC, 1),
            ]:
                def lower(limit: int = limit, most: int = most) -> None:
                    resource.setrlimit(limit, (most, most))
                    if limit == resource.RLIMIT_NPROC and os.geteuid() == 0:
                        # The limit is not for root.
                        os.setgid(65534)
                        os.setuid(65534)

                try:
                    ran = run(options, words, folder, preexec_fn=lower)
                except (OSError, subprocess.SubprocessError) as error:
                    score.skipped.append(f"limits: {what}: {error}")
                    continue
                said = ran.stderr.decode(errors="replace")
                score.check(f"limits: {what}", not PANIC.search(said) and ran.returncode != 101, f"{words[0]}: {said[:300]}")
                for made_there in folder.iterdir():
                    shutil.rmtree(made_there) if made_there.is_dir() else made_there.unlink()


# Names


ODD = [
    b"with space",
    b"-dash",
    b"quote'\"`$(touch pwned)",
    b"line\nend",
    b"\x1b[31mred\x07",
    "bidi\u202egnp.exe".encode(),
    b"not utf-8 \xff\xfe",
    b"x" * 240,
    b"*?[a]",
    b";touch pwned;",
]


def paths(options: argparse.Namespace, score: Score) -> None:
    """Files and folders of any name: written, or refused in words; what is printed of them is one word of a shell."""
    with tempfile.TemporaryDirectory(prefix="ridgeline-faults-") as made:
        folder = Path(made)
        for odd in ODD:
            out = os.path.join(b"./", odd)
            commands = [
                ["record", "-o", out, "--", "true"],
                ["try", "--candidate-env", "A=1", "--runs", "2", "--discard", "0", "-o", out + b".t", "--", "true"],
                ["export", str(CAPTURE), "--to", "chrome", "-o", out + b".json"],
                ["redact", str(CAPTURE), out + b".json.gz"],
                ["report", str(CAPTURE), "-o", out + b".html"],
                ["stats", out + b".json"],
            ]
            for words in commands:
                ran = run(options, words, folder)
                said = (ran.stdout + ran.stderr).decode(errors="replace")
                score.check("paths", ran.returncode in (0, 1, 2), f"{words} {ran.returncode}: {said[:300]}")
                score.check("paths", not PANIC.search(said), f"{words}: {said[:300]}")
                score.check("paths", not RAW.search(said), f"{words}: raw codes {RAW.search(said)} in {said[:300]!r}")
                commands_are_quoted(score, "paths", said, folder)
        score.check("paths", not (folder / "pwned").exists(), "a printed name was run")


def commands_are_quoted(score: Score, part: str, said: str, folder: Path) -> None:
    """Every command that is printed is words to a shell: nothing in it is expanded or run."""
    found = re.findall(r"(?:next|keep)\s+(ridgeline .*)", said) + re.findall(r"\(`((?:ncu|ridgeline|nsys) [^`]*)`\)", said)
    for command in found:
        script = f"ridgeline() {{ :; }}; ncu() {{ :; }}; nsys() {{ :; }}; {command}"
        ran = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, check=False)
        score.check(part, ran.returncode == 0 and not ran.stderr, f"{command!r}: {ran.stderr[:200]!r}")


HOSTILE = [
    "kernel\x1b[2J\x07\u202eevil",
    "k</script><script>document.title='ran'</script>",
    "k'; touch pwned; '`touch pwned`$(touch pwned)",
    "k\ufffe\uffff]]>&<!--",
    "=HYPERLINK(1)",
    "k\u2028\u2066\u200f\x9b31m",
]


TEXTS = [
    ["check", "--all"],
    ["check", "-f", "markdown"],
    ["check", "-f", "github"],
    ["stats"],
    ["stats", "--by", "op"],
    ["info"],
    ["guide"],
    ["idle"],
]


def hostile_trace(longest: int) -> bytes:
    """Kernels with these names; one of them takes most of the time, so that advice is about it."""
    events = []
    for number, name in enumerate(HOSTILE[longest:] + HOSTILE[:longest]):
        start, took = (0, 9000) if number == 0 else (9000 + 1000 * number, 900)
        args = {"stream": 7, "device": 0, "correlation": number}
        base = {"ph": "X", "pid": 0, "ts": start, "args": args}
        events.append({**base, "tid": 1, "cat": "cpu_op", "name": name, "dur": 50})
        events.append({**base, "tid": 1, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": start + 1, "dur": 5})
        events.append({**base, "tid": 7, "cat": "kernel", "name": name, "ts": start + 20, "dur": took})
    device = {"id": 0, "name": f"NVIDIA H100 {HOSTILE[0]}", "computeMajor": 9, "computeMinor": 0, "numSms": 132}
    return json.dumps({"schemaVersion": 1, "deviceProperties": [device], "traceEvents": events}).encode()


def names(options: argparse.Namespace, score: Score) -> None:
    """Names in a capture that mean something to terminals, shells, XML, spreadsheets and pages."""
    with tempfile.TemporaryDirectory(prefix="ridgeline-faults-") as made:
        folder = Path(made)
        capture = folder / "hostile.pt.trace.json.gz"
        for longest in range(len(HOSTILE)):
            capture.write_bytes(gzip.compress(hostile_trace(longest)))
            for words in TEXTS:
                ran = run(options, [words[0], str(capture), *words[1:]], folder)
                said = (ran.stdout + ran.stderr).decode(errors="replace")
                score.check("names: text", ran.returncode in (0, 1), f"{words}: {ran.returncode} {said[:300]}")
                score.check("names: text", not RAW.search(said), f"{words}: {RAW.search(said)} {said[:300]!r}")
                commands_are_quoted(score, "names: commands", said, folder)
            for words in [["check", "-f", "junit"], ["diff", str(capture), "-f", "junit"]]:
                ran = run(options, [words[0], str(capture), *words[1:]], folder)
                try:
                    ElementTree.fromstring(ran.stdout)
                    holds, why = True, ""
                except ElementTree.ParseError as error:
                    holds, why = False, f"{words}: {error}: {ran.stderr[:200]!r}"
                score.check("names: XML", holds, why)
        score.check("names: commands", not (folder / "pwned").exists(), "a name was run")
        # The page that shows such names is opened in a browser by the tests of the page (ui/test/browser/hostile.mjs).


# Several processes


def ranks(options: argparse.Namespace, score: Score) -> None:
    """Several recorders with one folder: every program runs, and nothing is lost."""
    with tempfile.TemporaryDirectory(prefix="ridgeline-faults-") as made:
        folder = Path(made)
        for name, count, environment in [
            ("plain", 6, lambda rank: {}),
            ("torchrun", 4, lambda rank: {"RANK": str(rank), "WORLD_SIZE": "4"}),
            ("mpirun", 4, lambda rank: {"OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": "4"}),
        ]:
            words = [options.ridgeline, "record", "-o", name, "--", "sh", "-c", f'sleep 1; touch "{name}-$0"']
            programs = [
                subprocess.Popen([*words, str(rank)], cwd=folder, env={**os.environ, **environment(rank)}, stderr=subprocess.PIPE)
                for rank in range(count)
            ]
            ended = [(program.communicate()[1], program.returncode) for program in programs]
            ran = [(folder / f"{name}-{rank}").exists() for rank in range(count)]
            score.check(f"ranks: {name}", all(ran) and all(code == 0 for _, code in ended), f"{ran} {ended}")
            manifests = sorted(str(path.relative_to(folder)) for path in folder.glob(f"{name}*/**/manifest.json"))
            more = 0 if name == "plain" else 1
            score.check(f"ranks: {name}", len(manifests) == count + more, f"{manifests}")


if __name__ == "__main__":
    sys.exit(main())
