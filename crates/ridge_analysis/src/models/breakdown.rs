//! Attributes every moment of a device to the work that ran, or to the reason why none did.
//!
//! Over the analyzed time ([`AnalyzedTime`]), the rows of a device add up to that time exactly. A moment in which several
//! streams or lanes worked is divided among them, and nested work has the moment instead of the work around it. So claims
//! on rows can never add up to more than the whole. On a CPU, events that outlast their work get nothing while other work
//! runs ([`succession`]).

mod row;
mod succession;
mod sums;
mod sweep;
#[cfg(test)]
mod tests;

use crate::context::Shared;
use crate::context::in_order::InOrder;
use crate::{Analysis, AnalyzedTime, IdleGaps, Need, Spans};
use rayon::prelude::*;
use ridge_trace::{DeviceRow, EventKind, EventRow, Trace, Track};
use row::CutRow;
pub use row::{BreakdownRow, TimeOwner};
use rustc_hash::FxHashMap;
use succession::Succession;
use sums::Sums;
use sweep::{Open, Sweep};

/// One device's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceBreakdown {
    /// The device.
    pub device: DeviceRow,
    /// The analyzed time, nanoseconds.
    pub whole_ns: i64,
    /// The time in which it worked, nanoseconds.
    pub busy_ns: i64,
}

/// The breakdown of the time of every device that worked.
#[derive(Debug, Clone, Default)]
pub struct Breakdown {
    /// The devices that worked.
    pub devices: Vec<DeviceBreakdown>,
    /// The owners of their time, by device; longest first.
    pub rows: Vec<BreakdownRow>,
    /// Where each row is.
    places: FxHashMap<(DeviceRow, TimeOwner), usize>,
    /// What each row has of each stretch between cuts, nanoseconds; empty where the time was not cut.
    pub(crate) stretches: Vec<Vec<i64>>,
}

/// The time that a breakdown is made of, by row of the processes table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Within<'s> {
    /// The spans of each process.
    pub(crate) spans: &'s [Spans],
    /// Where the time of each process is cut into stretches, ascending; every process has as many cuts.
    pub(crate) cuts: &'s [Vec<i64>],
}

impl Shared for Breakdown {
    const NEEDS: &'static [Need] = &[Need::of::<AnalyzedTime>(), Need::of::<IdleGaps>()];

    fn make(analysis: &Analysis<'_>) -> Breakdown {
        Breakdown::within(analysis, Within { spans: &analysis.analyzed().spans, cuts: &[] })
    }
}

impl Breakdown {
    /// Whose every moment of that time is; [`IdleGaps`] is asked for.
    pub(crate) fn within(analysis: &Analysis<'_>, time: Within<'_>) -> Breakdown {
        let idle = analysis.get::<IdleGaps>();
        let devices = 0..idle.devices.len();
        let found: Vec<(DeviceBreakdown, Vec<CutRow>)> =
            devices.into_par_iter().filter_map(|at| of_device(analysis, time, idle, at)).collect();
        let mut breakdown = Breakdown::default();
        for (device, rows) in found {
            breakdown.devices.push(device);
            for (row, stretches) in rows {
                breakdown.rows.push(row);
                breakdown.stretches.push(stretches);
            }
        }
        breakdown.places = breakdown.rows.iter().enumerate().map(|(at, row)| ((row.device, row.owner), at)).collect();
        breakdown
    }

    /// The position of the row of `owner` on `device`.
    pub fn place(&self, device: DeviceRow, owner: TimeOwner) -> Option<usize> {
        self.places.get(&(device, owner)).copied()
    }

    /// The time that is judged, over all devices, nanoseconds.
    pub fn whole_ns(&self) -> i64 {
        self.devices.iter().fold(0, |sum, device| sum.saturating_add(device.whole_ns))
    }

    /// The part in which devices worked, nanoseconds.
    pub fn busy_ns(&self) -> i64 {
        self.devices.iter().fold(0, |sum, device| sum.saturating_add(device.busy_ns))
    }
}

impl<'a> Analysis<'a> {
    /// Whose every moment of the devices is.
    pub fn breakdown(&self) -> &'a Breakdown {
        self.get()
    }
}

fn of_device(
    analysis: &Analysis<'_>,
    time: Within<'_>,
    idle: &IdleGaps,
    position: usize,
) -> Option<(DeviceBreakdown, Vec<CutRow>)> {
    let trace = analysis.trace;
    let device = DeviceRow(idle.devices[position].device);
    let process = trace.devices.get(device.index())?.process as usize;
    let spans = time.spans.get(process).filter(|spans| spans.total_ns() > 0)?;
    let cuts = time.cuts.get(process).map_or(&[][..], Vec::as_slice);
    let tracks: Vec<&Track> = trace.tracks_of_device(device.0).filter(|track| !track.rows.is_empty()).collect();
    let work = || work_rows(trace, spans, cuts, &tracks, Succession::new(analysis, device.0, &tracks));
    let (mut rows, idle_rows) = rayon::join(work, || idle_rows(analysis, spans, cuts, idle, position));
    let busy_ns = rows.iter().fold(0_i64, |sum, (row, _)| sum.saturating_add(row.ns));
    rows.extend(idle_rows);
    rows.retain(|(row, _)| row.ns > 0 || row.events > 0);
    rows.iter_mut().for_each(|(row, _)| row.device = device);
    rows.sort_by_key(|(row, _)| (std::cmp::Reverse(row.ns), row.owner));
    Some((DeviceBreakdown { device, whole_ns: spans.total_ns(), busy_ns }, rows))
}

/// What each piece of work has of the moments in `spans`.
fn work_rows(
    trace: &Trace,
    spans: &Spans,
    cuts: &[i64],
    tracks: &[&Track],
    succession: Option<Succession>,
) -> Vec<CutRow> {
    let mut sums = Sums::default();
    let mut sweep = Sweep::new(spans, cuts, tracks.len());
    let rows = tracks.iter().enumerate().map(|(at, track)| (track.rows.clone(), at));
    InOrder::with(trace, rows).for_each_with(|row, track| {
        if EventKind::from_byte_is_work(trace.events.kind[row]) {
            let (start, end) = (trace.events.start_ns[row], trace.events.end_ns(row));
            sweep.until(start, &mut sums);
            let at = sums.row(TimeOwner::work(trace, row));
            sums.seen(at, spans.contains(start), spans.within_ns(start, end), EventRow::known(row as u32));
            let op = trace.events.op[row];
            let mut open = Open { end, row: at, op, yields: false };
            if let Some(succession) = &succession {
                sweep.end_before(op, succession);
                open.yields = succession.runs_others(op);
            }
            sweep.begin(track, open);
        }
    });
    sweep.until(i64::MAX, &mut sums);
    sums.rows(cuts)
}

/// What each reason of idleness has of them.
fn idle_rows(analysis: &Analysis<'_>, spans: &Spans, cuts: &[i64], idle: &IdleGaps, position: usize) -> Vec<CutRow> {
    let (trace, per) = (analysis.trace, analysis.analyzed().per);
    let visited = idle.visit(trace, position, 0, Sums::default, |sums, parts| {
        for part in parts {
            let ns = spans.within_ns(part.start_ns, part.end_ns());
            if ns > 0 {
                let cause = part.cause_per(per);
                let owner = TimeOwner::Idle { cause, activity: part.activity, name: part.name };
                let at = sums.row(owner);
                add_cut(sums, at, spans, cuts, (part.start_ns, part.end_ns()), ns);
                sums.seen(at, true, ns, part.row);
            }
        }
    });
    let mut sums = Sums::default();
    visited.into_iter().for_each(|part| sums.merge(part));
    sums.rows(cuts)
}

/// Gives row `at` the `ns` of a time that are in `spans`, each stretch its part.
fn add_cut(sums: &mut Sums, at: usize, spans: &Spans, cuts: &[i64], (start, end): (i64, i64), ns: i64) {
    let first = cuts.partition_point(|cut| *cut <= start);
    if cuts.get(first).is_none_or(|cut| *cut >= end) {
        return sums.add(at, first, ns);
    }
    let mut from = start;
    for stretch in first..=cuts.len() {
        let until = cuts.get(stretch).copied().unwrap_or(i64::MAX).min(end);
        sums.add(at, stretch, spans.within_ns(from, until));
        if until == end {
            break;
        }
        from = until;
    }
}
