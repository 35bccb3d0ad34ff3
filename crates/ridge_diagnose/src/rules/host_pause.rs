//! The host does something else for long while the device has nothing to do.

use crate::case::{Case, IdleTime};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::pauses::{is_by_host, short_part};
use crate::rule::{Find, Group, Rule};
use crate::slack::Slack;
use crate::words::{count, percent, short};
use ridge_analysis::{Activity, Need, PythonLooks};
use ridge_table::{Basis, Quantity, Subject};

pub(crate) static RULE: Rule = Rule {
    id: "host-pause",
    group: Group::Host,
    summary: "Long host stall between launches",
    document: include_str!("host_pause.md"),
    asks: &[Question::Device, Question::Idle, Question::Host],
    explains: &[],
    needs: &[Need::of::<Slack>(), Need::of::<PythonLooks>()],
    find: Find::Causes(find),
};

/// Below this part of the time a pause is not worth a word.
const LEAST: f64 = 0.03;
/// The same on processors, where another program that runs for some milliseconds makes such a pause.
const LEAST_ON_PROCESSORS: f64 = 0.10;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let is_pause = |idle: &IdleTime<'_>| is_by_host(idle) && short_part(case, idle) < 1.0 && is_programs(case, idle);
    let pauses: Vec<IdleTime<'_>> = case.idle().filter(is_pause).collect();
    let paused = |idle: &&IdleTime<'_>| (idle.row.ns as f64 * f64::from(pause_part(case, idle))) as i64;
    let least = if case.is_on_processors() { LEAST_ON_PROCESSORS } else { LEAST };
    let unnamed: i64 = pauses.iter().filter(|idle| idle.name.is_none()).map(|idle| paused(&idle)).sum();
    let named = pauses.iter().filter(|idle| idle.name.is_some() && case.share(paused(idle)) >= least);
    let found: Vec<Finding> = named.map(|idle| finding(case, idle, paused(&idle))).collect();
    if found.is_empty() && case.share(unnamed) >= least {
        let why = format!(
            "the device waits {} of the time in long host pauses, and nothing was recorded in them",
            percent(case.share(unnamed))
        );
        return Err(CannotTell::because(why, "ridgeline record --python-tracer -- python PROGRAM.py"));
    }
    Ok(found)
}

/// Whether the program itself pauses. On a processor a long stretch in the runtime is a thread that was not given a core, or the first
/// call of a function.
fn is_programs(case: &Case<'_>, idle: &IdleTime<'_>) -> bool {
    let is_runtimes = matches!(
        idle.activity,
        Activity::Runtime | Activity::HandOver | Activity::Pool | Activity::Launching | Activity::Copying
    );
    !(is_runtimes && case.is_on_processors())
}

/// The part of the time that is long pauses, after which no slower rank is waited for.
fn pause_part(case: &Case<'_>, idle: &IdleTime<'_>) -> f32 {
    // A program that waits for its device does not pause, though no event may say that it waits.
    let own = 1.0 - case.part_with_cause(idle.at) - case.part_that_waits(idle.at);
    ((1.0 - short_part(case, idle)) * case.part_that_counts(idle)).min(own.max(0.0))
}

fn finding(case: &Case<'_>, idle: &IdleTime<'_>, ns: i64) -> Finding {
    let name = short(idle.name.unwrap_or_default());
    let example = idle.row.example;
    let claim = [(idle.at, pause_part(case, idle))];
    let seen = case.seen(&case.looks_in(&claim, |_| true));
    Finding::new(format!("the device waits {} of the time while the host is in `{name}`", percent(case.share(ns))))
        .at(example.and_then(|row| case.line_of_row(row.0)))
        .about(example.map(Subject::Event))
        .number("idle in long pauses there", case.per_unit(ns))
        .number(
            format!("the longest of {}", count(idle.row.events, "stretch", "stretches")),
            Quantity::nanos(idle.row.longest_ns, Basis::Measured),
        )
        .seen_at(example.map(Subject::Event))
        .why("the host launches nothing in that time, and all earlier work has finished")
        .help("do it less often, in another thread, or while the device works on the next step")
        .claims(claim)
        .seen(seen.as_ref())
}
