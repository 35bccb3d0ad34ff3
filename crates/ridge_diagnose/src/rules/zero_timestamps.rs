//! Kernels without a duration: their records were lost.

use crate::case::Case;
use crate::fitness::{Doubt, Question};
use crate::rule::{Find, Group, Rule};
use ridge_trace::{DeviceRow, EventKind, TrackKind};

pub(crate) static RULE: Rule = Rule {
    id: "zero-timestamps",
    group: Group::Fitness,
    summary: "Kernels without durations",
    document: include_str!("zero_timestamps.md"),
    asks: &[],
    explains: &[],
    needs: &[],
    find: Find::Doubts(find),
};

/// Above this part of the kernels the times of the others are doubted, too.
const LEAST: f64 = 0.001;
/// Above this part no time of the device can be told.
const MANY: f64 = 0.10;
/// Clocks that count microseconds give short kernels no time.
const MICROSECOND: i64 = 1000;

fn find(case: &Case<'_>, doubts: &mut Vec<Doubt>) {
    let events = &case.trace().events;
    let streams = case.trace().device_tracks().filter(|track| {
        let is_processor = track.device.is_some_and(|device| case.is_processor(DeviceRow(device)));
        track.kind == TrackKind::Stream && !is_processor
    });
    let (mut kernels, mut empty, mut is_fine) = (0_u64, 0_u64, false);
    for row in streams.flat_map(|track| track.rows.clone()).map(|row| row as usize) {
        if events.kind[row] == EventKind::Kernel as u8 {
            kernels += 1;
            empty += u64::from(events.dur_ns[row] <= 0);
            is_fine |= events.dur_ns[row] % MICROSECOND != 0;
        }
    }
    let share = empty as f64 / kernels.max(1) as f64;
    if !is_fine || share <= LEAST {
        return;
    }
    let blocks = match share > MANY {
        true => vec![Question::Device, Question::Idle, Question::Steps],
        false => Vec::new(),
    };
    let message = format!("{empty} of {kernels} kernels have no duration: their times were lost");
    let command = "ridgeline record --steps 10..12 -- python PROGRAM.py".to_owned();
    doubts.push(Doubt { message, command: Some(command), blocks });
}
