//! What a rule is asked about: a trace with its answers, whose every moment is, and what is known beside it.

use crate::finding::{Finding, Place};
use crate::fitness::CannotTell;
use crate::known::Known;
use ridge_analysis::models::idle::IdlePart;
use ridge_analysis::{
    Activity, Analysis, AnalyzedTime, Breakdown, BreakdownRow, Cause, IdleGaps, Life, PythonFrame, Shared, Spans,
    StepRow, TimeOwner,
};
use ridge_hlo::{HloModule, Instruction, InstructionId};
use ridge_replay::{Action, Edit};
use ridge_table::{Basis, Quantity, Unit};
use ridge_trace::{DeviceRow, EventKind, NONE, StringId, Trace, TrackKind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Events around one that are looked at: real nesting is far below.
const NESTING: usize = 512;

/// Pieces of like work whose calls are looked at for a line.
const CALLS: usize = 64;

/// A capture before a rule.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    /// The trace with its answers.
    pub analysis: Analysis<'a>,
    /// What is known beside it.
    pub known: &'a Known,
}

/// Work of one operation and name on one device, with its place in the breakdown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Work<'a> {
    /// Its row of the breakdown.
    pub(crate) at: usize,
    /// How much of the device's time it has, how many events began.
    pub(crate) row: &'a BreakdownRow,
    /// Row of the operations table, or [`NONE`].
    pub(crate) op: u32,
    /// Name of the events.
    pub(crate) name: &'a str,
    /// What they are.
    pub(crate) kind: EventKind,
}

/// Idle time of one cause, with its place in the breakdown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IdleTime<'a> {
    /// Its row of the breakdown.
    pub(crate) at: usize,
    /// How much of the device's time it has.
    pub(crate) row: &'a BreakdownRow,
    /// Why nothing ran.
    pub(crate) cause: Cause,
    /// What the host did.
    pub(crate) activity: Activity,
    /// Name of the event that did it.
    pub(crate) name: Option<&'a str>,
}

impl<'a> Case<'a> {
    /// The trace.
    pub(crate) fn trace(&self) -> &'a Trace {
        self.analysis.trace
    }

    /// The time that is judged.
    pub(crate) fn analyzed(&self) -> &'a AnalyzedTime {
        self.analysis.analyzed()
    }

    /// Whose every moment of it is.
    pub(crate) fn breakdown(&self) -> &'a Breakdown {
        self.analysis.breakdown()
    }

    /// Device work, most time first on each device.
    pub(crate) fn work(&self) -> impl Iterator<Item = Work<'a>> {
        let trace = self.trace();
        self.breakdown().rows.iter().enumerate().filter_map(|(at, row)| match row.owner {
            TimeOwner::Work { op, name, kind } => Some(Work { at, row, op, name: trace.strings.get(name), kind }),
            TimeOwner::Idle { .. } => None,
        })
    }

    /// Idle time, most first on each device.
    pub(crate) fn idle(&self) -> impl Iterator<Item = IdleTime<'a>> {
        let trace = self.trace();
        self.breakdown().rows.iter().enumerate().filter_map(|(at, row)| match row.owner {
            TimeOwner::Idle { cause, activity, name } => {
                let name = name.map(|name| trace.strings.get(name));
                Some(IdleTime { at, row, cause, activity, name })
            }
            TimeOwner::Work { .. } => None,
        })
    }

    /// The part of the judged time of all devices that these rows have, each moment once; 0 to 1.
    pub(crate) fn share_of(&self, claim: impl IntoIterator<Item = (usize, f32)>) -> f64 {
        let whole = self.breakdown().whole_ns();
        let mut parts: FxHashMap<usize, f32> = FxHashMap::default();
        for (at, part) in claim {
            let known = parts.entry(at).or_default();
            *known = known.max(part.clamp(0.0, 1.0));
        }
        let ns = |at: usize| self.breakdown().rows.get(at).map_or(0, |row| row.ns) as f64;
        let held: f64 = parts.into_iter().map(|(at, part)| ns(at) * f64::from(part)).sum();
        // The sum of nothing is -0.0.
        if whole > 0 && held > 0.0 { held / whole as f64 } else { 0.0 }
    }

    /// The part of what `one` claims that `other` claims too; 0 to 1.
    pub(crate) fn common_part(&self, one: &[(usize, f32)], other: &[(usize, f32)]) -> f64 {
        let mut others: FxHashMap<usize, f32> = FxHashMap::default();
        for (at, part) in other {
            let known = others.entry(*at).or_default();
            *known = known.max(*part);
        }
        let all = self.share_of(one.iter().copied());
        let shared = one.iter().filter_map(|(at, part)| Some((*at, others.get(at)?.min(*part))));
        let common = self.share_of(shared);
        if all > 0.0 { common / all } else { 0.0 }
    }

    /// The part of the judged time that `ns` over all devices is; 0 to 1.
    pub(crate) fn share(&self, ns: i64) -> f64 {
        let whole = self.breakdown().whole_ns();
        if whole > 0 { ns as f64 / whole as f64 } else { 0.0 }
    }

    /// The part of the time that is judged on `device` that `ns` of it is; 0 to 1.
    pub(crate) fn share_on(&self, device: DeviceRow, ns: i64) -> f64 {
        let whole = self
            .breakdown()
            .devices
            .iter()
            .find(|breakdown| breakdown.device == device)
            .map_or(0, |breakdown| breakdown.whole_ns);
        if whole > 0 { ns as f64 / whole as f64 } else { 0.0 }
    }

    /// Time of `device` as time of one step, or of the capture.
    pub(crate) fn per_unit_on(&self, device: DeviceRow, ns: i64) -> Quantity {
        Quantity::nanos((self.share_on(device, ns) * self.analyzed().unit_ns() as f64) as i64, Basis::Measured)
    }

    /// Time of one device or rank as time of one step, or of the capture.
    pub(crate) fn per_unit_of_one(&self, ns: i64) -> Quantity {
        let count = i64::try_from(self.analyzed().count.max(1)).unwrap_or(i64::MAX);
        Quantity::nanos(ns / count, Basis::Measured)
    }

    /// The part of a step or capture and of `beside_ns` beside it that the latter is together with the part `within` of the
    /// former; and both together, nanoseconds.
    pub(crate) fn share_with_beside(&self, within: f64, beside_ns: i64) -> (f64, i64) {
        let (unit, beside) = (self.analyzed().unit_ns().max(0), beside_ns.max(0));
        let whole = unit.saturating_add(beside);
        let share = if beside > 0 { (within * unit as f64 + beside as f64) / whole as f64 } else { within };
        (share, whole)
    }

    /// Time over all devices as time of one step, or of the capture.
    pub(crate) fn per_unit(&self, ns: i64) -> Quantity {
        Quantity::nanos((self.share(ns) * self.analyzed().unit_ns() as f64) as i64, Basis::Measured)
    }

    /// A number of things in the judged time per step, or in the capture, on one device.
    pub(crate) fn count_per_unit(&self, count: u64) -> Quantity {
        let divisor = self.analyzed().count.max(1) * self.breakdown().devices.len().max(1) as u64;
        Quantity::new((count as f64 / divisor as f64).round(), Unit::Count, Basis::Measured)
    }

    /// The part of the judged time in which devices worked; `None` where none did.
    pub(crate) fn busy_share(&self) -> Option<f64> {
        let breakdown = self.breakdown();
        (breakdown.whole_ns() > 0).then(|| breakdown.busy_ns() as f64 / breakdown.whole_ns() as f64)
    }

    /// The HLO module and instruction of the operation at row `op`.
    pub(crate) fn instruction(&self, op: u32) -> Option<(&'a HloModule, InstructionId, &'a Instruction)> {
        let (module, id) = self.analysis.instruction(op)?;
        Some((module, id, module.instruction(id)))
    }

    /// The steps of the process that has most, in order of start: ranks have steps of their own.
    pub(crate) fn steps_of_one_process(&self) -> Vec<&'a StepRow> {
        let trace = self.trace();
        let mut by_process: FxHashMap<u32, Vec<&StepRow>> = FxHashMap::default();
        for step in &self.analysis.steps().rows {
            let Some(track) = trace.track_of(step.event.0) else { continue };
            by_process.entry(track.process).or_default().push(step);
        }
        let most = by_process.into_iter().max_by_key(|(process, steps)| (steps.len(), std::cmp::Reverse(*process)));
        let mut steps = most.map_or_else(Vec::new, |(_, steps)| steps);
        steps.sort_by_key(|step| (trace.events.start_ns[step.event.index()], step.event));
        steps
    }

    /// Whether compiled programs are there where the program has any; else why not.
    pub(crate) fn needs_hlo(&self) -> Result<(), CannotTell> {
        if self.trace().modules.iter().any(|module| module.hlo.is_some()) || self.framework() != Framework::Jax {
            return Ok(());
        }
        Err(CannotTell::because("the capture has no compiled program", "ridgeline record -- python PROGRAM.py"))
    }

    /// The line of the operation at row `op`, its own or the one it is owed to: the deepest of the user's, else the innermost.
    pub(crate) fn line_of_op(&self, op: u32) -> Option<Place> {
        let found = self.analysis.lines().of(op)?;
        let line = found.stack.iter().find(|line| !is_installed(&line.file)).or(found.stack.first())?;
        Some(Place { file: line.file.clone(), line: line.line, is_inferred: found.owed.is_some() })
    }

    /// Event `row` and those around it on its track, innermost first.
    pub(crate) fn around(&self, row: u32) -> impl Iterator<Item = u32> {
        let parents = &self.trace().events.parent;
        let first = (row != NONE).then_some(row);
        let outer = move |row: &u32| parents.get(*row as usize).copied().filter(|around| *around != NONE);
        std::iter::successors(first, outer).take(NESTING)
    }

    /// The innermost line of the operation at row `op`, where that is of a library that the user's line calls.
    pub(crate) fn library_line_of_op(&self, op: u32) -> Option<String> {
        let line = self.analysis.lines().of(op)?.stack.first().filter(|line| is_installed(&line.file))?;
        let file = line.file.rsplit_once("-packages/").map_or(line.file.as_str(), |(_, file)| file);
        self.line_of_op(op).filter(|place| place.file != line.file).map(|_| format!("{file}:{}", line.line))
    }

    /// The innermost function of the program that was open around the host's event `row`.
    pub(crate) fn line_of_row(&self, row: u32) -> Option<Place> {
        let trace = self.trace();
        let mut calls = self.around(row).filter(|row| trace.events.kind(*row as usize) == EventKind::PythonCall);
        calls.find_map(|row| {
            let frame = PythonFrame::parse(trace.name(row as usize)).filter(|frame| !frame.is_installed())?;
            Some(Place { file: frame.file.to_owned(), line: frame.line, is_inferred: false })
        })
    }

    /// The line that the work of an operation or of a name came from: of its HLO, else of the call that launched it.
    pub(crate) fn line_of(&self, work: &Work<'_>) -> Option<Place> {
        self.line_of_op(work.op).or_else(|| {
            let line = |row: u32| self.line_of_row(self.trace().events.link[row as usize]);
            // Not every call has a line: a thread that launches for others has none.
            let others = || self.rows_of([work.at]).take(CALLS).find_map(line);
            work.row.example.and_then(|row| line(row.0)).or_else(others)
        })
    }

    /// The row of the breakdown that the work at event `row` belongs to.
    pub(crate) fn place_of(&self, row: u32) -> Option<usize> {
        let device = self.trace().track_of(row)?.device?;
        self.breakdown().place(DeviceRow(device), TimeOwner::work(self.trace(), row as usize))
    }

    /// Time of rows of the breakdown, nanoseconds, as the part of each row that it is.
    pub(crate) fn parts_of(&self, held: impl IntoIterator<Item = (usize, f64)>) -> Vec<(usize, f32)> {
        let mut sums: FxHashMap<usize, f64> = FxHashMap::default();
        held.into_iter().for_each(|(at, ns)| *sums.entry(at).or_default() += ns);
        let whole = |at: usize| self.breakdown().rows.get(at).map_or(0, |row| row.ns).max(1) as f64;
        let parts = sums.into_iter().map(|(at, ns)| (at, (ns / whole(at)).min(1.0) as f32));
        let mut parts: Vec<(usize, f32)> = parts.filter(|(_, part)| *part > 0.0).collect();
        parts.sort_by_key(|(at, _)| *at);
        parts
    }

    /// Time of events of the devices, nanoseconds, as parts of the rows of the breakdown that they belong to.
    pub(crate) fn parts_of_events(&self, events: impl IntoIterator<Item = (u32, i64)>) -> Vec<(usize, f32)> {
        self.parts_of(events.into_iter().filter_map(|(row, ns)| Some((self.place_of(row)?, ns as f64))))
    }

    /// The events behind rows of the breakdown, in the judged time and outside it.
    pub(crate) fn rows_of(&self, claim: impl IntoIterator<Item = usize>) -> impl Iterator<Item = u32> {
        let (trace, breakdown) = (self.trace(), self.breakdown());
        let claimed = claim.into_iter().filter_map(|at| breakdown.rows.get(at)).map(|row| (row.device, row.owner));
        let wanted: Rc<FxHashSet<(DeviceRow, TimeOwner)>> = Rc::new(claimed.collect());
        let tracks = trace.device_tracks().filter_map(|track| Some((track, DeviceRow(track.device?))));
        tracks.flat_map(move |(track, device)| {
            let wanted = Rc::clone(&wanted);
            track.rows.clone().filter(move |row| wanted.contains(&(device, TimeOwner::work(trace, *row as usize))))
        })
    }

    /// The idle time of the device at `position` of the idle gaps that lies within `spans`, where `sorted` takes it: what that
    /// says of each part, its row of the breakdown, and nanoseconds.
    pub(crate) fn idle_of<T: Clone + Send>(
        &self,
        position: usize,
        spans: &Spans,
        sorted: impl Fn(&IdlePart) -> Option<T> + Sync,
    ) -> Vec<(T, usize, i64)> {
        let (idle, per) = (self.analysis.get::<IdleGaps>(), self.analyzed().per);
        let device = DeviceRow(idle.devices[position].device);
        let add = |found: &mut Vec<(T, usize, i64)>, gap: &[IdlePart]| {
            for part in gap {
                let ns = spans.within_ns(part.start_ns, part.end_ns());
                let owner = TimeOwner::Idle { cause: part.cause_per(per), activity: part.activity, name: part.name };
                let said = sorted(part).filter(|_| ns > 0).zip(self.breakdown().place(device, owner));
                found.extend(said.map(|(said, at)| (said, at, ns)));
            }
        };
        idle.visit(self.trace(), position, 0, Vec::new, add).concat()
    }

    /// The change that takes the work of these rows of the breakdown away.
    pub(crate) fn without(&self, rows: impl IntoIterator<Item = usize>) -> Edit {
        Edit { rows: self.rows_of(rows).collect(), action: Action::Drop }
    }

    /// Rows of host threads that `wanted` takes, by kind and name; each name is asked once.
    pub(crate) fn host_rows(&self, wanted: impl Fn(EventKind, &str) -> bool) -> Vec<u32> {
        let trace = self.trace();
        let named = self.analysis.get::<HostNames>().0.iter();
        let wanted: FxHashSet<(u8, u32)> = named
            .filter(|(kind, name)| wanted(EventKind::from_byte(*kind), trace.strings.get(StringId(*name))))
            .copied()
            .collect();
        // Most rules look for what most captures do not have.
        if wanted.is_empty() {
            return Vec::new();
        }
        host_rows(trace).filter(|row| wanted.contains(&kind_and_name(trace, *row))).collect()
    }

    /// Whether the device's row is a processor, whose kernels are threads of the host.
    pub(crate) fn is_processor(&self, device: DeviceRow) -> bool {
        self.trace().devices.get(device.index()).is_some_and(ridge_trace::Device::is_processor)
    }

    /// Whether all devices that worked are processors.
    pub(crate) fn is_on_processors(&self) -> bool {
        let devices = &self.breakdown().devices;
        !devices.is_empty() && devices.iter().all(|device| self.is_processor(device.device))
    }
}

/// Launching on a processor is judged in so much time, nanoseconds: before, caches fill and libraries load what they need.
const BRIEF_NS: i64 = 1_000_000_000;
/// A part of the recorded life that is too small to stand for what a longer run does.
const BRIEF_PART: f64 = 0.25;

impl Case<'_> {
    /// `finding`, which is about launches, as no more than information where a processor was judged for too short a part of its life.
    pub(crate) fn unless_brief(&self, finding: Finding) -> Finding {
        let life = self.analysis.get::<Life>();
        let is_brief = life.judged_ns < BRIEF_NS && (life.judged_ns as f64) < BRIEF_PART * life.whole_ns as f64;
        if !self.is_on_processors() || !is_brief {
            return finding;
        }
        finding
            .fact("less than a second was analyzed, and launches are slower at the start: record a longer run")
            .information()
    }
}

/// Kinds and names that events of host threads have.
#[derive(Debug)]
struct HostNames(FxHashSet<(u8, u32)>);

impl Shared for HostNames {
    fn make(analysis: &Analysis<'_>) -> HostNames {
        HostNames(host_rows(analysis.trace).map(|row| kind_and_name(analysis.trace, row)).collect())
    }
}

fn host_rows(trace: &Trace) -> impl Iterator<Item = u32> {
    let threads = trace.tracks.iter().filter(|track| track.kind == TrackKind::HostThread);
    threads.flat_map(|track| track.rows.clone())
}

fn kind_and_name(trace: &Trace, row: u32) -> (u8, u32) {
    (trace.events.kind[row as usize], trace.events.name[row as usize])
}

/// Whether a file is of an installed package or of Python itself.
pub(crate) fn is_installed(file: &str) -> bool {
    file.contains("-packages/") || file.contains("/lib/python") || file.starts_with('<')
}

/// What the program is written in, as its names tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framework {
    /// JAX, or another face of XLA.
    Jax,
    /// PyTorch.
    Torch,
    /// Nothing tells.
    Other,
}

impl Case<'_> {
    /// What the program is written in.
    pub(crate) fn framework(&self) -> Framework {
        let trace = self.trace();
        if trace.strings.iter().any(|name| name.starts_with("aten::")) {
            return Framework::Torch;
        }
        let is_xla = |name: &str| name.contains("PjRt") || name.contains("PjitFunction") || name.starts_with("jit_");
        let has_module = trace.modules.iter().any(|module| module.hlo.is_some() || module.program_id != 0);
        if has_module || trace.strings.iter().any(is_xla) { Framework::Jax } else { Framework::Other }
    }
}
