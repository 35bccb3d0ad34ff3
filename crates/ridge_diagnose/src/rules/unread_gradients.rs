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
    Ok(unread(case).into_iter().chain(cleared(case)).collect())
}

/// The backward passes of the judged time, where they have enough of it.
struct Backward {
    /// Rows of the calls that autograd made.
    rows: Vec<u32>,
    claim: Vec<(usize, f32)>,
    share: f64,
}

impl Backward {
    fn of(case: &Case<'_>) -> Option<Backward> {
        let calls = case.operator_calls().calls.iter().enumerate().filter(|(_, call)| call.is_backward);
        let (positions, rows): (Vec<usize>, Vec<u32>) = calls.map(|(at, call)| (at, call.row)).unzip();
        let claim = case.claim_of_calls(positions, 1.0);
        let share = case.share_of(claim.iter().copied());
        (share >= LEAST).then_some(Backward { rows, claim, share })
    }
}

/// Gradients that an optimizer clears before it reads them: of a loss that it does not minimize.
fn cleared(case: &Case<'_>) -> Option<Finding> {
    let cleared = case.watched().iter().flat_map(|watched| &watched.cleared_gradients);
    let most = cleared.max_by_key(|cleared| cleared.numbers)?;
    let Backward { rows, claim, share } = Backward::of(case)?;
    let seen = case.seen_about(rows);
    let place = most.place.as_ref().map(|place| case.place_of_python(place));
    let finding = Finding::new(format!(
        "`{}` clears gradients in every step that nothing has read: a backward pass goes through a network and its gradients are discarded (no `detach`)",
        most.optimizer
    ))
    .seen(seen.as_ref())
    .number("gradient values cleared", Quantity::new(most.numbers as f64, Unit::Count, Basis::Counted))
    .number("of the time is in backward passes", Quantity::new(share, Unit::Share, Basis::Measured))
    .fact(format!("in {} of {} inspected `zero_grad` calls", most.times, most.of))
    .why("the backward pass of a loss that trains one network also runs through the other network if nothing cuts the graph between them")
    .help("in the critic's step of a GAN, use `fake.detach()` or create the samples under `torch.no_grad()`; in the generator's step, set `critic.requires_grad_(False)`, because it doesn't use gradients of the critic's weights")
    .claims(claim)
    .unknown_amount()
    .information();
    Some(if finding.place.is_none() { finding.at(place) } else { finding })
}

/// Gradients of parameters that no optimizer has.
fn unread(case: &Case<'_>) -> Option<Finding> {
    let unread = case.watched().iter().find_map(|watched| watched.unread_gradients.as_ref())?;
    let part = unread.numbers as f64 / unread.of.max(1) as f64;
    if part < LEAST_UNREAD {
        return None;
    }
    let Backward { rows, claim, share } = Backward::of(case)?;
    let gone = LEAST_GONE.0 + (LEAST_GONE.1 - LEAST_GONE.0) * (2.0 * part - 1.0).max(0.0);
    let seen = case.seen_about(rows);
    let words = format!(
        "{} of the gradients that backward passes compute belong to parameters that no optimizer updates; freezing them with `requires_grad_(False)` would suffice",
        percent(part)
    );
    Some(
        Finding::new(words)
            .seen(seen.as_ref())
            .number("parameters with an unread gradient", Quantity::new(unread.arrays as f64, Unit::Count, Basis::Counted))
            .number("of the time is in backward passes", Quantity::new(share, Unit::Share, Basis::Measured))
            .fact(format!("the first are {}", list(&unread.names, 3)))
            .why("`requires_grad` is on for all parameters, so autograd computes and keeps every gradient, whether or not an optimizer has the parameter")
            .help("freeze untrained modules with `module.requires_grad_(False)`, and run them under `torch.no_grad()` if nothing before them trains")
            .claims(claim)
            .priced(share * part * gone, (share * FORWARD_TOO).min(0.95)),
    )
}
