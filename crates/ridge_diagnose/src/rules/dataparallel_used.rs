//! One process drives several devices with `torch.nn.DataParallel`.

use crate::case::{Case, Work};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::rule::{Find, Group, Rule};
use ridge_table::{Basis, Quantity, Subject, Unit};
use ridge_trace::{EventKind, EventRow};

pub(crate) static RULE: Rule = Rule {
    id: "dataparallel-used",
    group: Group::Devices,
    summary: "`torch.nn.DataParallel` in use",
    document: include_str!("dataparallel_used.md"),
    asks: &[Question::Device],
    explains: &[],
    needs: &[],
    find: Find::Causes(find),
};

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    // PyTorch marks the call so itself.
    let calls = case.host_rows(|_, name| name == "DataParallel.forward");
    let devices = case.breakdown().devices.len();
    let Some(first) = calls.first().filter(|_| devices > 1) else { return Ok(Vec::new()) };
    let moves: Vec<Work<'_>> = case.work().filter(is_between_devices).collect();
    let ns = moves.iter().fold(0_i64, |sum, work| sum.saturating_add(work.row.ns));
    let finding = Finding::new(format!("`DataParallel` drives {devices} devices from one process"))
        .at(case.line_of_row(*first))
        .about(EventRow::known(*first).map(Subject::Event))
        .number("`DataParallel` calls in the capture", Quantity::new(calls.len() as f64, Unit::Count, Basis::Counted))
        .number("copies and collectives between the devices", case.per_unit(ns))
        .why("one Python process launches for all devices in turn, and copies all weights to them in every step")
        .help("use `DistributedDataParallel` with one process per device, started by `torchrun`")
        .claims(moves.iter().map(|work| (work.at, 1.0)));
    Ok(vec![finding])
}

/// What `DataParallel` does that one process for each device would not: weights go out, results and gradients come back.
fn is_between_devices(work: &Work<'_>) -> bool {
    work.kind == EventKind::CopyPeer || (work.name.starts_with("nccl") && work.name.contains("Broadcast"))
}
