//! When the instructions of a module first ran, to give lifetimes in time beside those in positions.
//!
//! Operations that leave no event of their own (tuples, bitcasts) take the time of their neighbors in the schedule.

use ridge_hlo::InstructionId;
use ridge_hlo::memory::Schedule;
use ridge_trace::{EventKind, ModuleRow, NONE, Operation, Trace, Track};

/// Rows of a track that are looked at for the end of one lifetime, should the first run not have it.
const LOOK_AHEAD: usize = 1 << 16;

/// Start and end of an event, nanoseconds.
type Span = (i64, i64);

/// Starts and ends of the first device events of each position.
#[derive(Debug)]
pub(crate) struct FirstRuns<'t> {
    trace: &'t Trace,
    /// Position of each operation; `None` for those of other modules.
    position_of_op: Vec<Option<u32>>,
    /// The tracks of the first device that ran the module: runs on several devices overlap.
    tracks: Vec<&'t Track>,
    /// The first event of each position.
    first: Vec<Option<Span>>,
    /// Start of the first event at or after each position in schedule order: position of that event, start.
    next: Vec<Option<(u32, i64)>>,
    /// Position of the last one with events at or before each position.
    before: Vec<Option<u32>>,
}

impl<'t> FirstRuns<'t> {
    /// The events of `module`.
    pub(crate) fn new(trace: &'t Trace, module: ModuleRow, schedule: &Schedule) -> FirstRuns<'t> {
        let position = |op: &Operation| {
            let is_ours = op.module == module.0 && op.instruction != NONE;
            is_ours.then(|| schedule.position(InstructionId(op.instruction))).flatten()
        };
        let positions = schedule.len() as usize;
        let mut runs = FirstRuns {
            trace,
            position_of_op: trace.operations.iter().map(position).collect(),
            tracks: Vec::new(),
            first: vec![None; positions],
            next: vec![None; positions],
            before: vec![None; positions],
        };
        runs.find_first();
        let (mut later, mut earlier) = (None, None);
        for position in (0..positions).rev() {
            later = runs.first[position].map(|(start, _)| (position as u32, start)).or(later);
            runs.next[position] = later;
        }
        for position in 0..positions {
            earlier = runs.first[position].map(|_| position as u32).or(earlier);
            runs.before[position] = earlier;
        }
        runs
    }

    /// Time from the first event of position `from` to the end of the next one of position `to`, nanoseconds.
    pub(crate) fn between(&self, (from, to): (u32, u32)) -> Option<i64> {
        let (first, start) = self.next.get(from as usize).copied().flatten()?;
        let last = self.before.get(to as usize).copied().flatten().filter(|last| *last >= first)?;
        let ended = self.first[last as usize].filter(|(begun, _)| *begun >= start);
        // A capture that began in the middle of a run has the end of that one first.
        let (_, end) = ended.or_else(|| self.first_after(last, start))?;
        Some(end - start)
    }

    /// Fills `first` and `tracks`.
    fn find_first(&mut self) {
        let mut expected: Vec<u32> = self.position_of_op.iter().copied().flatten().collect();
        expected.sort_unstable();
        expected.dedup();
        if expected.is_empty() {
            return;
        }
        let mut found_here = vec![false; self.first.len()];
        for track in self.trace.device_tracks() {
            if self.tracks.first().is_some_and(|known| known.device != track.device) {
                continue;
            }
            let mut count = 0;
            found_here.fill(false);
            for row in track.rows.clone() {
                let Some(position) = self.position_of(row).filter(|position| !found_here[*position as usize]) else {
                    continue;
                };
                found_here[position as usize] = true;
                let span = self.span(row);
                let first = &mut self.first[position as usize];
                *first = Some(first.map_or(span, |known| known.min(span)));
                count += 1;
                // Most modules run many times, and all of each: the rest of the track has nothing new.
                if count == expected.len() {
                    break;
                }
            }
            if count > 0 {
                self.tracks.push(track);
            }
        }
    }

    /// The first event of `position` that begins no earlier than `start`.
    fn first_after(&self, position: u32, start: i64) -> Option<Span> {
        let on_track = |track: &&Track| {
            let starts = &self.trace.events.start_ns[track.rows.start as usize..track.rows.end as usize];
            let from = track.rows.start + starts.partition_point(|begun| *begun < start) as u32;
            let found = (from..track.rows.end).take(LOOK_AHEAD).find(|row| self.position_of(*row) == Some(position))?;
            Some(self.span(found))
        };
        self.tracks.iter().filter_map(on_track).min()
    }

    /// The position of the work at `row`; `None` where it is no work of the module.
    fn position_of(&self, row: u32) -> Option<u32> {
        let events = &self.trace.events;
        let position = self.position_of_op.get(events.op[row as usize] as usize).copied().flatten();
        position.filter(|_| EventKind::from_byte_is_work(events.kind[row as usize]))
    }

    fn span(&self, row: u32) -> Span {
        (self.trace.events.start_ns[row as usize], self.trace.events.end_ns(row as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ridge_hlo::HloModule;

    const HLO: &str = "HloModule jit_m, is_scheduled=true

ENTRY %main (a: f32[8]) -> f32[8] {
  %a = f32[8]{0} parameter(0)
  %sine = f32[8]{0} sine(%a)
  %tanh = f32[8]{0} tanh(%sine)
  ROOT %cosine = f32[8]{0} cosine(%tanh)
}
";

    /// Times from sine to tanh, from the parameter to cosine, and from tanh to sine, where `text` holds the events.
    #[track_caller]
    fn check(text: &str, expected: &str) {
        let hlo = HloModule::from_text(HLO).expect("HLO text of the test");
        let id = |name: &str| hlo.instruction_named(name).expect("an instruction of the module").0;
        let mut events = "module jit_m 1 hlo=0\n".to_owned();
        for line in text.lines() {
            let line = match line.split_whitespace().nth(2) {
                Some(name) if line.contains('+') => format!("{line} op={name} in=jit_m at={}", id(name)),
                _ => line.to_owned(),
            };
            events.push_str(&(line + "\n"));
        }
        let trace = ridge_test::trace(&events);
        let runs = FirstRuns::new(&trace, ModuleRow(0), &Schedule::new(&hlo));
        let found = [(1, 2), (0, 3), (2, 1)].map(|lives| match runs.between(lives) {
            Some(ns) => ns.to_string(),
            None => "-".to_owned(),
        });
        assert_eq!(found.join(" "), expected);
    }

    #[test]
    fn lifetimes_are_those_of_the_first_run() {
        check(
            "stream 1 on gpu
               0 +2 sine
               10 +3 tanh
               20 +4 cosine
               100 +2 sine
               150 +3 tanh",
            "13 24 -",
        );
    }

    #[test]
    fn a_capture_that_begins_within_a_run_shows_the_next_one() {
        check(
            "stream 1 on gpu
               10 +3 tanh
               20 +4 cosine
               100 +2 sine
               150 +3 tanh
               160 +4 cosine",
            "53 64 -",
        );
    }

    #[test]
    fn streams_of_the_first_device_count_together() {
        check(
            "stream 1 on gpu
               10 +3 tanh
             stream 2 on gpu
               2 +2 sine
               20 +4 cosine
             stream 3 on other
               0 +9 sine",
            "11 22 -",
        );
    }
}
