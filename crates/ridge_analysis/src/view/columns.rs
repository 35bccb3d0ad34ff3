//! Columns as data: what each is called and means, and what it reads from a row.
//!
//! ```text
//! columns! {
//!     COLUMNS: Call {
//!         call: text Key "Call", "name of the call", |at, row| at.text(row.name);
//!         total_ns: nanos Key Measured "Total", "sum of durations", |_, row| row.total_ns;
//!     }
//! }
//! ```
//! A line has the key, the kind with its unit, the rank unless it is the ordinary one, the basis unless it is words,
//! the title, the definition, and what it reads: a value, or an `Option` of one.

use crate::Analysis;
use ridge_table::{Basis, Column, Rank, Unit};

/// A column over rows of `R`.
pub(crate) struct Field<R> {
    pub(crate) key: &'static str,
    pub(crate) title: &'static str,
    pub(crate) definition: &'static str,
    pub(crate) rank: Rank,
    pub(crate) basis: Option<Basis>,
    pub(crate) value: Value<R>,
}

type Read<R, T> = fn(&Analysis<'_>, &R) -> Option<T>;

/// What a column reads from a row.
pub(crate) enum Value<R> {
    Text(Read<R, String>),
    Flag(Read<R, bool>),
    Whole(Unit, Read<R, u64>),
    Signed(Unit, Read<R, i64>),
    Real(Unit, Read<R, f64>),
}

impl<R> Field<R> {
    /// The column of `rows`.
    pub(crate) fn column(&self, at: &Analysis<'_>, rows: &[&R]) -> Column {
        let Field { key, title, definition, .. } = *self;
        let rows = rows.iter();
        let column = match self.value {
            Value::Text(read) => Column::text(key, title, definition, rows.map(|row| read(at, row))),
            Value::Flag(read) => Column::flag(key, title, definition, rows.map(|row| read(at, row))),
            Value::Whole(unit, read) => Column::whole(key, title, definition, unit, rows.map(|row| read(at, row))),
            Value::Signed(unit, read) => Column::signed(key, title, definition, unit, rows.map(|row| read(at, row))),
            Value::Real(unit, read) => Column::real(key, title, definition, unit, rows.map(|row| read(at, row))),
        };
        Column { rank: self.rank, basis: self.basis, ..column }
    }
}

/// Words of a row: owned, borrowed from the trace, or none.
pub(crate) trait Words {
    fn words(self) -> Option<String>;
}

impl Words for String {
    fn words(self) -> Option<String> {
        Some(self)
    }
}

impl Words for &str {
    fn words(self) -> Option<String> {
        Some(self.to_owned())
    }
}

impl<W: Words> Words for Option<W> {
    fn words(self) -> Option<String> {
        self.and_then(W::words)
    }
}

/// Lists of columns, each over one type of rows; how a line reads stands above.
macro_rules! columns {
    ($($(#[$doc:meta])* $vis:vis $name:ident: $row:ty {
        $($key:ident: $kind:ident $(($unit:ident))? $($mark:ident)* $title:literal, $definition:expr,
            |$at:pat_param, $of:pat_param| $value:expr;)*
    })*) => {$(
        $(#[$doc])*
        $vis static $name: &[$crate::view::Field<$row>] = &[$($crate::view::Field {
            key: stringify!($key),
            title: $title,
            definition: $definition,
            rank: $crate::view::columns!(@rank $($mark)*),
            basis: $crate::view::columns!(@basis $($mark)*),
            value: $crate::view::columns!(@value $kind $(($unit))?, $row, $at, $of, $value),
        }),*];
    )*};

    (@rank Key $($mark:ident)*) => { ridge_table::Rank::Key };
    (@rank Minor $($mark:ident)*) => { ridge_table::Rank::Minor };
    (@rank Detail $($mark:ident)*) => { ridge_table::Rank::Detail };
    (@rank $basis:ident $($mark:ident)*) => { $crate::view::columns!(@rank $($mark)*) };
    (@rank) => { ridge_table::Rank::Normal };

    (@basis Key $($mark:ident)*) => { $crate::view::columns!(@basis $($mark)*) };
    (@basis Minor $($mark:ident)*) => { $crate::view::columns!(@basis $($mark)*) };
    (@basis Detail $($mark:ident)*) => { $crate::view::columns!(@basis $($mark)*) };
    (@basis $basis:ident) => { Some(ridge_table::Basis::$basis) };
    (@basis $basis:ident $($mark:ident)+) => { Some(ridge_table::Basis::$basis) };
    (@basis) => { None };

    (@value text, $($read:tt)*) => { $crate::view::columns!(@read Text(), words, $($read)*) };
    (@value flag, $($read:tt)*) => { $crate::view::columns!(@read Flag(), into, $($read)*) };
    (@value nanos, $($read:tt)*) => { $crate::view::columns!(@read Signed(Nanos), into, $($read)*) };
    (@value signed($unit:ident), $($read:tt)*) => { $crate::view::columns!(@read Signed($unit), into, $($read)*) };
    (@value count, $($read:tt)*) => { $crate::view::columns!(@read Whole(Count), into, $($read)*) };
    (@value bytes, $($read:tt)*) => { $crate::view::columns!(@read Whole(Bytes), into, $($read)*) };
    (@value whole($unit:ident), $($read:tt)*) => { $crate::view::columns!(@read Whole($unit), into, $($read)*) };
    (@value share, $($read:tt)*) => { $crate::view::columns!(@read Real(Share), into, $($read)*) };
    (@value real($unit:ident), $($read:tt)*) => { $crate::view::columns!(@read Real($unit), into, $($read)*) };

    (@read $kind:ident($($unit:ident)?), words, $row:ty, $at:pat_param, $of:pat_param, $value:expr) => {
        $crate::view::Value::$kind(|$at: &$crate::Analysis<'_>, $of: &$row| $crate::view::Words::words($value))
    };
    (@read $kind:ident($($unit:ident)?), into, $row:ty, $at:pat_param, $of:pat_param, $value:expr) => {
        $crate::view::Value::$kind(
            $(ridge_table::Unit::$unit,)?
            |$at: &$crate::Analysis<'_>, $of: &$row| Into::into($value),
        )
    };
}
pub(crate) use columns;
