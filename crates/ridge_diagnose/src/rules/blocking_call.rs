//! The host waits for the device, and then the device waits for the host.

use crate::case::{Case, Framework};
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
    id: "blocking-call",
    group: Group::Host,
    summary: "the host waits for the device in the middle of the work, and the device waits for the host after it",
    document: include_str!("blocking_call.md"),
    asks: &[Question::Device, Question::Idle, Question::Host],
    explains: &[],
    needs: &[Need::of::<DeviceWaits>()],
    find: Find::Causes(find),
};

/// Less of the time than this is lost by every program that looks at its results.
const LEAST: f64 = 0.02;
/// Lines that are named, those that hold most.
const MOST: usize = 4;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let groups = case.waits_by_line(|name| !copies_and_waits(name));
    Ok(groups
        .iter()
        .filter(|waits| case.share(waits.ns) >= LEAST)
        .take(MOST)
        .map(|waits| finding(case, waits))
        .collect())
}

fn finding(case: &Case<'_>, waits: &Waits<'_>) -> Finding {
    let calls = waits.all.iter().filter(|wait| wait.ns() > 0).count() as u64;
    let longest = waits.all.first().map(|wait| wait.row);
    let mut finding = Finding::new(format!(
        "the host waits for the device in `{}`, after which the device waits {} of the time for the host",
        short(waits.name),
        percent(case.share(waits.ns)),
    ))
    .at(waits.place.clone())
    .about(longest.and_then(EventRow::known).map(Subject::Event))
    .number("idle after the call that could have been used", case.per_unit(waits.ns))
    .number("such calls in the time", Quantity::new(calls as f64, Unit::Count, Basis::Counted))
    .why("while it waits the host prepares nothing, so the device has nothing to do when the call returns")
    .help(advice(case.framework()))
    .claims(case.claim_of_waits(waits.all.iter().copied()))
    .edit(Edit { rows: case.calls_of(waits), action: Action::Unsync });
    if let Some(operator) = longest.and_then(|row| case.operator_around(row)) {
        finding = finding.fact(format!("called by `{}`", short(operator)));
    }
    finding
}

fn advice(framework: Framework) -> &'static str {
    match framework {
        Framework::Torch => {
            "leave values on the device: no `.item()`, `print(tensor)` or `if tensor` in the step; read metrics back every N steps, with `non_blocking=True`"
        }
        Framework::Jax => {
            "call `block_until_ready`, `float()` and `np.asarray` after the loop or every N steps; `jax.lax.while_loop` decides on the device when to stop"
        }
        Framework::Other => {
            "wait after the loop, or for an event of an earlier step, so that the next work is queued before this one ends"
        }
    }
}
