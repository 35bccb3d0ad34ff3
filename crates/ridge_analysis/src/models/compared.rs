//! The time that captures are compared by: whole steps, from the first to the last.
//!
//! A step is *done* when its range and all device work that it caused have ended, and no earlier than the step before
//! it. Its *period* is the time from there on since the step before was done: what a loop takes for one round, data
//! loading included, also where the host runs ahead of its device. The first step warms up and only says when the
//! second begins. Periods follow one another without gap or overlap, so what devices did in each adds up to the whole.
//! Without marked steps it is the steady part of the capture ([`AnalyzedTime`]), as one piece.

use super::breakdown::Within;
use crate::context::{Shared, Spans};
use crate::{Analysis, AnalyzedTime, Breakdown, IdleGaps, Need, Per, Steps};
use ridge_trace::{StringId, Trace};
use rustc_hash::FxHashMap;

/// Stretches of successive steps that the time is cut into at most: as many samples as tell how much a run wavers, each of
/// as many steps as there are, so that what lasts longer than a step is seen between them.
const MOST_STRETCHES: usize = 8;

/// The time that captures are compared by.
#[derive(Debug, Clone, Default)]
pub struct ComparedTime {
    /// What times are given per; `None` where there is no time to compare.
    pub per: Option<Per>,
    /// Steps or captures, summed over the devices that worked.
    pub units: u64,
    /// The time, summed over the devices that worked; over processes where none did. Nanoseconds.
    pub whole_ns: i64,
    /// Its stretches of successive steps, in order; one where no steps are marked.
    pub stretches: Vec<Stretch>,
    /// The period of each step of the process that has most, in order, nanoseconds.
    pub periods_ns: Vec<i64>,
    /// What the program calls its steps.
    pub name: Option<StringId>,
    /// Whose every moment of it is.
    pub breakdown: Breakdown,
}

/// Some successive steps on all devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stretch {
    /// Steps, summed over the devices.
    pub units: u64,
    /// Their time, summed over the devices, nanoseconds.
    pub whole_ns: i64,
}

/// The steps of one process.
#[derive(Debug, Clone, Default)]
struct Rounds {
    /// When the first one that counts begins, nanoseconds.
    start_ns: i64,
    /// When each is done, nanoseconds, ascending.
    done_ns: Vec<i64>,
    name: Option<StringId>,
}

impl Shared for ComparedTime {
    const NEEDS: &'static [Need] = &[Need::of::<Steps>(), Need::of::<AnalyzedTime>(), Need::of::<IdleGaps>()];

    fn make(analysis: &Analysis<'_>) -> ComparedTime {
        let rounds = rounds(analysis);
        let most = rounds.iter().max_by_key(|rounds| rounds.done_ns.len());
        let Some(most) = most.filter(|rounds| !rounds.done_ns.is_empty()) else { return of_capture(analysis) };
        let stepped = rounds.iter().filter(|rounds| !rounds.done_ns.is_empty());
        let fewest = stepped.map(|rounds| rounds.done_ns.len()).min().unwrap_or(1);
        let count = fewest.clamp(1, MOST_STRETCHES);
        let spans: Vec<Spans> = rounds.iter().map(Rounds::spans).collect();
        let cuts: Vec<Vec<i64>> = rounds.iter().map(|rounds| rounds.cuts(count)).collect();
        let breakdown = Breakdown::within(analysis, Within { spans: &spans, cuts: &cuts });
        let mut stretches = vec![Stretch::default(); count];
        for process in counted(analysis.trace, &breakdown, &spans) {
            for (at, stretch) in stretches.iter_mut().enumerate() {
                let (steps, ns) = rounds[process].stretch(at, count);
                stretch.units += steps;
                stretch.whole_ns = stretch.whole_ns.saturating_add(ns);
            }
        }
        ComparedTime {
            per: Some(Per::Step),
            units: stretches.iter().map(|stretch| stretch.units).sum(),
            whole_ns: stretches.iter().fold(0, |sum, stretch| sum.saturating_add(stretch.whole_ns)),
            stretches,
            periods_ns: most.periods().collect(),
            name: most.name,
            breakdown,
        }
    }
}

impl ComparedTime {
    /// What the row of [`ComparedTime::breakdown`] at `row` has of each stretch, nanoseconds.
    pub fn by_stretch(&self, row: usize) -> Vec<i64> {
        match self.breakdown.stretches.get(row).filter(|parts| !parts.is_empty()) {
            Some(parts) => parts.clone(),
            None => self.breakdown.rows.get(row).map(|row| row.ns).into_iter().collect(),
        }
    }
}

impl Rounds {
    fn spans(&self) -> Spans {
        Spans::of(self.done_ns.last().map(|end| (self.start_ns, *end)))
    }

    fn periods(&self) -> impl Iterator<Item = i64> + '_ {
        let starts = std::iter::once(self.start_ns).chain(self.done_ns.iter().copied());
        starts.zip(&self.done_ns).map(|(start, done)| done.saturating_sub(start))
    }

    /// Where stretch `at` of `count` begins, as a number of steps.
    fn begins(&self, at: usize, count: usize) -> usize {
        self.done_ns.len() * at / count
    }

    fn cuts(&self, count: usize) -> Vec<i64> {
        (1..count).filter_map(|at| self.done_ns.get(self.begins(at, count).checked_sub(1)?).copied()).collect()
    }

    /// Steps of a stretch, and their time.
    fn stretch(&self, at: usize, count: usize) -> (u64, i64) {
        let (from, until) = (self.begins(at, count), self.begins(at + 1, count));
        let ns = self.periods().take(until).skip(from).fold(0_i64, i64::saturating_add);
        ((until - from) as u64, ns)
    }
}

/// The processes whose time counts, once for each of their devices that worked; where none did, each that has steps.
fn counted(trace: &Trace, breakdown: &Breakdown, spans: &[Spans]) -> Vec<usize> {
    if breakdown.devices.is_empty() {
        return (0..spans.len()).filter(|process| spans[*process].total_ns() > 0).collect();
    }
    let process = |device: &crate::DeviceBreakdown| Some(trace.devices.get(device.device.index())?.process as usize);
    breakdown.devices.iter().filter_map(process).collect()
}

/// When a step began, when the host ended it, when its work ended, nanoseconds; its name.
type MarkedStep = (i64, i64, i64, StringId);

/// The steps of each process, of the thread that marked most.
fn rounds(analysis: &Analysis<'_>) -> Vec<Rounds> {
    let trace = analysis.trace;
    let mut by_track: FxHashMap<(u32, u32), Vec<MarkedStep>> = FxHashMap::default();
    for step in &analysis.steps().rows {
        let row = step.event.index();
        let Some(track) = trace.track_of(step.event.0) else { continue };
        let (start, end) = (trace.events.start_ns[row], trace.events.end_ns(row));
        let key = (track.process, track.rows.start);
        by_track.entry(key).or_default().push((start, end, step.last_ns, step.name));
    }
    let mut all = vec![Rounds::default(); trace.processes.len()];
    let mut tracks: Vec<_> = by_track.into_iter().collect();
    tracks.sort_by_key(|((process, first), steps)| (*process, std::cmp::Reverse(steps.len()), *first));
    tracks.dedup_by_key(|((process, _), _)| *process);
    for ((process, _), mut steps) in tracks {
        steps.sort_unstable();
        // A step inside another is a part of it.
        let mut until = i64::MIN;
        steps.retain(|(start, end, ..)| {
            let is_outer = *start >= until;
            until = until.max(*end);
            is_outer
        });
        let mut done = i64::MIN;
        let mut done_ns: Vec<i64> = Vec::with_capacity(steps.len());
        for (_, end, last, _) in &steps {
            done = done.max(*end).max(*last);
            done_ns.push(done);
        }
        let Some((start, .., name)) = steps.first().copied() else { continue };
        // The first step warms up; where there is no other, there is no choice.
        let start_ns = if done_ns.len() > 1 { done_ns.remove(0) } else { start };
        if let Some(rounds) = all.get_mut(process as usize) {
            *rounds = Rounds { start_ns, done_ns, name: Some(name) };
        }
    }
    all
}

/// The steady part of a capture without steps.
fn of_capture(analysis: &Analysis<'_>) -> ComparedTime {
    let frame = analysis.analyzed();
    let breakdown = Breakdown::within(analysis, Within { spans: &frame.spans, cuts: &[] });
    let whole_ns = breakdown.whole_ns();
    if whole_ns == 0 {
        return ComparedTime::default();
    }
    let units = breakdown.devices.len() as u64;
    let stretches = vec![Stretch { units, whole_ns }];
    ComparedTime { per: Some(Per::Capture), units, whole_ns, stretches, breakdown, ..ComparedTime::default() }
}

impl<'a> Analysis<'a> {
    /// The time that captures are compared by.
    pub fn compared(&self) -> &'a ComparedTime {
        self.get()
    }
}

#[cfg(test)]
mod tests {
    use crate::{Prepared, TimeOwner};
    use expect_test::{Expect, expect};

    #[track_caller]
    fn check(text: &str, expected: Expect) {
        let trace = ridge_test::trace(text);
        let prepared = Prepared::with_sheets(&trace);
        let compared = prepared.analysis(&trace, &[]).compared().clone();
        let mut lines =
            format!("{} ns of {} units, periods {:?}\n", compared.whole_ns, compared.units, compared.periods_ns);
        for (at, row) in compared.breakdown.rows.iter().enumerate() {
            let what = match row.owner {
                TimeOwner::Work { name, .. } => trace.strings.get(name),
                TimeOwner::Idle { cause, .. } => cause.name(),
            };
            let parts = compared.by_stretch(at);
            assert_eq!(parts.iter().sum::<i64>(), row.ns, "{what}");
            lines += &format!("{what}: {parts:?}\n");
        }
        expected.assert_eq(&lines);
        for (at, stretch) in compared.stretches.iter().enumerate() {
            let sum: i64 = (0..compared.breakdown.rows.len()).map(|row| compared.by_stretch(row)[at]).sum();
            assert_eq!(sum, stretch.whole_ns);
        }
        assert_eq!(compared.stretches.iter().map(|stretch| stretch.whole_ns).sum::<i64>(), compared.whole_ns);
    }

    #[test]
    fn a_host_that_runs_ahead_is_timed_by_what_its_steps_caused() {
        check(
            "thread python
               0 +10 train step=1
               1 +2 launch launch id=1
               10 +10 train step=2
               11 +2 launch launch id=2
               20 +10 train step=3
               21 +2 launch launch id=3
             stream 1 on gpu
               5 +95 gemm id=1
               100 +100 gemm id=2
               200 +110 gemm id=3",
            expect![[r#"
                210 ns of 2 units, periods [100, 110]
                gemm: [100, 110]
            "#]],
        );
    }

    #[test]
    fn what_comes_between_steps_belongs_to_the_next() {
        check(
            "thread python
               0 +10 train step=1
               40 +20 train step=2
               41 +2 launch launch id=2
               90 +20 train step=3
               91 +2 launch launch id=3
             stream 1 on gpu
               45 +10 gemm id=2
               95 +15 gemm id=3",
            expect![[r#"
                100 ns of 2 units, periods [50, 50]
                host late: [30, 30]
                gemm: [10, 15]
                host late: [6, 1]
                in the launch call: [2, 2]
                launch latency: [2, 2]
            "#]],
        );
    }

    #[test]
    fn devices_are_added_and_nested_steps_are_parts() {
        check(
            "thread python
               0 +10 train step=1
               10 +20 train step=2
               12 +5 inner step=7
               30 +20 train step=3
             stream 1 on gpu0
               10 +20 a
               30 +20 a
             stream 1 on gpu1
               10 +10 b
               30 +20 b",
            expect![[r#"
                80 ns of 4 units, periods [20, 20]
                a: [20, 20]
                b: [10, 20]
                unknown: [10, 0]
            "#]],
        );
    }

    #[test]
    fn without_steps_or_work_there_is_one_piece_or_none() {
        check(
            "stream 1 on gpu
               5 +10 a
               20 +10 a",
            expect![[r#"
                25 ns of 1 units, periods []
                a: [20]
                unknown: [5]
            "#]],
        );
        check(
            "thread python\n  0 +10 a",
            expect![[r#"
            0 ns of 0 units, periods []
        "#]],
        );
    }
}
