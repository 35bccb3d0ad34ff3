//! Idle time of devices part by part, for whoever draws it on a timeline.

use crate::session::Session;
use ridge_analysis::models::idle::{DeviceIdle, IdlePart};
use ridge_analysis::{Cause, Idle, IdleGaps};
use ridge_trace::EventRow;
use std::ops::Range;

/// Idle time of one device by cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdleCauses {
    /// Row of the devices table.
    pub device: u32,
    /// Length of its capture, nanoseconds.
    pub capture_ns: i64,
    /// Nanoseconds of each cause, head and tail included.
    pub causes: Vec<(Cause, i64)>,
}

/// Idle time of one device over its capture, and its gaps by length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdleOverTime {
    /// Row of the devices table.
    pub device: u32,
    /// Where the first column begins, nanoseconds on the trace clock.
    pub start_ns: i64,
    /// Width of a column, nanoseconds.
    pub column_ns: i64,
    /// Idle nanoseconds of each column by cause, in the order of [`Cause::ALL`]; together all idle time of the capture.
    pub columns: Vec<ByCause>,
    /// Gaps between pieces of work by length, shortest first; lengths that no gap has are left out.
    pub gaps: Vec<GapsOfLength>,
}

/// Nanoseconds by cause, in the order of [`Cause::ALL`].
pub type ByCause = [i64; Cause::ALL.len()];

/// The gaps of one device that are about as long.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GapsOfLength {
    /// Their least length, a power of two of nanoseconds; they are shorter than twice that.
    pub from_ns: i64,
    /// How many.
    pub count: u64,
    /// Their time by cause.
    pub causes: ByCause,
}

impl Session {
    /// Why the device was idle between the end of `prev` and the start of `next`, in order of time; nothing where they are
    /// not work of one device with time between.
    pub fn gap(&self, prev: EventRow, next: EventRow) -> Vec<IdlePart> {
        self.analysis().get::<IdleGaps>().between(self.trace(), prev, next)
    }

    /// Idle time of each device that worked, by cause.
    pub fn idle_causes(&self) -> Vec<IdleCauses> {
        let analysis = self.analysis();
        let devices = analysis.get::<Idle>().devices.iter();
        let causes = |device: &DeviceIdle| Cause::ALL.map(|cause| (cause, device.cause_ns(cause))).to_vec();
        let of = |device: &DeviceIdle| IdleCauses {
            device: device.device,
            capture_ns: device.capture_ns(),
            causes: causes(device),
        };
        devices.map(|device| of(device)).collect()
    }

    /// Idle time of each device that worked in up to `columns` equal stretches of its capture, and its gaps by length.
    pub fn idle_over_time(&self, columns: usize) -> Vec<IdleOverTime> {
        let gaps = self.analysis().get::<IdleGaps>();
        (0..gaps.devices.len()).map(|position| self.idle_course(gaps, position, columns.max(1))).collect()
    }

    fn idle_course(&self, gaps: &IdleGaps, position: usize, columns: usize) -> IdleOverTime {
        let device = &gaps.devices[position];
        let start_ns = device.capture.0;
        let column_ns = (device.capture_ns().max(1) as u64).div_ceil(columns as u64) as i64;
        let empty = || Course { columns: vec![ByCause::default(); columns], lengths: [GapsOfLength::default(); 64] };
        let add = |course: &mut Course, parts: &[IdlePart]| {
            parts.iter().for_each(|part| course.add(part, start_ns, column_ns));
            course.count(parts);
        };
        let found = gaps.visit(self.trace(), position, 0, empty, add);
        let mut all = empty();
        found.iter().for_each(|course| all.join(course));
        let lengths = all.lengths.iter().enumerate().filter(|(_, length)| length.count > 0);
        let gaps = lengths.map(|(power, length)| GapsOfLength { from_ns: 1 << power, ..*length }).collect();
        IdleOverTime { device: device.device, start_ns, column_ns, columns: all.columns, gaps }
    }

    /// The parts of the gaps of the device at row `device` that are at least `least_ns` long and have a part in `window`, in
    /// order of time.
    pub fn idle_parts(&self, device: u32, window: &Range<i64>, least_ns: i64) -> Vec<IdlePart> {
        let gaps = self.analysis().get::<IdleGaps>();
        let Some(position) = gaps.devices.iter().position(|found| found.device == device) else { return Vec::new() };
        let is_inside = |part: &&IdlePart| part.start_ns < window.end && part.end_ns() > window.start;
        let keep = |kept: &mut Vec<IdlePart>, parts: &[IdlePart]| kept.extend(parts.iter().filter(is_inside));
        gaps.visit(self.trace(), position, least_ns, Vec::new, keep).concat()
    }
}

/// Idle time of one device as it is added up.
struct Course {
    columns: Vec<ByCause>,
    /// By the power of two below the length.
    lengths: [GapsOfLength; 64],
}

impl Course {
    fn add(&mut self, part: &IdlePart, start_ns: i64, column_ns: i64) {
        let offset = |time: i64| time.saturating_sub(start_ns).max(0);
        let (mut from, until) = (offset(part.start_ns), offset(part.end_ns()));
        while from < until {
            let column = (from / column_ns) as usize;
            let end = column_ns.saturating_mul(column as i64 + 1).min(until);
            let Some(sums) = self.columns.get_mut(column) else { return };
            sums[part.cause as usize] += end - from;
            from = end;
        }
    }

    /// Counts the gap that is made of `parts`; what is before the first work and after the last is none.
    fn count(&mut self, parts: &[IdlePart]) {
        let is_outer = |part: &IdlePart| matches!(part.cause, Cause::BeforeFirst | Cause::AfterLast);
        let ns = parts.iter().fold(0_i64, |all, part| all.saturating_add(part.ns));
        if ns <= 0 || parts.iter().any(is_outer) {
            return;
        }
        let length = &mut self.lengths[ns.ilog2() as usize];
        length.count += 1;
        for part in parts {
            let sum = &mut length.causes[part.cause as usize];
            *sum = sum.saturating_add(part.ns);
        }
    }

    fn join(&mut self, other: &Course) {
        let add = |sums: &mut ByCause, more: &ByCause| {
            sums.iter_mut().zip(more).for_each(|(sum, more)| *sum = sum.saturating_add(*more));
        };
        self.columns.iter_mut().zip(&other.columns).for_each(|(sums, more)| add(sums, more));
        for (length, more) in self.lengths.iter_mut().zip(&other.lengths) {
            length.count += more.count;
            add(&mut length.causes, &more.causes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OpenOptions;

    #[test]
    fn columns_and_lengths_hold_all_idle_time() {
        let path = ridge_test::real("nsys").join("h100_2gpu.sqlite");
        let session = Session::open(&[path], &OpenOptions::default()).expect("a capture");
        for columns in [1, 7, 200] {
            for (course, causes) in session.idle_over_time(columns).iter().zip(session.idle_causes()) {
                assert_eq!((course.device, course.columns.len()), (causes.device, columns));
                for (cause, ns) in causes.causes {
                    let drawn: i64 = course.columns.iter().map(|sums| sums[cause as usize]).sum();
                    assert_eq!(drawn, ns, "{cause:?} in {columns} columns");
                    let of_gaps: i64 = course.gaps.iter().map(|length| length.causes[cause as usize]).sum();
                    let is_outer = matches!(cause, Cause::BeforeFirst | Cause::AfterLast);
                    assert_eq!(of_gaps, if is_outer { 0 } else { ns }, "{cause:?} by length");
                }
                // The number of gaps that the summary says.
                assert_eq!(course.gaps.iter().map(|length| length.count).sum::<u64>(), 181);
                for length in &course.gaps {
                    let ns: i64 = length.causes.iter().sum();
                    let bounds = length.from_ns * length.count as i64..2 * length.from_ns * length.count as i64;
                    assert!(bounds.contains(&ns), "{length:?}");
                }
            }
        }
    }
}
