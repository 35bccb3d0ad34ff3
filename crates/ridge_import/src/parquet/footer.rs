//! The footer: which columns a file has and where their pages are (`parquet.thrift` of Apache Parquet).

use super::ParquetError;
use super::thrift::{LIST, STRUCT, Thrift};

/// The first and last bytes of every file.
const MAGIC: &[u8; 4] = b"PAR1";

/// Whether a file that begins with `head` is a Parquet file.
fn is_parquet(head: &[u8]) -> bool {
    head.starts_with(MAGIC)
}

/// How values are stored: `Type` of the format, those that tables hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Physical {
    Boolean,
    Int32,
    /// 32 bits without a sign.
    Uint32,
    Int64,
    Float,
    Double,
    Bytes,
}

/// A column of plain values.
#[derive(Debug, Clone)]
pub(super) struct ColumnSchema {
    pub(super) name: String,
    /// `None` for a type that is not read.
    pub(super) physical: Option<Physical>,
    pub(super) may_be_null: bool,
    /// Place among all leaves of the schema, as row groups list them; nested columns take places, too.
    leaf: usize,
}

/// Where the pages of a column are in a row group.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Chunk {
    pub(super) codec: i64,
    pub(super) first_page: u64,
    pub(super) compressed_bytes: u64,
}

/// Some rows of a table.
#[derive(Debug, Default)]
pub(super) struct RowGroup {
    pub(super) rows: u64,
    /// By place of the column in [`Footer::columns`].
    pub(super) chunks: Vec<Chunk>,
}

/// What a footer says.
#[derive(Debug, Default)]
pub(super) struct Footer {
    pub(super) columns: Vec<ColumnSchema>,
    pub(super) groups: Vec<RowGroup>,
}

/// Reads the footer of a whole file.
pub(super) fn footer(bytes: &[u8]) -> Result<Footer, ParquetError> {
    let failed = |offset: usize, what: &str| ParquetError { offset: offset as u64, what: what.to_owned() };
    if !is_parquet(bytes) {
        return Err(failed(0, "not a Parquet file: expected \"PAR1\""));
    }
    let end = bytes.len() - MAGIC.len();
    if !bytes.ends_with(MAGIC) || end < 8 {
        return Err(failed(bytes.len(), "expected \"PAR1\" at the end of a Parquet file; it is cut short"));
    }
    let length = u32::from_le_bytes(bytes[end - 4..end].try_into().expect("four bytes were taken")) as usize;
    let start = (end - 4).checked_sub(length).filter(|start| *start >= MAGIC.len());
    let start = start.ok_or_else(|| failed(end - 4, "expected the length of the footer, found more than the file"))?;
    let mut thrift = Thrift::new(&bytes[..end - 4], start);
    let mut leaves = Vec::new();
    let mut groups = Vec::new();
    let read = thrift.fields(|thrift, number, kind| match (number, kind) {
        (2, LIST) => {
            leaves = schema(thrift)?;
            Some(())
        }
        (4, LIST) => {
            let (_, count) = thrift.list()?;
            (0..count).try_for_each(|_| {
                groups.push(row_group(thrift)?);
                Some(())
            })
        }
        _ => thrift.skip(kind),
    });
    let offset = thrift.at;
    read.ok_or_else(|| failed(offset, "the footer of the Parquet file is damaged"))?;
    let columns: Vec<ColumnSchema> = leaves.into_iter().flatten().collect();
    let pick = |(rows, chunks): (u64, Vec<Chunk>)| {
        let chunks: Option<Vec<Chunk>> = columns.iter().map(|column| chunks.get(column.leaf).copied()).collect();
        chunks.map(|chunks| RowGroup { rows, chunks })
    };
    let groups: Option<Vec<RowGroup>> = groups.into_iter().map(pick).collect();
    let groups = groups.ok_or_else(|| failed(start, "expected every column in every row group of the Parquet file"))?;
    Ok(Footer { columns, groups })
}

/// One entry of the schema, which is a tree in preorder.
#[derive(Debug, Default)]
struct Element {
    name: String,
    physical: Option<i64>,
    repetition: i64,
    children: i64,
    converted: Option<i64>,
}

/// The leaves; `None` for one that is nested in another.
fn schema(thrift: &mut Thrift<'_>) -> Option<Vec<Option<ColumnSchema>>> {
    let (_, count) = thrift.list()?;
    let mut leaves = Vec::new();
    // What remains of the children of each open group; the first entry is the table itself.
    let mut open: Vec<i64> = Vec::new();
    for at in 0..count {
        let element = element(thrift)?;
        while open.last() == Some(&0) {
            open.pop();
        }
        if let Some(left) = open.last_mut() {
            *left -= 1;
        }
        let is_top = open.len() <= 1;
        if at == 0 || element.children > 0 {
            open.push(element.children.max(0));
            continue;
        }
        let leaf = leaves.len();
        let is_plain = is_top && element.repetition != 2;
        leaves.push(is_plain.then(|| ColumnSchema {
            physical: physical(&element),
            name: element.name,
            may_be_null: element.repetition == 1,
            leaf,
        }));
    }
    Some(leaves)
}

/// `Type` and, for 32 bits, the `ConvertedType` that tells whether there is a sign.
fn physical(element: &Element) -> Option<Physical> {
    match (element.physical?, element.converted) {
        (0, _) => Some(Physical::Boolean),
        (1, Some(11..=13)) => Some(Physical::Uint32),
        (1, _) => Some(Physical::Int32),
        (2, _) => Some(Physical::Int64),
        (4, _) => Some(Physical::Float),
        (5, _) => Some(Physical::Double),
        (6, _) => Some(Physical::Bytes),
        _ => None,
    }
}

fn element(thrift: &mut Thrift<'_>) -> Option<Element> {
    let mut found = Element::default();
    thrift.fields(|thrift, number, kind| {
        match number {
            1 => found.physical = Some(thrift.int()?),
            3 => found.repetition = thrift.int()?,
            4 => found.name = String::from_utf8_lossy(thrift.binary()?).into_owned(),
            5 => found.children = thrift.int()?,
            6 => found.converted = Some(thrift.int()?),
            _ => thrift.skip(kind)?,
        }
        Some(())
    })?;
    Some(found)
}

fn row_group(thrift: &mut Thrift<'_>) -> Option<(u64, Vec<Chunk>)> {
    let (mut rows, mut chunks) = (0, Vec::new());
    thrift.fields(|thrift, number, kind| match (number, kind) {
        (1, LIST) => {
            let (_, count) = thrift.list()?;
            (0..count).try_for_each(|_| {
                chunks.push(column_chunk(thrift)?);
                Some(())
            })
        }
        (3, 4..=6) => {
            rows = u64::try_from(thrift.int()?).ok()?;
            Some(())
        }
        _ => thrift.skip(kind),
    })?;
    Some((rows, chunks))
}

fn column_chunk(thrift: &mut Thrift<'_>) -> Option<Chunk> {
    let mut chunk = Chunk::default();
    thrift.fields(|thrift, number, kind| match (number, kind) {
        (3, STRUCT) => {
            chunk = column_metadata(thrift)?;
            Some(())
        }
        _ => thrift.skip(kind),
    })?;
    Some(chunk)
}

fn column_metadata(thrift: &mut Thrift<'_>) -> Option<Chunk> {
    let mut chunk = Chunk::default();
    let (mut data_page, mut dictionary_page) = (0, None);
    thrift.fields(|thrift, number, kind| {
        match number {
            4 => chunk.codec = thrift.int()?,
            7 => chunk.compressed_bytes = u64::try_from(thrift.int()?).ok()?,
            9 => data_page = u64::try_from(thrift.int()?).ok()?,
            11 => dictionary_page = u64::try_from(thrift.int()?).ok().filter(|offset| *offset > 0),
            _ => thrift.skip(kind)?,
        }
        Some(())
    })?;
    chunk.first_page = dictionary_page.map_or(data_page, |dictionary| dictionary.min(data_page));
    Some(chunk)
}
