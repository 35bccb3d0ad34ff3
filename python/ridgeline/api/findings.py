"""Findings of `ridgeline check`, as objects."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any


#: Names of a saving's basis for people, as in the terminal.
_BASES = {"wall": "its share of the time", "price": "cost model", "bound": "upper bound"}


@dataclass(frozen=True)
class Location:
    """A line of the program."""

    file: str
    line: int
    #: Whether it was inferred from the data flow.
    inferred: bool
    text: str | None


@dataclass(frozen=True)
class Evidence:
    """One piece of evidence for a finding."""

    text: str
    value: float | None
    unit: str | None
    basis: str | None

    @property
    def says(self) -> str:
        """The name of `text` in earlier versions."""
        return self.text


@dataclass(frozen=True)
class Saving:
    """What fixing it would save, in nanoseconds and as shares of the analyzed time, per step or in the capture."""

    low_ns: int
    high_ns: int
    share_low: float
    share_high: float
    per: str
    #: `replay`, `wall` (its share of the time), `price` (cost model), `bound` (upper bound) or `measured`.
    basis: str
    #: Why the capture couldn't be replayed.
    refused: str | None


@dataclass(frozen=True)
class Finding:
    """A cause, or a symptom of one."""

    rule: str
    level: str
    message: str
    location: Location | None
    evidence: tuple[Evidence, ...]
    why: str
    help: str
    #: Its share of the analyzed time, 0 to 1, measured; None if it is informational.
    share: float | None
    saving: Saving | None
    #: The rule of the finding that it is a symptom of.
    because: str | None
    #: Identifies the finding across captures of a program.
    fingerprint: str

    @property
    def holds_share(self) -> float | None:
        """The name of `share` in earlier versions."""
        return self.share

    def __str__(self) -> str:
        at = f"{self.location.file}:{self.location.line}: " if self.location else ""
        return f"{at}{self.level}[{self.rule}]: {self.message}"


@dataclass(frozen=True)
class Check(Sequence[Finding]):
    """The bottlenecks of a program: a sequence of findings, the largest first."""

    #: Quality of the capture: `fit` (ok), `partly` (partial) or `cannot judge` (unusable).
    state: str
    headline: str
    findings: tuple[Finding, ...]
    #: The document of `ridgeline check -f json`.
    document: dict[str, Any]
    text: str

    @property
    def causes(self) -> tuple[Finding, ...]:
        """Findings worth fixing that aren't symptoms of another one."""
        return tuple(finding for finding in self.findings if finding.because is None and finding.level != "info")

    def __getitem__(self, at: Any) -> Any:
        return self.findings[at]

    def __len__(self) -> int:
        return len(self.findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        causes = "".join(_block(finding) for finding in self.causes)
        return f"<p><b>{html.escape(self.headline)}</b></p>{causes or '<p>No findings.</p>'}"


def read_check(document: dict[str, Any], text: str) -> Check:
    """Read a document of `ridgeline check -f json`."""
    return Check(
        state=document["verdict"]["state"],
        headline=document["headline"],
        findings=tuple(_finding(found) for found in document["findings"]),
        document=document,
        text=text,
    )


def _finding(found: dict[str, Any]) -> Finding:
    at, saving, because = found["location"], found["saving"], found["because"]
    return Finding(
        rule=found["rule"],
        level=found["level"],
        message=found["message"],
        location=Location(at["file"], at["line"], at["inferred"], at["text"]) if at else None,
        evidence=tuple(Evidence(said["says"], said["value"], said["unit"], said["basis"]) for said in found["evidence"]),
        why=found["why"],
        help=found["help"],
        share=found["holds_share"],
        saving=Saving(**{key: saving[key] for key in Saving.__dataclass_fields__}) if saving else None,
        because=because["rule"] if because else None,
        fingerprint=found["fingerprint"],
    )


def _block(finding: Finding) -> str:
    parts = [f"<b>{html.escape(finding.level)}[{html.escape(finding.rule)}]</b> {html.escape(finding.message)}"]
    if finding.location:
        code = f" <code>{html.escape(finding.location.text.strip())}</code>" if finding.location.text else ""
        parts.append(f"{html.escape(finding.location.file)}:{finding.location.line}{code}")
    if finding.share is not None:
        parts.append(f"{100 * finding.share:.1f}% of the time (measured)")
    if finding.help:
        parts.append(f"help: {html.escape(finding.help)}")
    if (saving := finding.saving) is not None:
        low, high = saving.low_ns / 1e6, saving.high_ns / 1e6
        per = " per step" if saving.per == "step" else ""
        parts.append(f"saves {low:.3g} to {high:.3g} ms{per} ({html.escape(_BASES.get(saving.basis, saving.basis))})")
    return "<p>" + "<br>".join(parts) + "</p>"
