//! Copies within a device.

use crate::arguments::defensive_copies;
use crate::case::{Case, Framework};
use crate::copying::{Copies, Copying};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::rule::{Find, Group, Rule};
use crate::words::{percent, short};
use ridge_analysis::Need;
use ridge_replay::{Action, Edit};
use ridge_table::Subject;
use ridge_trace::EventKind;
use rustc_hash::FxHashSet;

pub(crate) static RULE: Rule = Rule {
    id: "device-to-device-copies",
    group: Group::Copies,
    summary: "Exposed device-to-device copies",
    document: include_str!("device_to_device_copies.md"),
    asks: &[Question::Device],
    explains: &[],
    needs: &[Need::of::<Copies>()],
    find: Find::Causes(find),
};

/// Below this part of the time, copies are what every program needs.
const LEAST: f64 = 0.05;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    // Those have a rule of their own.
    let defensive: FxHashSet<usize> = defensive_copies(case).iter().map(|copy| copy.work.at).collect();
    let mut copies = case.copies().to_vec();
    copies.retain(|copy| copy.kind == EventKind::CopyDeviceToDevice && !defensive.contains(&copy.at));
    let exposed = copies.iter().fold(0_i64, |sum, copy| sum.saturating_add(copy.exposed_ns));
    if case.share(exposed) < LEAST {
        return Ok(Vec::new());
    }
    let (longest, place) = case.longest_copy(&copies).unzip();
    let call = longest.and_then(|row| case.trace().events.link.get(row.index()).copied());
    let mut finding = Finding::new(format!(
        "device-to-device copies take {} of the time with no overlapping computation",
        percent(case.share(exposed).min(1.0)),
    ))
    .at(place.flatten())
    .about(longest.map(Subject::Event))
    .number("not hidden behind compute", case.per_unit(exposed))
    .number("device-to-device copies", case.count_per_unit(copies.len() as u64))
    .why("results are created in one place and then copied to another, which reads and writes every byte again")
    .help(advice(case.framework()))
    .claims(case.claim_of(&copies, |_: &Copying| 1.0))
    .edit(Edit { rows: copies.iter().map(|copy| copy.row).collect(), action: Action::Drop });
    if let Some(operator) = call.and_then(|call| case.operator_around(call)) {
        finding = finding.fact(format!("the longest is called by `{}`", short(operator)));
    }
    Ok(vec![finding])
}

fn advice(framework: Framework) -> &'static str {
    match framework {
        Framework::Torch => {
            "write in place with `out=`, `index_copy_` or slices of one tensor instead of `torch.cat`, `clone` and `contiguous`"
        }
        Framework::Jax => {
            "donate the arguments that the step replaces (`donate_argnames`), and carry arrays through loops in one layout"
        }
        Framework::Other => {
            "write results directly to their destination, and swap two buffers instead of copying one into the other"
        }
    }
}
