//! Parquet files, read in place: the footer, and flat columns of the types that tables of profilers have.
//!
//! Readers ask for some columns by name and visit their rows, row groups in parallel, as they do with
//! [`ridge_sqlite`]; nested columns are passed over.
//! Plain and dictionary encoding, pages of both versions, Snappy, gzip and Zstandard: what pandas, Arrow and DuckDB
//! write unless told otherwise. No statistics, no indexes, no encryption, no writing.
//!
//! No offset, length or count in the file is trusted, and memory is bounded by a [`Bound`] that pages and values are
//! taken from: a few bytes can stand for billions of equal rows.

mod bound;
mod column;
mod error;
mod footer;
mod levels;
mod thrift;
mod unpack;

pub(crate) use bound::Bound;
use column::Column;
pub(crate) use error::ParquetError;
use footer::{Footer, RowGroup};
use rayon::prelude::*;
use ridge_sqlite::{Cell, Encoding, Row, Scanned};

/// An open file.
#[derive(Debug)]
pub(crate) struct Parquet<'a> {
    bytes: &'a [u8],
    footer: Footer,
}

/// A scan, with the first error where one ended a row group.
#[derive(Debug)]
pub(crate) struct ParquetScan<T> {
    /// What the visits left, and how many rows could not be read.
    pub(crate) scanned: Scanned<T>,
    /// Why rows could not be read.
    pub(crate) error: Option<ParquetError>,
}

impl<'a> Parquet<'a> {
    /// Reads the footer.
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Parquet<'a>, ParquetError> {
        footer::footer(bytes).map(|footer| Parquet { bytes, footer })
    }

    /// Names of the columns that are not nested.
    pub(crate) fn columns(&self) -> impl Iterator<Item = &str> {
        self.footer.columns.iter().map(|column| column.name.as_str())
    }

    /// Visits every row with the cells of `columns`, by name; an absent column is null.
    ///
    /// A row group that is damaged in one of them is left out and counted by rows.
    pub(crate) fn scan<T: Default + Send>(
        &self,
        columns: &[&str],
        bound: &Bound,
        visit: impl Fn(&mut T, &Row<'_>) + Sync,
    ) -> ParquetScan<T> {
        let place = |name: &&str| self.footer.columns.iter().position(|column| column.name == *name);
        let places: Vec<Option<usize>> = columns.iter().map(place).collect();
        let group = |group: &RowGroup| self.group(group, &places, bound, &visit).map_err(|error| (error, group.rows));
        let groups = &self.footer.groups;
        let parts: Vec<Result<(T, u64), (ParquetError, u64)>> =
            if groups.len() < 2 { groups.iter().map(group).collect() } else { groups.par_iter().map(group).collect() };
        let mut found = ParquetScan { scanned: Scanned::default(), error: None };
        for part in parts {
            match part {
                Ok((part, rows)) => {
                    found.scanned.parts.push(part);
                    found.scanned.rows += rows;
                }
                Err((error, rows)) => {
                    found.scanned.damaged = found.scanned.damaged.saturating_add(rows.max(1));
                    found.scanned.first_damage.get_or_insert(error.offset);
                    found.error.get_or_insert(error);
                }
            }
        }
        found
    }

    fn group<T: Default>(
        &self,
        group: &RowGroup,
        places: &[Option<usize>],
        bound: &Bound,
        visit: &impl Fn(&mut T, &Row<'_>),
    ) -> Result<(T, u64), ParquetError> {
        let rows = usize::try_from(group.rows).unwrap_or(usize::MAX);
        let mut read: Vec<Option<Column>> = Vec::with_capacity(places.len());
        for place in places {
            let column =
                place.map(|at| column::read(self.bytes, &self.footer.columns[at], &group.chunks[at], rows, bound));
            read.push(column.transpose()?);
        }
        let mut collected = T::default();
        // Rows that no column bears out are a claim of the footer alone.
        if read.iter().all(Option::is_none) {
            return Ok((collected, 0));
        }
        let mut cells = vec![Cell::Null; places.len()];
        for row in 0..rows {
            for (cell, column) in cells.iter_mut().zip(&read) {
                *cell = column.as_ref().map_or(Cell::Null, |column| column.cell(row));
            }
            visit(&mut collected, &Row { cells: &cells, encoding: Encoding::Utf8 });
        }
        Ok((collected, group.rows))
    }
}

#[cfg(test)]
mod tests;
