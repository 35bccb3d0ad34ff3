//! A module is given an input again that it had before, with the same weights, or a function an argument: the result was there.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::rule::{Find, Group, Rule};
use crate::words::{percent, short};
use ridge_analysis::{Need, PythonLooks};
use ridge_table::{Basis, Quantity, Unit};

pub(crate) static RULE: Rule = Rule {
    id: "same-input-again",
    group: Group::Compute,
    summary: "PyTorch module or function called again with the same input",
    document: include_str!("same_input_again.md"),
    asks: &[Question::Device],
    explains: &["kernel-hotspot", "unfused-eager"],
    needs: &[Need::of::<PythonLooks>()],
    find: Find::Causes(find),
};

/// Fewer calls may be a warm-up and a measurement.
const FEWEST: u64 = 8;
/// The part of the compared calls that had their input before.
const MOST: f64 = 0.5;
/// Below this part of the time it is not worth a change.
const LEAST: f64 = 0.10;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let all = case.watched().iter().flat_map(|watched| &watched.repeated);
    let often = all.filter(|calls| calls.again >= FEWEST && calls.again as f64 >= MOST * calls.calls as f64);
    let mut found = often.filter_map(|calls| {
        let place = calls.place?;
        let again = calls.again as f64 / calls.calls as f64;
        let share = case.part_within(&place)? * again;
        let form = form(&calls.module);
        let words =
            format!("`{}` spends {} of the time recomputing earlier results: {}", short(&calls.module), percent(share), form.same);
        let part = share / case.busy_share().filter(|busy| *busy > 0.0)?;
        let claim = case.work().map(|work| (work.at, part.min(1.0) as f32));
        (share >= LEAST).then(|| {
            Finding::new(words)
                .at(Some(case.place_of_python(&place)))
                .number("calls compared by input", Quantity::new(calls.calls as f64, Unit::Count, Basis::Counted))
                .number("calls with the input of an earlier call", Quantity::new(again, Unit::Share, Basis::Counted))
                .why(form.why)
                .help(form.help)
                .claims(claim)
                .priced(share * 0.8, (share * 1.15).min(1.0))
        })
    });
    // What is called within it has the same input.
    Ok(found.next().into_iter().collect())
}

/// What one kind of call says.
struct Form {
    same: &'static str,
    why: &'static str,
    help: &'static str,
}

/// Modules have weights; functions of PyTorch are named by their path.
fn form(called: &str) -> Form {
    match called {
        "torch.linalg.solve" | "torch.linalg.lstsq" => Form {
            same: "it factorizes the same matrix again",
            why: "only the right-hand side changes between calls, and the factorization takes most of the time",
            help: "factorize once before the loop with `torch.linalg.lu_factor`, or `cholesky` for a positive definite matrix, and use `torch.linalg.lu_solve` or `torch.cholesky_solve` in it",
        },
        _ if called.starts_with("torch.") => Form {
            same: "the argument has the same values again",
            why: "the argument doesn't change between calls, so the result doesn't either",
            help: "call it once before the loop and keep the result",
        },
        _ => Form {
            same: "the same input again, with the same weights",
            why: "the module isn't trained here, so the same input always has the same result",
            help: "compute the result once before the loop, or cache it by input; recompute only when the weights change",
        },
    }
}
