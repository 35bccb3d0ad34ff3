"""The documentation site: every page is listed, and every link leads to a page and a heading that are there."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("site_of_docs", ROOT / "scripts" / "site.py")
assert spec and spec.loader
site_of_docs = importlib.util.module_from_spec(spec)
sys.modules["site_of_docs"] = site_of_docs
spec.loader.exec_module(site_of_docs)


def test_all_pages_and_links_are_right(tmp_path: Path) -> None:
    assert site_of_docs.stage(tmp_path) == []
    assert (tmp_path / "index.md").exists() and (tmp_path / "rules" / "host-pause.md").exists()


def test_links_follow_their_pages(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# A page\n[b](../b.md#two-words) [code](../x.py) [gone](c.md) `[no](x)`\n")
    (tmp_path / "b.md").write_text("# B\n```\n## Not this\n```\n## Two `words`!\n[a](docs/a.md#b) [here](#not-this)\n")
    (tmp_path / "x.py").write_text("")
    monkeypatch.setattr(site_of_docs, "ROOT", tmp_path)
    a, b = PurePosixPath("docs/a.md"), PurePosixPath("b.md")
    site = site_of_docs.Site({a: PurePosixPath("a.md"), b: PurePosixPath("project/b.md")})
    assert site.text(a) == "# A page\n[b](project/b.md#two-words) code gone `[no](x)`\n"
    assert "[a](../a.md#b)" in site.text(b)
    assert site.problems == [
        "docs/a.md: c.md leads nowhere",
        "b.md: docs/a.md#b: no such heading",
        "b.md: #not-this: no such heading",
    ]
