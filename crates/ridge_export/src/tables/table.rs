//! A table, its columns, and the capture that they are made of.

use super::texts::Texts;
use crate::names::{Names, Privacy};
use arrow_array::{ArrayRef, Int64Array, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use ridgeline::trace::{Track, TrackKind};
use ridgeline::{Check, EventColumns, Selection, Session, Trace};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Rows that are made at once.
const PART_ROWS: usize = 1 << 16;

/// A table: its columns, and how many rows it has.
#[derive(Debug)]
pub struct RawTable {
    /// Its name.
    pub name: &'static str,
    /// What its rows are, a few words.
    pub about: &'static str,
    /// Its columns, in order.
    pub columns: &'static [RawColumn],
    pub(super) parts: Parts,
}

/// The rows of a table.
#[derive(Debug)]
pub(super) enum Parts {
    /// So many, of which each is made by itself.
    Rows(fn(&Tables<'_>) -> usize),
    /// Those of events: a part is of one track, since what it says of its track is the same for all of it.
    Tracks,
}

/// A column of a table.
#[derive(Debug)]
pub struct RawColumn {
    /// Its name.
    pub name: &'static str,
    /// What it holds, with its unit.
    pub about: &'static str,
    kind: Kind,
    make: fn(&Tables<'_>, Range<usize>) -> ArrayRef,
}

/// What the values of a column are.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Whole,
    Real,
    Text,
    Flag,
}

impl RawTable {
    /// Its columns as Arrow has them; every one may hold nulls.
    pub fn schema(&self) -> SchemaRef {
        let field = |column: &RawColumn| Field::new(column.name, column.kind.data_type(), true);
        Arc::new(Schema::new(self.columns.iter().map(field).collect::<Vec<_>>()))
    }
}

impl Kind {
    fn data_type(self) -> DataType {
        match self {
            Kind::Whole => DataType::Int64,
            Kind::Real => DataType::Float64,
            Kind::Text => DataType::Utf8View,
            Kind::Flag => DataType::Boolean,
        }
    }
}

/// The tables of one capture.
pub struct Tables<'s> {
    pub(super) session: &'s Session,
    pub(super) trace: &'s Trace,
    pub(super) names: Names<'s>,
    /// What is made when a column asks for it.
    facts: OnceLock<EventColumns<'s>>,
    texts: OnceLock<Texts>,
    check: OnceLock<Check>,
}

impl std::fmt::Debug for Tables<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Tables({} events)", self.trace.events.len())
    }
}

impl<'s> Tables<'s> {
    /// The tables of `session`, with names as `privacy` says.
    pub fn new(session: &'s Session, privacy: Privacy<'_>) -> Tables<'s> {
        let trace = session.trace();
        let names = Names::new(trace, privacy);
        Tables { session, trace, names, facts: OnceLock::new(), texts: OnceLock::new(), check: OnceLock::new() }
    }

    /// The rows of `table` in parts, each of which [`Tables::batch`] makes at once.
    pub fn parts(&self, table: &RawTable) -> Vec<Range<usize>> {
        let whole: Vec<Range<usize>> = match table.parts {
            Parts::Rows(count) => std::iter::once(0..count(self)).collect(),
            Parts::Tracks => {
                self.measured_tracks().map(|track| track.rows.start as usize..track.rows.end as usize).collect()
            }
        };
        let cut = |rows: Range<usize>| {
            let starts = rows.clone().step_by(PART_ROWS);
            starts.map(move |start| start..rows.end.min(start + PART_ROWS))
        };
        whole.into_iter().flat_map(cut).collect()
    }

    /// How many rows `table` has.
    pub fn rows(&self, table: &RawTable) -> usize {
        self.parts(table).iter().map(ExactSizeIterator::len).sum()
    }

    /// The columns at these positions of one of the parts of `table`; without any, the number of its rows alone.
    pub fn batch(&self, table: &RawTable, columns: &[usize], part: Range<usize>) -> RecordBatch {
        let fields = |schema: &SchemaRef| columns.iter().map(|at| schema.field(*at).clone()).collect::<Vec<_>>();
        let schema = Arc::new(Schema::new(fields(&table.schema())));
        let arrays = columns.iter().map(|at| (table.columns[*at].make)(self, part.clone())).collect();
        let rows = RecordBatchOptions::new().with_row_count(Some(part.len()));
        RecordBatch::try_new_with_options(schema, arrays, &rows)
            .expect("columns have the type and length of their table")
    }

    /// The tracks that hold what was measured: not those that a viewer derived.
    fn measured_tracks(&self) -> impl Iterator<Item = &'s Track> {
        self.trace.tracks.iter().filter(|track| track.kind != TrackKind::Derived)
    }

    pub(super) fn facts(&self) -> &EventColumns<'s> {
        self.facts.get_or_init(|| self.session.event_columns())
    }

    pub(super) fn texts(&self) -> &Texts {
        self.texts.get_or_init(|| Texts::new(self.trace, &self.names))
    }

    pub(super) fn check(&self) -> &Check {
        self.check.get_or_init(|| self.session.check(&Selection::default()))
    }
}

/// A column of whole numbers.
pub(super) const fn whole(
    name: &'static str,
    about: &'static str,
    make: fn(&Tables<'_>, Range<usize>) -> ArrayRef,
) -> RawColumn {
    RawColumn { name, about, kind: Kind::Whole, make }
}

/// A column of real numbers.
pub(super) const fn real(
    name: &'static str,
    about: &'static str,
    make: fn(&Tables<'_>, Range<usize>) -> ArrayRef,
) -> RawColumn {
    RawColumn { name, about, kind: Kind::Real, make }
}

/// A column of texts.
pub(super) const fn text(
    name: &'static str,
    about: &'static str,
    make: fn(&Tables<'_>, Range<usize>) -> ArrayRef,
) -> RawColumn {
    RawColumn { name, about, kind: Kind::Text, make }
}

/// A column of flags.
pub(super) const fn flag(
    name: &'static str,
    about: &'static str,
    make: fn(&Tables<'_>, Range<usize>) -> ArrayRef,
) -> RawColumn {
    RawColumn { name, about, kind: Kind::Flag, make }
}

/// The positions of rows themselves.
pub(super) fn ids(rows: Range<usize>) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(rows.map(|row| row as i64)))
}
