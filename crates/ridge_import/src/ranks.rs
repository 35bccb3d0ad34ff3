//! The clocks of several ranks: collectives end together, so where they do not, clocks differ.
//!
//! Ranks on one host share a clock and differ by microseconds; other hosts' clocks may be off by milliseconds.
//! A rank is shifted by the median difference of the ends of its collectives to those of the first rank, if the
//! difference is the same for nearly all of them. What was shifted is said, and by how much ends still differ.

use crate::import::Import;
use crate::note::Severity;
use ridge_trace::StringId;
use ridge_units::Nanos;
use rustc_hash::FxHashMap;

/// Differences below this are left alone: ends of one collective differ by this much on one host.
const SMALLEST_SHIFT_NS: i64 = 100_000;

/// Collectives that are needed to tell a clock's offset from chance.
const FEWEST: usize = 4;

/// What one call has on every rank: its group, and its number in it.
type Key = (StringId, u64);

/// Shifts captures whose clocks differ from the first's.
pub(crate) fn align(import: &mut Import) {
    let ends = ends_by_process(import);
    let Some(first) = ends.iter().position(|(_, ends)| ends.len() >= FEWEST) else { return };
    let reference = &ends[first].1;
    let mut residuals = Vec::new();
    for (process, ends) in &ends[first + 1..] {
        let differences = ends.iter().filter_map(|(key, end)| Some(end.saturating_sub(*reference.get(key)?)));
        let differences: Vec<i64> = differences.collect();
        let shift = common_shift(differences.clone());
        residuals.extend(residual(differences, shift.unwrap_or(0)));
        let Some(shift) = shift else { continue };
        import.builder.shift_process(*process, shift.saturating_neg());
        let name = import.builder.processes()[*process as usize].name;
        let source = import.builder.strings.get(name).to_owned();
        let message = format!(
            "its clock was shifted by {}{} to align the ends of its collectives with the first rank's",
            if shift > 0 { "-" } else { "+" },
            Nanos(shift.saturating_abs())
        );
        import.note(Severity::Info, &source, None, 1, message);
    }
    if let Some(worst) = residuals.iter().max() {
        let name = import.builder.processes()[ends[first].0 as usize].name;
        let source = import.builder.strings.get(name).to_owned();
        let message = format!(
            "collectives of {} other ranks end up to {} before or after its own: the median of the rank that differs most, \
             once clocks are aligned",
            residuals.len(),
            Nanos(*worst)
        );
        import.note(Severity::Info, &source, None, 1, message);
    }
}

/// How far ends are apart for half of the calls, once the clock is shifted; `None` where there are too few to tell.
fn residual(differences: Vec<i64>, shift: i64) -> Option<i64> {
    let mut apart: Vec<i64> =
        differences.into_iter().map(|difference| difference.saturating_sub(shift).saturating_abs()).collect();
    apart.sort_unstable();
    (apart.len() >= FEWEST).then(|| apart[(apart.len() - 1) / 2])
}

/// The offset that nearly all differences share, if it is one worth a shift.
fn common_shift(mut differences: Vec<i64>) -> Option<i64> {
    if differences.len() < FEWEST {
        return None;
    }
    differences.sort_unstable();
    let at = |share: usize| differences[(differences.len() - 1) * share / 4];
    let (low, median, high) = (at(1), at(2), at(3));
    let is_common = high.saturating_sub(low) < median.saturating_abs() / 4;
    (median.saturating_abs() >= SMALLEST_SHIFT_NS && is_common).then_some(median)
}

/// When each collective ended, by process; processes without any are there too.
fn ends_by_process(import: &mut Import) -> Vec<(u32, FxHashMap<Key, i64>)> {
    let processes = import.builder.processes().len();
    let mut found: Vec<(u32, FxHashMap<Key, i64>)> =
        (0..processes as u32).map(|process| (process, FxHashMap::default())).collect();
    let collectives = import.builder.collectives.clone();
    let mut parts: Vec<(i64, i64, u32, StringId, Option<u64>)> = Vec::with_capacity(collectives.len());
    for collective in collectives {
        let Some(process) = import.builder.process_of_row(collective.event) else { continue };
        let slices = import.builder.slices(collective.event..collective.event + 1);
        let (start, dur) = (slices.start_ns[0], slices.dur_ns[0]);
        parts.push((start, start.saturating_add(dur), process, collective.group, collective.sequence));
    }
    parts.sort_unstable_by_key(|part| part.0);
    let mut counts: FxHashMap<(u32, StringId), u64> = FxHashMap::default();
    for (_, end, process, group, sequence) in parts {
        let count = counts.entry((process, group)).or_default();
        *count += 1;
        // Calls that are not counted are told by their order.
        found[process as usize].1.insert((group, sequence.unwrap_or(*count)), end);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_the_median_of_what_ends_differ_by() {
        assert_eq!(residual(vec![5_000, 5_010, 4_980, 9_000], 5_000), Some(10));
        assert_eq!(residual(vec![5_000, 5_010], 5_000), None);
    }

    #[test]
    fn only_a_common_offset_is_a_clock() {
        assert_eq!(common_shift(vec![5_000_000, 5_001_000, 4_999_000, 5_002_000]), Some(5_000_000));
        assert_eq!(common_shift(vec![-3_000, 2_000, 0, 1_000]), None, "one host");
        assert_eq!(common_shift(vec![0, 900_000, -800_000, 5_000_000]), None, "no common offset");
        assert_eq!(common_shift(vec![5_000_000]), None, "too few");
    }
}
