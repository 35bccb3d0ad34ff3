//! Allocators of a capture as rules ask about them: of which device each is, and which requests it could not meet.
//!
//! What an allocator held over time is the model's ([`ridge_analysis::models::memory`]).

use crate::case::Case;
use ridge_analysis::models::memory::{Allocator, out_of_memory};
use ridge_trace::{DeviceRow, StringId, Trace};

/// An allocator of device memory.
#[derive(Debug, Clone)]
pub(crate) struct OfDevice<'a> {
    /// Its name.
    pub(crate) name: &'a str,
    /// The device whose memory it is, where its name says it.
    pub(crate) device: Option<DeviceRow>,
    /// All of that device's memory, bytes, where the capture says it.
    pub(crate) capacity: Option<u64>,
    /// Requests that could not be met: when, and bytes asked for.
    pub(crate) exhausted: Vec<(i64, u64)>,
    trace: &'a Trace,
    /// What it held; nothing where the capture has only requests that failed.
    held: Option<&'a Allocator>,
}

/// Every allocator of device memory, those first that held most.
pub(crate) fn allocators<'a>(case: &Case<'a>) -> Vec<OfDevice<'a>> {
    let trace = case.trace();
    let mut found: Vec<((u32, StringId), OfDevice<'a>)> = Vec::new();
    // Plans of modules are part of the model, and nobody pays for them where no allocator was recorded.
    if trace.allocations.is_empty() && out_of_memory(trace).next().is_none() {
        return Vec::new();
    }
    for held in &case.analysis.memory().allocators {
        let key = (held.process.0, held.name);
        found.push((key, OfDevice { held: Some(held), ..OfDevice::named(trace, key) }));
    }
    let segments = &trace.memory.segments;
    for row in out_of_memory(trace).map(|row| row.index()) {
        let key = (segments.process[row], segments.allocator[row]);
        let at = found.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
            found.push((key, OfDevice::named(trace, key)));
            found.len() - 1
        });
        found[at].1.exhausted.push((segments.time_ns[row], segments.bytes[row]));
    }
    found.into_iter().map(|(_, allocator)| allocator).filter(|allocator| !is_of_host(allocator.name)).collect()
}

impl<'a> OfDevice<'a> {
    fn named(trace: &'a Trace, (process, name): (u32, StringId)) -> OfDevice<'a> {
        let name = trace.strings.get(name);
        let number = number_in(name);
        let is_it =
            |plane: &str| number.is_some_and(|number| number_in(plane) == Some(number)) && !plane.contains("CPU");
        let at = trace.devices.iter().position(|device| device.process == process && is_it(&device.plane));
        let capacity = at.and_then(|at| trace.devices[at].memory_bytes).filter(|bytes| *bytes > 0);
        let device = at.map(|at| DeviceRow(at as u32));
        OfDevice { name, device, capacity, exhausted: Vec::new(), trace, held: None }
    }

    /// Most bytes in use.
    pub(crate) fn peak_bytes(&self) -> u64 {
        self.held.map_or(0, |held| held.peak_bytes(self.trace))
    }

    /// Most bytes held from the driver, where events say it.
    pub(crate) fn most_reserved(&self) -> Option<u64> {
        self.held?.most_reserved(self.trace).filter(|bytes| *bytes > 0)
    }

    /// The part of the device's memory that `bytes` are, 0 to 1, where its size is known.
    pub(crate) fn part_of_device(&self, bytes: u64) -> Option<f64> {
        self.capacity.map(|capacity| bytes as f64 / capacity as f64)
    }

    /// Bytes in use at `time_ns`; before the first event, those of the first.
    pub(crate) fn in_use_at(&self, time_ns: i64) -> i64 {
        let table = &self.trace.allocations;
        let rows = self.held.map_or(&[][..], |held| &held.rows);
        let after = rows.partition_point(|row| table.time_ns[*row] <= time_ns);
        rows.get(after.saturating_sub(1)).map_or(0, |row| table.in_use_bytes[*row])
    }

    /// Bytes that it took from its driver while it held at least as many unused.
    pub(crate) fn taken_though_free(&self) -> i64 {
        let table = &self.trace.allocations;
        let (mut taken, mut before) = (0_i64, None::<(i64, i64)>);
        for row in self.held.map_or(&[][..], Allocator::happened) {
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

/// The first number in a name: `GPU_0_bfc`, `cuda:0`, `/device:GPU:0`.
fn number_in(name: &str) -> Option<u32> {
    let from = name.find(|letter: char| letter.is_ascii_digit())?;
    let digits = &name[from..];
    let until = digits.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(digits.len());
    digits[..until].parse().ok()
}

pub(crate) fn is_of_host(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.contains("host") || name.contains("cpu")
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
