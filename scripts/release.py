"""Makes what a release consists of, in `target/release-VERSION/`: `python scripts/release.py [--profile PROFILE]`.

Wheels (`scripts/wheel.py`), an archive of the program linked statically with musl, the parts list (CycloneDX 1.6, from `cargo metadata`),
the section of the changelog, and the SHA-256 sums of all of them. What could not be made is named, and the exit status is 1.
It publishes nothing.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

from wheel import DATA, ROOT, TARGETS, USUAL_PROFILE, has_target, install_tools, packed, program, stage, target_folder, with_tools
from wheel import check as check_wheel

MUSL = "x86_64-unknown-linux-musl"


def main() -> int:
    """Makes everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--profile", default=USUAL_PROFILE)
    parser.add_argument("--only-lists", action="store_true", help="the parts list and the changelog alone")
    asked = parser.parse_args()
    metadata = cargo_metadata()
    version = next(package["version"] for package in metadata["packages"] if package["name"] == "ridge_cli")
    folder = target_folder() / f"release-{version}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "sbom.cdx.json").write_text(json.dumps(parts_list(metadata, version), indent=1) + "\n", encoding="utf-8")
    (folder / "CHANGELOG.md").write_text(changes(version), encoding="utf-8")
    missing = [] if asked.only_lists else binaries(folder, version, asked.profile)
    sums = "".join(f"{sha256(file)}  {file.name}\n" for file in sorted(folder.iterdir()))
    (folder / "SHA256SUMS").write_text(sums, encoding="utf-8")
    print(sums, end="")
    for target in missing:
        print(f"missing: {target}: `rustup target add {target}` installs what is needed")
    return 1 if missing else 0


def binaries(folder: Path, version: str, profile: str) -> list[str]:
    """Wheels and the static archive; the targets for which there are none."""
    tools = install_tools()
    here = program(profile)
    missing = [target for target in (*TARGETS, MUSL) if not has_target(target)]
    for target in TARGETS:
        if target not in missing:
            stage(program(profile, target, tools), runs_here=here)
            wheel = packed(profile, target, tools)
            check_wheel(wheel)
            shutil.copy2(wheel, folder)
    if MUSL not in missing:
        command = ["cargo", "zigbuild", "--profile", profile, "--target", MUSL, "-p", "ridge_cli"]
        subprocess.run(command, cwd=ROOT, env=with_tools(tools), check=True)
        static = target_folder() / MUSL / ("debug" if profile == "dev" else profile) / "ridgeline"
        stage(static, runs_here=static)
        name = f"ridgeline-{version}-{MUSL}"
        with tarfile.open(folder / f"{name}.tar.gz", "w:gz") as archive:
            archive.add(DATA / "scripts" / "ridgeline", f"{name}/bin/ridgeline")
            archive.add(DATA / "data" / "share", f"{name}/share")
            for file in ("LICENSE-APACHE", "LICENSE-MIT", "README.md", "SKILL.md"):
                archive.add(ROOT / file, f"{name}/{file}")
    return missing


def cargo_metadata() -> dict[str, Any]:
    """Every package that is built, with the features that are on."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", TARGETS[0]]
    return dict(json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout))


def parts_list(metadata: dict[str, Any], version: str) -> dict[str, Any]:
    """What the program and the extension module consist of, as CycloneDX; what only builds and tests use is left out."""
    packages = {package["id"]: package for package in metadata["packages"]}
    uses = {node["id"]: [used["pkg"] for used in node["deps"] if any(kind["kind"] is None for kind in used["dep_kinds"])] for node in metadata["resolve"]["nodes"]}
    waiting = [package["id"] for package in packages.values() if package["name"] in ("ridge_cli", "ridge_python")]
    roots = list(waiting)
    reached: set[str] = set()
    while waiting:
        if (package := waiting.pop()) not in reached:
            reached.add(package)
            waiting.extend(uses[package])
    components = [component(packages[package]) for package in sorted(reached, key=lambda one: packages[one]["name"])]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {"type": "application", "bom-ref": "ridgeline", "name": "ridgeline", "version": version}},
        "components": components,
        "dependencies": [
            {"ref": "ridgeline", "dependsOn": sorted(reference(packages[root]) for root in roots)},
            *({"ref": reference(packages[one]), "dependsOn": sorted(reference(packages[used]) for used in uses[one])} for one in sorted(reached)),
        ],
    }


def reference(package: dict[str, Any]) -> str:
    """A package's name for other tools."""
    return f"pkg:cargo/{package['name']}@{package['version']}"


def component(package: dict[str, Any]) -> dict[str, Any]:
    """One package; `expression` is what its author says of its license."""
    found = {
        "type": "library",
        "bom-ref": reference(package),
        "name": package["name"],
        "version": package["version"],
        "purl": reference(package),
    }
    if package.get("license"):
        found["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    if package.get("repository"):
        found["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
    return found


def changes(version: str) -> str:
    """The section of this version; of what is unreleased where there is none yet."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    for heading in (re.escape(version), "Unreleased"):
        if found := re.search(rf"^## \[?{heading}\]?.*?\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL):
            return f"# Ridgeline {version}\n\n{found[1].strip()}\n"
    sys.exit(f"expected a section of the changelog for {version} or what is unreleased, found none")


def sha256(file: Path) -> str:
    """The sum of a file."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


if __name__ == "__main__":
    sys.exit(main())
