//! What the hardware counted of kernels, as profiled launches.
//!
//! A device has several of each unit that counts (XCDs, shader engines, channels), and rocprofv3 writes a value for each of them;
//! they are added up, as its own view `counters_collection` does.
//! The metrics keep AMD's names. Two more are what the formulas over counters need: the duration, and the work-items of a wave.

use super::records::{Counted, Records, sizes};
use crate::import::{Import, Source};
use crate::note::Severity;
use ridge_trace::{KernelProfile, StringId};
use rustc_hash::FxHashMap;

/// Adds what was counted in the process `number`, which has that row in the trace.
pub(super) fn add(records: &Records, number: u64, process: u32, source: Source<'_>, import: &mut Import) {
    let mut all: Vec<&Counted> = records.counted.iter().filter(|counted| counted.process == number).collect();
    if all.is_empty() {
        return;
    }
    all.sort_by_key(|counted| counted.start_ns);
    let strings = &mut import.builder.strings;
    let (duration, wave) = (strings.intern("duration"), strings.intern("wave_front_size"));
    let (nanos, no_unit) = (strings.intern("nsecond"), StringId::default());
    let profiles = &mut import.builder.profiles;
    for (launch, counted) in (0..).zip(&all) {
        let row = profiles.launches.len() as u32;
        let (grid, block) = sizes(counted.items, counted.group);
        let agent = records.agents.get(&counted.agent);
        profiles.launches.push(KernelProfile {
            process,
            name: counted.name,
            launch,
            grid,
            block,
            device: agent.and_then(|agent| u32::try_from(agent.number).ok()),
            stream: Some(counted.stream).filter(|stream| *stream != 0),
        });
        let mut add = |name, value, unit| profiles.push(row, name, value, StringId::default(), unit);
        add(duration, counted.end_ns.saturating_sub(counted.start_ns) as f64, nanos);
        if let Some(size) = agent.and_then(|agent| agent.wave_size) {
            add(wave, size as f64, no_unit);
        }
        for (name, value) in sums(&counted.values) {
            add(name, value, no_unit);
        }
    }
    let message = "kernels ran one at a time while counters were collected: gaps and overlaps aren't the program's";
    import.note(Severity::Info, source.name, None, all.len() as u64, message.to_owned());
}

/// Each counter once, in the order in which they come.
fn sums(values: &[(StringId, f64)]) -> Vec<(StringId, f64)> {
    let mut places: FxHashMap<StringId, usize> = FxHashMap::default();
    let mut sums: Vec<(StringId, f64)> = Vec::new();
    for (name, value) in values {
        let at = *places.entry(*name).or_insert(sums.len());
        match sums.get_mut(at) {
            Some((_, sum)) => *sum += value,
            None => sums.push((*name, *value)),
        }
    }
    sums
}
