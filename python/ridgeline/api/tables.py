"""Tables of a capture, which every Arrow library reads without a copy.

    run.tables["op"]            # the table of operations
    pandas.DataFrame.from_arrow(run.tables["op"]), polars.DataFrame(run.tables["op"]), pyarrow.table(run.tables["op"])
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from .errors import UnknownNameError

#: Rows that a notebook shows.
_SHOWN = 20
#: Topics by the name of their command, and as a view's name begins: `time/op` is `stats/op`.
_TOPICS = {"time": "stats", "stats": "stats", "roofline": "roofline", "idle": "idle", "transfers": "transfers", "memory": "memory"}


class Column(NamedTuple):
    """A column and its meaning."""

    name: str
    title: str
    unit: str
    #: Where its numbers come from: measured, counted, sheet, capture, inferred, modelled; None for words.
    basis: str | None
    definition: str


class Table:
    """A table of a capture; pass it to pandas, polars, pyarrow or duckdb."""

    def __init__(self, table: Any) -> None:
        self._table = table

    @property
    def name(self) -> str:
        """Its name, such as `op`."""
        return str(self._table.name)

    @property
    def title(self) -> str:
        """Its title for people."""
        return str(self._table.title)

    @property
    def columns(self) -> list[Column]:
        """The meaning of each column."""
        return [Column(*column) for column in self._table.columns]

    @property
    def footnotes(self) -> list[str]:
        """Notes: missing data, how to read it."""
        return list(self._table.footnotes)

    @property
    def rows_total(self) -> int:
        """The number of rows, if not all are included."""
        return int(self._table.rows_total)

    def rows(self, most: int | None = None) -> list[dict[str, Any]]:
        """The first `most` rows as dictionaries, all if it is None; times are whole nanoseconds, shares 0 to 1."""
        return list(json.loads(self._table.json(len(self) if most is None else most)))

    def to_pandas(self) -> Any:
        """As a `pandas.DataFrame`; needs pandas 3, or pyarrow."""
        import pandas  # noqa: PLC0415 - optional

        if hasattr(pandas.DataFrame, "from_arrow"):
            return pandas.DataFrame.from_arrow(self)
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """As a `polars.DataFrame`."""
        import polars  # noqa: PLC0415 - optional

        return polars.DataFrame(self)

    def to_arrow(self) -> Any:
        """As a `pyarrow.Table`."""
        import pyarrow  # noqa: PLC0415 - optional

        return pyarrow.table(self)

    def __arrow_c_schema__(self) -> Any:
        return self._table.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._table.__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        return len(self._table)

    def __repr__(self) -> str:
        return f"<ridgeline table {self.name}: {len(self)} rows of {len(self._table.columns)} columns>"

    def _repr_html_(self) -> str:
        head = "".join(
            f'<th title="{html.escape(column.definition)}">{html.escape(column.title)}<br><small>{_meant(column)}</small></th>'
            for column in self.columns
        )
        body = "".join(
            "<tr>" + "".join(f"<td>{_cell(value)}</td>" for value in row.values()) + "</tr>" for row in self.rows(_SHOWN)
        )
        more = f"<p>{_SHOWN} of {len(self)} rows shown</p>" if len(self) > _SHOWN else ""
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.footnotes)
        return f"<b>{html.escape(self.title)}</b><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}{notes}"


class Tables(Mapping[str, Table]):
    """The tables of a capture, by name: `op`, `kernel`, `memory/allocator`."""

    def __init__(self, capture: Any) -> None:
        self._capture = capture

    def __getitem__(self, name: str) -> Table:
        topic, _, view = name.rpartition("/")
        if topic and topic not in _TOPICS:
            raise self._unknown(name)
        for command in [_TOPICS[topic]] if topic else dict.fromkeys(_TOPICS.values()):
            if (table := self._capture.table(command, view)) is not None:
                return Table(table)
        raise self._unknown(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.about())

    def __len__(self) -> int:
        return len(self.about())

    def __contains__(self, name: object) -> bool:
        return name in self.about()

    def about(self) -> dict[str, str]:
        """The meaning of a row, per table."""
        found: dict[str, str] = {}
        for topic, view, about in self._capture.views():
            # The name alone where no earlier topic has it.
            found[f"{topic}/{view}" if view in found else view] = about
        return found

    def _unknown(self, name: str) -> UnknownNameError:
        return UnknownNameError(f"unknown view {name!r}", hints=[f"this capture has {', '.join(self)}"])

    def __repr__(self) -> str:
        return f"<ridgeline tables: {', '.join(self)}>"


def _meant(column: Column) -> str:
    if column.unit in {"text", "flag"}:
        return ""
    return html.escape(column.unit + (f", {column.basis}" if column.basis else ""))


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.4g}"
    text = str(value)
    return html.escape(text if len(text) <= 80 else text[:79] + "…")
