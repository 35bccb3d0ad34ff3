//! What each kind of device reached in all, what is not known, and where its ceilings are from.

use crate::Analysis;
use crate::context::partition::partition;
use crate::device::{Ceilings, Limit};
use crate::models::work::{Bound, Known, Rows, WorkSums, of_classes, sums};
use ridge_table::Basis;
use ridge_table::{Fact, FactValue, Section, Unit};
use ridge_units::Share;
use rustc_hash::FxHashMap;

/// Reasons for unknown work that a note names.
const REASONS_SHOWN: usize = 3;

/// One section per kind of device whose work is known.
pub(crate) fn sections(analysis: &Analysis<'_>) -> Vec<Section> {
    let workload = analysis.workload();
    let sums = of_classes(analysis);
    let worked = workload.classes.iter().zip(&sums).filter(|(_, sums)| sums.self_ns() > 0.0);
    worked.map(|(ceilings, sums)| section(ceilings, sums)).collect()
}

fn section(ceilings: &Ceilings, sums: &WorkSums) -> Section {
    let fact = |key: &str, title: &str, value: FactValue, share: Option<f64>, definition: &str| {
        Fact::observed(key, title, value, definition).share(share)
    };
    let nanos = |ns: f64| FactValue::Nanos(ns.round() as i64);
    let all = sums.self_ns();
    let part = |ns: f64| (all > 0.0).then(|| ns / all);
    let mut facts = vec![
        fact("work_ns", "Operations", nanos(all), None, "self times of kernels and operations, measured"),
        fact(
            "flops",
            "Work",
            FactValue::Real(sums.flops, Unit::Flops),
            None,
            "floating-point operations, and integer ones of matrix units, counted from the HLO",
        )
        .basis(Basis::Counted),
        fact(
            "bytes",
            "Compulsory traffic",
            FactValue::Bytes(sums.bytes.round() as u64),
            None,
            "bytes that must be read and written at least, counted from the HLO",
        )
        .basis(Basis::Counted),
    ];
    let rates = [
        ("flops_per_sec", "Rate", sums.flops_per_sec(), Unit::FlopsPerSec, "operations per second of measured time"),
        ("bytes_per_sec", "Traffic rate", sums.bytes_per_sec(), Unit::BytesPerSec, "compulsory bytes per second"),
        ("intensity", "Intensity", sums.intensity(), Unit::FlopPerByte, "operations per byte of compulsory traffic"),
    ];
    for (key, title, value, unit, definition) in rates {
        let counted = |value| fact(key, title, FactValue::Real(value, unit), None, definition).basis(Basis::Counted);
        facts.extend(value.map(counted));
    }
    if sums.light_secs > 0.0 {
        facts.push(
            fact(
                "light_ns",
                "Time at the roof",
                nanos(sums.light_secs * 1e9),
                part(sums.light_secs * 1e9),
                "sum over operations of the time each takes at the roofs of this device, modelled",
            )
            .basis(Basis::Modelled),
        );
        facts.push(
            fact(
                "least_ns",
                "Least time",
                nanos(sums.least_secs * 1e9),
                part(sums.least_secs * 1e9),
                "time at the roof, and for work that is shorter there than starting a kernel the start; modelled",
            )
            .basis(Basis::Modelled),
        );
    }
    if let Some(headroom) = sums.headroom() {
        let definition = "measured time over the least time, if both are known";
        facts.push(fact("headroom", "Headroom", FactValue::Number(headroom), None, definition).basis(Basis::Modelled));
    }
    for bound in Bound::ALL {
        let ns = sums.bound_ns[bound as usize];
        if ns > 0.0 {
            let title = format!("Bound by {}", bound.name());
            let title = if bound == Bound::Unknown { "Unknown work".to_owned() } else { title };
            let key = format!("bound_{}_ns", bound.name());
            facts.push(fact(&key, &title, nanos(ns), part(ns), "measured time of operations that this bounds"));
        }
    }
    facts.extend(memory_fact(ceilings, &fact));
    Section { title: format!("Achieved on {}", ceilings.device), facts }
}

type MakeFact<'f> = dyn Fn(&str, &str, FactValue, Option<f64>, &str) -> Fact + 'f;

fn memory_fact(ceilings: &Ceilings, fact: &MakeFact<'_>) -> Option<Fact> {
    let memory = ceilings.get(Limit::Memory)?;
    let from = match memory.basis {
        Basis::Measured => "measured on a device of this kind".to_owned(),
        Basis::Sheet => format!("data sheet: {}", memory.source),
        Basis::Counted | Basis::Capture | Basis::Inferred | Basis::Modelled => memory.source.clone(),
    };
    let value = FactValue::Real(memory.value, Unit::BytesPerSec);
    Some(fact("memory_bytes_per_sec", "Memory bandwidth", value, None, &from).basis(memory.basis))
}

/// How much of the time has unknown work, and the reasons that take most of it.
pub(crate) fn unknown_note(analysis: &Analysis<'_>) -> Option<String> {
    let workload = analysis.workload();
    let mut reasons: FxHashMap<&str, f64> = FxHashMap::default();
    let (mut all, mut unknown) = (0.0, 0.0);
    for group in analysis.groups().groups.iter().filter(|group| group.kind.is_compute()) {
        let ns = group.self_ns as f64;
        all += ns;
        let reason = match workload.of_group(group).map(|work| &work.known) {
            Some(Known::Counted(_)) => continue,
            Some(Known::Not(reason)) => reason.as_str(),
            None => "kernels of no known operation",
        };
        unknown += ns;
        *reasons.entry(reason).or_default() += ns;
    }
    if unknown <= 0.0 {
        return None;
    }
    let mut reasons: Vec<(&str, f64)> = reasons.into_iter().collect();
    reasons.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(other.0)));
    let more = if reasons.len() > REASONS_SHOWN { ", …" } else { "" };
    let named: Vec<String> =
        (reasons.iter().take(REASONS_SHOWN)).map(|(reason, ns)| format!("{reason} ({})", Share(ns / all))).collect();
    Some(format!("the work of {} of the time is unknown: {}{more}", Share(unknown / all), named.join(", ")))
}

/// What a reader should know of the ceilings: disagreements, and devices without any.
pub(crate) fn ceiling_notes(analysis: &Analysis<'_>) -> Vec<String> {
    let sums = of_classes(analysis);
    let worked = analysis.workload().classes.iter().zip(&sums).filter(|(_, sums)| sums.known_ns > 0.0);
    let mut notes = Vec::new();
    for (ceilings, _) in worked {
        notes.extend(ceilings.notes.iter().cloned());
        if ceilings.entries.is_empty() {
            notes.push(format!(
                "{}: its ceilings are unknown, so it has no bound and no headroom; `ridgeline calibrate` measures them",
                ceilings.device
            ));
        }
    }
    notes.dedup();
    notes.extend(above_note(analysis));
    notes
}

/// Operations this much faster than their roof are said to be: measured times are rounded.
const ABOVE: f64 = 0.98;

/// Says so where operations are faster than they can be: then their work, their roof or their time is wrong.
fn above_note(analysis: &Analysis<'_>) -> Option<String> {
    let workload = analysis.workload();
    let by_op = partition(analysis, |group| workload.of_group(group).map(|_| (group.op, workload.class(group.device))));
    let headrooms =
        by_op.iter().map(|row| sums(analysis, &row.time.groups(analysis), Rows::WholeExecutions).headroom());
    let above = headrooms.flatten().filter(|headroom| *headroom < ABOVE).count();
    let what = match above {
        0 => return None,
        1 => "1 operation is faster than its roof".to_owned(),
        count => format!("{count} operations are faster than their roof"),
    };
    Some(format!("{what}: the work, ceiling or time must be wrong, or the operands came from a cache"))
}
