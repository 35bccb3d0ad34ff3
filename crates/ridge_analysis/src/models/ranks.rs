//! Ranks of a distributed program: who waits, and who is waited for.

use super::collectives::{Collectives, rank_of};
use super::rank_times::{RankTimes, rank_times};
use crate::context::coverage::Coverage;
use crate::{Analysis, Need, Shared};
use ridge_trace::ProcessRow;

/// The sums of one rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankRow {
    /// Its process.
    pub process: ProcessRow,
    /// Its rank as recorded, else its position.
    pub rank: u64,
    /// Collective operations it took part in.
    pub collectives: u64,
    /// Durations of its collective kernels, nanoseconds.
    pub collective_ns: i64,
    /// Sum over its collectives of the last rank's start less its own, nanoseconds.
    pub wait_ns: i64,
    /// Collectives of several ranks that it was the last to begin.
    pub times_last: u64,
    /// Union of the device work of each of its devices, nanoseconds.
    pub busy_ns: i64,
    /// What its devices did with their time.
    pub times: RankTimes,
}

/// Ranks by number.
#[derive(Debug)]
pub struct Ranks {
    /// A row for each process.
    pub rows: Vec<RankRow>,
    /// Collectives in which several ranks met.
    pub met: u64,
}

impl Ranks {
    /// The rank that waited least in collectives, for which the others wait; `None` where none met.
    pub fn straggler(&self) -> Option<&RankRow> {
        let took_part = self.rows.iter().filter(|row| row.collectives > 0);
        took_part.min_by_key(|row| row.wait_ns).filter(|_| self.met > 0)
    }
}

impl Shared for Ranks {
    const NEEDS: &'static [Need] = &[Need::of::<Collectives>()];

    fn make(analysis: &Analysis<'_>) -> Ranks {
        let (trace, all) = (analysis.trace, &analysis.collectives().matched);
        let row = |process: u32| RankRow {
            process: ProcessRow(process),
            rank: rank_of(trace, process),
            collectives: 0,
            collective_ns: 0,
            wait_ns: 0,
            times_last: 0,
            busy_ns: 0,
            times: RankTimes::default(),
        };
        let mut rows: Vec<RankRow> = (0..trace.processes.len() as u32).map(row).collect();
        for matched in all {
            for part in &matched.parts {
                let row = &mut rows[part.process as usize];
                row.collectives += 1;
                row.collective_ns = row.collective_ns.saturating_add(part.dur_ns);
                row.wait_ns = row.wait_ns.saturating_add(matched.wait_ns(part));
            }
            if let Some((_, last)) = matched.first_and_last().filter(|_| matched.is_met()) {
                rows[last.process as usize].times_last += 1;
            }
        }
        for (device, covered) in trace.devices.iter().zip(Coverage::new(trace).devices) {
            let row = &mut rows[device.process as usize];
            row.busy_ns = row.busy_ns.saturating_add(covered.busy.total_ns());
        }
        for (row, times) in rows.iter_mut().zip(rank_times(trace)) {
            row.times = times;
        }
        rows.sort_by_key(|row| row.rank);
        Ranks { rows, met: all.iter().filter(|matched| matched.is_met()).count() as u64 }
    }
}
