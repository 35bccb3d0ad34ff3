//! How often operations ran, which is not how many kernels they launched.
//!
//! One execution of a convolution may launch two kernels, one of an attention five; captures count neither.
//! On a stream, a *run* is a row of kernels of one operation with no other's between.
//! An execution launches each of its kernels at least once, so a run holds as many as its rarest kernel came.
//! Over the streams of a device it is the most on one stream, since parts of one execution may run on several;
//! over devices it is the sum. On a lane every event is one execution, but for a processor's sorts: the copies that they
//! begin with are events of the same name.

use crate::context::groups::PARALLEL_EVENTS;
use crate::context::places::Places;
use rayon::prelude::*;
use ridge_hlo::HloModule;
use ridge_hlo::memory::copies_before_sorts;
use ridge_trace::{Attribution, Device, EventKind, NONE, Trace, Track, TrackKind};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Rows of a track that one task counts.
const STRETCH: u32 = 1 << 17;

/// Executions by operation and by how the operation is known.
#[derive(Debug, Clone, Default)]
pub struct Executions {
    known: FxHashMap<Identity, u64>,
    /// Of operations that are known in several ways: by the surest way among the kernels of a run.
    mixed: FxHashMap<Identity, u64>,
}

/// What belongs together: an operation known one way.
type Identity = (u32, u8);

/// What a run of kernels is: of one operation known one way, or of one operation however each kernel is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RunsOf {
    OneWay,
    AnyWay,
}

impl Executions {
    /// Counts the executions of the device work of `trace`, whose modules refer to `hlo`.
    pub(crate) fn new(trace: &Trace, hlo: &[HloModule]) -> Executions {
        let tracks: Vec<&Track> = trace.device_tracks().filter(|track| !track.rows.is_empty()).collect();
        let events = EventsPerExecution::new(trace, hlo);
        let known = over_tracks(trace, &tracks, &events, RunsOf::OneWay);
        let mut ways: FxHashMap<u32, u32> = FxHashMap::default();
        known.keys().for_each(|(op, _)| *ways.entry(*op).or_default() += 1);
        ways.retain(|_, ways| *ways > 1);
        let mut mixed = FxHashMap::default();
        if !ways.is_empty() {
            mixed = over_tracks(trace, &tracks, &events, RunsOf::AnyWay);
            mixed.retain(|(op, _), _| ways.contains_key(op));
            // A way that never is a run's surest has none of the work.
            known.keys().filter(|(op, _)| ways.contains_key(op)).for_each(|known| {
                mixed.entry(*known).or_insert(0);
            });
        }
        Executions { known, mixed }
    }

    /// Executions of the operation at row `op` that is known by `attribution`.
    pub fn of(&self, op: u32, attribution: Attribution) -> u64 {
        self.known.get(&(op, attribution as u8)).copied().unwrap_or(0)
    }

    /// Executions whose work belongs to the events known by `attribution`.
    ///
    /// Where the kernels of one execution are known in several ways, those known best have its work and the others
    /// have none, so that no work counts twice.
    pub fn with_work(&self, op: u32, attribution: Attribution) -> u64 {
        self.mixed.get(&(op, attribution as u8)).copied().unwrap_or_else(|| self.of(op, attribution))
    }
}

/// Ways to know an operation, the surest first.
const BEST_FIRST: [Attribution; 6] = [
    Attribution::ByStat,
    Attribution::ByLaunch,
    Attribution::ByModule,
    Attribution::ByOrder,
    Attribution::ModuleOnly,
    Attribution::Unattributed,
];

/// How sure a way is, 0 the surest.
fn rank(way: u8) -> usize {
    BEST_FIRST.iter().position(|known| *known as u8 == way).unwrap_or(BEST_FIRST.len())
}

/// Operations of processors of which one execution is several events.
#[derive(Debug, Default)]
struct EventsPerExecution(FxHashMap<u32, u64>);

impl EventsPerExecution {
    fn new(trace: &Trace, hlo: &[HloModule]) -> EventsPerExecution {
        let mut events = EventsPerExecution::default();
        if !trace.devices.iter().any(Device::is_processor) {
            return events;
        }
        let sorts: Vec<FxHashMap<u32, u32>> = hlo
            .iter()
            .map(|module| copies_before_sorts(module).into_iter().map(|(id, copies)| (id.0, copies)).collect())
            .collect();
        for (row, op) in (0_u32..).zip(&trace.operations) {
            let module = trace.modules.get(op.module as usize).and_then(|module| module.hlo);
            if let Some(copies) = module.and_then(|hlo| sorts.get(hlo as usize)?.get(&op.instruction)) {
                events.0.insert(row, 1 + u64::from(*copies));
            }
        }
        events
    }

    /// Executions that `events` of the operation at row `op` are; one that the capture cut counts.
    fn executions(&self, op: u32, events: u64) -> u64 {
        self.0.get(&op).map_or(events, |each| events.div_ceil(*each))
    }
}

/// Executions of each identity over all tracks.
fn over_tracks(
    trace: &Trace,
    tracks: &[&Track],
    events: &EventsPerExecution,
    runs_of: RunsOf,
) -> FxHashMap<Identity, u64> {
    let cut = |track: usize| stretches(trace, tracks[track]).into_iter().map(move |rows| (track, rows));
    let stretches: Vec<(usize, Range<u32>)> = (0..tracks.len()).flat_map(cut).collect();
    let count = |(track, rows): (usize, Range<u32>)| (track, in_rows(trace, tracks[track], rows, runs_of).counts);
    let counted: Vec<(usize, Vec<(Identity, u64)>)> =
        if tracks.iter().map(|track| track.rows.len()).sum::<usize>() >= PARALLEL_EVENTS {
            stretches.into_par_iter().map(count).collect()
        } else {
            stretches.into_iter().map(count).collect()
        };
    let mut on_track: FxHashMap<(usize, Identity), u64> = FxHashMap::default();
    for (track, counts) in counted {
        counts.into_iter().for_each(|(identity, count)| *on_track.entry((track, identity)).or_default() += count);
    }
    let mut on_device: FxHashMap<(u32, Identity), u64> = FxHashMap::default();
    for ((track, identity), count) in on_track {
        let most = on_device.entry((tracks[track].device.unwrap_or(NONE), identity)).or_default();
        // Lanes hold different executions, streams hold parts of the same.
        let is_lane = tracks[track].kind == TrackKind::OperationLane;
        *most = if is_lane { *most + count } else { (*most).max(count) };
    }
    let mut all: FxHashMap<Identity, u64> = FxHashMap::default();
    for ((device, identity), count) in on_device {
        let is_processor = trace.devices.get(device as usize).is_some_and(Device::is_processor);
        *all.entry(identity).or_default() += if is_processor { events.executions(identity.0, count) } else { count };
    }
    all
}

/// The rows of a track, cut where one operation's work ends and another's begins: no run goes over a cut.
fn stretches(trace: &Trace, track: &Track) -> Vec<Range<u32>> {
    let events = &trace.events;
    let Range { mut start, end } = track.rows;
    let mut stretches = Vec::new();
    while start < end {
        let wanted = start.saturating_add(STRETCH).min(end);
        let mut work = (wanted..end).filter(|row| EventKind::from_byte_is_work(events.kind[*row as usize]));
        let first = work.next().map(|row| events.op[row as usize]);
        let cut = work.find(|row| Some(events.op[*row as usize]) != first).unwrap_or(end);
        stretches.push(start..cut);
        start = cut;
    }
    stretches
}

/// A run being read: its operation, the surest way it is known, and how often each of its kernels came.
#[derive(Debug, Default)]
struct Run {
    identity: Option<Identity>,
    kernels: Vec<(u32, u64)>,
}

impl Run {
    /// Ends the run and adds its executions.
    fn close(&mut self, counts: &mut Counts) {
        if let (Some(identity), Some(rarest)) =
            (self.identity.take(), self.kernels.iter().map(|(_, count)| *count).min())
        {
            counts.add(identity, rarest);
        }
        self.kernels.clear();
    }

    /// Whether an event of `identity` belongs to the run.
    fn holds(&self, (op, way): Identity, runs_of: RunsOf) -> bool {
        self.identity.is_some_and(|own| own.0 == op && (own.1 == way || runs_of == RunsOf::AnyWay))
    }

    fn add(&mut self, name: u32, way: u8) {
        if let Some(own) = self.identity.as_mut().filter(|own| own.1 != way && rank(way) < rank(own.1)) {
            own.1 = way;
        }
        // The last kernel often comes again, and a run has few different ones.
        match self.kernels.iter_mut().rev().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => self.kernels.push((name, 1)),
        }
    }
}

/// Executions of each identity in some rows of a track.
#[derive(Debug, Default)]
struct Counts {
    places: Places<Identity>,
    counts: Vec<(Identity, u64)>,
}

impl Counts {
    fn add(&mut self, identity: Identity, executions: u64) {
        let place = self.places.of(identity);
        if place == self.counts.len() {
            self.counts.push((identity, 0));
        }
        self.counts[place].1 += executions;
    }
}

fn in_rows(trace: &Trace, track: &Track, rows: Range<u32>, runs_of: RunsOf) -> Counts {
    let events = &trace.events;
    let mut counts = Counts::default();
    let mut run = Run::default();
    for row in rows.start as usize..rows.end as usize {
        if !EventKind::from_byte_is_work(events.kind[row]) {
            continue;
        }
        let identity = (events.op[row], events.attribution[row]);
        if track.kind == TrackKind::OperationLane {
            counts.add(identity, 1);
            continue;
        }
        if !run.holds(identity, runs_of) {
            run.close(&mut counts);
            run.identity = (identity.0 != NONE).then_some(identity);
        }
        run.add(events.name[row], identity.1);
    }
    run.close(&mut counts);
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use ridge_trace::{NewEvent, Operation, StringId, TraceBuilder};

    /// Kernels as `operation:kernel` words in the order they ran on one stream.
    #[track_caller]
    fn check(kernels: &str, expected: &str) {
        let mut builder = TraceBuilder::new();
        let process = builder.add_process("", None);
        let device = builder.device(process, "/device:GPU:0");
        let track = builder.add_track(process, Some(device), TrackKind::Stream, "s", 1);
        let mut ops: Vec<&str> = Vec::new();
        for (start, word) in kernels.split_whitespace().enumerate() {
            let (op, kernel) = word.split_once(':').expect("operation:kernel");
            let row = ops.iter().position(|known| *known == op).unwrap_or_else(|| {
                ops.push(op);
                let name = builder.strings.intern(op);
                builder.operations.push(Operation { name, module: NONE, instruction: NONE, scope: StringId(0) });
                ops.len() - 1
            });
            let name = builder.strings.intern(kernel);
            let event = NewEvent::new(EventKind::Kernel, name, start as i64 * 10, 5);
            builder.push(track, NewEvent { op: row as u32, ..event });
        }
        let trace = builder.finish();
        let found = Executions::new(&trace, &[]);
        let words: Vec<String> = (ops.iter().enumerate())
            .map(|(row, op)| format!("{op}={}", found.of(row as u32, Attribution::ByStat)))
            .collect();
        assert_eq!(words.join(" "), expected, "{kernels}");
    }

    #[test]
    fn executions_are_not_kernels() {
        check("conv:im2col conv:gemm add:add conv:im2col conv:gemm", "conv=2 add=1");
        check("conv:im2col conv:gemm conv:im2col conv:gemm", "conv=2");
        check("attn:fill attn:dot attn:fill attn:bwd attn:cast", "attn=1");
        check("body:k body:k body:k", "body=3");
        check("conv:gemm add:add conv:im2col conv:gemm", "conv=2 add=1");
    }

    #[test]
    fn work_of_an_execution_known_in_two_ways_counts_once() {
        let mut builder = TraceBuilder::new();
        let process = builder.add_process("", None);
        let device = builder.device(process, "/device:GPU:0");
        let track = builder.add_track(process, Some(device), TrackKind::Stream, "s", 1);
        let name = builder.strings.intern("conv");
        builder.operations.push(Operation { name, module: NONE, instruction: NONE, scope: StringId(0) });
        let kernels = [("im2col", Attribution::ByModule), ("gemm", Attribution::ByStat)];
        let later = [("im2col", Attribution::ByStat), ("gemm", Attribution::ByStat)];
        for (start, (kernel, attribution)) in kernels.into_iter().chain(later).enumerate() {
            let name = builder.strings.intern(kernel);
            let event = NewEvent::new(EventKind::Kernel, name, start as i64 * 10, 5);
            let row = builder.push(track, NewEvent { op: 0, ..event });
            builder.slices(row..row + 1).attribution[0] = attribution as u8;
        }
        let trace = builder.finish();
        let found = Executions::new(&trace, &[]);
        let ways = [Attribution::ByStat, Attribution::ByModule];
        // The runs of the named alone: gemm, im2col, gemm.
        assert_eq!(ways.map(|way| found.of(0, way)), [1, 1]);
        assert_eq!(ways.map(|way| found.with_work(0, way)), [2, 0]);
    }

    #[test]
    fn counting_in_stretches_changes_nothing() {
        let mut builder = TraceBuilder::new();
        let process = builder.add_process("", None);
        let device = builder.device(process, "/device:GPU:0");
        let track = builder.add_track(process, Some(device), TrackKind::Stream, "s", 1);
        let name = builder.strings.intern("kernel");
        for _ in 0..3 {
            builder.operations.push(Operation { name, module: NONE, instruction: NONE, scope: StringId(0) });
        }
        // Runs of one to seven kernels, and one that is longer than a stretch.
        let mut op = 0;
        for at in 0..6 * i64::from(STRETCH) {
            let is_long = at > i64::from(STRETCH) && at < 3 * i64::from(STRETCH);
            op = if !is_long && (at * at) % 7 < 2 { (op + 1 + u32::from(at % 5 == 0)) % 3 } else { op };
            builder.push(track, NewEvent { op, ..NewEvent::new(EventKind::Kernel, name, at * 10, 5) });
        }
        let trace = builder.finish();
        let whole = in_rows(&trace, &trace.tracks[0], trace.tracks[0].rows.clone(), RunsOf::OneWay);
        assert!(stretches(&trace, &trace.tracks[0]).len() > 3);
        let found = Executions::new(&trace, &[]);
        for ((op, way), count) in whole.counts {
            assert_eq!(found.of(op, Attribution::from_byte(way)), count);
        }
    }

    #[test]
    fn copies_before_a_sort_are_no_executions_on_a_processor() {
        let text = "HloModule jit_s, is_scheduled=true
            %less (p: f32[], q: f32[]) -> pred[] {
              %p = f32[] parameter(0)
              %q = f32[] parameter(1)
              ROOT %l = pred[] compare(%p, %q), direction=LT
            }
            ENTRY %main (x: f32[8]) -> f32[8] {
              %x = f32[8]{0} parameter(0)
              ROOT %sort = f32[8]{0} sort(%x), dimensions={0}, to_apply=%less
            }";
        let hlo = [HloModule::from_text(text).expect("HLO text of the test")];
        let at = hlo[0].instruction_named("sort").expect("a name of the test").0;
        for (device, expected) in [("CPU", 2), ("TPU", 4)] {
            let mut builder = TraceBuilder::new();
            let process = builder.add_process("", None);
            let device = builder.device(process, &format!("/device:{device}:0"));
            let track = builder.add_track(process, Some(device), TrackKind::OperationLane, "lane", 1);
            let name = builder.strings.intern("sort");
            builder.modules.push(ridge_trace::Module { process, name, program_id: 0, hlo: Some(0) });
            builder.operations.push(Operation { name, module: 0, instruction: at, scope: StringId(0) });
            for start in 0..4 {
                let event = NewEvent::new(EventKind::DeviceOp, name, start * 10, 5);
                builder.push(track, NewEvent { op: 0, ..event });
            }
            let found = Executions::new(&builder.finish(), &hlo);
            assert_eq!(found.of(0, Attribution::ByStat), expected);
        }
    }
}
