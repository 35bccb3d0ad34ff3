//! Pages: the header of the file, B-tree pages, and the walk to a table's leaves (sections 1.3 to 1.6).

use crate::format::{Encoding, MAGIC, SqliteError};

/// Bytes of the database header on page 1.
const HEADER_BYTES: usize = 100;
/// A table leaf's cell is at least this long: a payload length, a row id and a record's header.
const SMALLEST_CELL: usize = 4;

/// A page number; the first is 1.
pub(super) type PageNumber = u32;

/// The pages of a database.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pages<'a> {
    bytes: &'a [u8],
    pub(super) size: usize,
    /// Bytes of a page less those reserved at its end.
    pub(super) usable: usize,
    pub(super) encoding: Encoding,
}

/// The leaves of a table in order of row id.
#[derive(Debug, Default)]
pub(super) struct Leaves {
    pub(super) pages: Vec<PageNumber>,
    /// Pages that are named and cannot be part of the table.
    pub(super) damaged: u64,
    /// The first such page's byte.
    pub(super) first_damage: Option<u64>,
}

impl<'a> Pages<'a> {
    pub(super) fn open(bytes: &'a [u8]) -> Result<Pages<'a>, SqliteError> {
        let fail = |offset: u64, what: String| Err(SqliteError { offset, what });
        let Some(header) = bytes.get(..HEADER_BYTES).filter(|header| header.starts_with(MAGIC)) else {
            return fail(0, "expected a SQLite header of 100 bytes, found none".to_owned());
        };
        // The size 65536 does not fit and is written as 1.
        let size = match u16::from_be_bytes([header[16], header[17]]) {
            1 => 65536,
            size => usize::from(size),
        };
        if !(512..=65536).contains(&size) || !size.is_power_of_two() {
            return fail(16, format!("expected a page size from 512 to 65536, a power of two, found {size}"));
        }
        let usable = size - usize::from(header[20]);
        if usable < 480 {
            return fail(20, format!("expected at least 480 usable bytes a page, found {usable}"));
        }
        let encoding = match u32::from_be_bytes([header[56], header[57], header[58], header[59]]) {
            2 => Encoding::Utf16Le,
            3 => Encoding::Utf16Be,
            // 0 is written by databases that never held a table.
            0 | 1 => Encoding::Utf8,
            found => return fail(56, format!("expected text encoding 1, 2 or 3, found {found}")),
        };
        Ok(Pages { bytes, size, usable, encoding })
    }

    /// Pages that the file holds, counting a last one that is cut.
    pub(super) fn count(&self) -> usize {
        self.bytes.len().div_ceil(self.size)
    }

    /// Size of the file in bytes.
    pub(super) fn file_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Where page `number` begins in the file.
    pub(super) fn offset(&self, number: PageNumber) -> u64 {
        u64::from(number.max(1) - 1) * self.size as u64
    }

    /// The bytes of page `number` that may be used; shorter where the file is cut.
    pub(super) fn page(&self, number: PageNumber) -> Option<&'a [u8]> {
        let start = usize::try_from(number.checked_sub(1)?).ok()?.checked_mul(self.size)?;
        let end = start.checked_add(self.usable)?.min(self.bytes.len());
        self.bytes.get(start..end)
    }

    /// All bytes from the first to the last of `numbers`, which ascend.
    pub(super) fn run(&self, numbers: &[PageNumber]) -> &'a [u8] {
        let (Some(first), Some(last)) = (numbers.first(), numbers.last()) else { return &[] };
        let (start, end) = (self.offset(*first), self.offset(*last) + self.size as u64);
        let end = end.min(self.bytes.len() as u64);
        self.bytes.get(start as usize..end as usize).unwrap_or_default()
    }

    /// The B-tree page `number`, if it is a table's.
    pub(super) fn tree_page(&self, number: PageNumber) -> Option<TreePage<'a>> {
        let page = self.page(number)?;
        let start = if number == 1 { HEADER_BYTES } else { 0 };
        let header = page.get(start..start + 8)?;
        let (is_leaf, pointers) = match header[0] {
            0x0d => (true, start + 8),
            0x05 => (false, start + 12),
            _ => return None,
        };
        let said = usize::from(u16::from_be_bytes([header[3], header[4]]));
        Some(TreePage { page, is_leaf, start, pointers, said, cells: said.min(self.usable / SMALLEST_CELL) })
    }

    /// The leaves under `root`, each page at most once.
    pub(super) fn leaves(&self, root: PageNumber) -> Leaves {
        let mut leaves = Leaves::default();
        let mut seen = vec![false; self.count() + 1];
        let mut next = vec![root];
        while let Some(number) = next.pop() {
            let is_new = seen.get_mut(number as usize).is_some_and(|seen| !std::mem::replace(seen, true));
            match self.tree_page(number).filter(|_| is_new) {
                Some(page) if page.is_leaf => leaves.pages.push(number),
                Some(page) => {
                    let first = next.len();
                    next.extend(page.children());
                    next[first..].reverse();
                }
                None => {
                    leaves.damaged += 1;
                    leaves.first_damage.get_or_insert(self.offset(number).min(self.bytes.len() as u64));
                }
            }
        }
        leaves
    }
}

/// One page of a table's tree.
#[derive(Debug, Clone, Copy)]
pub(super) struct TreePage<'a> {
    pub(super) page: &'a [u8],
    pub(super) is_leaf: bool,
    start: usize,
    pointers: usize,
    /// Number of cells as the page says it.
    said: usize,
    /// Number of cells that can be there.
    pub(super) cells: usize,
}

impl<'a> TreePage<'a> {
    /// Where cell `index` begins in the page; `None` where that is outside.
    pub(super) fn cell(&self, index: usize) -> Option<usize> {
        let at = self.pointers + 2 * index;
        let pointer = self.page.get(at..at + 2)?;
        let offset = usize::from(u16::from_be_bytes([pointer[0], pointer[1]]));
        (offset < self.page.len()).then_some(offset)
    }

    /// Cells that are announced and cannot be there.
    pub(super) fn impossible_cells(&self) -> u64 {
        (self.said - self.cells) as u64
    }

    /// The pages below an interior page, left to right.
    fn children(self) -> impl Iterator<Item = PageNumber> + 'a {
        let number = move |at: usize| {
            let bytes = self.page.get(at..at + 4)?;
            Some(PageNumber::from_be_bytes(bytes.try_into().expect("four bytes were taken")))
        };
        let left = (0..self.cells).filter_map(move |index| number(self.cell(index)?));
        left.chain(number(self.start + 8))
    }
}
