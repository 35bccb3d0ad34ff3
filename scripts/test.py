"""Runs what `make test` and `make lint` promise, step by step, and ends with how many tests passed, failed and were skipped.

    python scripts/test.py [lint] [test]

It goes on after a step that fails, so that one run shows everything; its exit status is 1 if any step failed.
A step that is silent for long says every half minute that it still runs.
Needs Rust and Python 3.11; the Python packages that tests use are installed into `.venv`.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV_PYTHON = ROOT / ".venv" / "bin" / "python"

RUST_RESULT = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored")
PYTEST_RESULT = re.compile(r"(\d+) (passed|failed|skipped|error)")
SKIPPED = re.compile(r"^skipped: ([^:]+)")
# How long a step may be silent before it is said that it still runs.
SILENCE_S = 30
# Lines that say only that all is well.
NOISE = re.compile(r"^(test .* \.\.\. ok|successes:|running \d+ tests?|---- .* stdout ----|    \S+|)$")


@dataclass
class Counts:
    """How many tests ended how, and which steps there are and failed."""

    steps: int
    step: int = 0
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    # Tests that said so themselves: one may say it of several captures.
    said_skipped: set[str] = field(default_factory=set)
    broken_steps: list[str] = field(default_factory=list)


def main() -> int:
    """Runs the steps of every target that is named; of both where none is."""
    targets = sys.argv[1:] or list(TARGETS)
    if unknown := [target for target in targets if target not in TARGETS]:
        sys.exit(f"expected {' or '.join(TARGETS)}, found {' '.join(unknown)}")
    if os.environ.get("CI"):
        # Nothing is built twice there, and what a second build would need is as large as the build itself.
        os.environ.setdefault("CARGO_INCREMENTAL", "0")
    counts = Counts(steps=sum(TARGETS[target][1] for target in targets))
    for target in targets:
        TARGETS[target][0](counts)
    return finish(counts)


def lint(counts: Counts) -> None:
    """Format and clippy.

    Clippy checks the outside crates once; the second run is over our libraries alone, to which a rule applies that
    does not bind tests: the pure ones reach nothing outside (`clippy.toml` in each).
    """
    clippy = ["cargo", "clippy", "--workspace"]
    if has("cargo-fmt", counts):
        step("format", ["cargo", "fmt", "--all", "--check"], counts)
    if has("cargo-clippy", counts):
        step("clippy", [*clippy, "--all-targets", "--", "-D", "warnings", "-A", "clippy::disallowed_methods"], counts)
        step("clippy of libraries", [*clippy, "--lib", "--", "-D", "warnings"], counts)


def test(counts: Counts) -> None:
    """Rust and Python tests, a few rules held against real programs, and the page."""
    seconds = {"RIDGE_FUZZ_SECONDS": os.environ.get("RIDGE_FUZZ_SECONDS", "60")}
    step("Rust tests, built", ["cargo", "test", "--workspace", "--no-run"], counts)
    step("Rust tests", ["cargo", "test", "--workspace", "--no-fail-fast", "--", "--show-output"], counts, seconds)
    if python_environment(counts):
        python_module(counts)
        step("Python tests", [str(VENV_PYTHON), "-m", "pytest", "-v", "-rs", "python/tests"], counts)
        # The Rust tests built the program.
        rules = [str(VENV_PYTHON), "scripts/rules.py", "--quick", "--ridgeline", "target/debug/ridgeline"]
        step("rules on real programs", rules, counts)
    step("the page", [sys.executable, "scripts/test_ui.py"], counts)


# What each does, and in how many steps.
TARGETS = {"lint": (lint, 3), "test": (test, 7)}


def has(tool: str, counts: Counts) -> bool:
    """Whether `tool` is installed; says so if not."""
    if shutil.which(tool):
        return True
    print(f"skipped: {tool}: not installed", flush=True)
    counts.skipped += 1
    return False


def python_environment(counts: Counts) -> bool:
    """Makes `.venv` with what the Python tests import; reuses what is there."""
    venv, python, maker = (shlex.quote(str(path)) for path in (ROOT / ".venv", VENV_PYTHON, sys.executable))
    make = f"test -x {python} || {maker} -m venv {venv}"
    install = f"{python} -c 'import jax, pytest' 2> /dev/null || {python} -m pip install --disable-pip-version-check jax pytest"
    return step("Python environment", ["sh", "-c", f"{{ {make}; }} && {{ {install}; }}"], counts)


def python_module(counts: Counts) -> None:
    """Builds the extension module from what the Rust tests were built of, and links it where the package looks for it.

    The whole workspace, because a package by itself has other features and would be built anew.
    """
    if step("Python module", ["cargo", "build", "--workspace", "--lib"], counts):
        module = ROOT / "python" / "ridgeline" / "_native.abi3.so"
        module.unlink(missing_ok=True)
        built = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
        module.symlink_to(built.resolve() / "debug" / "libridge_python.so")


def step(name: str, command: list[str], counts: Counts, environment: dict[str, str] | None = None) -> bool:
    """Runs one command, showing what it says and counting the tests in it."""
    counts.step += 1
    print(f"\n== step {counts.step} of {counts.steps}: {name}: {' '.join(command)}", flush=True)
    begun = time.monotonic()
    failed_before = counts.failed
    process = subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, **(environment or {})}, text=True, errors="replace",
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    with signs_of_life(name) as heard:
        for line in process.stdout or ():
            count(line, counts)
            if not NOISE.match(line.rstrip("\n")):
                heard()
                print(line, end="", flush=True)
    ok = process.wait() == 0
    print(f"== {name}: {'ok' if ok else 'FAILED'} after {time.monotonic() - begun:.0f} s", flush=True)
    if not ok:
        counts.broken_steps.append(name)
        # A step that is no test runner counts as one failure.
        counts.failed += counts.failed == failed_before
    return ok


@contextmanager
def signs_of_life(name: str) -> Iterator[Callable[[], None]]:
    """Says that `name` still runs whenever nothing was heard of it for a while; gives what to call when it was."""
    begun = last = time.monotonic()
    over = threading.Event()

    def heard() -> None:
        nonlocal last
        last = time.monotonic()

    def watch() -> None:
        while not over.wait(last + SILENCE_S - time.monotonic()):
            if time.monotonic() >= last + SILENCE_S:
                heard()
                print(f".. {name}: still running after {last - begun:.0f} s", flush=True)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield heard
    finally:
        over.set()
        watcher.join()


def count(line: str, counts: Counts) -> None:
    """Adds what a runner's summary line says."""
    if found := RUST_RESULT.match(line):
        passed, failed, ignored = map(int, found.groups())
        counts.passed, counts.failed, counts.skipped = counts.passed + passed, counts.failed + failed, counts.skipped + ignored
    elif found := SKIPPED.match(line):
        # A skipped Rust test passes as far as its runner knows.
        if found[1] not in counts.said_skipped:
            counts.said_skipped.add(found[1])
            counts.passed, counts.skipped = counts.passed - 1, counts.skipped + 1
    elif re.search(r" in \d+[.\d]*s", line):
        for number, what in PYTEST_RESULT.findall(line):
            match what:
                case "passed":
                    counts.passed += int(number)
                case "skipped":
                    counts.skipped += int(number)
                case _:
                    counts.failed += int(number)


def finish(counts: Counts) -> int:
    """Prints the last line."""
    if counts.broken_steps:
        print(f"\nfailed steps: {', '.join(counts.broken_steps)}")
    print(f"\n{counts.passed} passed, {counts.failed} failed, {counts.skipped} skipped", flush=True)
    return 1 if counts.broken_steps or counts.failed else 0


if __name__ == "__main__":
    sys.exit(main())
