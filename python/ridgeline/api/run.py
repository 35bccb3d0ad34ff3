"""An opened capture.

    run = ridgeline.open("run/")
    run.findings                      # bottlenecks
    run.tables["op"]                  # for pandas, polars, pyarrow, duckdb
    run.what_if(ridgeline.change.faster("gemm*", 2))
"""

from __future__ import annotations

import html
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from .findings import Check, Finding, read_check
from .native import native
from .tables import Table, Tables

#: What a path may be.
PathLike = str | os.PathLike[str]

#: Bytes of the page that a notebook shows: it is stored in the notebook's file.
_PAGE_BYTES = 3_000_000


class Change(NamedTuple):
    """A change of the program, for `Run.what_if`; made by `change`."""

    kind: str
    pattern: str
    times: float = 1.0


class change:  # noqa: N801 - read as a word: change.remove("copy*")
    """Changes for `Run.what_if`; in a name, `*` matches any characters and `?` one."""

    @staticmethod
    def remove(name: str) -> Change:
        """Remove this work."""
        return Change("remove", name)

    @staticmethod
    def faster(name: str, times: float) -> Change:
        """Scale the speed of this work."""
        return Change("faster", name, times)

    @staticmethod
    def host_faster(name: str, times: float) -> Change:
        """Scale the speed of the host's own time within these ranges."""
        return Change("host_faster", name, times)

    @staticmethod
    def no_wait(name: str) -> Change:
        """Let these calls return without waiting for the device."""
        return Change("no_wait", name)

    @staticmethod
    def overlap(name: str = "*") -> Change:
        """Let no call wait for these copies."""
        return Change("overlap", name)


@dataclass(frozen=True)
class _Answer:
    """A JSON document of the command line, and its text."""

    document: dict[str, Any]
    text: str

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>"


class WhatIf(_Answer):
    """The predicted saving of changes together."""

    @property
    def facts(self) -> dict[str, Any]:
        """Each number by its key, as in the document: `saving_low_ns`, `class_error`."""
        facts = (fact for section in self.document["overview"] for fact in section["facts"])
        return {fact["key"]: fact["value"] for fact in facts}


class Diff(_Answer):
    """A comparison of two sides."""

    @property
    def state(self) -> str:
        """`slower`, `faster`, `no change` or `cannot judge` (inconclusive)."""
        return str(self.document["verdict"]["state"])


class Guide(_Answer):
    """The questions that a capture answers, and the command for each open one."""


class Run:
    """An opened capture."""

    def __init__(self, paths: Sequence[Path], *, read_as: str | None = None) -> None:
        self._capture = native().open(list(paths), read_as)

    @property
    def paths(self) -> list[Path]:
        """The opened paths."""
        return [Path(path) for path in self._capture.paths]

    @cached_property
    def tables(self) -> Tables:
        """The tables of this capture, by name."""
        return Tables(self._capture)

    @cached_property
    def overview(self) -> dict[str, Any]:
        """Notes and the single numbers: the document of `ridgeline stats -f json` without its tables."""
        return dict(json.loads(self._capture.overview()))

    @property
    def notes(self) -> list[dict[str, Any]]:
        """Notes about the capture, most serious first: lost data, partly used data."""
        return list(self.overview["notes"])

    @cached_property
    def _checked(self) -> Check:
        return self.check()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The bottlenecks, largest first."""
        return self._checked.findings

    def check(self, *, select: Iterable[str] = (), ignore: Iterable[str] = (), everything: bool = False) -> Check:
        """Run the rules; `select` and `ignore` name rules or groups, `everything` adds minor findings to the text."""
        document, text = self._capture.check(list(select), list(ignore), everything)
        return read_check(json.loads(document), text)

    def diff(self, other: Run | PathLike | Iterable[PathLike]) -> Diff:
        """Compare this capture with `other`: what got faster or slower, by how much, and how significant that is."""
        return diff(self.paths, other)

    def what_if(
        self, *changes: Change, target: str | None = None, captured_on: str | None = None, device: str | None = None
    ) -> WhatIf:
        """Predict the saving of `changes` together, on another GPU if `target` names one; fails if the replay is inaccurate.

        `captured_on` names the captured GPU if it was not recorded. `device` is the name of `target` in earlier versions.
        """
        document, text = self._capture.what_if([tuple(change) for change in changes], target or device, captured_on)
        return WhatIf(json.loads(document), text)

    def guide(self, *, target: str | None = None, meant_for: str | None = None) -> Guide:
        """The questions that this capture answers, and the command for each open one; `target` is a GPU, for CPU captures.

        `meant_for` is the name of `target` in earlier versions.
        """
        document, text = self._capture.guide(target or meant_for)
        return Guide(json.loads(document), text)

    def report(self, path: PathLike | None = None, *, views: Iterable[str] = (), max_bytes: int = 20_000_000) -> str:
        """The page of `ridgeline report` as text, also written to `path` if given; works offline."""
        page, _ = self._capture.report(list(views), max_bytes)
        if path is not None:
            Path(path).write_text(page, encoding="utf-8")
        return str(page)

    def timeline(self, *, height: int = 520, max_bytes: int = _PAGE_BYTES) -> Page:
        """The timeline, for a notebook."""
        return self.page("timeline", height=height, max_bytes=max_bytes)

    def page(self, *views: str, height: int = 620, max_bytes: int = _PAGE_BYTES) -> Page:
        """Views of the page, for a notebook: overview, findings, timeline, operations, roofline, memory, idle and so on."""
        return Page(self.report(views=views, max_bytes=max_bytes), views[0] if views else "overview", height)

    def __repr__(self) -> str:
        return f"<ridgeline run {', '.join(str(path) for path in self.paths)}: {self._checked.headline}>"

    def __str__(self) -> str:
        return str(self._capture.overview_text())

    def _repr_html_(self) -> str:
        shown = self._checked
        head = f"<p><code>{html.escape(', '.join(str(path) for path in self.paths))}</code></p>"
        return head + shown._repr_html_() + self.page("overview", "findings", "operations", max_bytes=1_500_000)._repr_html_()


class Page:
    """A page in a notebook that works without network or server."""

    def __init__(self, page: str, view: str, height: int) -> None:
        self.html = page
        self._view = view
        self._height = height

    def __repr__(self) -> str:
        return f"<ridgeline page: {len(self.html)} bytes>"

    def _repr_html_(self) -> str:
        document = html.escape(self.html, quote=True)
        # Its scripts run, and can reach neither the notebook nor the network.
        return (
            f'<iframe srcdoc="{document}" sandbox="allow-scripts" title="Ridgeline: {html.escape(self._view)}" '
            f'style="width: 100%; height: {self._height}px; border: 1px solid #8884"></iframe>'
        )


def open(*paths: PathLike, read_as: str | None = None) -> Run:  # noqa: A001 - ridgeline.open
    """Open a capture: a file, a recording, a log directory; several paths for several hosts.

    Raises a `RidgelineError` if nothing useful can be read.
    """
    return Run([Path(path) for path in paths], read_as=read_as)


def diff(before: Run | PathLike | Iterable[PathLike], after: Run | PathLike | Iterable[PathLike]) -> Diff:
    """Compare two sides, each a run, a path or several."""
    document, text = native().diff(_paths(before), _paths(after))
    return Diff(json.loads(document), text)


def explain(rule: str) -> str:
    """Documentation of a rule in Markdown: what it finds, how to fix it, and when it is wrong."""
    return str(native().explain(rule))


def _paths(side: Run | PathLike | Iterable[PathLike]) -> list[Path]:
    if isinstance(side, Run):
        return side.paths
    if isinstance(side, (str, os.PathLike)):
        return [Path(side)]
    return [Path(path) for path in side]
