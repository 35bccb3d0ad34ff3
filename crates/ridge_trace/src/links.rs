//! From correlation ids to row links: which launch caused which device work.

use crate::event::{EventKind, NONE};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Links the device rows of `rows` to the launch with their correlation id; returns how many found none.
///
/// Correlation ids are unique within one process, so `rows` is what one process captured.
/// Id 0 means none. One launch may cause many rows (all nodes of a graph share its id).
pub(crate) fn link_by_correlation(rows: Range<usize>, kind: &[u8], correlation: &[u32], link: &mut [u32]) -> usize {
    let launches = Launches::collect(rows.clone(), kind, correlation);
    let mut unlinked = 0;
    for row in rows {
        let id = correlation[row];
        if id == 0 || !on_device(kind[row]) {
            continue;
        }
        match launches.get(id) {
            Some(launch) => link[row] = launch,
            None => unlinked += 1,
        }
    }
    unlinked
}

fn on_device(kind: u8) -> bool {
    kind >= EventKind::Kernel as u8
}

/// Launch rows by correlation id: a plain array where the ids are dense, as they nearly always are.
enum Launches {
    Dense { first: u32, rows: Vec<u32> },
    Sparse(FxHashMap<u32, u32>),
}

impl Launches {
    fn collect(rows: Range<usize>, kind: &[u8], correlation: &[u32]) -> Launches {
        let launches = || rows.clone().filter(|&row| correlation[row] != 0 && !on_device(kind[row]));
        let (mut count, mut first, mut last) = (0_usize, u32::MAX, 0);
        for row in launches() {
            count += 1;
            first = first.min(correlation[row]);
            last = last.max(correlation[row]);
        }
        if count > 0 && (last - first) as usize <= 4 * count + 1024 {
            let mut dense = vec![NONE; (last - first) as usize + 1];
            for row in launches() {
                dense[(correlation[row] - first) as usize] = row as u32;
            }
            return Launches::Dense { first, rows: dense };
        }
        Launches::Sparse(launches().map(|row| (correlation[row], row as u32)).collect())
    }

    fn get(&self, id: u32) -> Option<u32> {
        match self {
            Launches::Dense { first, rows } => {
                let position = id.checked_sub(*first)? as usize;
                rows.get(position).copied().filter(|&row| row != NONE)
            }
            Launches::Sparse(rows) => rows.get(&id).copied(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_launch_may_cause_many_kernels() {
        let launch = EventKind::Launch as u8;
        let kernel = EventKind::Kernel as u8;
        for far in [8, 4_000_000_000] {
            let kind = [launch, launch, kernel, kernel, kernel, kernel];
            let correlation = [7, far, 7, 7, far, 9];
            let mut link = [NONE; 6];
            let unlinked = link_by_correlation(0..6, &kind, &correlation, &mut link);
            assert_eq!((link, unlinked), ([NONE, NONE, 0, 0, 1, NONE], 1));
        }
    }
}
