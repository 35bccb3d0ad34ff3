//! Computations that another form gives for less, both priced.

use crate::case::{Case, Framework};
use crate::eager::{PricedCalls, better_calls};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::operator_calls::{OperatorCall, OperatorCalls};
use crate::programs::{Program, programs};
use crate::rewrites::{Priced, better_forms, place_of};
use crate::rule::{Find, Group, Rule};
use crate::words::{count, distinct, list, percent};
use ridge_analysis::{Costs, IdleGaps, Lines, Need};
use ridge_table::{Basis, Quantity, Subject};
use ridge_trace::{EventRow, OpRow};

pub(crate) static RULE: Rule = Rule {
    id: "cheaper-form",
    group: Group::Structure,
    summary: "A cheaper form of the same computation",
    document: include_str!("cheaper_form.md"),
    asks: &[Question::Device],
    explains: &["narrow-reduction", "gather-scatter-bound", "layout-copies", "fp64-used", "below-roof", "tensor-cores-idle", "unfused-eager"],
    needs: &[Need::of::<Lines>(), Need::of::<Costs>(), Need::of::<OperatorCalls>(), Need::of::<IdleGaps>()],
    find: Find::Causes(find),
};

/// The least part of the judged time that the other form saves: less is not seen when the program is timed again.
const LEAST: f64 = 0.05;
/// What saves less in the middle of its range is told and no warning: some who know the other form leave such a thing as it is, for
/// it reads better.
const WORTH: f64 = 0.10;
/// What programs saved, of those that the patterns were tuned with, was within these factors of what the prices say: a program that is recorded shares its time
/// with the recorder, and the form that is written instead is not always the one that was priced.
const LOW: f64 = 0.6;
const HIGH: f64 = 1.4;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    case.needs_hlo()?;
    if case.framework() == Framework::Torch {
        return Ok(better_calls(case, LEAST).iter().map(|form| of_calls(case, form)).collect());
    }
    let mut found = Vec::new();
    for program in programs(case) {
        let forms = better_forms(case, &program, LEAST);
        found.extend(forms.into_iter().map(|form| finding(case, &program, &form)));
    }
    Ok(found)
}

fn finding(case: &Case<'_>, program: &Program<'_>, form: &Priced) -> Finding {
    let rewrite = &form.rewrite;
    let old = program.longest_first(&rewrite.old);
    let names = program.names(&old);
    let op = old.first().and_then(|id| program.work(*id).first()).map(|work| work.op);
    let library = op.and_then(|op| case.library_line_of_op(op));
    let part = |left: f64| case.per_unit((form.ns as f64 * left) as i64).value as i64;
    let found = Finding::new(format!("{} of the time {}; {} would suffice", percent(case.share(form.ns)), rewrite.does, rewrite.instead))
        .at(place_of(case, program, rewrite.at))
        .about(op.and_then(OpRow::known).map(Subject::Op))
        .about(Subject::Module(program.row))
        .number(
            format!("in {} of `{}`: {}", count(old.len() as u64, "operation", "operations"), program.function(case), list(&names, 3)),
            case.per_unit(form.ns),
        )
        .number(format!("predicted minimum for {}", rewrite.instead), Quantity::nanos(part(form.left.least), Basis::Modelled))
        .number("predicted maximum", Quantity::nanos(part(form.left.most), Basis::Modelled))
        .why(rewrite.why)
        .help(rewrite.help)
        .made_by(library);
    let middle = case.share(form.ns) * (1.0 - (form.left.least + form.left.most) / 2.0);
    let found = if middle < WORTH { found.information() } else { found };
    found
        .claims(program.claim(&old, 1.0 - ((form.left.least + form.left.most) / 2.0) as f32))
        .priced(LOW * case.share(form.ns) * (1.0 - form.left.most), HIGH * case.share(form.ns) * (1.0 - form.left.least))
}

/// The same of calls of PyTorch's operators.
fn of_calls(case: &Case<'_>, form: &PricedCalls) -> Finding {
    let all = &case.operator_calls().calls;
    let PricedCalls { does, instead, why, help, calls, left, .. } = form;
    let row = all[form.at].row;
    let share = case.share_of(case.claim_of_calls(calls.iter().copied(), 1.0));
    let ns = share * case.breakdown().whole_ns() as f64;
    let part = |left: f64| case.per_unit((ns * left) as i64).value as i64;
    // Gradients are asked for elsewhere.
    let own: Vec<&OperatorCall> = calls.iter().map(|at| &all[*at]).filter(|call| !call.is_backward).collect();
    let names = distinct(own.iter().map(|call| case.trace().strings.get(call.name)));
    let gradients = if own.len() < calls.len() { " and their gradients" } else { "" };
    let seen = case.seen_during(own.iter().map(|call| call.row));
    let middle = (left.least + left.most) / 2.0;
    let found = Finding::new(format!("{} of the time {does}; {instead} would suffice", percent(share)))
        .at(case.line_of_row(row))
        .about(EventRow::known(row).map(Subject::Event))
        .seen(seen.as_ref())
        .number(format!("in {}{gradients}", list(&names, 3)), case.per_unit(ns as i64))
        .number(format!("predicted minimum for {instead}"), Quantity::nanos(part(left.least), Basis::Modelled))
        .number("predicted maximum", Quantity::nanos(part(left.most), Basis::Modelled))
        .fact("which array a call reads is inferred from sizes".to_owned())
        .why(*why)
        .help(*help);
    let found = if share * (1.0 - middle) < WORTH { found.information() } else { found };
    found
        .claims(case.claim_of_calls(calls.iter().copied(), 1.0 - middle))
        .priced(LOW * share * (1.0 - left.most), HIGH * share * (1.0 - left.least))
}
