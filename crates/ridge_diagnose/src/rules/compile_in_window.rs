//! Programs are compiled inside the steps that are judged.

use crate::case::Case;
use crate::fitness::{Doubt, Question};
use crate::rule::{Find, Group, Rule};
use crate::words::percent;
use ridge_analysis::{Activity, Per};

pub(crate) static RULE: Rule = Rule {
    id: "compile-in-window",
    group: Group::Fitness,
    summary: "Compilation inside the marked steps",
    document: include_str!("compile_in_window.md"),
    asks: &[],
    explains: &[],
    needs: &[],
    find: Find::Doubts(find),
};

/// Above this part of the judged time a step says more of the compiler than of the program.
const MUCH: f64 = 0.10;

fn find(case: &Case<'_>, doubts: &mut Vec<Doubt>) {
    // Without marked steps compilation is left out of what is judged.
    if case.analyzed().per != Per::Step {
        return;
    }
    let compiling = case.idle().filter(|idle| idle.activity == Activity::Compiling);
    let share = case.share(compiling.fold(0_i64, |sum, idle| sum.saturating_add(idle.row.ns)));
    if share <= MUCH {
        return;
    }
    doubts.push(Doubt {
        message: format!("the device waits for compilation {} of the steps' time", percent(share)),
        command: Some("ridgeline record --warm-up quiet:2s -- python PROGRAM.py".to_owned()),
        blocks: vec![Question::Steps],
    });
}
