//! Copies whose calls return when the copy is done, and the idle time after them.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::rule::{Find, Group, Rule};
use crate::waits::{DeviceWaits, Waits, copies_and_waits};
use crate::words::{percent, short};
use ridge_analysis::Need;
use ridge_replay::{Action, Edit};
use ridge_table::{Basis, Quantity, Subject, Unit};
use ridge_trace::EventRow;

pub(crate) static RULE: Rule = Rule {
    id: "sync-copy",
    group: Group::Copies,
    summary: "the host waits for copies in their calls, and the device waits for the host after them",
    document: include_str!("sync_copy.md"),
    asks: &[Question::Device, Question::Idle, Question::Host],
    explains: &[],
    needs: &[Need::of::<DeviceWaits>()],
    find: Find::Causes(find),
};

/// Less of the time than this is lost by every program that reads its results back.
const LEAST: f64 = 0.02;
/// Lines that are named, those that hold most.
const MOST: usize = 4;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let groups = case.waits_by_line(copies_and_waits);
    Ok(groups
        .iter()
        .filter(|waits| case.share(waits.ns) >= LEAST)
        .take(MOST)
        .map(|waits| finding(case, waits))
        .collect())
}

fn finding(case: &Case<'_>, waits: &Waits<'_>) -> Finding {
    let calls = waits.all.iter().filter(|wait| wait.ns() > 0).count() as u64;
    let longest = waits.all.first().and_then(|wait| EventRow::known(wait.row));
    Finding::new(format!(
        "`{}` returns when the copy is done, after which the device waits {} of the time for the host",
        short(waits.name),
        percent(case.share(waits.ns)),
    ))
    .at(waits.place.clone())
    .about(longest.map(Subject::Event))
    .number("idle after such copies that could have been used", case.per_unit(waits.ns))
    .number("such calls in the time", Quantity::new(calls as f64, Unit::Count, Basis::Counted))
    .why("while it waits for the copy the host launches nothing, so the device has nothing to do when the copy is done")
    .help("copy with `cudaMemcpyAsync` from pinned memory on a stream, in PyTorch `tensor.to(device, non_blocking=True)`, and wait where the value is used")
    .claims(case.claim_of_waits(waits.all.iter().copied()))
    .edit(Edit { rows: case.calls_of(waits), action: Action::Asynchronous })
}
