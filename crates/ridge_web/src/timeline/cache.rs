//! Tiles in columns that were cut before, within a bound.

use super::cells::{Cut, TileId};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// What all of them may take, bytes; when it is more, those that were not used for longest go.
const MOST_BYTES: usize = 96 << 20;

/// Cut tiles.
#[derive(Debug, Default)]
pub(crate) struct Cuts(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    tiles: FxHashMap<TileId, (Arc<Cut>, u64)>,
    bytes: usize,
    /// Counts uses, as a clock.
    now: u64,
}

impl Cuts {
    pub(crate) fn get(&self, id: TileId) -> Option<Arc<Cut>> {
        let known = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.now += 1;
        let (cut, used) = known.tiles.get_mut(&id)?;
        *used = known.now;
        Some(Arc::clone(cut))
    }

    pub(crate) fn keep(&self, id: TileId, cut: Cut) -> Arc<Cut> {
        let cut = Arc::new(cut);
        let known = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.now += 1;
        known.bytes += cut.bytes();
        let before = known.tiles.insert(id, (Arc::clone(&cut), known.now));
        known.bytes -= before.map_or(0, |(before, _)| before.bytes());
        if known.bytes > MOST_BYTES {
            known.drop_older_half();
        }
        cut
    }
}

impl Known {
    fn drop_older_half(&mut self) {
        let mut uses: Vec<u64> = self.tiles.values().map(|(_, used)| *used).collect();
        uses.sort_unstable();
        let middle = uses[uses.len() / 2];
        self.tiles.retain(|_, (_, used)| *used >= middle);
        self.bytes = self.tiles.values().map(|(cut, _)| cut.bytes()).sum();
    }
}
