//! The values of one column in one row group: its pages, one after another, into plain vectors.

use super::footer::{Chunk, ColumnSchema, Physical};
use super::levels::hybrid;
use super::thrift::{STRUCT, Thrift};
use super::unpack::unpack;
use super::{Bound, ParquetError};
use ridge_sqlite::Cell;

/// The values of a column, a slot for each row.
#[derive(Debug)]
pub(super) struct Column {
    values: Values,
    /// By row; empty where no value can be absent.
    present: Vec<bool>,
    texts: Texts,
}

#[derive(Debug)]
enum Values {
    Ints(Vec<i64>),
    Reals(Vec<f64>),
    /// Rows of the column's texts.
    Ids(Vec<u32>),
}

/// Distinct texts as far as the file keeps them distinct.
#[derive(Debug, Default)]
struct Texts {
    bytes: Vec<u8>,
    ranges: Vec<(u32, u32)>,
}

impl Column {
    /// The value of `row`.
    #[inline]
    pub(super) fn cell(&self, row: usize) -> Cell<'_> {
        if self.present.get(row) == Some(&false) {
            return Cell::Null;
        }
        match &self.values {
            Values::Ints(values) => Cell::Int(values[row]),
            // Pandas turns whole numbers into these where one of a column is absent.
            Values::Reals(values) if values[row].is_nan() => Cell::Null,
            Values::Reals(values) => Cell::Real(values[row]),
            Values::Ids(ids) => {
                let (start, end) = self.texts.ranges[ids[row] as usize];
                Cell::Text(&self.texts.bytes[start as usize..end as usize])
            }
        }
    }

    fn len(&self) -> usize {
        match &self.values {
            Values::Ints(values) => values.len(),
            Values::Reals(values) => values.len(),
            Values::Ids(ids) => ids.len(),
        }
    }

    /// Adds the values of a page; a slot that is not `present` gets a zero.
    fn append(&mut self, page: Values, present: &[bool]) {
        fn spread<T: Copy + Default>(out: &mut Vec<T>, values: Vec<T>, present: &[bool]) {
            if present.is_empty() {
                return out.extend(values);
            }
            let mut values = values.into_iter();
            out.extend(present.iter().map(|present| if *present { values.next() } else { None }.unwrap_or_default()));
        }
        match (&mut self.values, page) {
            (Values::Ints(out), Values::Ints(values)) => spread(out, values, present),
            (Values::Reals(out), Values::Reals(values)) => spread(out, values, present),
            (Values::Ids(out), Values::Ids(ids)) => spread(out, ids, present),
            _ => {}
        }
        self.present.extend_from_slice(present);
    }
}

impl Values {
    fn of(physical: Physical) -> Values {
        match physical {
            Physical::Float | Physical::Double => Values::Reals(Vec::new()),
            Physical::Bytes => Values::Ids(Vec::new()),
            _ => Values::Ints(Vec::new()),
        }
    }

    /// The values of a dictionary that `indices` name; `None` where one names none.
    fn pick(&self, indices: Vec<u32>) -> Option<Values> {
        fn all<T: Copy>(values: &[T], indices: &[u32]) -> Option<Vec<T>> {
            indices.iter().map(|index| values.get(*index as usize).copied()).collect()
        }
        match self {
            Values::Ints(values) => all(values, &indices).map(Values::Ints),
            Values::Reals(values) => all(values, &indices).map(Values::Reals),
            Values::Ids(ids) => all(ids, &indices).map(Values::Ids),
        }
    }
}

/// A page's header: `PageHeader` of the format, of either version.
#[derive(Debug, Default)]
struct Header {
    kind: i64,
    unpacked_bytes: usize,
    packed_bytes: usize,
    values: usize,
    encoding: i64,
    /// Bytes of levels in front of the values, which version 2 leaves unpacked.
    level_bytes: [usize; 2],
    is_packed: bool,
}

const DATA: i64 = 0;
const DICTIONARY: i64 = 2;
const DATA_V2: i64 = 3;

const PLAIN: i64 = 0;
const RUNS: i64 = 3;
const IN_DICTIONARY: [i64; 2] = [2, 8];

fn header(thrift: &mut Thrift<'_>) -> Option<Header> {
    let mut found = Header { is_packed: true, ..Header::default() };
    let size = |thrift: &mut Thrift<'_>| usize::try_from(thrift.int()?).ok();
    thrift.fields(|thrift, number, kind| {
        match (number, kind) {
            (1, _) => found.kind = thrift.int()?,
            (2, _) => found.unpacked_bytes = size(thrift)?,
            (3, _) => found.packed_bytes = size(thrift)?,
            (5 | 7, STRUCT) => thrift.fields(|thrift, number, kind| {
                match number {
                    1 => found.values = size(thrift)?,
                    2 => found.encoding = thrift.int()?,
                    _ => thrift.skip(kind)?,
                }
                Some(())
            })?,
            (8, STRUCT) => thrift.fields(|thrift, number, kind| {
                match number {
                    1 => found.values = size(thrift)?,
                    4 => found.encoding = thrift.int()?,
                    5 => found.level_bytes[1] = size(thrift)?,
                    6 => found.level_bytes[0] = size(thrift)?,
                    // A truth value as a field is its type: 1 is true.
                    7 => found.is_packed = kind == 1,
                    _ => thrift.skip(kind)?,
                }
                Some(())
            })?,
            _ => thrift.skip(kind)?,
        }
        Some(())
    })?;
    Some(found)
}

/// Reads the `rows` values of a column; `bound` is what may still be unpacked, in bytes.
pub(super) fn read(
    bytes: &[u8],
    schema: &ColumnSchema,
    chunk: &Chunk,
    rows: usize,
    bound: &Bound,
) -> Result<Column, ParquetError> {
    let failed = |offset: usize, what: String| ParquetError { offset: offset as u64, what };
    let physical =
        schema.physical.ok_or_else(|| failed(0, format!("column {} has an unsupported type", schema.name)))?;
    let mut column = Column { values: Values::of(physical), present: Vec::new(), texts: Texts::default() };
    let mut dictionary = Values::of(physical);
    let mut at = usize::try_from(chunk.first_page).unwrap_or(usize::MAX);
    let end = at.saturating_add(usize::try_from(chunk.compressed_bytes).unwrap_or(usize::MAX)).min(bytes.len());
    while column.len() < rows {
        let damaged = || failed(at, format!("expected a page of column {}, found damage", schema.name));
        let mut thrift = Thrift::new(&bytes[..end], at);
        let header = header(&mut thrift).ok_or_else(damaged)?;
        let start = thrift.at;
        let body = start.checked_add(header.packed_bytes).and_then(|end| bytes[..end.min(bytes.len())].get(start..end));
        let body = body.ok_or_else(damaged)?;
        // A value takes eight bytes here, however little of the file.
        let costs = (header.unpacked_bytes as u64).saturating_add((header.values as u64).saturating_mul(8));
        let is_known = [DATA, DICTIONARY, DATA_V2].contains(&header.kind);
        if is_known && !bound.take(costs) {
            return Err(failed(at, bound.reached()));
        }
        let left = rows - column.len();
        let mut page = Page { physical, codec: chunk.codec, header: &header, body, texts: &mut column.texts };
        let placed = |what: Option<String>| what.map_or_else(damaged, |what| failed(at, what));
        match header.kind {
            DICTIONARY => dictionary = page.dictionary().map_err(placed)?,
            DATA | DATA_V2 if header.values <= left => {
                let (values, present) = page.values(schema.may_be_null, &dictionary).map_err(placed)?;
                column.append(values, &present);
            }
            DATA | DATA_V2 => return Err(damaged()),
            _ => {}
        }
        at = start + header.packed_bytes;
    }
    Ok(column)
}

/// A page that is being read.
struct Page<'a, 'c> {
    physical: Physical,
    codec: i64,
    header: &'a Header,
    body: &'a [u8],
    texts: &'c mut Texts,
}

impl Page<'_, '_> {
    fn dictionary(&mut self) -> Result<Values, Option<String>> {
        let bytes = unpack(self.codec, self.body, self.header.unpacked_bytes)?;
        self.plain(&bytes, self.header.values).ok_or(None)
    }

    /// The values that are there, and which are.
    fn values(&mut self, may_be_null: bool, dictionary: &Values) -> Result<(Values, Vec<bool>), Option<String>> {
        let [repetition, definition] = self.header.level_bytes;
        let in_front = repetition.checked_add(definition).ok_or(None)?;
        let (levels, packed) = self.body.split_at_checked(in_front).ok_or(None)?;
        let unpacked = self.header.unpacked_bytes.checked_sub(in_front).ok_or(None)?;
        let bytes = unpack(if self.header.is_packed { self.codec } else { 0 }, packed, unpacked)?;
        let mut rest = &bytes[..];
        let mut flags = Vec::new();
        if may_be_null {
            let levels = if self.header.kind == DATA_V2 {
                &levels[repetition..]
            } else {
                let (length, after) = rest.split_first_chunk::<4>().ok_or(None)?;
                let (levels, after) = after.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or(None)?;
                rest = after;
                levels
            };
            hybrid(levels, 1, self.header.values, &mut flags).ok_or(None)?;
        }
        let present: Vec<bool> = flags.into_iter().map(|level| level != 0).collect();
        let count = if may_be_null { present.iter().filter(|present| **present).count() } else { self.header.values };
        Ok((self.encoded(rest, count, dictionary)?, present))
    }

    fn encoded(&mut self, bytes: &[u8], count: usize, dictionary: &Values) -> Result<Values, Option<String>> {
        match self.header.encoding {
            PLAIN => self.plain(bytes, count).ok_or(None),
            RUNS if self.physical == Physical::Boolean => {
                let mut flags = Vec::new();
                hybrid(bytes.get(4..).ok_or(None)?, 1, count, &mut flags).ok_or(None)?;
                Ok(Values::Ints(flags.into_iter().map(i64::from).collect()))
            }
            encoding if IN_DICTIONARY.contains(&encoding) => {
                let mut indices = Vec::new();
                if count > 0 {
                    let (width, runs) = bytes.split_first().ok_or(None)?;
                    hybrid(runs, u32::from(*width), count, &mut indices).ok_or(None)?;
                }
                dictionary.pick(indices).ok_or(None)
            }
            other => Err(Some(format!("expected plain or dictionary encoding, found encoding {other} of the format"))),
        }
    }

    /// `count` values of the encoding PLAIN.
    fn plain(&mut self, bytes: &[u8], count: usize) -> Option<Values> {
        fn fixed<const N: usize, T>(bytes: &[u8], count: usize, value: fn([u8; N]) -> T) -> Option<Vec<T>> {
            let whole = bytes.get(..count.checked_mul(N)?)?;
            Some(whole.as_chunks::<N>().0.iter().map(|bytes| value(*bytes)).collect())
        }
        Some(match self.physical {
            Physical::Int32 => Values::Ints(fixed(bytes, count, |bytes| i64::from(i32::from_le_bytes(bytes)))?),
            Physical::Uint32 => Values::Ints(fixed(bytes, count, |bytes| i64::from(u32::from_le_bytes(bytes)))?),
            Physical::Int64 => Values::Ints(fixed(bytes, count, i64::from_le_bytes)?),
            Physical::Float => Values::Reals(fixed(bytes, count, |bytes| f64::from(f32::from_le_bytes(bytes)))?),
            Physical::Double => Values::Reals(fixed(bytes, count, f64::from_le_bytes)?),
            Physical::Boolean => {
                let bit = |at: usize| bytes.get(at / 8).map(|byte| i64::from(byte >> (at % 8) & 1));
                Values::Ints((0..count).map(bit).collect::<Option<_>>()?)
            }
            Physical::Bytes => Values::Ids(self.texts.take(bytes, count)?),
        })
    }
}

impl Texts {
    /// Takes `count` texts, each after its length; gives their rows.
    fn take(&mut self, bytes: &[u8], count: usize) -> Option<Vec<u32>> {
        let mut rest = bytes;
        let mut ids = Vec::new();
        for _ in 0..count {
            let (length, after) = rest.split_first_chunk::<4>()?;
            let (text, after) = after.split_at_checked(u32::from_le_bytes(*length) as usize)?;
            rest = after;
            let start = u32::try_from(self.bytes.len()).ok()?;
            self.bytes.extend_from_slice(text);
            ids.push(u32::try_from(self.ranges.len()).ok()?);
            self.ranges.push((start, u32::try_from(self.bytes.len()).ok()?));
        }
        Some(ids)
    }
}
