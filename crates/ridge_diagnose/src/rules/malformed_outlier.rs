//! One event that cannot be true holds most of a device's time.

use crate::case::Case;
use crate::fitness::{Doubt, Question};
use crate::rule::{Find, Group, Rule};
use crate::words::{percent, short};
use ridge_analysis::{IdleGaps, Need};
use ridge_trace::{DeviceRow, EventKind, Track, TrackKind};
use ridge_units::Nanos;

pub(crate) static RULE: Rule = Rule {
    id: "malformed-outlier",
    group: Group::Fitness,
    summary: "One implausible event dominates device time",
    document: include_str!("malformed_outlier.md"),
    asks: &[],
    explains: &[],
    needs: &[Need::of::<IdleGaps>()],
    find: Find::Doubts(find),
};

/// Above this part of a device's time one event decides every share.
const LEAST: f64 = 0.50;
/// Work of the next launch may begin in the last tenth of a kernel; before that, a stream does one thing at a time.
const SERIAL: f64 = 0.90;

fn find(case: &Case<'_>, doubts: &mut Vec<Doubt>) {
    let trace = case.trace();
    let events = &trace.events;
    for device in &case.analysis.get::<IdleGaps>().devices {
        if case.is_processor(DeviceRow(device.device)) {
            continue;
        }
        let least = (LEAST * device.busy_ns as f64) as i64;
        let streams = trace.tracks_of_device(device.device).filter(|track| track.kind == TrackKind::Stream);
        let Some(row) = streams.filter_map(|track| impossible(case, track, least)).next() else { continue };
        let ns = events.dur_ns[row];
        doubts.push(Doubt {
            message: format!(
                "one event, `{}` of {}, takes {} of the device time and overlaps later work on its own stream: its timestamps are wrong",
                short(trace.name(row)),
                Nanos(ns),
                percent((ns as f64 / device.busy_ns.max(1) as f64).min(1.0)),
            ),
            command: Some("ridgeline record --steps 10..12 -- python PROGRAM.py".to_owned()),
            blocks: vec![Question::Device, Question::Idle, Question::Steps],
        });
        return;
    }
}

/// An event of the stream that is longer than `least` and in which later launches' work begins.
fn impossible(case: &Case<'_>, track: &Track, least: i64) -> Option<usize> {
    let events = &case.trace().events;
    let mut work = (track.rows.clone().map(|row| row as usize))
        .filter(|row| EventKind::from_byte_is_work(events.kind[*row]))
        .peekable();
    while let Some(row) = work.next() {
        if events.dur_ns[row] <= least || events.kind[row] == EventKind::GraphLaunch as u8 {
            continue;
        }
        let serial = events.start_ns[row].saturating_add((SERIAL * events.dur_ns[row] as f64) as i64);
        // Branches of one graph may run at once.
        let is_other = |next: &usize| events.link[*next] != events.link[row];
        if work.peek().is_some_and(|next| events.start_ns[*next] < serial && is_other(next)) {
            return Some(row);
        }
    }
    None
}
