//! Whose is every moment of a device: the work that ran, or the reason why none did.
//!
//! Over the time that is judged ([`Frame`]) the rows of a device add up to that time exactly. A moment in which several
//! streams or lanes worked is divided among them, and one of nested work is the innermost's. So what is claimed by
//! naming rows can never add up to more than there is.

use super::idle::{Activity, Cause};
use crate::context::Shared;
use crate::context::in_order::InOrder;
use crate::{Analysis, Frame, IdleGaps, Need, Spans};
use rayon::prelude::*;
use ridge_trace::{DeviceRow, EventKind, EventRow, StringId, Trace, Track};
use rustc_hash::FxHashMap;

/// What has a moment of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Holds {
    /// Work of one operation and name.
    Work {
        /// Row of the operations table, or [`ridge_trace::NONE`].
        op: u32,
        /// Name of the events.
        name: StringId,
        /// What they are.
        kind: EventKind,
    },
    /// Nothing ran.
    Idle {
        /// Why.
        cause: Cause,
        /// What the host did meanwhile.
        activity: Activity,
        /// Name of the event that did it, or that was waited for.
        name: Option<StringId>,
    },
}

impl Holds {
    /// A number below [`SLOTS`] that is quick to make and seldom the same for two.
    fn slot(self) -> usize {
        let mixed = match self {
            Holds::Work { op, name, .. } => op.wrapping_mul(31).wrapping_add(name.0),
            Holds::Idle { cause, name, .. } => name.map_or(0, |name| name.0).wrapping_mul(31) ^ (cause as u32),
        };
        mixed as usize % SLOTS
    }

    /// What the work at event `row` is.
    pub fn work(trace: &Trace, row: usize) -> Holds {
        let events = &trace.events;
        Holds::Work { op: events.op[row], name: StringId(events.name[row]), kind: events.kind(row) }
    }
}

/// The moments of one device that one thing has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WallRow {
    /// The device.
    pub device: DeviceRow,
    /// What has them.
    pub holds: Holds,
    /// How much of the device's time it has, nanoseconds.
    pub ns: i64,
    /// Events that began in that time, or stretches of idle time.
    pub events: u64,
    /// The longest of them, nanoseconds.
    pub longest_ns: i64,
    /// The longest piece of work, or what the host did in the longest stretch; where nothing was recorded of it, the work that
    /// ended the stretch.
    pub example: Option<EventRow>,
}

/// One device's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceWall {
    /// The device.
    pub device: DeviceRow,
    /// The time that is judged, nanoseconds.
    pub whole_ns: i64,
    /// The part in which it worked, nanoseconds.
    pub busy_ns: i64,
}

/// Whose every moment is, on every device that worked.
#[derive(Debug, Clone, Default)]
pub struct Wall {
    /// The devices that worked.
    pub devices: Vec<DeviceWall>,
    /// What has their time, by device; most first.
    pub rows: Vec<WallRow>,
    /// Where each row is.
    places: FxHashMap<(DeviceRow, Holds), usize>,
    /// What each row has of each stretch between cuts, nanoseconds; empty where the time was not cut.
    pub(crate) stretches: Vec<Vec<i64>>,
}

/// The time that a wall is made of, by row of the processes table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Within<'s> {
    /// The spans of each process.
    pub(crate) spans: &'s [Spans],
    /// Where the time of each process is cut into stretches, ascending; every process has as many cuts.
    pub(crate) cuts: &'s [Vec<i64>],
}

impl Shared for Wall {
    const NEEDS: &'static [Need] = &[Need::of::<Frame>(), Need::of::<IdleGaps>()];

    fn make(analysis: &Analysis<'_>) -> Wall {
        Wall::within(analysis, Within { spans: &analysis.frame().spans, cuts: &[] })
    }
}

impl WallRow {
    /// One that is `ns` long was seen.
    fn lengthen(&mut self, ns: i64, row: Option<EventRow>) {
        if ns > self.longest_ns {
            (self.longest_ns, self.example) = (ns, row);
        }
    }
}

impl Wall {
    /// Whose every moment of that time is; [`IdleGaps`] is asked for.
    pub(crate) fn within(analysis: &Analysis<'_>, time: Within<'_>) -> Wall {
        let idle = analysis.get::<IdleGaps>();
        let devices = 0..idle.devices.len();
        let found: Vec<(DeviceWall, Vec<CutRow>)> =
            devices.into_par_iter().filter_map(|at| of_device(analysis, time, idle, at)).collect();
        let mut wall = Wall::default();
        for (device, rows) in found {
            wall.devices.push(device);
            for (row, stretches) in rows {
                wall.rows.push(row);
                wall.stretches.push(stretches);
            }
        }
        wall.places = wall.rows.iter().enumerate().map(|(at, row)| ((row.device, row.holds), at)).collect();
        wall
    }

    /// The position of the row of what `device` holds.
    pub fn place(&self, device: DeviceRow, holds: Holds) -> Option<usize> {
        self.places.get(&(device, holds)).copied()
    }

    /// The time that is judged, over all devices, nanoseconds.
    pub fn whole_ns(&self) -> i64 {
        self.devices.iter().fold(0, |sum, device| sum.saturating_add(device.whole_ns))
    }

    /// The part in which devices worked, nanoseconds.
    pub fn busy_ns(&self) -> i64 {
        self.devices.iter().fold(0, |sum, device| sum.saturating_add(device.busy_ns))
    }
}

impl<'a> Analysis<'a> {
    /// Whose every moment of the devices is.
    pub fn wall(&self) -> &'a Wall {
        self.get()
    }
}

fn of_device(
    analysis: &Analysis<'_>,
    time: Within<'_>,
    idle: &IdleGaps,
    position: usize,
) -> Option<(DeviceWall, Vec<CutRow>)> {
    let trace = analysis.trace;
    let device = DeviceRow(idle.devices[position].device);
    let process = trace.devices.get(device.index())?.process as usize;
    let spans = time.spans.get(process).filter(|spans| spans.total_ns() > 0)?;
    let cuts = time.cuts.get(process).map_or(&[][..], Vec::as_slice);
    let tracks: Vec<&Track> = trace.tracks_of_device(device.0).filter(|track| !track.rows.is_empty()).collect();
    let (mut rows, idle_rows) =
        rayon::join(|| work_rows(trace, spans, cuts, &tracks), || idle_rows(analysis, spans, cuts, idle, position));
    let busy_ns = rows.iter().fold(0_i64, |sum, (row, _)| sum.saturating_add(row.ns));
    rows.extend(idle_rows);
    rows.retain(|(row, _)| row.ns > 0 || row.events > 0);
    rows.iter_mut().for_each(|(row, _)| row.device = device);
    rows.sort_by_key(|(row, _)| (std::cmp::Reverse(row.ns), row.holds));
    Some((DeviceWall { device, whole_ns: spans.total_ns(), busy_ns }, rows))
}

/// A row, with what it has of each stretch between cuts, nanoseconds.
type CutRow = (WallRow, Vec<i64>);

/// What each piece of work has of the moments in `spans`.
fn work_rows(trace: &Trace, spans: &Spans, cuts: &[i64], tracks: &[&Track]) -> Vec<CutRow> {
    let mut sums = Sums::default();
    let mut sweep =
        Sweep { spans, cuts, stretch: 0, active: vec![Vec::new(); tracks.len()], working: Vec::new(), now: i64::MIN };
    let rows = tracks.iter().enumerate().map(|(at, track)| (track.rows.clone(), at));
    InOrder::with(trace, rows).for_each_with(|row, track| {
        if EventKind::from_byte_is_work(trace.events.kind[row]) {
            let (start, end) = (trace.events.start_ns[row], trace.events.end_ns(row));
            sweep.until(start, &mut sums);
            let at = sums.row(Holds::work(trace, row));
            sums.rows[at].row.events += u64::from(spans.contains(start));
            sums.rows[at].row.lengthen(spans.within_ns(start, end), EventRow::known(row as u32));
            sweep.begin(track, end, at);
        }
    });
    sweep.until(i64::MAX, &mut sums);
    sums.rows(cuts)
}

/// What each reason of idleness has of them.
fn idle_rows(analysis: &Analysis<'_>, spans: &Spans, cuts: &[i64], idle: &IdleGaps, position: usize) -> Vec<CutRow> {
    let (trace, per) = (analysis.trace, analysis.frame().per);
    let visited = idle.visit(trace, position, 0, Sums::default, |sums, parts| {
        for part in parts {
            let ns = spans.within_ns(part.start_ns, part.end_ns());
            if ns > 0 {
                let cause = part.cause_per(per);
                let holds = Holds::Idle { cause, activity: part.activity, name: part.name };
                let at = sums.row(holds);
                add_cut(sums, at, spans, cuts, (part.start_ns, part.end_ns()), ns);
                let row = &mut sums.rows[at].row;
                row.events += 1;
                row.lengthen(ns, part.row);
            }
        }
    });
    let mut sums = Sums::default();
    visited.into_iter().flat_map(|part| part.rows).for_each(|row| sums.merge(row));
    sums.rows(cuts)
}

/// Gives row `at` the `ns` of a time that are in `spans`, each stretch its part.
fn add_cut(sums: &mut Sums, at: usize, spans: &Spans, cuts: &[i64], (start, end): (i64, i64), ns: i64) {
    let first = cuts.partition_point(|cut| *cut <= start);
    if cuts.get(first).is_none_or(|cut| *cut >= end) {
        return sums.add(at, first, ns);
    }
    let mut from = start;
    for stretch in first..=cuts.len() {
        let until = cuts.get(stretch).copied().unwrap_or(i64::MAX).min(end);
        sums.add(at, stretch, spans.within_ns(from, until));
        if until == end {
            break;
        }
        from = until;
    }
}

/// The rows of one device so far.
#[derive(Debug, Default)]
struct Sums {
    rows: Vec<Sum>,
    places: FxHashMap<Holds, usize>,
    /// Rows that were asked for lately, by [`Holds::slot`]: millions of events are of a few things.
    lately: Vec<Option<(Holds, usize)>>,
}

/// Slots for rows that were asked for lately.
const SLOTS: usize = 256;

/// A row, and what it has of each stretch that it has anything of, earliest first.
#[derive(Debug)]
struct Sum {
    row: WallRow,
    stretches: Vec<(usize, i64)>,
}

impl Sum {
    fn add(&mut self, stretch: usize, ns: i64) {
        match self.stretches.last_mut() {
            Some((last, sum)) if *last == stretch => *sum = sum.saturating_add(ns),
            _ => self.stretches.push((stretch, ns)),
        }
    }
}

impl Sums {
    fn row(&mut self, holds: Holds) -> usize {
        if self.lately.is_empty() {
            self.lately = vec![None; SLOTS];
        }
        let slot = holds.slot();
        match self.lately[slot] {
            Some((known, at)) if known == holds => at,
            _ => {
                let at = self.looked_up(holds);
                self.lately[slot] = Some((holds, at));
                at
            }
        }
    }

    fn looked_up(&mut self, holds: Holds) -> usize {
        *self.places.entry(holds).or_insert_with(|| {
            let row = WallRow { device: DeviceRow(0), holds, ns: 0, events: 0, longest_ns: 0, example: None };
            self.rows.push(Sum { row, stretches: Vec::new() });
            self.rows.len() - 1
        })
    }

    /// Row `at` has `ns` more, in that stretch.
    fn add(&mut self, at: usize, stretch: usize, ns: i64) {
        let sum = &mut self.rows[at];
        sum.row.ns = sum.row.ns.saturating_add(ns);
        sum.add(stretch, ns);
    }

    /// Adds the sums of a later time.
    fn merge(&mut self, later: Sum) {
        let at = self.row(later.row.holds);
        let sum = &mut self.rows[at];
        sum.row.ns = sum.row.ns.saturating_add(later.row.ns);
        sum.row.events += later.row.events;
        sum.row.lengthen(later.row.longest_ns, later.row.example);
        later.stretches.into_iter().for_each(|(stretch, ns)| sum.add(stretch, ns));
    }

    /// The rows, each with what it has of every stretch, where the time was cut.
    fn rows(self, cuts: &[i64]) -> Vec<CutRow> {
        let stretches = if cuts.is_empty() { 0 } else { cuts.len() + 1 };
        let of_row = |sum: Sum| {
            let mut parts = vec![0_i64; stretches];
            for (stretch, ns) in sum.stretches {
                if let Some(part) = parts.get_mut(stretch) {
                    *part = part.saturating_add(ns);
                }
            }
            (sum.row, parts)
        };
        self.rows.into_iter().map(of_row).collect()
    }
}

/// A walk through time that knows what is at work.
#[derive(Debug)]
struct Sweep<'s> {
    spans: &'s Spans,
    cuts: &'s [i64],
    /// Cuts that are behind.
    stretch: usize,
    /// What is open on each track, innermost last: when it ends, and its row.
    active: Vec<Vec<(i64, usize)>>,
    /// Tracks on which something is open.
    working: Vec<usize>,
    now: i64,
}

impl Sweep<'_> {
    fn begin(&mut self, track: usize, end: i64, row: usize) {
        if end <= self.now {
            return;
        }
        if self.active[track].is_empty() {
            self.working.push(track);
        }
        self.active[track].push((end, row));
    }

    /// Goes on to `time`, giving each moment to what is at work in it.
    fn until(&mut self, time: i64, sums: &mut Sums) {
        while !self.working.is_empty() && self.now < time {
            self.pass_cuts();
            let ends = self.working.iter().filter_map(|track| self.active[*track].last()).map(|(end, _)| *end);
            let cut = self.cuts.get(self.stretch).copied().unwrap_or(i64::MAX);
            let next = ends.min().unwrap_or(time).min(time).min(cut);
            self.divide(next, sums);
            self.now = next;
            let Sweep { active, working, .. } = self;
            working.retain(|track| {
                let open = &mut active[*track];
                while open.last().is_some_and(|(end, _)| *end <= next) {
                    open.pop();
                }
                !open.is_empty()
            });
        }
        self.now = self.now.max(time);
    }

    fn pass_cuts(&mut self) {
        while self.cuts.get(self.stretch).is_some_and(|cut| *cut <= self.now) {
            self.stretch += 1;
        }
    }

    fn divide(&self, until: i64, sums: &mut Sums) {
        let ns = self.spans.within_ns(self.now, until);
        let count = self.working.len() as i64;
        for (at, track) in (0..).zip(&self.working) {
            let Some(&(_, row)) = self.active[*track].last() else { continue };
            let part = ns / count + i64::from(at < ns % count);
            sums.add(row, self.stretch, part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Prepared;
    use expect_test::{Expect, expect};

    #[track_caller]
    fn check(text: &str, expected: Expect) {
        let trace = ridge_test::trace(text);
        let prepared = Prepared::with_sheets(&trace);
        let wall = prepared.analysis(&trace, &[]).wall().clone();
        let line = |row: &WallRow| {
            let what = match row.holds {
                Holds::Work { name, .. } => trace.strings.get(name).to_owned(),
                Holds::Idle { cause, activity, name } => {
                    let name = name.map_or("", |name| trace.strings.get(name));
                    format!("idle: {}, {} {name}", cause.name(), activity.name())
                }
            };
            format!("{} × {what}: {}\n", row.events, row.ns)
        };
        let lines: String = wall.rows.iter().map(line).collect();
        let of_device = |device: &DeviceWall| format!("{} of {} busy\n", device.busy_ns, device.whole_ns);
        expected.assert_eq(&(wall.devices.iter().map(of_device).collect::<String>() + &lines));
        let sum: i64 = wall.rows.iter().map(|row| row.ns).sum();
        assert_eq!(sum, wall.whole_ns());
    }

    #[test]
    fn moments_are_divided_and_gaps_have_reasons() {
        check(
            "thread python
               0 +100 train step=1
               100 +100 train step=2
               110 +40 load
               150 +10 launch launch id=1
               200 +100 train step=3
             stream 1 on gpu
               50 +10 first
               160 +30 gemm id=1
               250 +50 tail
             stream 2 on gpu
               170 +40 copy h2d",
            expect![[r#"
                100 of 200 busy
                1 × tail: 50
                1 × idle: host late, runtime or library load: 40
                1 × idle: unknown, nothing recorded : 40
                1 × copy: 30
                1 × gemm: 20
                1 × idle: host late, program's own code train: 10
                1 × idle: in the launch call, launching launch: 10
            "#]],
        );
    }

    #[test]
    fn nested_work_is_the_innermosts() {
        check(
            "lane 0 on cpu
               0 +100 while.1
               10 +20 body.1
               40 +20 body.1
             lane 1 on cpu
               50 +10 other",
            expect![[r#"
                100 of 100 busy
                1 × while.1: 60
                2 × body.1: 35
                1 × other: 5
            "#]],
        );
    }
}
