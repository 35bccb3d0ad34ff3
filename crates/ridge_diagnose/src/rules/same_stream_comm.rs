//! Collectives of a training step run on the stream that computes.

use crate::case::{Case, Framework};
use crate::collectives::Exposure;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::rule::{Find, Group, Rule};
use crate::words::percent;
use ridge_analysis::Need;
use ridge_table::Subject;
use ridge_trace::{DeviceRow, EventKind, TrackRow};

pub(crate) static RULE: Rule = Rule {
    id: "same-stream-comm",
    group: Group::Devices,
    summary: "Collectives on the compute stream",
    document: include_str!("same_stream_comm.md"),
    asks: &[Question::Device],
    explains: &["exposed-collectives"],
    needs: &[Need::of::<Exposure>()],
    find: Find::Causes(find),
};

/// The part of the time that collectives, and compute, of one stream must each have.
const LEAST: f64 = 0.05;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let trace = case.trace();
    // Only a backward pass is known to have work that does not depend on the exchange.
    if case.framework() != Framework::Torch || trace.backwards.is_empty() {
        return Ok(Vec::new());
    }
    let exposed = &case.exposure().events;
    let mut findings = Vec::new();
    for (at, track) in trace.tracks.iter().enumerate() {
        let Some(device) = track.device.map(DeviceRow) else { continue };
        let Some(frame) = case.analyzed().spans.get(track.process as usize) else { continue };
        let (mut alone_ns, mut compute_ns) = (0_i64, 0_i64);
        for row in track.rows.clone() {
            let events = &trace.events;
            if let Some(ns) = exposed.get(&row) {
                alone_ns = alone_ns.saturating_add(*ns);
            } else if matches!(events.kind(row as usize), EventKind::Kernel) {
                let ns = frame.within_ns(events.start_ns[row as usize], events.end_ns(row as usize));
                compute_ns = compute_ns.saturating_add(ns);
            }
        }
        if case.share_on(device, alone_ns) < LEAST || case.share_on(device, compute_ns) < LEAST {
            continue;
        }
        let part = (compute_ns as f64 / alone_ns.max(1) as f64).min(1.0) as f32;
        let claim = case.parts_of_events(track.rows.clone().filter_map(|row| exposed.get(&row).map(|ns| (row, *ns))));
        findings.push(
            Finding::new(format!("collectives occupy the compute stream for {} of the time", percent(case.share_on(device, alone_ns))))
                .about(Subject::Track(TrackRow(at as u32)))
                .number("in collectives on this stream with nothing else running", case.per_unit_on(device, alone_ns))
                .number("in other kernels on the same stream", case.per_unit_on(device, compute_ns))
                .why("work on a stream runs in order, so compute on the same stream can't overlap a collective")
                .help("use `DistributedDataParallel` or FSDP, which overlap communication; otherwise call `torch.distributed.all_reduce(..., async_op=True)` and wait just before the result is used")
                .claims(claim.into_iter().map(|(at, share)| (at, share * part))),
        );
    }
    Ok(findings)
}
