//! All transfers as facts.

use crate::Analysis;
use crate::context::partition::ratio;
use crate::models::transfers::{DeviceCopies, RepeatRow, Sum, TINY_BYTES, Transfers};
use ridge_table::{Fact, FactValue, Section, Unit};
use ridge_trace::Device;

/// One section over all devices that were asked for.
pub(crate) fn sections(analysis: &Analysis<'_>, transfers: &Transfers) -> Vec<Section> {
    let all = transfers.all(analysis);
    let mut facts = amounts(&all);
    let devices = &analysis.trace.devices;
    if all.transfers == 0 && !devices.is_empty() && devices.iter().all(Device::is_processor) {
        // Zeros alone would read as an answer about copies that there cannot be.
        let why = "a CPU computes in the host's own memory: there is nothing to copy".to_owned();
        facts.insert(1, fact("why_none", "Why none", FactValue::Text(why), None, "why the capture has no transfers"));
    }
    facts.extend(times(transfers));
    facts.extend(advice(analysis, transfers, &all));
    facts.extend(memsets(transfers));
    vec![Section { title: "Transfers".to_owned(), facts }]
}

/// How long devices copied, overlaps of copies counted once.
fn times(transfers: &Transfers) -> Vec<Fact> {
    let sum = |of: fn(&DeviceCopies) -> i64| {
        transfers.devices.iter().fold(0_i64, |sum, device| sum.saturating_add(of(device)))
    };
    let (copying, exposed) = (sum(|device| device.copies_ns), sum(|device| device.exposed_ns));
    let part = |key, title, ns, definition| fact(key, title, FactValue::Nanos(ns), ratio(ns, copying), definition);
    vec![
        fact(
            "copying_ns",
            "Copying",
            FactValue::Nanos(copying),
            None,
            "time in which a device copied, overlapping copies counted once, summed over devices; the sum of the next two",
        ),
        part(
            "overlapped_ns",
            "Overlapped",
            copying.saturating_sub(exposed),
            "part of it in which the same device computed",
        ),
        part("exposed_ns", "Exposed", exposed, "part of it in which the same device did not compute"),
    ]
}

fn advice(analysis: &Analysis<'_>, transfers: &Transfers, all: &Sum) -> Vec<Fact> {
    let part = |count: u64| (all.transfers > 0).then(|| count as f64 / all.transfers as f64);
    let again = transfers.repeats(analysis).iter().map(RepeatRow::again_bytes).fold(0, u64::saturating_add);
    let again_share = (all.bytes > 0).then(|| again as f64 / all.bytes as f64);
    let tiny = format!("transfers of at most {TINY_BYTES} bytes; the share is of all transfers");
    vec![
        fact("tiny", "Tiny", FactValue::Count(all.tiny), part(all.tiny), &tiny),
        fact(
            "synchronous",
            "Synchronous",
            FactValue::Count(all.synchronous),
            part(all.synchronous),
            "transfers that their call waited for, as far as recorded; the share is of all transfers",
        ),
        fact(
            "again_bytes",
            "Repeated",
            FactValue::Bytes(again),
            again_share,
            "bytes of transfers of a direction, size and cause that had come before; the share is of all bytes",
        ),
    ]
}

fn memsets(transfers: &Transfers) -> Vec<Fact> {
    let devices = || transfers.devices.iter();
    let count: u64 = devices().map(|device| device.memsets).sum();
    if count == 0 {
        return Vec::new();
    }
    let ns = devices().fold(0_i64, |sum, device| sum.saturating_add(device.memsets_ns));
    let bytes = devices().fold(0_u64, |sum, device| sum.saturating_add(device.memset_bytes));
    vec![
        fact("memsets", "Memory sets", FactValue::Count(count), None, "memory sets, which are no transfers"),
        fact("memsets_ns", "Memory sets, time", FactValue::Nanos(ns), None, "sum of their durations"),
        fact("memset_bytes", "Memory sets, bytes", FactValue::Bytes(bytes), None, "bytes set"),
    ]
}

fn fact(key: &str, title: &str, value: FactValue, share: Option<f64>, definition: &str) -> Fact {
    Fact::observed(key, title, value, definition).share(share)
}

fn amounts(all: &Sum) -> Vec<Fact> {
    let mut facts = vec![
        fact("transfers", "Transfers", FactValue::Count(all.transfers), None, "copies of all directions"),
        fact("bytes", "Bytes", FactValue::Bytes(all.bytes), None, "bytes moved, as recorded"),
        fact("total_ns", "Time", FactValue::Nanos(all.ns), None, "sum of their durations"),
    ];
    if let Some(rate) = all.rate() {
        let definition = "bytes over the time of the copies that moved them";
        facts.push(fact("bytes_per_sec", "Rate", FactValue::Real(rate, Unit::BytesPerSec), None, definition));
    }
    if all.unsized_count > 0 {
        let definition = "transfers without a recorded size: counted in time, not in bytes";
        facts.push(fact("unsized", "Without a size", FactValue::Count(all.unsized_count), None, definition));
    }
    facts
}
