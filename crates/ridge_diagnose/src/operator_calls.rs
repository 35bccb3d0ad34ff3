//! Calls of PyTorch's operators: the outermost ones of each process, in their order, each with the devices' time that it took.
//!
//! What a program calls and what autograd calls for it are both here, in the judged time alone. What is inside of a call is its own.

use crate::case::Case;
use crate::pauses::is_own_code;
use crate::pricing::{Rates, Work};
use ridge_analysis::{Analysis, AnalyzedTime, Breakdown, IdleGaps, Need, Shared, Spans, TimeOwner};
use ridge_hlo::ElementType;
use ridge_trace::{DeviceRow, EventKind, NONE, StringId, TrackKind};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// How autograd's calls begin, each of which computes the gradient of one operator.
const AUTOGRAD: &str = "autograd::engine::evaluate_function";

/// Events around a piece of work that are looked at for its call.
const NESTING: usize = 256;

/// One call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OperatorCall {
    /// Its row in the event columns.
    pub(crate) row: u32,
    /// The rows of its thread that lie behind it and within its time.
    pub(crate) inside: u32,
    /// Row of the processes table.
    pub(crate) process: u32,
    /// The operator.
    pub(crate) name: StringId,
    /// Row of the shapes of its arguments, or [`NONE`].
    pub(crate) detail: u32,
    /// When it ran on its thread, nanoseconds on the trace clock.
    pub(crate) span: (i64, i64),
    /// Whether autograd called it.
    pub(crate) is_backward: bool,
}

impl OperatorCall {
    /// What calls of the same operator with arguments of the same shapes have in common.
    pub(crate) fn key(&self) -> (StringId, u32) {
        (self.name, self.detail)
    }

    /// The rows of its thread within its time, its own first.
    pub(crate) fn rows(&self) -> Range<u32> {
        self.row..self.row.saturating_add(self.inside).saturating_add(1)
    }
}

/// All calls, by process and start.
#[derive(Debug, Default)]
pub(crate) struct OperatorCalls {
    pub(crate) calls: Vec<OperatorCall>,
    /// Position of a call, row of the breakdown, and the work's own time there in nanoseconds; by position.
    work: Vec<(u32, usize, i64)>,
}

impl Shared for OperatorCalls {
    const NEEDS: &'static [Need] = &[Need::of::<AnalyzedTime>(), Need::of::<Breakdown>()];

    fn make(analysis: &Analysis<'_>) -> OperatorCalls {
        let trace = analysis.trace;
        let backward: Vec<bool> = trace.strings.iter().map(|text| text.starts_with(AUTOGRAD)).collect();
        let mut calls = Vec::new();
        for track in trace.tracks.iter().filter(|track| track.kind == TrackKind::HostThread) {
            let Some(judged) = analysis.analyzed().spans.get(track.process as usize) else { continue };
            let mut until = i64::MIN;
            for row in track.rows.clone() {
                let at = row as usize;
                let (start, end) = (trace.events.start_ns[at], trace.events.end_ns(at));
                if start < until {
                    // Nothing is inside of two calls, as they do not overlap.
                    if let Some(call) = calls.last_mut().filter(|_| end <= until) {
                        let call: &mut OperatorCall = call;
                        call.inside = row - call.row;
                    }
                    continue;
                }
                if trace.events.kind(at) != EventKind::Operator || !judged.contains(start) {
                    continue;
                }
                until = end;
                let name = StringId(trace.events.name[at]);
                calls.push(OperatorCall {
                    row,
                    inside: 0,
                    process: track.process,
                    name,
                    detail: trace.events.detail[at],
                    span: (start, end),
                    is_backward: backward.get(name.0 as usize).copied().unwrap_or(false),
                });
            }
        }
        calls.sort_by_key(|call| (call.process, call.span));
        let work = work_of(analysis, &calls);
        OperatorCalls { calls, work }
    }
}

/// The work of the devices by the call that it was for.
fn work_of(analysis: &Analysis<'_>, calls: &[OperatorCall]) -> Vec<(u32, usize, i64)> {
    let (trace, events) = (analysis.trace, &analysis.trace.events);
    if calls.is_empty() {
        return Vec::new();
    }
    let position: FxHashMap<u32, u32> = calls.iter().zip(0..).map(|(call, at)| (call.row, at)).collect();
    let mut found: Vec<(u32, usize, i64)> = Vec::new();
    for track in trace.device_tracks() {
        let Some(device) = track.device else { continue };
        // What is open around a row, as positions in `found` with their ends: nested work takes its time away.
        let mut open: Vec<(i64, Option<usize>)> = Vec::new();
        for row in track.rows.clone().filter(|row| EventKind::from_byte_is_work(events.kind[*row as usize])) {
            let (start, end) = (events.start_ns[row as usize], events.end_ns(row as usize));
            while open.last().is_some_and(|(until, _)| *until <= start) {
                open.pop();
            }
            let ns = end.saturating_sub(start).max(0);
            if let Some(around) = open.last().and_then(|(_, at)| *at) {
                found[around].2 = found[around].2.saturating_sub(ns).max(0);
            }
            let known = |row: u32| Some(row).filter(|row| *row != NONE);
            let around =
                std::iter::successors(known(events.link[row as usize]), |row| known(events.parent[*row as usize]));
            let call = around.take(NESTING).find_map(|row| position.get(&row).copied());
            let place =
                call.and_then(|_| analysis.breakdown().place(DeviceRow(device), TimeOwner::work(trace, row as usize)));
            let at = call.zip(place).map(|(call, place)| {
                found.push((call, place, ns));
                found.len() - 1
            });
            open.push((end, at));
        }
    }
    found.sort_unstable_by_key(|(call, ..)| *call);
    found
}

impl OperatorCalls {
    /// The work of the call at `position`: rows of the breakdown with nanoseconds.
    pub(crate) fn work_of(&self, position: usize) -> impl Iterator<Item = (usize, i64)> + '_ {
        let first = self.work.partition_point(|(call, ..)| (*call as usize) < position);
        self.work[first..].iter().take_while(move |(call, ..)| *call as usize == position).map(|(_, at, ns)| (*at, *ns))
    }
}

impl<'a> Case<'a> {
    /// Calls of operators, by process and start.
    pub(crate) fn operator_calls(&self) -> &'a OperatorCalls {
        self.analysis.get()
    }

    /// The extents of each argument of an operator, by the `detail` of its event; none where they were not recorded.
    pub(crate) fn extents_at(&self, detail: u32) -> Vec<Vec<i64>> {
        let trace = self.trace();
        let shape = trace.operator_shapes.get(detail as usize).filter(|_| detail != NONE);
        shape.map_or_else(Vec::new, |shape| extents(trace.strings.get(shape.dims)))
    }

    /// Rows of the breakdown with `part` of what the calls at `positions` have of them.
    pub(crate) fn claim_of_calls(&self, positions: impl IntoIterator<Item = usize>, part: f64) -> Vec<(usize, f32)> {
        let calls = self.operator_calls();
        self.parts_of(positions.into_iter().flat_map(|at| calls.work_of(at)).map(|(at, ns)| (at, ns as f64 * part)))
    }

    /// Rows of the breakdown with `part` of the idle time within `spans` in which Python runs from one call to the next.
    pub(crate) fn claim_between(&self, spans: &Spans, part: f32) -> Vec<(usize, f32)> {
        let (idle, _) = self.idle_within(spans, |idle| is_own_code(idle.activity));
        idle.into_iter().map(|(at, held)| (at, held * part)).collect()
    }

    /// What the operators inside of `call` take at the device's rates, nanoseconds; those of which nothing is known take nothing.
    pub(crate) fn price_of_call(&self, call: &OperatorCall) -> f64 {
        let device = self.breakdown().devices.first().map(|breakdown| breakdown.device);
        let Some(rates) = device.and_then(|device| Rates::of(self, device, ElementType::F32)) else { return 0.0 };
        let costs = call.rows().filter_map(|row| self.analysis.cost_of_operator(row));
        costs.filter_map(|cost| Work::of(&cost)).map(|work| rates.ns(work)).sum()
    }
}

/// The extents of each argument of `[[8, 12], [4], []]`, in their order; what is no array has none, and lists of arrays are left out.
pub(crate) fn extents(dims: &str) -> Vec<Vec<i64>> {
    let inner = dims.trim().strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or_default();
    let arguments = inner.split_inclusive(']').filter_map(|part| {
        let list = part.trim_start_matches([',', ' ']).strip_prefix('[')?.strip_suffix(']')?;
        Some(list.split(',').filter_map(|number| number.trim().parse().ok()).collect())
    });
    arguments.collect()
}

/// Whether an operator only looks at an array another way.
pub(crate) fn is_view(name: &str) -> bool {
    let views = [
        "select",
        "unbind",
        "slice",
        "unsqueeze",
        "squeeze",
        "view",
        "reshape",
        "transpose",
        "t",
        "permute",
        "expand",
        "narrow",
        "split",
        "chunk",
        "detach",
        "alias",
        "lift_fresh",
    ];
    name.strip_prefix("aten::").is_some_and(|name| views.contains(&name))
}

/// What the judged time must be able to say for rules about calls.
pub(crate) const NEEDS: &[Need] = &[Need::of::<OperatorCalls>(), Need::of::<IdleGaps>()];
