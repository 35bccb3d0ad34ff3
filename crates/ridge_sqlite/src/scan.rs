//! The walk over a table's rows: leaf pages in parallel, payloads put together where they overflow (section 1.6).

use super::page::{PageNumber, Pages, TreePage};
use super::record::{Cell, Row, decode, varint};
use super::schema::TableSchema;
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Leaf pages that one thread walks at a time.
const PAGES_OF_PART: usize = 512;

/// Parts that are walked before what their visits left is handed on.
const PARTS_AT_ONCE: usize = 32;

/// Pages of others between two of a table that are given back with them, rather than asking the system once more.
const PAGES_BETWEEN: PageNumber = 8;

/// Cells of a row that need no memory of their own.
const FEW_CELLS: usize = 8;

/// What the visits of a table left, part by part in order of row id.
#[derive(Debug)]
pub struct Scanned<T> {
    /// What the visits of each part left.
    pub parts: Vec<T>,
    /// Rows that were visited.
    pub rows: u64,
    /// Pages and rows that could not be read.
    pub damaged: u64,
    /// Byte of the first of them.
    pub first_damage: Option<u64>,
}

impl<T> Default for Scanned<T> {
    fn default() -> Scanned<T> {
        Scanned { parts: Vec::new(), rows: 0, damaged: 0, first_damage: None }
    }
}

/// What one part of the walk needs.
struct Walk<'a, 'w> {
    pages: Pages<'a>,
    /// Stored column and place, sorted by column.
    wanted: &'w [(usize, usize)],
    /// Places that get the row id.
    row_ids: &'w [usize],
    cells: usize,
    /// Bytes of overflowing payloads that may still be put together: chains that share pages must not multiply them.
    overflow_left: AtomicUsize,
}

impl<'a> Pages<'a> {
    /// Visits every row of `table` with the cells of `columns`; a place that is `None` gets null.
    ///
    /// `visit` collects into one `T` per part; parts are walked in parallel, some at once, and then handed to `each` in
    /// order. `release` gets the bytes that a part has read.
    pub(crate) fn scan<T: Default + Send>(
        &self,
        table: &TableSchema,
        columns: &[Option<usize>],
        visit: impl Fn(&mut T, &Row<'_>) + Sync,
        release: impl Fn(&[u8]) + Sync,
        mut each: impl FnMut(T),
    ) -> Counts {
        let places = || columns.iter().enumerate().filter_map(|(place, column)| Some(((*column)?, place)));
        let (row_ids, mut wanted): (Vec<_>, Vec<_>) = places().partition(|(column, _)| Some(*column) == table.row_id);
        let row_ids: Vec<usize> = row_ids.into_iter().map(|(_, place)| place).collect();
        wanted.sort_unstable();
        let pages = *self;
        let walk = Walk {
            pages,
            wanted: &wanted,
            row_ids: &row_ids,
            cells: columns.len(),
            overflow_left: AtomicUsize::new(pages.file_bytes()),
        };
        let leaves = pages.leaves(table.root);
        let part = |numbers: &[PageNumber]| -> (T, Counts) {
            let visited = walk.part(numbers, &visit);
            for run in numbers.chunk_by(|one, next| (*one..=one.saturating_add(PAGES_BETWEEN)).contains(next)) {
                release(pages.run(run));
            }
            visited
        };
        let mut counts = Counts { rows: 0, damaged: leaves.damaged, first_damage: leaves.first_damage };
        let mut take = |(visited, counted): (T, Counts)| {
            each(visited);
            counts.rows += counted.rows;
            counts.damaged += counted.damaged;
            counts.first_damage = counts.first_damage.or(counted.first_damage);
        };
        if leaves.pages.len() <= PAGES_OF_PART {
            take(part(&leaves.pages));
        } else {
            for some in leaves.pages.chunks(PAGES_OF_PART * PARTS_AT_ONCE) {
                let parts: Vec<(T, Counts)> = some.par_chunks(PAGES_OF_PART).map(part).collect();
                parts.into_iter().for_each(&mut take);
            }
        }
        counts
    }
}

/// What a walk met.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Rows that were visited.
    pub rows: u64,
    /// Pages and rows that could not be read.
    pub damaged: u64,
    /// Byte of the first of them.
    pub first_damage: Option<u64>,
}

impl Walk<'_, '_> {
    fn part<T: Default>(&self, numbers: &[PageNumber], visit: &impl Fn(&mut T, &Row<'_>)) -> (T, Counts) {
        let (mut collected, mut counts, mut payload) = (T::default(), Counts::default(), Vec::new());
        for number in numbers {
            let Some(page) = self.pages.tree_page(*number) else { continue };
            counts.damaged += page.impossible_cells();
            for index in 0..page.cells {
                let row = page.cell(index).and_then(|at| self.row(&page, at, &mut payload, &mut collected, visit));
                counts.rows += u64::from(row.is_some());
                if row.is_none() {
                    counts.damaged += 1;
                    counts.first_damage.get_or_insert(self.pages.offset(*number));
                }
            }
        }
        (collected, counts)
    }

    /// Visits the row whose cell begins at `at`; `None` where it is broken.
    fn row<T>(
        &self,
        page: &TreePage<'_>,
        mut at: usize,
        scratch: &mut Vec<u8>,
        collected: &mut T,
        visit: &impl Fn(&mut T, &Row<'_>),
    ) -> Option<()> {
        let length = usize::try_from(varint(page.page, &mut at)?).ok()?;
        let row_id = varint(page.page, &mut at)? as i64;
        let local = local_bytes(length, self.pages.usable, self.pages.usable - 35);
        let here = page.page.get(at..at.checked_add(local)?)?;
        let payload = if local == length {
            here
        } else {
            self.overflowing(here, length, page.page.get(at + local..at + local + 4)?, scratch)?;
            &scratch[..]
        };
        // Most tables are asked for a few cells, and filling more for every row would cost as much as reading them.
        let (mut few, mut many);
        let cells = if self.cells <= FEW_CELLS {
            few = [Cell::Null; FEW_CELLS];
            &mut few[..self.cells]
        } else {
            many = vec![Cell::Null; self.cells];
            &mut many[..]
        };
        decode(payload, self.wanted, cells)?;
        for place in self.row_ids {
            cells[*place] = Cell::Int(row_id);
        }
        visit(collected, &Row { cells, encoding: self.pages.encoding });
        Some(())
    }

    /// Puts a payload of `length` bytes together from its local part and its chain of pages.
    fn overflowing(&self, here: &[u8], length: usize, first: &[u8], payload: &mut Vec<u8>) -> Option<()> {
        let take = |left: usize| left.checked_sub(length);
        self.overflow_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).ok()?;
        payload.clear();
        payload.extend_from_slice(here);
        let mut next = PageNumber::from_be_bytes(first.try_into().ok()?);
        while payload.len() < length {
            let page = self.pages.page(next)?;
            let rest = page.get(4..)?;
            let taken = rest.len().min(length - payload.len());
            if taken == 0 {
                return None;
            }
            payload.extend_from_slice(&rest[..taken]);
            next = PageNumber::from_be_bytes(page[..4].try_into().ok()?);
        }
        Some(())
    }
}

/// Bytes of a payload that stay on its page, which takes up to `most`: the rule at the end of section 1.6.
pub(super) fn local_bytes(length: usize, usable: usize, most: usize) -> usize {
    if length <= most {
        return length;
    }
    let least = (usable - 12) * 32 / 255 - 23;
    let fitting = least + (length - least) % (usable - 4);
    if fitting <= most { fitting } else { least }
}
