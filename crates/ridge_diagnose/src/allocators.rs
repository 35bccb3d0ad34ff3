//! Allocators of a capture: what each held over time, and of which device.

use crate::case::Case;
use ridge_trace::{Allocations, DeviceRow, SegmentEventKind, StringId};
use rustc_hash::FxHashMap;

/// What one allocator did.
#[derive(Debug, Clone)]
pub(crate) struct Allocator<'a> {
    /// Its name.
    pub(crate) name: &'a str,
    /// The device whose memory it is, where its name says it.
    pub(crate) device: Option<DeviceRow>,
    /// All of that device's memory, bytes, where the capture says it.
    pub(crate) capacity: Option<u64>,
    /// Rows of the allocations table, in order of time.
    pub(crate) rows: Vec<usize>,
    /// How many of them, at the beginning, are what was held before the first event.
    older: usize,
    /// Most bytes in use.
    pub(crate) peak_bytes: i64,
    /// Most bytes held from the driver; -1 where events do not say it.
    pub(crate) most_reserved: i64,
    /// Requests that could not be met: when, and bytes asked for.
    pub(crate) exhausted: Vec<(i64, u64)>,
}

/// Every allocator of device memory, in the order of the capture.
pub(crate) fn allocators<'a>(case: &Case<'a>) -> Vec<Allocator<'a>> {
    let trace = case.trace();
    let table = &trace.allocations;
    let mut places: FxHashMap<(u32, StringId), usize> = FxHashMap::default();
    let mut found: Vec<Allocator<'a>> = Vec::new();
    let mut place = |process: u32, name: StringId, found: &mut Vec<Allocator<'a>>| {
        *places.entry((process, name)).or_insert_with(|| {
            found.push(of_name(case, process, trace.strings.get(name)));
            found.len() - 1
        })
    };
    for row in 0..table.len() {
        let at = place(table.process[row], table.allocator[row], &mut found);
        let allocator = &mut found[at];
        allocator.rows.push(row);
        allocator.older += usize::from(allocator.older + 1 == allocator.rows.len() && table.is_older[row]);
        allocator.peak_bytes = allocator.peak_bytes.max(table.in_use_bytes[row]);
        allocator.most_reserved = allocator.most_reserved.max(table.reserved_bytes[row]);
    }
    let segments = &trace.memory.segments;
    for (row, kind) in segments.kind.iter().enumerate() {
        if *kind == SegmentEventKind::OutOfMemory {
            let at = place(segments.process[row], segments.allocator[row], &mut found);
            found[at].exhausted.push((segments.time_ns[row], segments.bytes[row]));
        }
    }
    found.retain(|allocator| !is_of_host(allocator.name));
    found
}

fn of_name<'a>(case: &Case<'a>, process: u32, name: &'a str) -> Allocator<'a> {
    let devices = &case.trace().devices;
    let number = number_in(name);
    let is_it = |plane: &str| number.is_some_and(|number| number_in(plane) == Some(number)) && !plane.contains("CPU");
    let at = devices.iter().position(|device| device.process == process && is_it(&device.plane));
    Allocator {
        name,
        device: at.map(|at| DeviceRow(at as u32)),
        capacity: at.and_then(|at| devices[at].memory_bytes).filter(|bytes| *bytes > 0),
        rows: Vec::new(),
        older: 0,
        peak_bytes: 0,
        most_reserved: -1,
        exhausted: Vec::new(),
    }
}

/// The first number in a name: `GPU_0_bfc`, `cuda:0`, `/device:GPU:0`.
fn number_in(name: &str) -> Option<u32> {
    let from = name.find(|letter: char| letter.is_ascii_digit())?;
    let digits = &name[from..];
    let until = digits.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(digits.len());
    digits[..until].parse().ok()
}

fn is_of_host(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.contains("host") || name.contains("cpu")
}

impl Allocator<'_> {
    /// The rows that happened in the capture.
    pub(crate) fn happened(&self) -> &[usize] {
        &self.rows[self.older..]
    }

    /// The part of the device's memory that `bytes` are, 0 to 1, where its size is known.
    pub(crate) fn part_of_device(&self, bytes: i64) -> Option<f64> {
        self.capacity.map(|capacity| bytes.max(0) as f64 / capacity as f64)
    }

    /// Bytes in use at `time_ns`; before the first event, those of the first.
    pub(crate) fn in_use_at(&self, table: &Allocations, time_ns: i64) -> i64 {
        let after = self.rows.partition_point(|row| table.time_ns[*row] <= time_ns);
        self.rows.get(after.saturating_sub(1)).map_or(0, |row| table.in_use_bytes[*row])
    }

    /// Bytes that it took from its driver while it held at least as many unused.
    pub(crate) fn taken_though_free(&self, table: &Allocations) -> i64 {
        let (mut taken, mut before) = (0_i64, None::<(i64, i64)>);
        for row in self.happened() {
            let (in_use, reserved) = (table.in_use_bytes[*row], table.reserved_bytes[*row]);
            if let Some((was_in_use, was_reserved)) = before {
                let grown = reserved.saturating_sub(was_reserved);
                if was_reserved >= 0 && grown > 0 && was_reserved.saturating_sub(was_in_use) >= grown {
                    taken = taken.saturating_add(grown);
                }
            }
            before = Some((in_use, reserved));
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_the_device() {
        let found = ["GPU_0_bfc", "cuda:12", "/device:GPU:3", "bfc"].map(number_in);
        assert_eq!(found, [Some(0), Some(12), Some(3), None]);
    }
}
