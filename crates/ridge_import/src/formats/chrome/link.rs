//! Which call launched which work, and which operator it was for.
//!
//! Launches by correlation id, where one launch may have many pieces of work (a graph's kernels share its id).
//! Operators by the external id that the work itself bears; where it bears none, or one that means nothing, by the
//! operator that was open around the launch.

use super::placed::{Placed, PlacedTrack};

use super::row::{Row, TrackKey};
use super::store::Store;
use crate::import::Import;
use crate::note::Severity;
use ridge_trace::{Attribution, EventKind, NONE, Operation, StringId};
use ridge_units::Share;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Gives rows without correlation id the one of the arrow that touches them.
pub(super) fn fill_missing_correlations(store: &mut Store) {
    let is_work = |row: &Row| EventKind::from_byte_is_work(row.kind);
    let on_stream = |key: &TrackKey<StringId>| matches!(key, TrackKey::Stream(..));
    let streams = store.tracks.iter().filter(|track| on_stream(&track.key));
    if store.flows.is_empty() || !streams.flat_map(|track| &track.rows).any(|row| is_work(row) && row.correlation == 0)
    {
        return;
    }
    let ids: FxHashMap<(u32, i64), u32> =
        store.flows.iter().map(|end| ((end.track, end.time_ns), end.correlation)).collect();
    for (place, track) in store.tracks.iter_mut().enumerate() {
        let takes = |row: &Row| is_work(row) || row.kind == EventKind::Launch as u8;
        for row in track.rows.iter_mut().filter(|row| row.correlation == 0 && takes(row)) {
            row.correlation = ids.get(&(place as u32, row.start_ns)).copied().unwrap_or(0);
        }
    }
}

/// Links work to launches and operators.
pub(super) fn attribute(placed: &Placed, operations: &mut Operations, import: &mut Import) {
    import.builder.link_launches(placed.first_row);
    let by_id = if ids_mean_operators(placed) { operator_names(placed) } else { FxHashMap::default() };
    let mut open = OpenOperators::default();
    for track in placed.streams() {
        for (row, stored) in track.rows.clone().zip(&track.stored) {
            if !EventKind::from_byte_is_work(stored.kind) {
                continue;
            }
            let named = by_id.get(&stored.external).filter(|_| stored.external != 0);
            let link = import.builder.slices(row..row + 1).link[0];
            let (name, how) = match named {
                Some(name) => (*name, Attribution::ByStat),
                None => match open.around(link, placed) {
                    NONE => continue,
                    name => (name, Attribution::ByLaunch),
                },
            };
            let op = operations.row(name, import);
            let slices = import.builder.slices(row..row + 1);
            slices.op[0] = op;
            slices.attribution[0] = how as u8;
        }
    }
}

/// Whether external ids name operators: profilers of 2022 and 2023 wrote the correlation id there.
fn ids_mean_operators(placed: &Placed) -> bool {
    let work = placed.streams().flat_map(|track| &track.stored).filter(|row| EventKind::from_byte_is_work(row.kind));
    let (mut both, mut equal) = (0_u64, 0_u64);
    for row in work.filter(|row| row.external != 0 && row.correlation != 0) {
        both += 1;
        equal += u64::from(row.external == row.correlation);
    }
    2 * equal <= both
}

/// Names of operators by their external ids.
fn operator_names(placed: &Placed) -> FxHashMap<u32, u32> {
    let rows = placed.threads().flat_map(|track| &track.stored);
    let operators = rows.filter(|row| row.kind == EventKind::Operator as u8 && row.external != 0);
    operators.map(|row| (row.external, row.name)).collect()
}

/// The innermost operator around any host row, found track by track when first asked.
#[derive(Debug, Default)]
struct OpenOperators {
    tracks: Vec<(Range<u32>, Vec<u32>)>,
}

impl OpenOperators {
    /// The name of the operator around `row`, or [`NONE`].
    fn around(&mut self, row: u32, placed: &Placed) -> u32 {
        if row == NONE {
            return NONE;
        }
        let at = match self.tracks.iter().position(|(rows, _)| rows.contains(&row)) {
            Some(at) => at,
            None => {
                let Some(track) = placed.threads().find(|track| track.rows.contains(&row)) else { return NONE };
                self.tracks.push((track.rows.clone(), operators_around(track)));
                self.tracks.len() - 1
            }
        };
        let (rows, names) = &self.tracks[at];
        names[(row - rows.start) as usize]
    }
}

/// For every row of a thread the name of the innermost operator that encloses it, or [`NONE`].
fn operators_around(track: &PlacedTrack) -> Vec<u32> {
    let parents = track.parents();
    let mut names = vec![NONE; parents.len()];
    for (at, parent) in parents.iter().enumerate() {
        if *parent != NONE {
            let around = &track.stored[*parent as usize];
            let is_operator = around.kind == EventKind::Operator as u8;
            names[at] = if is_operator { around.name } else { names[*parent as usize] };
        }
    }
    names
}

/// Rows of the operations table by name.
#[derive(Debug, Default)]
pub(super) struct Operations {
    rows: FxHashMap<u32, u32>,
}

impl Operations {
    /// The row of the operation called `name`, new or known.
    pub(super) fn row(&mut self, name: u32, import: &mut Import) -> u32 {
        *self.rows.entry(name).or_insert_with(|| {
            let operation =
                Operation { name: StringId(name), module: NONE, instruction: NONE, scope: StringId::default() };
            import.builder.operations.push(operation);
            import.builder.operations.len() as u32 - 1
        })
    }
}

/// Says how much work has no launch in the file; it counts in every total all the same.
pub(super) fn note_unlinked(placed: &Placed, source: &str, import: &mut Import) {
    let (mut work, mut unlinked) = ((0_u64, 0_i64), (0_u64, 0_i64));
    for track in placed.streams() {
        let slices = import.builder.slices(track.rows.clone());
        for at in (0..slices.len()).filter(|at| EventKind::from_byte_is_work(slices.kind[*at])) {
            let dur = slices.dur_ns[at];
            work = (work.0 + 1, work.1.saturating_add(dur));
            if slices.link[at] == NONE {
                unlinked = (unlinked.0 + 1, unlinked.1.saturating_add(dur));
            }
        }
    }
    if unlinked.0 == 0 {
        return;
    }
    let share = Share::of(unlinked.1 as f64, work.1 as f64);
    let message = format!(
        "{} of {} device events have no launch in the file, {share} of device time: they began before it \
         or their calls were left out; they count in all totals",
        unlinked.0, work.0
    );
    import.note(Severity::Info, source, None, unlinked.0, message);
}
