//! What the cores of a TPU report of themselves: modules that ran, their operations, and what went on beside them.
//!
//! A core's operations are on one line and nest; what an operation starts and another one ends (`copy-start` and
//! `copy-done`) is on a line of its own, as long as it lasted. Memory spaces in the shapes of such a copy say whether it
//! moved data between the host and the device.

use super::collectives::collective;
use super::lanes;
use super::role::LineRole;
use crate::import::Import;
use ridge_hlo::Shape;
use ridge_trace::{Collective, EventKind, MemoryKind, NONE, Transfer};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// The memory space of the host in XLA's layouts (`Layout::kHostMemorySpace` in `xla/layout.h`).
const HOST_MEMORY: i64 = 5;

/// A line of a core.
#[derive(Debug, Clone)]
pub(crate) struct CoreLine {
    pub(crate) role: LineRole,
    pub(crate) device: u32,
    pub(crate) track: u32,
    /// Its raw rows.
    pub(crate) rows: Range<u32>,
}

/// Links operations to what started their modules, lists collectives, and puts what runs at once on lanes.
pub(crate) fn interpret(lines: &[CoreLine], import: &mut Import) {
    let mut collectives = FxHashMap::default();
    let of_role = |role: LineRole| lines.iter().filter(move |line| line.role == role);
    for line in of_role(LineRole::DeviceOps).chain(of_role(LineRole::AsyncOps)) {
        for modules in of_role(LineRole::Modules).filter(|modules| modules.device == line.device) {
            link_to_executions(line.rows.clone(), modules.rows.clone(), import);
        }
        let has_async = of_role(LineRole::AsyncOps).any(|other| other.device == line.device && !other.rows.is_empty());
        let is_counted_there = has_async && line.role == LineRole::DeviceOps;
        list_collectives(line.rows.clone(), is_counted_there, &mut collectives, import);
    }
    for line in of_role(LineRole::AsyncOps) {
        lanes::spread(line.rows.clone(), line.track, import);
    }
}

/// An operation was launched by what launched the execution of its module.
fn link_to_executions(rows: Range<u32>, modules: Range<u32>, import: &mut Import) {
    let slices = import.builder.slices(modules);
    let mut runs: Vec<(i64, i64, u32)> = (0..slices.len())
        .map(|at| (slices.start_ns[at], slices.start_ns[at].saturating_add(slices.dur_ns[at]), slices.link[at]))
        .collect();
    runs.sort_unstable();
    let slices = import.builder.slices(rows);
    for (link, start) in slices.link.iter_mut().zip(&*slices.start_ns).filter(|(link, _)| **link == NONE) {
        let before = runs.partition_point(|(begin, _, _)| begin <= start);
        let run = before.checked_sub(1).map(|last| runs[last]);
        *link = run.filter(|(_, end, _)| start <= end).map_or(NONE, |(_, _, cause)| cause);
    }
}

/// Lists the collectives among operations; those that a line of asynchronous ones has whole are not counted twice.
fn list_collectives(
    rows: Range<u32>,
    is_counted_there: bool,
    known: &mut FxHashMap<(u32, bool), Option<Collective>>,
    import: &mut Import,
) {
    for row in rows {
        let slices = import.builder.slices(row..row + 1);
        let (op, kind) = (slices.op[0], slices.kind[0]);
        if kind != EventKind::DeviceOp as u8 || op == NONE {
            continue;
        }
        // The name is looked at once for each operation, not for each event.
        let found = *known.entry((op, is_counted_there)).or_insert_with(|| {
            let operation = import.builder.operations.get(op as usize)?;
            let name = import.builder.strings.get(operation.name);
            let (starts, ends) = (name.contains("-start"), name.contains("-done"));
            if ends || starts && is_counted_there { None } else { collective(op, import) }
        });
        import.builder.collectives.extend(found.map(|found| Collective { event: row, ..found }));
    }
}

/// What an instruction moves that is written as text, if it is the start of a copy.
///
/// `%copy-start = (f32[8]{0}, f32[8]{0:S(5)}, u32[]) copy-start(…)`: the destination, the source, what it waits with.
pub(crate) fn started_copy(instruction: &str) -> Option<(EventKind, Transfer)> {
    let (_, rest) = instruction.split_once(" = ")?;
    let (shape, rest) = Shape::parse(rest)?;
    if !rest.trim_start().starts_with("copy-start(") {
        return None;
    }
    let [destination, source, ..] = &shape.tuple[..] else { return None };
    let on_host = |shape: &Shape| shape.layout.as_ref().is_some_and(|layout| layout.memory_space == HOST_MEMORY);
    let kind = match (on_host(source), on_host(destination)) {
        (true, false) => EventKind::CopyHostToDevice,
        (false, true) => EventKind::CopyDeviceToHost,
        (false, false) => EventKind::CopyDeviceToDevice,
        (true, true) => EventKind::CopyOther,
    };
    // The host's memory that a TPU reaches by itself is pinned.
    let memory = |shape| if on_host(shape) { MemoryKind::Pinned } else { MemoryKind::Device };
    let bytes = destination.byte_size().unwrap_or(0);
    let (source, destination) = (memory(source), memory(destination));
    Some((kind, Transfer { bytes, source, destination, is_async: Some(true) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_between_memory_spaces() {
        let copy = |to: &str, from: &str| {
            started_copy(&format!(
                "%copy-start.1 = (f32[4,2]{to}, f32[4,2]{from}, u32[]{{:S(2)}}) copy-start(f32[4,2]{from} %p)"
            ))
            .map(|(kind, transfer)| (kind, transfer.bytes))
        };
        let (device, host, near) = ("{1,0:T(8,128)}", "{1,0:T(8,128)S(5)}", "{1,0:T(8,128)S(1)}");
        assert_eq!(copy(device, host), Some((EventKind::CopyHostToDevice, 32)));
        assert_eq!(copy(host, device), Some((EventKind::CopyDeviceToHost, 32)));
        assert_eq!(copy(near, device), Some((EventKind::CopyDeviceToDevice, 32)));
        assert_eq!(started_copy("%copy = f32[4,2]{1,0} copy(f32[4,2]{0,1} %p)"), None);
    }
}
