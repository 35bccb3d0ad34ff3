//! The profiler itself takes much of the time.

use crate::case::Case;
use crate::fitness::{Doubt, Question};
use crate::rule::{Find, Group, Rule};
use crate::words::percent;
use ridge_analysis::Spans;
use ridge_trace::EventKind;

pub(crate) static RULE: Rule = Rule {
    id: "profiler-overhead",
    group: Group::Fitness,
    summary: "High profiler overhead",
    document: include_str!("profiler_overhead.md"),
    asks: &[],
    explains: &[],
    needs: &[],
    find: Find::Doubts(find),
};

/// Above this part of the judged time what the host did says more of the profiler than of the program.
const MUCH: f64 = 0.15;
/// Overhead that the driver causes and not the profiler, as CUPTI names it.
const OF_THE_DRIVER: [&str; 4] =
    ["Driver Compiler", "Runtime Triggered Module Loading", "Lazy Function Loading", "Command Buffer Full"];

fn find(case: &Case<'_>, doubts: &mut Vec<Doubt>) {
    let trace = case.trace();
    let events = &trace.events;
    let mut overhead: Vec<Vec<(i64, i64)>> = vec![Vec::new(); trace.processes.len()];
    for track in &trace.tracks {
        let Some(of) = overhead.get_mut(track.process as usize) else { continue };
        let rows = track.rows.clone().map(|row| row as usize);
        let rows = rows.filter(|row| events.kind[*row] == EventKind::Overhead as u8);
        let rows = rows.filter(|row| !OF_THE_DRIVER.contains(&trace.name(*row)));
        of.extend(rows.map(|row| (events.start_ns[row], events.end_ns(row))));
    }
    let shares = overhead.into_iter().zip(&case.frame().spans).filter(|(_, frame)| frame.total_ns() > 0);
    let share = shares.map(|(overhead, frame)| {
        let whole = frame.total_ns();
        whole.saturating_sub(frame.without(&Spans::of(overhead)).total_ns()) as f64 / whole as f64
    });
    let share = share.fold(0.0, f64::max);
    if share <= MUCH {
        return;
    }
    doubts.push(Doubt {
        message: format!(
            "the profiler itself worked {} of the time: the host was slower than it is without it",
            percent(share)
        ),
        command: Some("ridgeline record --steps 10..12 -- python PROGRAM.py".to_owned()),
        blocks: vec![Question::Idle, Question::Host],
    });
}
