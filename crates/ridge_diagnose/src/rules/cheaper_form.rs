//! Computations that another form gives for less, both priced.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::programs::{Program, programs};
use crate::rewrites::{Priced, better_forms, place_of};
use crate::rule::{Find, Group, Rule};
use crate::words::{count, list, percent};
use ridge_analysis::{Costs, Lines, Need};
use ridge_table::{Basis, Quantity, Subject};
use ridge_trace::OpRow;

pub(crate) static RULE: Rule = Rule {
    id: "cheaper-form",
    group: Group::Structure,
    summary: "A cheaper form of the same computation",
    document: include_str!("cheaper_form.md"),
    asks: &[Question::Device, Question::Hlo],
    explains: &["narrow-reduction", "gather-scatter-bound", "layout-copies", "fp64-used", "below-roof", "tensor-cores-idle"],
    needs: &[Need::of::<Lines>(), Need::of::<Costs>()],
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
    let found = Finding::new(format!("{} of the time {}", percent(case.share(form.ns)), rewrite.does))
        .at(place_of(case, program, rewrite.at))
        .about(op.and_then(OpRow::known).map(Subject::Op))
        .about(Subject::Module(program.row))
        .number(
            format!("in {} of `{}`: {}", count(old.len() as u64, "operation", "operations"), program.function(case), list(&names, 3)),
            case.per_unit(form.ns),
        )
        .number(format!("at least, by its price, for {}", rewrite.instead), Quantity::nanos(part(form.left.least), Basis::Modelled))
        .number("at most", Quantity::nanos(part(form.left.most), Basis::Modelled))
        .why(rewrite.why)
        .help(rewrite.help)
        .made_by(library);
    let middle = case.share(form.ns) * (1.0 - (form.left.least + form.left.most) / 2.0);
    let found = if middle < WORTH { found.information() } else { found };
    found
        .claims(program.claim(&old, 1.0 - ((form.left.least + form.left.most) / 2.0) as f32))
        .priced(LOW * case.share(form.ns) * (1.0 - form.left.most), HIGH * case.share(form.ns) * (1.0 - form.left.least))
}
