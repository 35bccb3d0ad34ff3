"""Tests of the page in ui/: types, units, that the committed page is what its source builds, and every view in a browser.

    python scripts/test_ui.py [--install] [--browser NAME] [--only TEXT]

Needs Node 20.19 or newer with npm, and Debian's Chromium for the tests in a browser; what is missing is said, and skipped.
With --install, what can be installed by name is: chromium, and Node where the system's is new enough, by apt; then the
packages of ui/package-lock.json by `npm ci`. With --browser firefox, the tests in a browser run in Debian's Firefox.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
UI = ROOT / "ui"
LEAST_NODE = (20, 19)
BROWSERS = {"chromium": ("chromium", "chromium-browser", "google-chrome"), "firefox": ("firefox-esr", "firefox")}


def main() -> int:
    """Runs what this machine can run; 1 if a test failed."""
    parser = argparse.ArgumentParser(description="test the page")
    parser.add_argument("--install", action="store_true", help="install the browser, and Node's packages, by name")
    parser.add_argument("--browser", choices=tuple(BROWSERS), default="chromium", help="which browser (default: chromium)")
    parser.add_argument("--only", help="only the tests in the browser whose name has this text")
    arguments = parser.parse_args()
    if arguments.install:
        install(arguments.browser)
    if why := node_lacks():
        return skip("the page: types, units, build, browser", why)
    if why := packages_lack():
        return skip("the page: types, units, build, browser", why)
    steps = [types, units, committed] if arguments.only is None else []
    failed = [step.__name__ for step in steps if not step()]
    if not in_browser(arguments.browser, arguments.only):
        failed.append("browser")
    if failed:
        print(f"failed: {', '.join(failed)}")
    return 1 if failed else 0


def install(browser: str) -> None:
    """Installs by name what apt has; says what it does."""
    names = BROWSERS[browser]
    wanted = [] if any(map(shutil.which, names)) else [names[0]]
    if shutil.which("node") is None:
        wanted += ["nodejs", "npm"]
    if not wanted:
        return
    if shutil.which("apt-get") is None:
        print(f"no apt-get here: install {' and '.join(wanted)} by hand")
        return
    sudo = [] if os.geteuid() == 0 else ["sudo"]
    command = [*sudo, "apt-get", "install", "-y", *wanted]
    print(f"installing: {' '.join(command)}", flush=True)
    if subprocess.run(command, check=False).returncode != 0:
        print("apt-get failed; `apt-get update` may be needed first")


def node_lacks() -> str | None:
    """Why Node cannot be used; None where it can."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        return "Node and npm are not installed; `make test-ui` installs them where apt has them"
    said = subprocess.run(["node", "--version"], capture_output=True, text=True, check=False).stdout
    version = tuple(map(int, re.findall(r"\d+", said)[:2]))
    if version < LEAST_NODE:
        return f"Node is {said.strip()}, expected {'.'.join(map(str, LEAST_NODE))} or newer"
    return None


def packages_lack() -> str | None:
    """Installs the packages that the lock file names, unless they are there; why that failed, if it did."""
    mark = UI / "node_modules" / ".package-lock.json"
    if mark.exists() and mark.stat().st_mtime >= (UI / "package-lock.json").stat().st_mtime:
        return None
    print("installing the packages of ui/package-lock.json: npm ci", flush=True)
    try:
        done = subprocess.run(["npm", "ci", "--no-audit", "--no-fund"], cwd=UI, capture_output=True, text=True, timeout=240, check=False)
    except subprocess.TimeoutExpired:
        return "npm ci did not end within 240 s"
    if done.returncode != 0:
        last = done.stderr.strip().splitlines()[-1:] or ["no reason given"]
        return f"npm ci failed: {last[0]}"
    mark.touch()
    return None


def types() -> bool:
    """TypeScript, strict."""
    return alone("types of the page", [str(UI / "node_modules/.bin/tsc"), "--noEmit"])


def units() -> bool:
    """What needs no browser: units, tiles, layout."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "units.json"
        command = [str(UI / "node_modules/.bin/vitest"), "run", "--reporter=default", "--reporter=json", f"--outputFile.json={report}"]
        done = subprocess.run(command, cwd=UI, capture_output=True, text=True, check=False)
        if not report.exists():
            print(done.stdout + done.stderr)
            return False
        found = json.loads(report.read_text())
    if not found["success"]:
        print(done.stdout)
    result("units of the page", found["numPassedTests"], found["numFailedTests"])
    return bool(found["success"])


def committed() -> bool:
    """The committed page is what its source builds."""
    return alone("the committed page", ["node", "scripts/committed.mjs"])


def in_browser(name: str, only: str | None) -> bool:
    """Every view in a browser; says itself what it counts."""
    command = ["node", "test/browser/run.mjs", "--browser", name, *(["--only", only] if only else [])]
    return subprocess.run(command, cwd=UI, check=False).returncode == 0


def alone(name: str, command: list[str]) -> bool:
    """A check that is one test."""
    done = subprocess.run(command, cwd=UI, capture_output=True, text=True, check=False)
    ok = done.returncode == 0
    if not ok:
        print(done.stdout + done.stderr)
    result(name, int(ok), int(not ok))
    return ok


def skip(name: str, why: str) -> int:
    """Says that nothing was tested, and why; counted as Rust's runner counts tests that skip themselves."""
    print(f"skipped: {name}: {why}")
    result(name, 1, 0)
    return 0


def result(name: str, passed: int, failed: int) -> None:
    """One line in the form that `make test` counts."""
    print(f"{name}\ntest result: {'FAILED' if failed else 'ok'}. {passed} passed; {failed} failed; 0 ignored", flush=True)


if __name__ == "__main__":
    sys.exit(main())
