//! Where in the file everything of a database stands: each value of each row, and the bytes that hold nothing.
//!
//! For those who change a database in place: a value may be overwritten by one of the same kind and length, and what
//! holds nothing (deleted rows, free pages, the rest of a page) may become zeros, without touching any structure.
//!
//! Reading forgives damage, this does not: a byte whose meaning is not certain is an error, and so is a page that two
//! trees claim. Sections are those of <https://www.sqlite.org/fileformat2.html>.

use crate::page::{PageNumber, Pages};
use crate::record::{Cell, stored_bytes, value, varint};
use crate::scan::local_bytes;
use crate::schema::{self, TableSchema};
use crate::{Encoding, SqliteError};
use std::ops::Range;

/// Bytes at which no page may be used: locks are taken on them (section 1.5).
const LOCK_BYTE: u64 = 1 << 30;
/// Bytes of the header of a file.
const HEADER_BYTES: usize = 100;
/// Levels of a tree; with two children a page, no file has as many.
const MAX_DEPTH: usize = 64;

/// A tree of the database: a table's rows or an index's entries.
#[derive(Debug, Clone)]
pub struct Tree {
    /// The table, also for an index over it.
    pub table: TableSchema,
    /// Whether its records are entries in order, which a changed value would break: indexes, and tables without row ids.
    pub is_ordered: bool,
}

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Nothing; also the column of a table that is its row id.
    Null,
    /// A whole number.
    Int(i64),
    /// A number.
    Real,
    /// A text in the encoding of the database.
    Text,
    /// Bytes.
    Blob,
}

/// One record with the places of its values.
#[derive(Debug)]
pub struct PlacedRow<'r> {
    /// The row id of a table's row.
    pub row_id: Option<i64>,
    /// Values in stored order.
    pub values: &'r [(Kind, Range<usize>)],
    payload: &'r [u8],
    /// Where each piece of the payload begins: in the payload, and in the file.
    pieces: &'r [(usize, u64)],
}

impl PlacedRow<'_> {
    /// The whole number in place `at`, which may be the row id.
    pub fn int(&self, at: usize) -> Option<i64> {
        match self.values.get(at)?.0 {
            Kind::Int(value) => Some(value),
            Kind::Null => self.row_id,
            _ => None,
        }
    }

    /// The bytes of the value in place `at`; empty where there is none.
    pub fn bytes(&self, at: usize) -> &[u8] {
        self.values.get(at).and_then(|(_, range)| self.payload.get(range.clone())).unwrap_or_default()
    }

    /// Where the bytes of the value in place `at` stand in the file, in order.
    pub fn places(&self, at: usize) -> Vec<Range<u64>> {
        let Some((_, range)) = self.values.get(at) else { return Vec::new() };
        let ends = self.pieces.iter().skip(1).map(|(start, _)| *start).chain([self.payload.len()]);
        let parts = self.pieces.iter().zip(ends).filter_map(|((start, file), end)| {
            let (from, to) = (range.start.max(*start), range.end.min(end));
            let first = file + (from.checked_sub(*start)?) as u64;
            (from < to).then(|| first..first + (to - from) as u64)
        });
        parts.collect()
    }
}

/// Visits every record of every tree, and gives the places that hold nothing, in order.
///
/// # Errors
/// [`SqliteError`] where anything of the file is not as the format says.
pub fn walk(
    bytes: &[u8],
    mut visit: impl FnMut(&Tree, Encoding, &PlacedRow<'_>),
) -> Result<Vec<Range<u64>>, SqliteError> {
    let pages = Pages::open(bytes)?;
    let mut walk = Walk { pages, used: vec![false; pages.count() + 1], unused: Vec::new() };
    walk.file(bytes)?;
    let trees = walk.schema(&mut visit)?;
    for (tree, root) in trees {
        walk.tree(&tree, root, &mut visit)?;
    }
    for number in 1..walk.used.len() {
        if !walk.used[number] {
            walk.unused.push(walk.whole(number as PageNumber));
        }
    }
    walk.unused.retain(|range| !range.is_empty());
    walk.unused.sort_by_key(|range| range.start);
    Ok(walk.unused)
}

struct Walk<'a> {
    pages: Pages<'a>,
    /// By page number.
    used: Vec<bool>,
    unused: Vec<Range<u64>>,
}

fn fail<T>(offset: u64, what: impl Into<String>) -> Result<T, SqliteError> {
    Err(SqliteError { offset, what: what.into() })
}

fn number(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).map_or(0, |four| u32::from_be_bytes([four[0], four[1], four[2], four[3]]))
}

fn short(bytes: &[u8], at: usize) -> usize {
    bytes.get(at..at + 2).map_or(0, |two| usize::from(u16::from_be_bytes([two[0], two[1]])))
}

impl<'a> Walk<'a> {
    fn whole(&self, number: PageNumber) -> Range<u64> {
        let start = self.pages.offset(number);
        start..start + self.pages.size as u64
    }

    /// The page `number`, which nothing else may claim.
    fn claim(&mut self, number: PageNumber, named_at: u64) -> Result<&'a [u8], SqliteError> {
        let is_free = self.used.get_mut(number as usize).is_some_and(|used| !std::mem::replace(used, true));
        match self.pages.page(number).filter(|_| is_free && number > 0) {
            Some(page) => Ok(page),
            None => fail(named_at, format!("expected a page that nothing else uses, found page {number}")),
        }
    }

    /// The header, the list of free pages, and the pages that map pointers.
    fn file(&mut self, bytes: &[u8]) -> Result<(), SqliteError> {
        let size = self.pages.size;
        if !bytes.len().is_multiple_of(size) {
            return fail(
                bytes.len() as u64,
                format!("expected whole pages of {size} bytes, found the end of the file"),
            );
        }
        // Reserved for expansion (section 1.3.20).
        self.unused.push(72..92);
        let lock_page = LOCK_BYTE / size as u64 + 1;
        if number(bytes, 52) > 0 {
            let step = self.pages.usable as u64 / 5 + 1;
            let maps = (2..=self.pages.count() as u64).step_by(step as usize);
            for map in maps.map(|page| if page == lock_page { page + 1 } else { page }) {
                if map <= self.pages.count() as u64 {
                    self.claim(map as PageNumber, 52)?;
                }
            }
        }
        let (mut trunk, mut named_at) = (number(bytes, 32), 32);
        while trunk != 0 {
            let page = self.claim(trunk, named_at)?;
            named_at = self.pages.offset(trunk);
            let (next, leaves) = (number(page, 0), number(page, 4) as usize);
            if leaves > page.len() / 4 - 2 {
                return fail(
                    named_at + 4,
                    format!("expected at most {} free pages, found {leaves}", page.len() / 4 - 2),
                );
            }
            self.unused.push(named_at + 8 + 4 * leaves as u64..self.whole(trunk).end);
            for leaf in 0..leaves {
                let leaf = number(page, 8 + 4 * leaf);
                self.claim(leaf, named_at)?;
                self.unused.push(self.whole(leaf));
            }
            trunk = next;
        }
        Ok(())
    }

    /// Walks the schema and gives the trees that it names, with their roots.
    fn schema(
        &mut self,
        visit: &mut impl FnMut(&Tree, Encoding, &PlacedRow<'_>),
    ) -> Result<Vec<(Tree, PageNumber)>, SqliteError> {
        struct Entry {
            is_index: bool,
            table: String,
            root: PageNumber,
            sql: String,
        }
        let mut entries = Vec::new();
        let schema = Tree { table: schema::schema_table(), is_ordered: false };
        self.tree(&schema, 1, &mut |tree: &Tree, encoding, row: &PlacedRow<'_>| {
            let text = |at: usize| encoding.decoded(row.bytes(at)).into_owned();
            let root = row.int(3).map_or(0, |root| PageNumber::try_from(root).unwrap_or(PageNumber::MAX));
            entries.push(Entry { is_index: text(0) == "index", table: text(2), root, sql: text(4) });
            visit(tree, encoding, row);
        })?;
        // Views and virtual tables have no tree.
        let is_stored = |entry: &&Entry| entry.root > 0;
        let tables: Vec<TableSchema> = (entries.iter().filter(is_stored))
            .filter(|entry| !entry.is_index)
            .map(|entry| schema::parse(&entry.table, entry.root, &entry.sql))
            .collect();
        let trees = entries.iter().filter(is_stored).map(|entry| {
            let same = |table: &&TableSchema| table.name.eq_ignore_ascii_case(&entry.table);
            let table =
                tables.iter().find(same).cloned().unwrap_or_else(|| schema::parse(&entry.table, entry.root, ""));
            let is_ordered = entry.is_index || table.without_row_id;
            (Tree { table, is_ordered }, entry.root)
        });
        Ok(trees.collect())
    }

    fn tree(
        &mut self,
        tree: &Tree,
        root: PageNumber,
        visit: &mut impl FnMut(&Tree, Encoding, &PlacedRow<'_>),
    ) -> Result<(), SqliteError> {
        let mut next = vec![(root, 0, HEADER_BYTES as u64)];
        while let Some((page, depth, named_at)) = next.pop() {
            if depth > MAX_DEPTH {
                return fail(named_at, format!("expected a tree of at most {MAX_DEPTH} levels, found more"));
            }
            let children = self.tree_page(tree, page, named_at, visit)?;
            next.extend(children.into_iter().rev().map(|child| (child, depth + 1, self.pages.offset(page))));
        }
        Ok(())
    }

    /// One page of a tree: visits its records, marks what is between them, and gives the pages below.
    fn tree_page(
        &mut self,
        tree: &Tree,
        page_number: PageNumber,
        named_at: u64,
        visit: &mut impl FnMut(&Tree, Encoding, &PlacedRow<'_>),
    ) -> Result<Vec<PageNumber>, SqliteError> {
        let page = self.claim(page_number, named_at)?;
        let offset = self.pages.offset(page_number);
        let start = if page_number == 1 { HEADER_BYTES } else { 0 };
        let (is_leaf, header) = match (page[start], tree.is_ordered) {
            (0x0d, false) | (0x0a, true) => (true, 8),
            (0x05, false) | (0x02, true) => (false, 12),
            (found, _) => {
                let kind = if tree.is_ordered { "an index" } else { "a table" };
                return fail(offset + start as u64, format!("expected a page of {kind}, found type {found}"));
            }
        };
        let cells = short(page, start + 3);
        let content = start + header + 2 * cells;
        if content > page.len() {
            return fail(offset + start as u64 + 3, format!("expected cells that fit on a page, found {cells}"));
        }
        let mut used = freeblocks(page, start, content, offset)?;
        let mut children = Vec::new();
        for cell in 0..cells {
            let at = short(page, start + header + 2 * cell);
            let broken =
                || SqliteError { offset: offset + at as u64, what: "expected a record, found none".to_owned() };
            if at < content {
                return Err(broken());
            }
            let mut end = at;
            if !is_leaf {
                children.push(number(page.get(at..at + 4).ok_or_else(broken)?, 0));
                end += 4;
            }
            if is_leaf || tree.is_ordered {
                end = self.record(tree, page, offset, end, visit)?.ok_or_else(broken)?;
            } else {
                varint(page, &mut end).ok_or_else(broken)?;
            }
            used.push(at..end.max(at + 4).min(page.len()));
        }
        if !is_leaf {
            children.push(number(page, start + 8));
        }
        self.mark_between(&mut used, content, page_number)?;
        Ok(children)
    }

    /// Marks what is on a page behind `content` and in none of `used`.
    fn mark_between(&mut self, used: &mut [Range<usize>], content: usize, page: PageNumber) -> Result<(), SqliteError> {
        let offset = self.pages.offset(page);
        used.sort_by_key(|range| range.start);
        let mut behind = content;
        for range in used {
            if range.start < behind {
                return fail(
                    offset + range.start as u64,
                    "expected records apart from each other, found two in one place",
                );
            }
            self.unused.push(offset + behind as u64..offset + range.start as u64);
            behind = range.end;
        }
        self.unused.push(offset + behind as u64..self.whole(page).end);
        Ok(())
    }

    /// Visits the record of `page` that begins at `at`; gives its end on the page, or `None` where it is broken.
    fn record(
        &mut self,
        tree: &Tree,
        page: &[u8],
        offset: u64,
        mut at: usize,
        visit: &mut impl FnMut(&Tree, Encoding, &PlacedRow<'_>),
    ) -> Result<Option<usize>, SqliteError> {
        let Some(length) = varint(page, &mut at).and_then(|length| usize::try_from(length).ok()) else {
            return Ok(None);
        };
        let mut row_id = None;
        if !tree.is_ordered {
            row_id = varint(page, &mut at).map(|id| id as i64);
            if row_id.is_none() {
                return Ok(None);
            }
        }
        let usable = self.pages.usable;
        let most = if tree.is_ordered { (usable - 12) * 64 / 255 - 23 } else { usable - 35 };
        let local = local_bytes(length, usable, most);
        let Some(here) = at.checked_add(local).and_then(|end| page.get(at..end)) else { return Ok(None) };
        let mut pieces = vec![(0, offset + at as u64)];
        let mut end = at + local;
        let mut gathered = Vec::new();
        let payload = if local == length {
            here
        } else {
            let Some(first) = page.get(end..end + 4) else { return Ok(None) };
            gathered.extend_from_slice(here);
            self.overflow(number(first, 0), length, offset + end as u64, &mut gathered, &mut pieces)?;
            end += 4;
            &gathered[..]
        };
        let Some(values) = values(payload) else { return Ok(None) };
        visit(tree, self.pages.encoding, &PlacedRow { row_id, values: &values, payload, pieces: &pieces });
        Ok(Some(end))
    }

    /// Appends the pages of an overflowing payload until it has `length` bytes.
    fn overflow(
        &mut self,
        first: PageNumber,
        length: usize,
        mut named_at: u64,
        payload: &mut Vec<u8>,
        pieces: &mut Vec<(usize, u64)>,
    ) -> Result<(), SqliteError> {
        let mut next = first;
        while payload.len() < length {
            let page = self.claim(next, named_at)?;
            named_at = self.pages.offset(next);
            let taken = (page.len() - 4).min(length - payload.len());
            pieces.push((payload.len(), named_at + 4));
            payload.extend_from_slice(&page[4..4 + taken]);
            self.unused.push(named_at + 4 + taken as u64..self.whole(next).end);
            next = number(page, 0);
        }
        if next != 0 {
            return fail(named_at, format!("expected the end of a chain of pages, found page {next}"));
        }
        Ok(())
    }
}

/// The headers of the free blocks of a page (section 1.6): four bytes each that must stay.
fn freeblocks(page: &[u8], start: usize, content: usize, offset: u64) -> Result<Vec<Range<usize>>, SqliteError> {
    let mut found = Vec::new();
    let (mut at, mut least) = (short(page, start + 1), content);
    while at != 0 {
        let size = short(page, at + 2);
        if at < least || size < 4 || at + size > page.len() {
            return fail(offset + at as u64, "expected a free block inside its page, found another thing");
        }
        found.push(at..at + 4);
        least = at + size;
        at = short(page, at);
    }
    Ok(found)
}

/// The values of a record; `None` where it does not end with the last of them.
fn values(payload: &[u8]) -> Option<Vec<(Kind, Range<usize>)>> {
    let mut head = 0;
    let header_end = usize::try_from(varint(payload, &mut head)?).ok()?;
    let header = payload.get(..header_end)?;
    let (mut body, mut values) = (header_end, Vec::new());
    while head < header_end {
        let kind = varint(header, &mut head)?;
        let end = body.checked_add(stored_bytes(kind)?)?;
        let what = match value(kind, payload.get(body..end)?) {
            Cell::Null => Kind::Null,
            Cell::Int(number) => Kind::Int(number),
            Cell::Real(_) => Kind::Real,
            Cell::Text(_) => Kind::Text,
            Cell::Blob(_) => Kind::Blob,
        };
        values.push((what, body..end));
        body = end;
    }
    (body == payload.len()).then_some(values)
}
