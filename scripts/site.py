"""Builds the documentation site from the Markdown of the repository.

    python scripts/site.py [OUT]        # into site/ unless told

`docs/site/nav.toml` lists the pages. They are copied to where the site has them, with links that follow; a link to a file that is not on
the site becomes plain text, and one that leads nowhere ends the run. Zensical, installed by name into `.venv-site`, does the rest.
What is built needs no network: no font, script or picture comes from elsewhere.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[1]
NAV = ROOT / "docs" / "site" / "nav.toml"
RULES = PurePosixPath("crates/ridge_diagnose/src/rules")
PYTHON = ROOT / ".venv-site" / "bin" / "python"
ZENSICAL = "zensical==0.1.2"

#: A link, or code in which nothing is one.
LINK = re.compile(r"`+[^`]*`+|(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#{1,6} +(.+?) *#*$")
FENCE = re.compile(r"^ *(```+|~~~+)")
EXTERNAL = re.compile(r"^[a-z]+:")


@dataclass
class Site:
    """Pages by their path in the repository, with the path that each has on the site, and what is wrong with their links."""

    places: dict[PurePosixPath, PurePosixPath]
    problems: list[str] = field(default_factory=list)

    def text(self, page: PurePosixPath) -> str:
        """The page with links as they are on the site."""
        lines = []
        for line, is_code in told_apart((ROOT / page).read_text()):
            lines.append(line if is_code else LINK.sub(lambda link: self.link(page, link), line))
        return "\n".join(lines) + "\n"

    def link(self, page: PurePosixPath, link: re.Match[str]) -> str:
        """One link as it is on the site."""
        picture, words, target = link.groups()
        if target is None or EXTERNAL.match(target):
            return link[0]
        path, _, anchor = target.partition("#")
        file = PurePosixPath(os.path.normpath(page.parent / path)) if path else page
        if not (ROOT / file).exists():
            self.problems.append(f"{page}: {target} leads nowhere")
        elif anchor and file.suffix == ".md" and anchor not in anchors(ROOT / file):
            self.problems.append(f"{page}: {target}: no such heading")
        if (place := self.places.get(file)) is None:
            return link[0] if picture else words
        to = os.path.relpath(place, self.places[page].parent)
        return f"{picture}[{words}]({to}{'#' + anchor if anchor else ''})"


def told_apart(text: str) -> list[tuple[str, bool]]:
    """The lines of a page, and whether each is code."""
    lines, fence = [], ""
    for line in text.splitlines():
        mark = FENCE.match(line)
        is_code = bool(fence or mark)
        if mark and not fence:
            fence = mark[1]
        elif mark and line.strip() == fence:
            fence = ""
        lines.append((line, is_code))
    return lines


def anchors(file: Path) -> set[str]:
    """What its headings are called in links, as GitHub names them."""
    found: set[str] = set()
    for line, is_code in told_apart(file.read_text()):
        heading = None if is_code else HEADING.match(line)
        if heading:
            plain = LINK.sub(lambda link: link[2] or link[0], heading[1]).replace("`", "").lower()
            name = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
            found.add(name if name not in found else f"{name}-1")
    return found


def sections() -> list[tuple[str, list[PurePosixPath]]]:
    """The navigation: titles of sections with their pages."""
    nav = tomllib.loads(NAV.read_text())
    return [(section["title"], [PurePosixPath(page) for page in section["pages"]]) for section in nav["section"]]


def site_of_the_repository() -> Site:
    """Every page and picture with its place on the site."""
    places = {PurePosixPath("README.md"): PurePosixPath("index.md")}
    for _, pages in sections():
        for page in pages:
            flat = page.parent.name if page.name == "README.md" else page.stem.lower()
            places[page] = PurePosixPath(f"{flat}.md")
    for rule in sorted((ROOT / RULES).glob("*.md")):
        places[RULES / rule.name] = PurePosixPath("rules") / rule.name.replace("_", "-")
    for picture in sorted((ROOT / "docs" / "img").iterdir()):
        places[PurePosixPath("docs/img") / picture.name] = PurePosixPath("img") / picture.name
    for schema in sorted((ROOT / "docs" / "json").glob("*.json")):
        places[PurePosixPath("docs/json") / schema.name] = PurePosixPath("schemas") / schema.name
    return Site(places)


def stage(folder: Path) -> list[str]:
    """Writes the pages of the site into `folder`; what is wrong with them."""
    site = site_of_the_repository()
    for page, place in site.places.items():
        to = folder / place
        to.parent.mkdir(parents=True, exist_ok=True)
        if not (ROOT / page).exists():
            site.problems.append(f"{NAV.relative_to(ROOT)}: no {page}")
        elif page.suffix == ".md":
            to.write_text(site.text(page))
        else:
            shutil.copyfile(ROOT / page, to)
    listed = {page for _, pages in sections() for page in pages}
    for page in sorted((ROOT / "docs").glob("*.md")):
        if PurePosixPath("docs") / page.name not in listed:
            site.problems.append(f"{NAV.relative_to(ROOT)}: docs/{page.name} is not listed")
    return site.problems


def configuration(folder: Path, out: Path) -> str:
    """What Zensical is told."""
    places = site_of_the_repository().places
    rules = sorted(place for page, place in places.items() if page.parent == RULES)
    nav = ['  { "Ridgeline" = "index.md" },']
    for title, pages in sections():
        nav.append(f'  {{ "{title}" = [')
        nav += [f'    "{places[page]}",' for page in pages]
        nav.append("  ] },")
    nav.append('  { "Rules" = [' + ", ".join(f'"{rule}"' for rule in rules) + "] },")
    return "\n".join(
        [
            "[project]",
            'site_name = "Ridgeline"',
            'site_description = "Finds out why a JAX or PyTorch program is slow on its accelerator"',
            f'docs_dir = "{folder.name}"',
            f'site_dir = "{out.name}"',
            "use_directory_urls = false",
            f"nav = [\n{chr(10).join(nav)}\n]",
            "[project.theme]",
            "font = false",
            'features = ["content.code.copy", "navigation.sections", "navigation.top", "navigation.footer", "search.highlight"]',
            "[[project.theme.palette]]",
            'media = "(prefers-color-scheme: light)"',
            'scheme = "default"',
            "[[project.theme.palette]]",
            'media = "(prefers-color-scheme: dark)"',
            'scheme = "slate"',
            "",
        ]
    )


def from_elsewhere(out: Path) -> list[str]:
    """Pages that load something from another host."""
    loads = re.compile(r"<(?:script|img|iframe)[^>]+src=\"(https?:[^\"]+)|<link[^>]+rel=\"(?:stylesheet|preload)\"[^>]+href=\"(https?:[^\"]+)")
    found = []
    for page in sorted(out.rglob("*.html")):
        found += [f"{page.relative_to(out)} loads {match[1] or match[2]}" for match in loads.finditer(page.read_text())]
    return found


def main() -> int:
    """Builds the site; the status is 1 where a page or link is wrong."""
    out = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "site").resolve()
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        problems = stage(work / "pages")
        if problems:
            print(*problems, sep="\n", file=sys.stderr)
            return 1
        if not PYTHON.exists():
            print("installing zensical into .venv-site", file=sys.stderr)
            subprocess.run([sys.executable, "-m", "venv", str(PYTHON.parents[1])], check=True)
        if subprocess.run([PYTHON, "-c", "import zensical"], capture_output=True).returncode != 0:
            subprocess.run([PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", ZENSICAL], check=True)
        (work / "zensical.toml").write_text(configuration(work / "pages", work / "built"))
        built = subprocess.run([PYTHON, "-m", "zensical", "build", "--strict"], cwd=work)
        if built.returncode != 0:
            return built.returncode
        if problems := from_elsewhere(work / "built"):
            print(*problems, sep="\n", file=sys.stderr)
            return 1
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(work / "built", out)
    print(f"{len(list(out.rglob('*.html')))} pages in {out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
