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
    let mut found = unread(case)?;
    found.extend(cleared(case));
    Ok(found)
}

/// Gradients that an optimizer clears before it reads them: of a loss that it does not minimize.
fn cleared(case: &Case<'_>) -> Option<Finding> {
    let cleared = case.watched().iter().flat_map(|watched| &watched.cleared_gradients);
    let most = cleared.max_by_key(|cleared| cleared.numbers)?;
    let all = &case.operator_calls().calls;
    let backward: Vec<usize> = all.iter().enumerate().filter(|(_, call)| call.is_backward).map(|(at, _)| at).collect();
    let claim = case.claim_of_calls(backward.iter().copied(), 1.0);
    let share = case.share_of(claim.iter().copied());
    if share < LEAST {
        return None;
    }
    let seen = case.seen_about(backward.iter().map(|at| all[*at].row));
    let place = most.place.as_ref().map(|place| case.place_of_python(place));
    let finding = Finding::new(format!(
        "the gradients that `{}` clears in each step are unread: a backward pass went through a network whose gradients are thrown away (no `detach`)",
        most.optimizer
    ))
    .seen(seen.as_ref())
    .number("of them are cleared", Quantity::new(most.numbers as f64, Unit::Count, Basis::Counted))
    .number("of the time is in backward passes", Quantity::new(share, Unit::Share, Basis::Measured))
    .fact(format!("in {} of {} calls of `zero_grad` that were looked at", most.times, most.of))
    .why("a loss that trains one network goes back through the other as well, if nothing cuts the graph between them")
    .help("the critic's step of a GAN: `fake.detach()`, or make the samples under `torch.no_grad()`; the generator's step: `critic.requires_grad_(False)` for its duration, as the gradients of the critic's weights are not used there")
    .claims(claim)
    .unknown_amount()
    .information();
    Some(if finding.place.is_none() { finding.at(place) } else { finding })
}

/// Gradients of parameters that no optimizer has.
fn unread(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
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
