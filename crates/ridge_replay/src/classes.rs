//! Delays by class: what a launch, a gap between queued work, a return and a wait usually take on this machine.
//!
//! A class is a median of at least eight samples and at most 100 µs.
//! With fewer samples it is the least that was seen, which claims nothing.

use crate::lane_order::LaneOrder;
use crate::launches::Launches;
use crate::nodes::{Node, Nodes, WorkKind};
use ridge_trace::NONE;
use rustc_hash::FxHashMap;

/// Fewer samples make no class.
const FEWEST_SAMPLES: usize = 8;
/// No latency of a class is longer.
const MOST_NS: i64 = 100_000;
/// Launches that took longer did something else, such as loading a module.
pub(crate) const SLOW_CALL_NS: i64 = 100_000;

/// The median; `None` of nothing. The values are put in another order.
pub(crate) fn median(values: &mut [i64]) -> Option<i64> {
    let middle = values.len() / 2;
    (!values.is_empty()).then(|| *values.select_nth_unstable(middle).1)
}

/// Samples of one class.
#[derive(Debug, Default)]
pub(crate) struct Samples {
    all: Vec<i64>,
}

impl Samples {
    pub(crate) fn add(&mut self, sample: i64) {
        self.all.push(sample.max(0));
    }

    /// The median; `None` with too few samples.
    fn median(&mut self) -> Option<i64> {
        if self.all.len() < FEWEST_SAMPLES {
            return None;
        }
        median(&mut self.all).map(|median| median.min(MOST_NS))
    }

    /// The median, or with too few samples the least.
    pub(crate) fn class(&mut self) -> i64 {
        self.median().unwrap_or_else(|| self.all.iter().copied().min().unwrap_or(0).min(MOST_NS))
    }
}

/// From a call's start to its work's, by device and kind of work.
#[derive(Debug, Default)]
pub(crate) struct LaunchClasses {
    by_kind: FxHashMap<(u32, WorkKind), i64>,
    by_device: FxHashMap<u32, i64>,
}

impl LaunchClasses {
    pub(crate) fn new(nodes: &Nodes, launches: &Launches, order: &LaneOrder) -> LaunchClasses {
        let mut by_kind: FxHashMap<(u32, WorkKind), Samples> = FxHashMap::default();
        let mut by_device: FxHashMap<u32, Samples> = FxHashMap::default();
        let mut least: FxHashMap<u32, i64> = FxHashMap::default();
        for lane in nodes.lanes.iter().filter(|lane| !lane.is_thread()) {
            let first = lane.events.start as usize;
            for event in lane.range().filter(|event| launches.call[*event] != NONE) {
                let Node::Work(kind) = nodes.kind[event] else { continue };
                let took = nodes.start[event] - launches.time(nodes, event);
                let shortest = least.entry(lane.device).or_insert(i64::MAX);
                *shortest = (*shortest).min(took);
                if !launches.continues(event, first)
                    && on_idle_stream(nodes, launches, order, event)
                    && !is_slow(nodes, launches, event)
                {
                    by_kind.entry((lane.device, kind)).or_default().add(took);
                    by_device.entry(lane.device).or_default().add(took);
                }
            }
        }
        let of_device = |device: u32, samples: Option<&mut Samples>| {
            let median = samples.and_then(Samples::median);
            median.unwrap_or_else(|| least.get(&device).copied().unwrap_or(0).clamp(0, MOST_NS))
        };
        LaunchClasses {
            by_kind: by_kind.into_iter().filter_map(|(key, mut samples)| Some((key, samples.median()?))).collect(),
            by_device: least.keys().map(|device| (*device, of_device(*device, by_device.get_mut(device)))).collect(),
        }
    }

    /// The class of work of `kind` on `device`.
    pub(crate) fn get(&self, device: u32, kind: WorkKind) -> i64 {
        let of_kind = self.by_kind.get(&(device, kind)).copied();
        of_kind.or_else(|| self.by_device.get(&device).copied()).unwrap_or(0)
    }
}

/// Whether everything before `event` on its stream had ended when it was launched.
pub(crate) fn on_idle_stream(nodes: &Nodes, launches: &Launches, order: &LaneOrder, event: usize) -> bool {
    order.before[event] == NONE || nodes.time(order.before[event] | 1) <= launches.time(nodes, event)
}

/// Whether the call that launched `event` took longer than a launch does.
pub(crate) fn is_slow(nodes: &Nodes, launches: &Launches, event: usize) -> bool {
    let call = launches.call[event] as usize;
    nodes.end[call] - nodes.start[call] > SLOW_CALL_NS
}

/// Gives work that follows other work on its stream the usual gap between queued work of its device.
pub(crate) fn set_gaps(nodes: &Nodes, launches: &Launches, latencies: &LaunchClasses, order: &mut LaneOrder) {
    let mut gaps: FxHashMap<u32, Samples> = FxHashMap::default();
    let streams = || nodes.lanes.iter().filter(|lane| !lane.is_thread());
    for lane in streams() {
        for event in lane.range().filter(|event| order.is_class[*event]) {
            let Node::Work(kind) = nodes.kind[event] else { continue };
            let ready = launches.time(nodes, event).saturating_add(latencies.get(lane.device, kind));
            if ready <= nodes.time(order.before[event]) {
                gaps.entry(lane.device).or_default().add(order.delay[event]);
            }
        }
    }
    let classes: FxHashMap<u32, i64> =
        gaps.into_iter().map(|(device, mut samples)| (device, samples.class())).collect();
    for lane in streams() {
        let class = classes.get(&lane.device).copied().unwrap_or(0);
        for event in lane.range().filter(|event| order.is_class[*event]) {
            order.delay[event] = class;
        }
    }
}
