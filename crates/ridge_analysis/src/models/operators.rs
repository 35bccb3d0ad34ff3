//! Host and device time by framework operator: the numbers of PyTorch's `key_averages()`.
//!
//! Ranges of a thread form a tree by time: a range belongs to the innermost one that holds all of it, and one that
//! ends after what it began in is nobody's child. A range that is the only child of one of the same name is the same
//! call seen twice and counts once. Python functions are no part of it; with stacks, newer profilers (torch 2.15) take
//! those directly inside a range from what it has for itself.
//!
//! Source of the rules: `torch/autograd/profiler_util.py` (`EventList._build_tree`, `_remove_dup_nodes`,
//! `FunctionEvent.self_cpu_time_total`), checked against its own output for a trace of the corpus.

use crate::{Analysis, Shared};
use ridge_trace::{Attribution, Device, EventKind, NONE, StringId, Trace, TrackKind};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::hash::Hash;

/// What is told apart within an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// Nothing.
    Name,
    /// The sizes of its inputs.
    InputShapes,
}

/// Names that are the profiler's own, or too small to be calls.
const NOT_CALLS: [&str; 8] = [
    "[memory]",
    "[OutOfMemory]",
    "profiler::_record_function_enter",
    "profiler::_record_function_enter_new",
    "profiler::_record_function_exit",
    "aten::is_leaf",
    "aten::output_nr",
    "aten::_version",
];

/// One operator, told apart by its name and perhaps by its inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperatorRow {
    /// Its name.
    pub name: StringId,
    /// The sizes of its inputs as the capture writes them, where they are told apart and known.
    pub inputs: StringId,
    /// What its calls come to.
    pub sums: OperatorSums,
}

/// The sums over the calls of one operator.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OperatorSums {
    /// Times it ran.
    pub calls: u64,
    /// Time on its thread less that of the ranges directly inside, nanoseconds.
    pub self_ns: i64,
    /// Time on its thread; what recurs counts again at each level, nanoseconds.
    pub total_ns: i64,
    /// Durations of the device work that it launched itself, nanoseconds.
    pub self_device_ns: i64,
    /// Durations of the device work launched within it, nanoseconds.
    pub device_ns: i64,
    /// Bytes allocated less freed, of the host and of devices, without the ranges inside.
    pub self_memory: [i64; 2],
    /// Bytes allocated less freed while it ran, of the host and of devices.
    pub memory: [i64; 2],
}

/// Operators by name, those with most device time of their own first, then most host time of their own.
#[derive(Debug)]
pub struct Operators(pub Vec<OperatorRow>);

/// Operators by name and the sizes of their inputs, in the same order.
#[derive(Debug)]
pub struct OperatorsByShapes(pub Vec<OperatorRow>);

impl Shared for Operators {
    fn make(analysis: &Analysis<'_>) -> Operators {
        Operators(rows(analysis.trace, Detail::Name))
    }
}

impl Shared for OperatorsByShapes {
    fn make(analysis: &Analysis<'_>) -> OperatorsByShapes {
        OperatorsByShapes(rows(analysis.trace, Detail::InputShapes))
    }
}

fn rows(trace: &Trace, detail: Detail) -> Vec<OperatorRow> {
    let row = |((name, inputs), sums)| OperatorRow { name, inputs, sums };
    let mut rows: Vec<OperatorRow> = sums(trace, detail).into_iter().map(row).collect();
    rows.sort_by_key(|OperatorRow { name, sums, .. }| {
        (Reverse(sums.self_device_ns), Reverse(sums.self_ns), trace.strings.get(*name))
    });
    rows
}

fn sums(trace: &Trace, detail: Detail) -> FxHashMap<(StringId, StringId), OperatorSums> {
    joined_steps(trace, sums_by(trace, |row| key_of(trace, row, detail)))
}

/// The sums over the calls that have the same key, which is made of the row of a call.
pub(super) fn sums_by<K: Eq + Hash>(trace: &Trace, key_of: impl Fn(u32) -> K) -> FxHashMap<K, OperatorSums> {
    let mut found: FxHashMap<K, OperatorSums> = FxHashMap::default();
    if !trace.events.kind.contains(&(EventKind::Operator as u8)) {
        return found;
    }
    let memory = MemoryOverTime::of(trace);
    let mut calls = Calls::of(trace);
    calls.add_device_time(trace);
    // Children come behind their parents, so sums of the inside are ready when the outside is looked at.
    for at in (0..calls.row.len()).rev() {
        let (row, parent) = (calls.row[at], calls.parent[at]);
        let own_memory = memory.during(trace, row);
        if calls.is_same_as_parent[at] {
            let [host, device] = &mut calls.memory_inside;
            let sums = [&mut calls.inside_ns, &mut calls.self_device_ns, &mut calls.device_inside_ns, host, device];
            for column in sums {
                let own = column[at];
                more(column, parent, own);
            }
            continue;
        }
        let dur = trace.events.dur_ns[row as usize];
        let device_ns = calls.self_device_ns[at].saturating_add(calls.device_inside_ns[at]);
        if parent != NONE {
            more(&mut calls.inside_ns, parent, dur);
            more(&mut calls.device_inside_ns, parent, device_ns);
            for (inside, own) in calls.memory_inside.iter_mut().zip(own_memory) {
                more(inside, parent, own);
            }
        }
        let sums = found.entry(key_of(row)).or_default();
        sums.calls += 1;
        sums.total_ns = sums.total_ns.saturating_add(dur);
        sums.self_ns = sums.self_ns.saturating_add(dur.saturating_sub(calls.inside_ns[at]));
        sums.self_device_ns = sums.self_device_ns.saturating_add(calls.self_device_ns[at]);
        sums.device_ns = sums.device_ns.saturating_add(device_ns);
        add(&mut sums.memory, own_memory);
        add(&mut sums.self_memory, own_memory);
        add(&mut sums.self_memory, calls.memory_inside.each_ref().map(|inside| inside[at].saturating_neg()));
    }
    found
}

/// Rows of operators with their time less that of what is directly inside.
pub(crate) fn own_times_of_operators(trace: &Trace) -> impl Iterator<Item = (u32, i64)> {
    self_times(trace).into_iter().filter(|(row, _)| trace.events.kind(*row as usize) == EventKind::Operator)
}

/// Rows of operators, ranges and calls of the host with their time less that of what is directly inside.
fn self_times(trace: &Trace) -> Vec<(u32, i64)> {
    let mut calls = Calls::of(trace);
    let mut found = Vec::with_capacity(calls.row.len());
    for at in (0..calls.row.len()).rev() {
        let dur = trace.events.dur_ns[calls.row[at] as usize];
        // What is the same call seen twice passes on what is inside it.
        let inside = if calls.is_same_as_parent[at] { calls.inside_ns[at] } else { dur };
        if calls.parent[at] != NONE {
            more(&mut calls.inside_ns, calls.parent[at], inside);
        }
        if !calls.is_same_as_parent[at] {
            found.push((calls.row[at], dur.saturating_sub(calls.inside_ns[at])));
        }
    }
    found
}

/// Adds to one number of a column. Pages of a column that only ever got zeros take no memory.
fn more(column: &mut [i64], at: u32, more: i64) {
    if more != 0 {
        let sum = &mut column[at as usize];
        *sum = sum.saturating_add(more);
    }
}

/// Adds bytes of the host and of devices.
fn add(sums: &mut [i64; 2], more: [i64; 2]) {
    sums.iter_mut().zip(more).for_each(|(sum, bytes)| *sum = sum.saturating_add(bytes));
}

/// All steps are one row.
fn joined_steps(
    trace: &Trace,
    found: FxHashMap<(StringId, StringId), OperatorSums>,
) -> FxHashMap<(StringId, StringId), OperatorSums> {
    let is_step = |key: &(StringId, StringId)| trace.strings.get(key.0).starts_with("ProfilerStep#");
    let Some(first) = found.keys().copied().filter(is_step).min() else { return found };
    let mut joined: FxHashMap<(StringId, StringId), OperatorSums> = FxHashMap::default();
    for (key, sums) in found {
        let all = joined.entry(if is_step(&key) { first } else { key }).or_default();
        all.calls += sums.calls;
        all.self_ns = all.self_ns.saturating_add(sums.self_ns);
        all.total_ns = all.total_ns.saturating_add(sums.total_ns);
        all.self_device_ns = all.self_device_ns.saturating_add(sums.self_device_ns);
        all.device_ns = all.device_ns.saturating_add(sums.device_ns);
        add(&mut all.self_memory, sums.self_memory);
        add(&mut all.memory, sums.memory);
    }
    joined
}

fn key_of(trace: &Trace, row: u32, detail: Detail) -> (StringId, StringId) {
    let name = StringId(trace.events.name[row as usize]);
    let shape = trace.operator_shape(row as usize).filter(|_| detail == Detail::InputShapes);
    (name, shape.map_or(StringId::default(), |shape| shape.dims))
}

/// The ranges of all threads as columns; parents come before their children.
///
/// A large capture has tens of millions: most columns are zero for nearly all of them and are never touched there.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// Rows of the events.
    pub(super) row: Vec<u32>,
    /// Position of the innermost range around each, or [`NONE`].
    pub(super) parent: Vec<u32>,
    /// The only child of a range of the same name.
    is_same_as_parent: Vec<bool>,
    inside_ns: Vec<i64>,
    self_device_ns: Vec<i64>,
    device_inside_ns: Vec<i64>,
    /// Of the host and of devices.
    memory_inside: [Vec<i64>; 2],
    /// Position by event row, or [`NONE`].
    pub(super) by_row: Vec<u32>,
}

impl Calls {
    pub(super) fn of(trace: &Trace) -> Calls {
        let skipped: Vec<u32> = NOT_CALLS.iter().filter_map(|name| trace.strings.find(name)).map(|id| id.0).collect();
        let mut calls = Calls { by_row: vec![NONE; trace.events.len()], ..Calls::default() };
        for track in trace.tracks.iter().filter(|track| track.kind == TrackKind::HostThread) {
            let counts = |row: &u32| {
                let at = *row as usize;
                is_call(trace.events.kind(at)) && !skipped.contains(&trace.events.name[at])
            };
            calls.add_thread(trace, track.rows.clone().filter(counts));
        }
        let count = calls.row.len();
        // None, one, or more.
        let mut children = vec![0_u8; count];
        for parent in calls.parent.iter().filter(|parent| **parent != NONE) {
            let children = &mut children[*parent as usize];
            *children = children.saturating_add(1);
        }
        let name = |at: usize| trace.events.name[calls.row[at] as usize];
        let is_same = |(at, parent): (usize, &u32)| {
            *parent != NONE && children[*parent as usize] == 1 && name(*parent as usize) == name(at)
        };
        calls.is_same_as_parent = calls.parent.iter().enumerate().map(is_same).collect();
        calls.inside_ns = vec![0; count];
        calls.self_device_ns = vec![0; count];
        calls.device_inside_ns = vec![0; count];
        calls.memory_inside = [vec![0; count], vec![0; count]];
        calls
    }

    fn add_thread(&mut self, trace: &Trace, rows: impl Iterator<Item = u32>) {
        let mut open: Vec<u32> = Vec::new();
        for row in rows {
            let (start, end) = (trace.events.start_ns[row as usize], trace.events.end_ns(row as usize));
            // What ends before this one does is not around it, nor around anything later.
            while open.last().is_some_and(|at| {
                let open_end = trace.events.end_ns(self.row[*at as usize] as usize);
                start >= open_end || end > open_end
            }) {
                open.pop();
            }
            let at = self.row.len() as u32;
            self.by_row[row as usize] = at;
            self.row.push(row);
            self.parent.push(open.last().copied().unwrap_or(NONE));
            open.push(at);
        }
    }

    /// Gives device work to the operator or named range that launched it, else to the launch.
    fn add_device_time(&mut self, trace: &Trace) {
        let owners: Vec<u32> = (0..self.row.len()).map(|at| self.operator_around(trace, at as u32)).collect();
        // The work of a processor is the operators themselves.
        let is_processor = |device: u32| trace.devices.get(device as usize).is_some_and(Device::is_processor);
        for track in trace.device_tracks().filter(|track| !track.device.is_some_and(is_processor)) {
            for row in track.rows.clone().map(|row| row as usize) {
                let link = trace.events.link[row];
                if link == NONE || !EventKind::from_byte_is_work(trace.events.kind[row]) {
                    continue;
                }
                let launch = self.by_row[link as usize];
                if launch != NONE {
                    let owner = self.named_on_work(trace, row, launch).unwrap_or(owners[launch as usize]);
                    more(&mut self.self_device_ns, owner, trace.events.dur_ns[row]);
                }
            }
        }
    }

    /// The operator around a launch that its work names itself, which may not be the innermost: NCCL's kernels name
    /// `record_param_comms`, and not the range inside it that launched them.
    fn named_on_work(&self, trace: &Trace, row: usize, launch: u32) -> Option<u32> {
        let by_stat = Attribution::from_byte(trace.events.attribution[row]) == Attribution::ByStat;
        let name = trace.operation(row).filter(|_| by_stat)?.name;
        let outer = |at: &u32| Some(self.parent[*at as usize]).filter(|parent| *parent != NONE);
        std::iter::successors(Some(launch), outer).find(|at| {
            let row = self.row[*at as usize] as usize;
            trace.events.kind(row) == EventKind::Operator && trace.events.name[row] == name.0
        })
    }

    fn operator_around(&self, trace: &Trace, from: u32) -> u32 {
        let mut at = from;
        while at != NONE {
            let kind = trace.events.kind(self.row[at as usize] as usize);
            if matches!(kind, EventKind::Operator | EventKind::Annotation | EventKind::Step) {
                return at;
            }
            at = self.parent[at as usize];
        }
        from
    }
}

fn is_call(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::Operator
            | EventKind::Annotation
            | EventKind::Step
            | EventKind::Launch
            | EventKind::HostRange
            | EventKind::Compile
            | EventKind::Overhead
    )
}

pub(crate) const HOST: usize = 0;
pub(crate) const DEVICE: usize = 1;

/// OperatorSums of all allocator events up to each, of the host and of devices, by process.
#[derive(Debug, Default)]
struct MemoryOverTime {
    sides: FxHashMap<(u32, usize), (Vec<i64>, Vec<i64>)>,
    process_of_track: Vec<(u32, u32)>,
}

impl MemoryOverTime {
    fn of(trace: &Trace) -> MemoryOverTime {
        let table = &trace.allocations;
        let mut memory = MemoryOverTime::default();
        for row in 0..table.time_ns.len() {
            let is_host = trace.strings.get(table.allocator[row]).eq_ignore_ascii_case("cpu");
            let side = if is_host { HOST } else { DEVICE };
            let (times, sums) = memory.sides.entry((table.process[row], side)).or_insert((Vec::new(), vec![0]));
            let before = sums.last().copied().unwrap_or(0);
            times.push(table.time_ns[row]);
            sums.push(before.saturating_add(table.delta_bytes[row]));
        }
        memory.process_of_track = trace.tracks.iter().map(|track| (track.rows.start, track.process)).collect();
        memory
    }

    /// Bytes allocated less freed, on any thread, while `row` ran.
    fn during(&self, trace: &Trace, row: u32) -> [i64; 2] {
        if self.sides.is_empty() {
            return [0; 2];
        }
        let track = self.process_of_track.partition_point(|(first, _)| *first <= row).saturating_sub(1);
        let process = self.process_of_track[track].1;
        let (start, end) = (trace.events.start_ns[row as usize], trace.events.end_ns(row as usize));
        [HOST, DEVICE].map(|side| {
            let Some((times, sums)) = self.sides.get(&(process, side)) else { return 0 };
            let upto = |time: i64| sums[times.partition_point(|found| *found <= time)];
            upto(end).saturating_sub(upto(start))
        })
    }
}
