"""Runs everything that `make test` promises, step by step, and ends with how many tests passed, failed and were skipped.

It goes on after a step that fails, so that one run shows everything; its exit status is 1 if any step failed.
Needs Rust and Python 3.11; the Python packages that tests use are installed into `.venv`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV_PYTHON = ROOT / ".venv" / "bin" / "python"

RUST_RESULT = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored")
PYTEST_RESULT = re.compile(r"(\d+) (passed|failed|skipped|error)")
SKIPPED = re.compile(r"^skipped: ")
# Lines that say only that all is well.
NOISE = re.compile(r"^(test .* \.\.\. ok|successes:|running \d+ tests?|---- .* stdout ----|    \S+|)$")


@dataclass
class Counts:
    """How many tests ended how, and which steps failed."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    broken_steps: list[str] = field(default_factory=list)


def main() -> int:
    """Runs every step."""
    counts = Counts()
    cargo_environment = {"RIDGE_FUZZ_SECONDS": os.environ.get("RIDGE_FUZZ_SECONDS", "60")}
    if has("cargo-fmt", counts):
        step("format", ["cargo", "fmt", "--all", "--check"], counts)
    if has("cargo-clippy", counts):
        clippy = ["cargo", "clippy", "--quiet", "--workspace"]
        step("lints", [*clippy, "--", "-D", "warnings"], counts)
        # Tests of the pure crates may open files.
        step("lints of tests", [*clippy, "--all-targets", "--", "-D", "warnings", "-A", "clippy::disallowed_methods"], counts)
    step("Rust tests", ["cargo", "test", "--workspace", "--no-fail-fast", "--", "--show-output"], counts, cargo_environment)
    if python_environment(counts):
        step("Python tests", [str(VENV_PYTHON), "-m", "pytest", "-q", "-rs", "python/tests"], counts)
    return finish(counts)


def has(tool: str, counts: Counts) -> bool:
    """Whether `tool` is installed; says so if not."""
    if shutil.which(tool):
        return True
    print(f"skipped: {tool}: not installed", flush=True)
    counts.skipped += 1
    return False


def python_environment(counts: Counts) -> bool:
    """Makes `.venv` with what the Python tests import; reuses what is there."""
    if not VENV_PYTHON.exists():
        step("Python environment", [sys.executable, "-m", "venv", str(ROOT / ".venv")], counts)
    has_packages = [str(VENV_PYTHON), "-c", "import jax, pytest"]
    if VENV_PYTHON.exists() and subprocess.run(has_packages, stderr=subprocess.DEVNULL).returncode == 0:
        return True
    pip = [str(VENV_PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "jax", "pytest"]
    return VENV_PYTHON.exists() and step("Python packages", pip, counts)


def step(name: str, command: list[str], counts: Counts, environment: dict[str, str] | None = None) -> bool:
    """Runs one command, showing what it says and counting the tests in it."""
    print(f"\n== {name}: {' '.join(command)}", flush=True)
    begun = time.monotonic()
    failed_before = counts.failed
    process = subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, **(environment or {})}, text=True, errors="replace",
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )
    for line in process.stdout or ():
        count(line, counts)
        if not NOISE.match(line.rstrip("\n")):
            print(line, end="", flush=True)
    ok = process.wait() == 0
    print(f"== {name}: {'ok' if ok else 'FAILED'} after {time.monotonic() - begun:.0f} s", flush=True)
    if not ok:
        counts.broken_steps.append(name)
        # A step that is no test runner counts as one failure.
        counts.failed += counts.failed == failed_before
    return ok


def count(line: str, counts: Counts) -> None:
    """Adds what a runner's summary line says."""
    if found := RUST_RESULT.match(line):
        passed, failed, ignored = map(int, found.groups())
        counts.passed, counts.failed, counts.skipped = counts.passed + passed, counts.failed + failed, counts.skipped + ignored
    elif SKIPPED.match(line):
        # A skipped Rust test passes as far as its runner knows.
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
