//! What a tile holds where it is cut into columns: for each lane, column and category, how long it was busy.

/// Columns of a tile, as a power of two.
pub(super) const COLUMNS_LOG2: u32 = 10;

/// Columns of a tile.
pub(crate) const COLUMNS: usize = 1 << COLUMNS_LOG2;

/// Which tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct TileId {
    pub(crate) track: u32,
    pub(crate) level: u32,
    pub(crate) index: u64,
}

/// What is known of one category in one column of one lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cell {
    /// Busy time, nanoseconds.
    pub(crate) busy_ns: u64,
    /// Events that begin in it.
    pub(crate) begun: u32,
    /// The column.
    pub(crate) column: u16,
    /// The category.
    pub(crate) category: u8,
}

/// A tile in columns.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Cut {
    /// The cells of each lane, by column.
    pub(crate) lanes: Vec<Vec<Cell>>,
}

impl Cut {
    /// What it takes in memory, bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.lanes.iter().map(|cells| cells.capacity() * size_of::<Cell>() + size_of::<Vec<Cell>>()).sum()
    }

    pub(super) fn lane(&mut self, lane: usize) -> &mut Vec<Cell> {
        if self.lanes.len() <= lane {
            self.lanes.resize_with(lane + 1, Vec::new);
        }
        &mut self.lanes[lane]
    }
}

/// One column of one lane, over all categories.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Column {
    pub(crate) lane: u16,
    pub(crate) column: u16,
    /// The category with most of the busy time; of points alone the most frequent.
    pub(crate) category: u8,
    pub(crate) busy_ns: u64,
    pub(crate) begun: u32,
}

impl Cut {
    /// Its columns that are not empty, lane by lane.
    pub(crate) fn columns(&self) -> Vec<Column> {
        let mut columns = Vec::with_capacity(COLUMNS);
        for (lane, cells) in self.lanes.iter().enumerate() {
            for of_column in cells.chunk_by(|one, other| one.column == other.column) {
                let most = of_column.iter().max_by_key(|cell| (cell.busy_ns, cell.begun, u8::MAX - cell.category));
                columns.extend(most.map(|most| Column {
                    lane: lane as u16,
                    column: most.column,
                    category: most.category,
                    busy_ns: of_column.iter().map(|cell| cell.busy_ns).sum(),
                    begun: of_column.iter().fold(0, |sum: u32, cell| sum.saturating_add(cell.begun)),
                }));
            }
        }
        columns
    }
}
