//! Gradients of parameters that no optimizer has.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::operator_calls::NEEDS;
use crate::rule::{Find, Group, Rule};
use crate::words::{list, percent};
use ridge_table::{Basis, Quantity, Unit};

pub(crate) static RULE: Rule = Rule {
    id: "unread-gradients",
    group: Group::Compute,
    summary: "Gradients that no optimizer uses",
    document: include_str!("unread_gradients.md"),
    asks: &[Question::Device],
    explains: &["kernel-hotspot", "unfused-eager"],
    needs: NEEDS,
    find: Find::Causes(find),
};

/// Of the numbers of all gradients, the part that nobody reads, at least.
const LEAST_UNREAD: f64 = 0.2;
/// Below this part of the time in backward passes it is not worth a change.
const LEAST: f64 = 0.15;
/// The part of their backward passes that goes at least: where parameters that train lie before them, gradients still pass through.
/// Where nearly all are unread, few can.
const LEAST_GONE: (f64, f64) = (0.3, 0.8);
/// Recording for gradients in the forward pass goes as well, with the memory that it keeps.
const FORWARD_TOO: f64 = 1.6;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let Some(unread) = case.watched().iter().find_map(|watched| watched.unread_gradients.as_ref()) else {
        return Ok(Vec::new());
    };
    let part = unread.numbers as f64 / unread.of.max(1) as f64;
    let all = &case.operator_calls().calls;
    let backward: Vec<usize> = all.iter().enumerate().filter(|(_, call)| call.is_backward).map(|(at, _)| at).collect();
    let claim = case.claim_of_calls(backward.iter().copied(), 1.0);
    let share = case.share_of(claim.iter().copied());
    if part < LEAST_UNREAD || share < LEAST {
        return Ok(Vec::new());
    }
    let gone = LEAST_GONE.0 + (LEAST_GONE.1 - LEAST_GONE.0) * (2.0 * part - 1.0).max(0.0);
    let seen = case.seen_about(backward.iter().map(|at| all[*at].row));
    let words = format!(
        "{} of the gradients that backward passes compute belong to parameters that no optimizer updates",
        percent(part)
    );
    Ok(vec![
        Finding::new(words)
            .seen(seen.as_ref())
            .number("parameters with such a gradient", Quantity::new(unread.arrays as f64, Unit::Count, Basis::Counted))
            .number("of the time is in backward passes", Quantity::new(share, Unit::Share, Basis::Measured))
            .fact(format!("the first are {}", list(&unread.names, 3)))
            .why("`requires_grad` is on for all parameters, so autograd computes and keeps the gradient of each, whatever the optimizer was given")
            .help("freeze what is not trained: `module.requires_grad_(False)`, and compute it under `torch.no_grad()` where nothing before it trains")
            .claims(claim)
            .priced(share * part * gone, (share * FORWARD_TOO).min(0.95)),
    ])
}
