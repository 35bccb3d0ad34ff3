//! The profiler itself takes much of the time.

use crate::case::Case;
use crate::fitness::{Doubt, Question};
use crate::rule::{Find, Group, Rule};
use crate::words::{count, percent};
use ridge_analysis::Spans;
use ridge_trace::EventKind;
use ridge_units::Nanos;

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

/// Steps that take so many times as long while they are recorded are not what the program does without.
const SLOWED: f64 = 1.3;
/// And from here on the host's part of them is mostly the recording's.
const SLOWED_MUCH: f64 = 3.0;
/// What an event of XLA's runtime costs the thread that it is of, nanoseconds: 0.27 µs with jaxlib 0.10.1 on a server's core.
const EVENT_NS: f64 = 270.0;

fn find(case: &Case<'_>, doubts: &mut Vec<Doubt>) {
    slowed_steps(case, doubts);
    busy_profiler(case, doubts);
}

/// Events of short operations make them longer: by what steps took with and without, or else by how many there are.
fn slowed_steps(case: &Case<'_>, doubts: &mut Vec<Doubt>) {
    if let Some(times) = case.known.step_times {
        let slowdown = times.slowdown();
        if slowdown >= SLOWED {
            let message = format!(
                "the median step took {} with recording and {} without: times are up to {} times too long, mostly for short operations",
                Nanos(times.recorded_ns as i64),
                Nanos(times.not_recorded_ns as i64),
                factor(slowdown),
            );
            let blocks = if slowdown >= SLOWED_MUCH { vec![Question::Idle, Question::Host] } else { Vec::new() };
            doubts.push(Doubt { message, command: None, blocks });
        }
        return;
    }
    if !case.is_on_processors() {
        return;
    }
    let events: u64 = case.work().map(|work| work.row.events).sum();
    let share = events as f64 * EVENT_NS / case.breakdown().whole_ns().max(1) as f64;
    if share >= SLOWED - 1.0 {
        let message = format!(
            "recording {} takes an estimated {} of the analyzed time: short operations appear longer than they are",
            count(events, "operation", "operations"),
            percent(share.min(1.0)),
        );
        doubts.push(Doubt { message, command: None, blocks: Vec::new() });
    }
}

fn factor(slowdown: f64) -> String {
    if slowdown < 10.0 { format!("{slowdown:.1}") } else { format!("{slowdown:.0}") }
}

/// The profiler's own work, as its events say.
fn busy_profiler(case: &Case<'_>, doubts: &mut Vec<Doubt>) {
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
    let shares = overhead.into_iter().zip(&case.analyzed().spans).filter(|(_, frame)| frame.total_ns() > 0);
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
            "the profiler itself ran {} of the time: the host is faster without it",
            percent(share)
        ),
        command: Some("ridgeline record --steps 10..12 -- python PROGRAM.py".to_owned()),
        blocks: vec![Question::Idle, Question::Host],
    });
}
