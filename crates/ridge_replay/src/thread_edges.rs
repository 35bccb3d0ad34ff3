//! What threads wait for without a call: one another, and the device.
//!
//! A hand-over between threads is taken from recorded links, or where it repeats in every step; elsewhere the gap stays
//! host time.

use crate::edges::{Edge, Family};
use crate::lane_order::LaneOrder;
use crate::launches::Launches;
use crate::nodes::{Lane, Node, Nodes, end_of, start_of};
use ridge_trace::{NONE, Trace};
use rustc_hash::{FxHashMap, FxHashSet};

/// A burst of calls fills at least this much of the other thread's gap, in percent.
const FILLS_PCT: i64 = 70;
/// Fewer waits show no pattern.
const FEWEST_WAITS: usize = 8;

/// Edges to threads, with the lane's own delays cut where an edge explains them.
pub(crate) fn find(trace: &Trace, nodes: &Nodes, launches: &Launches, order: &mut LaneOrder) -> Vec<Edge> {
    let recorded = recorded_links(trace);
    let mut threads: FxHashMap<u32, Vec<&Lane>> = FxHashMap::default();
    for lane in nodes.lanes.iter().filter(|lane| lane.is_thread()) {
        threads.entry(lane.process).or_default().push(lane);
    }
    let mut edges = Vec::new();
    for threads in threads.values() {
        let Some(main) = threads.iter().max_by_key(|lane| lane.events.len()).copied() else { continue };
        edges.extend(threads.iter().filter_map(|lane| hang_late(nodes, main, lane)));
        for worker in threads.iter().filter(|lane| lane.track != main.track) {
            edges.extend(hand_overs(trace, nodes, main, worker, &recorded, order));
        }
    }
    edges.extend(hidden_waits(nodes, launches, order));
    edges
}

/// A thread that comes later begins because the main thread went on.
fn hang_late(nodes: &Nodes, main: &Lane, lane: &Lane) -> Option<Edge> {
    let first = lane.events.start as usize;
    let time = nodes.start[first];
    let before = last_ended(nodes, main, time)?;
    (lane.track != main.track).then(|| Edge {
        from: end_of(before),
        to: start_of(first),
        family: Family::HandOver,
        delay: time - nodes.end[before],
    })
}

/// The last event of `lane` that ended by `time`.
fn last_ended(nodes: &Nodes, lane: &Lane, time: i64) -> Option<usize> {
    let events = lane.range();
    let after = events.start + nodes.end[events.clone()].partition_point(|end| *end <= time);
    after.checked_sub(1).filter(|event| events.contains(event))
}

/// Calls of a worker within one gap of the main thread.
#[derive(Debug, Clone, Copy)]
struct Burst {
    /// The call of the main thread before the gap.
    before: usize,
    first: usize,
    last: usize,
}

fn hand_overs(
    trace: &Trace,
    nodes: &Nodes,
    main: &Lane,
    worker: &Lane,
    recorded: &FxHashSet<(u32, u32)>,
    order: &mut LaneOrder,
) -> Vec<Edge> {
    let bursts = bursts(nodes, main, worker);
    if !recorded.contains(&(main.track, worker.track)) && !repeats(trace, nodes, main, &bursts) {
        return Vec::new();
    }
    let mut edges = Vec::new();
    for burst in bursts {
        let after = burst.before + 1;
        let there = nodes.start[burst.first] - nodes.end[burst.before];
        let back = nodes.start[after] - nodes.end[burst.last];
        let hand_over = |from, to, delay| Edge { from, to, family: Family::HandOver, delay };
        edges.push(hand_over(end_of(burst.before), start_of(burst.first), there));
        edges.push(hand_over(end_of(burst.last), start_of(after), back));
        order.delay[after] = order.delay[after].min(there + back);
        order.delay[burst.first] = order.delay[burst.first].min(0);
    }
    edges
}

/// Bursts of `worker` that fill a gap of `main`.
fn bursts(nodes: &Nodes, main: &Lane, worker: &Lane) -> Vec<Burst> {
    let mut found: Vec<Burst> = Vec::new();
    let calls = worker.range().filter(|event| nodes.kind[*event] != Node::Mark);
    for call in calls {
        let Some(before) = last_ended(nodes, main, nodes.start[call]) else { continue };
        let after = before + 1;
        if !main.range().contains(&after) || nodes.start[after] < nodes.end[call] {
            continue;
        }
        match found.last_mut() {
            Some(burst) if burst.before == before => burst.last = call,
            _ => found.push(Burst { before, first: call, last: call }),
        }
    }
    let fills = |burst: &Burst| {
        let gap = nodes.start[burst.before + 1] - nodes.end[burst.before];
        let span = nodes.end[burst.last] - nodes.start[burst.first];
        span.saturating_mul(100) >= gap.saturating_mul(FILLS_PCT)
    };
    found.retain(fills);
    found
}

/// Pairs of tracks of which the second works for the first: autograd's links from the forward to the backward pass.
fn recorded_links(trace: &Trace) -> FxHashSet<(u32, u32)> {
    let track = |row: u32| trace.tracks.partition_point(|track| track.rows.end <= row) as u32;
    trace.backwards.iter().map(|link| (track(link.forward), track(link.event))).collect()
}

/// Whether each marked step has a burst; there are at least three.
fn repeats(trace: &Trace, nodes: &Nodes, main: &Lane, bursts: &[Burst]) -> bool {
    let rows = &trace.tracks[main.track as usize].rows;
    let first = trace.steps.partition_point(|step| step.event < rows.start);
    let mut steps = trace.steps[first..].iter().map(|step| step.event).take_while(|row| *row < rows.end);
    let has_burst = |row: u32| {
        let (start, end) = (trace.events.start_ns[row as usize], trace.events.end_ns(row as usize));
        let after = bursts.partition_point(|burst| nodes.start[burst.first] < start);
        bursts.get(after).is_some_and(|burst| nodes.start[burst.first] < end)
    };
    !bursts.is_empty() && steps.clone().count() >= 3 && steps.all(has_burst)
}

/// A gap in which the last work that the thread launched ends.
#[derive(Debug, Clone, Copy)]
struct Gap {
    /// The event after it.
    after: usize,
    work: usize,
    /// Nanoseconds of the gap before the work ended.
    remaining: i64,
    long: i64,
}

/// Threads that wait for their work without an event that says so, as `block_until_ready` of some JAX versions.
///
/// Where they do, gaps are as long as what the work still has to do: slope near 1, correlation above 0.95.
/// A loop that does not wait reached 0.70.
fn hidden_waits(nodes: &Nodes, launches: &Launches, order: &mut LaneOrder) -> Vec<Edge> {
    let mut last_work = vec![NONE; nodes.len()];
    for (event, call) in launches.call.iter().enumerate().filter(|(_, call)| **call != NONE) {
        let last = &mut last_work[*call as usize];
        if *last == NONE || nodes.end[event] > nodes.end[*last as usize] {
            *last = event as u32;
        }
    }
    let mut edges = Vec::new();
    for lane in nodes.lanes.iter().filter(|lane| lane.is_thread()) {
        let launching = lane.range().filter(|event| last_work[*event] != NONE).count();
        let gaps = gaps(nodes, lane, &last_work);
        if gaps.len() < FEWEST_WAITS || 2 * gaps.len() <= launching || !waits(&gaps) {
            continue;
        }
        for gap in gaps {
            let delay = gap.long - gap.remaining;
            order.delay[gap.after] = delay;
            edges.push(Edge { from: end_of(gap.work), to: start_of(gap.after), family: Family::HiddenWait, delay });
        }
    }
    edges
}

fn gaps(nodes: &Nodes, lane: &Lane, last_work: &[u32]) -> Vec<Gap> {
    let mut latest: Option<usize> = None;
    let mut gaps = Vec::new();
    for event in lane.range() {
        if let Some(work) = latest {
            let remaining = nodes.end[work] - nodes.end[event - 1];
            let long = nodes.start[event] - nodes.end[event - 1];
            if remaining > 0 && remaining <= long {
                gaps.push(Gap { after: event, work, remaining, long });
            }
        }
        let own = last_work[event];
        if own != NONE && latest.is_none_or(|work| nodes.end[work] < nodes.end[own as usize]) {
            latest = Some(own as usize);
        }
    }
    gaps
}

/// Whether the gaps follow the remaining work.
fn waits(gaps: &[Gap]) -> bool {
    let count = gaps.len() as f64;
    let mean = |of: fn(&Gap) -> i64| gaps.iter().map(|gap| of(gap) as f64).sum::<f64>() / count;
    let (mean_x, mean_y) = (mean(|gap| gap.remaining), mean(|gap| gap.long));
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    for gap in gaps {
        let (x, y) = (gap.remaining as f64 - mean_x, gap.long as f64 - mean_y);
        (xx, xy, yy) = (xx + x * x, xy + x * y, yy + y * y);
    }
    let slope = xy / xx;
    let correlation = xy / (xx * yy).sqrt();
    (0.6..=1.4).contains(&slope) && correlation > 0.95
}
