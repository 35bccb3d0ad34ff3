//! The capture shows a program that starts, not one that works.

use crate::case::Case;
use crate::fitness::{Doubt, Question};
use crate::rule::{Find, Group, Rule};
use ridge_analysis::Per;
use ridge_units::Nanos;

pub(crate) static RULE: Rule = Rule {
    id: "setup-not-work",
    group: Group::Fitness,
    summary: "Mostly startup",
    document: include_str!("setup_not_work.md"),
    asks: &[],
    explains: &[],
    needs: &[],
    find: Find::Doubts(find),
};

/// Below this part of the capture the device's work is not what the capture is of.
const LITTLE: f64 = 0.05;
/// Longer captures show what they show.
const SHORT_NS: i64 = 1_000_000_000;
/// At least this part of the capture is before the first work, after the last, or compilation.
const START_UP: f64 = 0.50;

/// What a program that failed did before says nothing where its devices worked less than this.
const LITTLE_OF_FAILED_NS: i64 = 100_000_000;

fn find(case: &Case<'_>, doubts: &mut Vec<Doubt>) {
    let (breakdown, whole) = (case.breakdown(), case.trace().wall_ns());
    if case.known.failed && breakdown.busy_ns() < LITTLE_OF_FAILED_NS {
        doubts.push(Doubt {
            message: format!(
                "the program failed after {} of device work, so the capture doesn't show the slow part",
                Nanos(breakdown.busy_ns()),
            ),
            command: Some("ridgeline record -- python PROGRAM.py".to_owned()),
            blocks: vec![Question::Device],
        });
        return;
    }
    let is_short = whole > 0 && whole < SHORT_NS;
    if case.analyzed().per == Per::Step || breakdown.busy_ns() == 0 || !is_short {
        return;
    }
    let all = whole as f64 * breakdown.devices.len().max(1) as f64;
    let working = breakdown.busy_ns() as f64 / all;
    let start_up = 1.0 - case.analyzed().unit_ns() as f64 / whole as f64;
    if working >= LITTLE || start_up < START_UP {
        return;
    }
    doubts.push(Doubt {
        message: format!(
            "{} of a {} capture remain after startup, and the device is busy {} of that: too little to represent the program",
            Nanos(case.analyzed().unit_ns()),
            Nanos(whole),
            Nanos(breakdown.busy_ns() / i64::try_from(breakdown.devices.len().max(1)).unwrap_or(i64::MAX)),
        ),
        command: Some("ridgeline record --warm-up quiet:2s -- python PROGRAM.py".to_owned()),
        blocks: Vec::new(),
    });
}
