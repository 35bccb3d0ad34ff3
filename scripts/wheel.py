"""Builds wheels that run on other machines: `python scripts/wheel.py [--profile PROFILE] [TARGET …]`.

A wheel has the program `ridgeline`, the extension module for Python 3.11 and newer, the hooks for programs, completions, manual.
Both the program and the module are linked for glibc 2.17 by Zig, so that they run on what RHEL 7 and Ubuntu 14.04 had, or newer.
Installs its tools into `.venv-wheel`. Wheels go to `target/wheels`.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TARGETS = ("x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu")
TOOLS = ("maturin==1.16.0", "cargo-zigbuild==0.24.0", "ziglang==0.17.1")
#: What goes into the wheel beside the package.
DATA = ROOT / "target" / "wheel" / "ridgeline.data"
#: What is handed out.
USUAL_PROFILE = "dist"
#: The oldest C library that the program and the module run on.
GLIBC = (2, 17)
#: A wheel is smaller than this, bytes.
MOST_BYTES = 40_000_000
SHELLS = {
    "bash": "bash-completion/completions/ridgeline",
    "zsh": "zsh/site-functions/_ridgeline",
    "fish": "fish/vendor_completions.d/ridgeline.fish",
}


def main() -> int:
    """Builds a wheel for each target that Rust has here; 1 if one could not be built."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--profile", default=USUAL_PROFILE)
    parser.add_argument("targets", nargs="*", default=list(TARGETS))
    asked = parser.parse_args()
    tools = install_tools()
    # The first is built and run here: completions and manual are alike for all.
    here: Path | None = None
    failed = False
    for target in asked.targets:
        if not has_target(target):
            print(f"skipped: {target}: `rustup target add {target}` installs what is missing", flush=True)
            failed = True
            continue
        built = program(asked.profile, target, tools)
        here = here or (built if target.startswith(os.uname().machine) else program(asked.profile))
        stage(built, runs_here=here)
        wheel = packed(asked.profile, target, tools)
        check(wheel)
    return 1 if failed else 0


def install_tools() -> Path:
    """The folder of maturin, cargo-zigbuild and Zig."""
    place = ROOT / ".venv-wheel"
    tools = place / "bin"
    if not (tools / "cargo-zigbuild").exists():
        venv.create(place, with_pip=True)
        subprocess.run([str(tools / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check", *TOOLS], check=True)
    return tools


def has_target(target: str) -> bool:
    """Whether Rust's library for the target is installed."""
    found = subprocess.run(["rustc", "--print", "target-libdir", "--target", target], capture_output=True, text=True, check=False)
    return found.returncode == 0 and Path(found.stdout.strip()).is_dir()


def target_folder() -> Path:
    """Where cargo builds."""
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


def program(profile: str, target: str | None = None, tools: Path | None = None) -> Path:
    """Builds the program: for this machine, or for a target and an old C library."""
    folder = "debug" if profile == "dev" else profile
    if target is None:
        subprocess.run(["cargo", "build", "--profile", profile, "-p", "ridge_cli"], cwd=ROOT, check=True)
        return target_folder() / folder / "ridgeline"
    versioned = f"{target}.{GLIBC[0]}.{GLIBC[1]}"
    subprocess.run(
        ["cargo", "zigbuild", "--profile", profile, "--target", versioned, "-p", "ridge_cli"], cwd=ROOT, env=with_tools(tools), check=True
    )
    return target_folder() / target / folder / "ridgeline"


def packed(profile: str, target: str, tools: Path) -> Path:
    """The wheel for a target."""
    wheels = target_folder() / "wheels"
    before = set(wheels.glob("*.whl")) if wheels.is_dir() else set()
    command = [
        str(tools / "maturin"), "build", "--profile", profile, "--target", target, "--zig",
        "--compatibility", f"manylinux_{GLIBC[0]}_{GLIBC[1]}", "--out", str(wheels),
    ]  # fmt: skip
    subprocess.run(command, cwd=ROOT, env=with_tools(tools), check=True)
    new = [wheel for wheel in wheels.glob("*.whl") if wheel not in before] or list(wheels.glob("*.whl"))
    machine = target.split("-", maxsplit=1)[0]
    return max((wheel for wheel in new if machine in wheel.name), key=lambda wheel: wheel.stat().st_mtime)


def with_tools(tools: Path | None) -> dict[str, str]:
    """The environment with the tools first on the path."""
    return {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"} if tools else dict(os.environ)


def stage(built: Path, *, runs_here: Path) -> None:
    """Lays out what goes beside the package: the program, completions, manual."""
    shutil.rmtree(DATA, ignore_errors=True)
    scripts = DATA / "scripts"
    scripts.mkdir(parents=True)
    shutil.copy2(built, scripts / "ridgeline")
    if not str(built).endswith("debug/ridgeline"):
        # What is left are symbols, which nobody who installs it needs.
        subprocess.run(["strip", "--strip-all", str(scripts / "ridgeline")], check=False, stderr=subprocess.DEVNULL)
    share = DATA / "data" / "share"
    for shell, place in SHELLS.items():
        text = said(runs_here, "completions", shell)
        (share / place).parent.mkdir(parents=True, exist_ok=True)
        (share / place).write_text(text, encoding="utf-8")
    write_manual(runs_here, share / "man" / "man1")


def said(built: Path, *arguments: str) -> str:
    """What the program prints."""
    environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1"}
    return subprocess.run([str(built), *arguments], capture_output=True, text=True, env=environment, check=True).stdout


def write_manual(built: Path, folder: Path) -> None:
    """A page for the program and one for each command: what `--help` prints."""
    folder.mkdir(parents=True, exist_ok=True)
    help_text = said(built, "--help")
    commands = re.findall(r"^  ([a-z][a-z-]+)\s", help_text.split("Commands:")[1].split("\n\n")[0], re.MULTILINE)
    (folder / "ridgeline.1").write_text(manual_page("ridgeline", help_text), encoding="utf-8")
    for command in commands:
        page = manual_page(f"ridgeline-{command}", said(built, command, "--help"))
        (folder / f"ridgeline-{command}.1").write_text(page, encoding="utf-8")


def manual_page(name: str, help_text: str) -> str:
    """The help of a command as a page for `man`."""
    about, _, rest = help_text.partition("\n\n")
    about = about.replace("\n", " ")
    escaped = "\n".join("\\&" + line.replace("\\", "\\e").replace("-", "\\-") for line in rest.strip("\n").split("\n"))
    title = name.replace("-", "\\-")
    about = about.replace("\\", "\\e")
    return f'.TH "{name.upper()}" 1\n.SH NAME\n{title} \\- {about}\n.SH DESCRIPTION\n.nf\n{escaped}\n.fi\n'


def check(wheel: Path) -> None:
    """Ends with an error where the wheel is too large, lacks a part, or needs a newer C library."""
    size = wheel.stat().st_size
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        binaries = [name for name in names if name.endswith((".abi3.so", "/scripts/ridgeline"))]
        if len(binaries) != 2:
            sys.exit(f"expected the program and the extension module in {wheel.name}, found {binaries}")
        for name in binaries:
            needed = newest_glibc(archive.read(name))
            if needed > GLIBC:
                sys.exit(f"expected {name} to need glibc {GLIBC[0]}.{GLIBC[1]} at most, found {needed[0]}.{needed[1]}")
            print(f"{name}: glibc {needed[0]}.{needed[1]}, {archive.getinfo(name).file_size / 1e6:.1f} MB")
    if size >= MOST_BYTES:
        sys.exit(f"expected a wheel below {MOST_BYTES / 1e6:.0f} MB, found {size / 1e6:.1f} MB")
    print(f"{wheel}: {size / 1e6:.1f} MB", flush=True)


def newest_glibc(binary: bytes) -> tuple[int, int]:
    """The newest version of the C library whose symbols a binary names."""
    found = {(int(major), int(minor)) for major, minor in re.findall(rb"GLIBC_(\d+)\.(\d+)", binary)}
    return max(found, default=(0, 0))


if __name__ == "__main__":
    sys.exit(main())
