//! The numbers of a capture's memory that matter most, in sections.

use crate::Analysis;
use crate::models::memory::{Allocator, Class, PlannedModule, Snapshot, frame_of_user, out_of_memory};
use ridge_table::{Basis, Fact, FactValue, Section};
use ridge_trace::StackRow;

/// What a plan leaves out, which a process that is watched from outside shows.
pub(super) const NOT_PLANNED: &str = "a process grows by other amounts: scratch memory of libraries, the compiler and the caches of allocators are in no plan";

/// Allocators and snapshots that have a section of their own; tables have all.
const MOST_SECTIONS: usize = 4;

/// Sections on the largest module, on allocators, on snapshots and on what ran out.
pub(crate) fn sections(analysis: &Analysis<'_>) -> Vec<Section> {
    let memory = analysis.memory();
    let planned = memory.modules.first().map(|largest| planned(analysis, memory.modules.len(), largest));
    let mut sections: Vec<Section> = planned.into_iter().collect();
    sections.extend(memory.allocators.iter().take(MOST_SECTIONS).map(|one| allocator(analysis, one)));
    sections.extend(memory.snapshots.iter().take(MOST_SECTIONS).map(|one| snapshot(analysis, one)));
    sections.extend(out_of_memory_section(analysis));
    sections
}

fn fact(key: &str, title: &str, value: FactValue, definition: &str) -> Fact {
    Fact::observed(key, title, value, definition)
}

fn part(key: &str, title: &str, bytes: u64, whole: u64, definition: &str) -> Fact {
    let share = (whole > 0).then(|| bytes as f64 / whole as f64);
    fact(key, title, FactValue::Bytes(bytes), definition).share(share)
}

fn planned(analysis: &Analysis<'_>, modules: usize, largest: &PlannedModule) -> Section {
    let plan = &largest.plan;
    let how = if plan.basis == Basis::Counted {
        "counted from the compiler's buffer assignment"
    } else {
        "modelled from the schedule"
    };
    let mut facts = vec![
        fact(
            "largest_module",
            "Largest module",
            FactValue::Text(largest.name(analysis).to_owned()),
            "module with the largest planned peak",
        ),
        fact(
            "planned_peak_bytes",
            "Planned peak",
            FactValue::Bytes(plan.peak_bytes),
            &format!("most bytes that one run of it needs at one time, {how}; {NOT_PLANNED}"),
        )
        .basis(plan.basis),
    ];
    for (key, title, class) in [
        ("planned_parameter_bytes", "Parameters", Class::Parameter),
        ("planned_donated_bytes", "Donated parameters", Class::Donated),
        ("planned_output_bytes", "Outputs", Class::Output),
        ("planned_temporary_bytes", "Temporary", Class::Temporary),
    ] {
        facts.push(
            part(
                key,
                title,
                plan.bytes_of(class),
                plan.peak_bytes,
                "bytes set aside over the whole run, as a part of the peak",
            )
            .basis(plan.basis),
        );
    }
    let missed = largest.missed_bytes();
    if missed > 0 {
        facts.push(
            part(
                "missed_donation_bytes",
                "Missed donation",
                missed,
                plan.peak_bytes,
                "at most this much less, if arguments that are dead when a like result is made were donated (modelled)",
            )
            .basis(Basis::Modelled),
        );
    }
    facts.push(fact("modules", "Modules with HLO", FactValue::Count(modules as u64), ""));
    Section { title: "Planned memory".to_owned(), facts }
}

fn allocator(analysis: &Analysis<'_>, history: &Allocator) -> Section {
    let trace = analysis.trace;
    let peak = history.peak_bytes(trace);
    let end = history.end_bytes(trace);
    let mut facts = vec![
        fact(
            "peak_bytes",
            "Peak in use",
            FactValue::Bytes(peak),
            "most bytes in use after any allocator event (measured)",
        ),
        part("end_bytes", "In use at the end", end, peak, "after the last event, as a part of the peak"),
    ];
    let has_clock = history.has_clock(trace);
    if has_clock {
        let at = FactValue::Nanos(history.peak_ns(trace));
        facts.insert(1, fact("peak_at_ns", "Peak at", at, "on the trace's clock"));
    }
    if let Some(reserved) = history.most_reserved(trace) {
        facts.push(fact(
            "reserved_bytes",
            "Peak reserved",
            FactValue::Bytes(reserved),
            "peak bytes reserved from the driver",
        ));
    }
    if let Some((cached, _)) = history.most_cached(trace) {
        facts.push(fact(
            "cached_bytes",
            "Peak cached unused",
            FactValue::Bytes(cached),
            "largest difference of reserved and in use",
        ));
    }
    let (allocations, frees) = history.counts(trace);
    facts.push(fact("allocations", "Allocations", FactValue::Count(allocations), ""));
    facts.push(fact("frees", "Frees", FactValue::Count(frees), ""));
    if has_clock {
        let (burst, _) = history.worst_burst(trace);
        let says = "allocator events within one millisecond";
        facts.push(fact("burst", "Peak events per ms", FactValue::Count(burst), says));
    }
    if let Some(growth) = history.growth(trace).filter(|growth| growth.is_suspect()) {
        let words = format!("{:.0} bytes per step over {} steps", growth.bytes_per_step, growth.steps);
        facts.push(fact(
            "growth",
            "Grows",
            FactValue::Text(words),
            "median slope of the bytes in use at the ends of steps (Theil-Sen): a leak, or a cache that fills",
        ));
    }
    Section { title: format!("Allocator {}", history.label), facts }
}

fn snapshot(analysis: &Analysis<'_>, sums: &Snapshot) -> Section {
    let held = sums.reserved();
    let mut facts = vec![
        fact(
            "held_bytes",
            "Reserved",
            FactValue::Bytes(held),
            "all bytes that the allocator had reserved at that moment (measured)",
        ),
        part("allocated_bytes", "In use", sums.allocated, held, "bytes of blocks that the program uses"),
    ];
    for (key, title, bytes, definition) in [
        ("awaiting_bytes", "Awaiting free", sums.awaiting, "freed, but a stream may still use it"),
        ("inactive_bytes", "Cached unused", sums.inactive, "reserved and unused"),
        ("inactive_split_bytes", "Split unused", sums.split, "unused, in partly used segments: can't be released"),
        ("rounding_bytes", "Rounding", sums.rounding, "in use beyond the requested bytes"),
    ] {
        if bytes > 0 {
            facts.push(part(key, title, bytes, held, definition));
        }
    }
    let (snapshot, allocator) = (analysis.text(sums.snapshot), analysis.text(sums.allocator));
    let of = if allocator.is_empty() { String::new() } else { format!(" of {allocator}") };
    Section { title: format!("Snapshot {snapshot}{of}"), facts }
}

fn out_of_memory_section(analysis: &Analysis<'_>) -> Option<Section> {
    let events = &analysis.trace.memory.segments;
    let mut facts = Vec::new();
    for row in out_of_memory(analysis.trace).take(MOST_SECTIONS).map(|row| row.index()) {
        facts.push(fact("time_ns", "At", FactValue::Nanos(events.time_ns[row]), "on the trace's clock"));
        facts.push(fact(
            "requested_bytes",
            "Asked for",
            FactValue::Bytes(events.bytes[row]),
            "bytes that could not be had",
        ));
        let free = events.free_bytes[row]
            .map(|free| fact("free_bytes", "Device free", FactValue::Bytes(free), "bytes that the device had left"));
        facts.extend(free);
        let from = frame_of_user(analysis.trace, StackRow::known(events.stack[row]));
        facts.extend(
            from.map(|frame| {
                fact("source", "From", FactValue::Text(frame), "innermost frame outside installed packages")
            }),
        );
    }
    (!facts.is_empty()).then(|| Section { title: "Out of memory".to_owned(), facts })
}
