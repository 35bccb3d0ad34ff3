//! How much of the wall time was covered by what: every union of intervals an overview needs, in one sweep.
//!
//! The tracks are merged by start, so each union needs only the time up to which it is covered; nothing is stored
//! per event.

use crate::context::PythonFrame;
use crate::context::in_order::InOrder;
use ridge_trace::{EventKind, Trace, TrackKind};

/// Length of a union of spans that come in order of start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Union {
    covered_until: i64,
    total_ns: i64,
}

impl Default for Union {
    fn default() -> Union {
        Union { covered_until: i64::MIN, total_ns: 0 }
    }
}

impl Union {
    /// Adds a span that starts no earlier than any before it.
    #[inline]
    pub(crate) fn add(&mut self, start: i64, end: i64) {
        if end > self.covered_until {
            self.total_ns += end - start.max(self.covered_until);
            self.covered_until = end;
        }
    }

    /// Its length, nanoseconds.
    pub(crate) fn total_ns(&self) -> i64 {
        self.total_ns
    }
}

/// What covered the time of one device.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct DeviceCoverage {
    /// All device work.
    pub(crate) busy: Union,
    /// Kernels and operations.
    pub(crate) compute: Union,
    /// Copies.
    pub(crate) copies: Union,
    /// First start and last end of its work.
    pub(crate) window: Option<(i64, i64)>,
}

/// What covered the wall time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Coverage {
    /// Work of any device.
    pub(crate) busy: Union,
    /// Compilation on any thread.
    pub(crate) compile: Union,
    /// Work of any device, or ours beside the program.
    pub(crate) busy_or_ours: Union,
    /// Work of any device, ours, or compilation.
    pub(crate) busy_or_compile: Union,
    /// Work, ours, compilation or any other range on the host.
    pub(crate) recorded: Union,
    /// By row of the devices table.
    pub(crate) devices: Vec<DeviceCoverage>,
}

/// What an event covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Covers {
    Nothing,
    Compute,
    Copy,
    OtherWork,
    Compile,
    Ours,
    Host,
}

/// Whether event `row` is what the recorder did in the program's process: a range of its own, or functions of its harness, which
/// no other profiler's overhead is named after.
pub(crate) fn is_ours(trace: &Trace, row: usize) -> bool {
    let is_ours = |name: &str| name.starts_with("ridgeline: ") || PythonFrame::parse(name).is_some();
    trace.events.kind[row] == EventKind::Overhead as u8 && is_ours(trace.name(row))
}

fn covers(kind: EventKind) -> Covers {
    match kind {
        kind if kind.is_compute() => Covers::Compute,
        kind if kind.is_copy() => Covers::Copy,
        kind if kind.is_device_work() => Covers::OtherWork,
        EventKind::Compile => Covers::Compile,
        // A pool worker's presence is not work, and a point covers nothing.
        EventKind::Instant | EventKind::PoolRegion => Covers::Nothing,
        EventKind::DeviceMemory | EventKind::Overhead | EventKind::Derived => Covers::Nothing,
        EventKind::Synchronization | EventKind::DeviceRange => Covers::Nothing,
        _ => Covers::Host,
    }
}

impl Coverage {
    /// Sweeps all tracks of `trace` once.
    pub(crate) fn new(trace: &Trace) -> Coverage {
        let table: Vec<Covers> = (0..=u8::MAX).map(|byte| covers(EventKind::from_byte(byte))).collect();
        let events = &trace.events;
        let (starts, durations, kinds) = (&events.start_ns[..], &events.dur_ns[..], &events.kind[..]);
        let mut coverage =
            Coverage { devices: vec![DeviceCoverage::default(); trace.devices.len()], ..Coverage::default() };
        let counted = trace.tracks.iter().filter(|track| track.kind != TrackKind::Derived);
        InOrder::with(trace, counted.map(|track| (track.rows.clone(), track.device))).for_each_with(|row, device| {
            let end = starts[row].saturating_add(durations[row]);
            let covers = if is_ours(trace, row) { Covers::Ours } else { table[kinds[row] as usize] };
            coverage.add(covers, starts[row], end, device);
        });
        coverage
    }

    #[inline]
    fn add(&mut self, covers: Covers, start: i64, end: i64, device: Option<u32>) {
        match covers {
            Covers::Nothing => return,
            Covers::Host => {}
            Covers::Ours => {
                self.busy_or_ours.add(start, end);
                self.busy_or_compile.add(start, end);
            }
            Covers::Compile => {
                self.compile.add(start, end);
                self.busy_or_compile.add(start, end);
            }
            Covers::Compute | Covers::Copy | Covers::OtherWork => {
                self.busy.add(start, end);
                self.busy_or_ours.add(start, end);
                self.busy_or_compile.add(start, end);
                if let Some(device) = device.and_then(|device| self.devices.get_mut(device as usize)) {
                    device.add(covers, start, end);
                }
            }
        }
        self.recorded.add(start, end);
    }
}

impl DeviceCoverage {
    #[inline]
    fn add(&mut self, covers: Covers, start: i64, end: i64) {
        self.busy.add(start, end);
        match covers {
            Covers::Compute => self.compute.add(start, end),
            Covers::Copy => self.copies.add(start, end),
            _ => {}
        }
        let (first, last) = self.window.unwrap_or((start, end));
        self.window = Some((first.min(start), last.max(end)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlaps_count_once() {
        let mut union = Union::default();
        for (start, end) in [(0, 4), (2, 3), (3, 6), (6, 7), (9, 9), (10, 12)] {
            union.add(start, end);
        }
        assert_eq!(union.total_ns(), 9);
    }
}
