//! What edits change of the graph: time cut from events and from the gaps before them, waits that are gone.

use crate::edit::{Action, Edit};
use crate::graph::Graph;
use crate::nodes::{Lane, Node, start_of};
use ridge_trace::{NONE, Trace};

/// The event is gone: it takes no time and waits for nothing but its lane.
const DROPPED: u8 = 1;
/// The call waits for nothing.
const UNSYNC: u8 = 2;

/// Whether an instant is free of waits for other lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Freed {
    Yes,
    No,
}

/// The joint change of any set of edits; empty columns change nothing.
#[derive(Debug, Default)]
pub(crate) struct Overlay {
    flags: Vec<u8>,
    /// Part of each event's own time that remains.
    own: Vec<f32>,
    /// Part of each gap before an event that remains.
    gap: Vec<f32>,
}

impl Overlay {
    /// No change.
    pub(crate) fn none() -> Overlay {
        Overlay::default()
    }

    /// Everything that can be edited takes half its time.
    pub(crate) fn halves(graph: &Graph) -> Overlay {
        let mut overlay = Overlay { own: vec![0.5; graph.nodes.len()], ..Overlay::default() };
        overlay.gap = vec![1.0; graph.nodes.len()];
        for lane in graph.nodes.lanes.iter().filter(|lane| lane.is_thread()) {
            overlay.gap[lane.range()].fill(0.5);
        }
        overlay.scale_overlaps(graph);
        overlay
    }

    /// The joint change of `edits`.
    pub(crate) fn of(edits: &[Edit], graph: &Graph, trace: &Trace) -> Overlay {
        let count = graph.nodes.len();
        let mut overlay = Overlay { flags: vec![0; count], own: vec![1.0; count], gap: vec![1.0; count] };
        for edit in edits {
            overlay.apply(edit, graph, trace);
        }
        overlay.scale_overlaps(graph);
        overlay
    }

    /// A delay on the lane as the edits leave it: that of an event itself, or that of the gap before it.
    #[inline]
    pub(crate) fn lane_delay(&self, instant: u32, delay: i64) -> i64 {
        let parts = if instant & 1 == 0 { &self.gap } else { &self.own };
        match parts.get((instant >> 1) as usize) {
            Some(part) if *part != 1.0 && delay > 0 => (delay as f64 * f64::from(*part)) as i64,
            _ => delay,
        }
    }

    /// Whether `instant` no longer waits for other lanes.
    #[inline]
    pub(crate) fn freed(&self, instant: u32) -> Freed {
        match self.flags.get((instant >> 1) as usize) {
            None | Some(0) => Freed::No,
            Some(flags) if flags & DROPPED != 0 || instant & 1 == 1 => Freed::Yes,
            Some(_) => Freed::No,
        }
    }

    /// Whether the event of `instant` is gone.
    pub(crate) fn is_dropped(&self, instant: u32) -> bool {
        self.flags.get((instant >> 1) as usize).is_some_and(|flags| flags & DROPPED != 0)
    }

    fn apply(&mut self, edit: &Edit, graph: &Graph, trace: &Trace) {
        match edit.action {
            Action::Drop => self.shrink(edit, graph, trace, 0.0),
            Action::Scale(part) => self.shrink(edit, graph, trace, part.max(0.0)),
            Action::HostScale(part) => self.scale_host(edit, graph, trace, part.max(0.0)),
            Action::DropCall => self.drop_calls(edit, graph),
            Action::Unsync => self.events(edit, graph).into_iter().for_each(|event| self.flags[event] |= UNSYNC),
            Action::Asynchronous => self.make_asynchronous(edit, graph),
            Action::Merge => self.merge(edit, graph),
        }
    }

    /// The events of the graph that the edit's rows are part of, each once, in order.
    fn events(&self, edit: &Edit, graph: &Graph) -> Vec<usize> {
        let event = |row: &u32| graph.nodes.of_row.get(*row as usize).copied().filter(|event| *event != NONE);
        let mut events: Vec<usize> = edit.rows.iter().filter_map(event).map(|event| event as usize).collect();
        events.sort_unstable();
        events.dedup();
        events
    }

    /// Takes time from events; a row within an event takes its share of it.
    fn shrink(&mut self, edit: &Edit, graph: &Graph, trace: &Trace, part: f32) {
        let nodes = &graph.nodes;
        let mut inner: Vec<(u32, u32)> = Vec::new();
        for row in edit.rows.iter().filter(|row| (**row as usize) < nodes.of_row.len()) {
            let event = nodes.of_row[*row as usize];
            if event == NONE {
                continue;
            }
            if nodes.row[event as usize] != *row {
                inner.push((event, *row));
                continue;
            }
            self.own[event as usize] *= part;
            if part == 0.0 {
                self.flags[event as usize] |= DROPPED;
            }
        }
        self.shrink_inner(inner, graph, trace, part);
    }

    /// Takes the time of rows within events, what lies in two of them once.
    fn shrink_inner(&mut self, mut inner: Vec<(u32, u32)>, graph: &Graph, trace: &Trace, part: f32) {
        let events = &trace.events;
        inner.sort_unstable();
        inner.dedup();
        for rows in inner.chunk_by(|a, b| a.0 == b.0) {
            let event = rows[0].0 as usize;
            let whole = graph.nodes.end[event] - graph.nodes.start[event];
            let mut spans: Vec<(i64, i64)> =
                rows.iter().map(|(_, row)| (events.start_ns[*row as usize], events.end_ns(*row as usize))).collect();
            let covered = covered_ns(&mut spans, i64::MIN, i64::MAX);
            if whole > 0 {
                let share = (covered as f64 / whole as f64).min(1.0);
                self.own[event] *= (1.0 - share * (1.0 - f64::from(part))) as f32;
            }
        }
    }

    /// Scales the time between calls within the rows' spans.
    fn scale_host(&mut self, edit: &Edit, graph: &Graph, trace: &Trace, part: f32) {
        let mut rows = edit.rows.clone();
        rows.sort_unstable();
        for lane in graph.nodes.lanes.iter().filter(|lane| lane.is_thread()) {
            let mut spans = spans_on(lane, &rows, trace);
            if spans.is_empty() {
                continue;
            }
            unite(&mut spans);
            for event in lane.range().skip(1) {
                let (from, to) = (graph.nodes.end[event - 1], graph.nodes.start[event]);
                let covered = covered_of(&spans, from, to);
                if covered > 0 && to > from {
                    let share = covered as f64 / (to - from) as f64;
                    self.gap[event] *= (1.0 - share * (1.0 - f64::from(part))) as f32;
                }
            }
        }
    }

    /// Calls and what they launched are gone; the host's time before them stays.
    fn drop_calls(&mut self, edit: &Edit, graph: &Graph) {
        let events = self.events(edit, graph);
        let mut is_gone = vec![false; graph.nodes.len()];
        for event in events {
            is_gone[event] = true;
        }
        for (event, call) in graph.launches.call.iter().enumerate() {
            if *call != NONE && is_gone[*call as usize] {
                self.drop_event(event);
            }
        }
        (0..is_gone.len()).filter(|event| is_gone[*event]).for_each(|event| self.drop_event(event));
    }

    fn drop_event(&mut self, event: usize) {
        self.own[event] = 0.0;
        self.flags[event] |= DROPPED;
    }

    /// Calls no longer wait for the copies that they launched; rows may name either.
    fn make_asynchronous(&mut self, edit: &Edit, graph: &Graph) {
        for event in self.events(edit, graph) {
            let call = match graph.nodes.kind[event] {
                Node::Call(_) => event as u32,
                _ => graph.launches.call[event],
            };
            if call != NONE {
                self.flags[call as usize] |= UNSYNC;
            }
        }
    }

    /// On each thread the first call stays; the others take no time, nor does the host before them.
    fn merge(&mut self, edit: &Edit, graph: &Graph) {
        let mut lane = usize::MAX;
        for event in self.events(edit, graph) {
            let on = graph.nodes.lane_of(event);
            if on == lane && graph.nodes.lanes[on].is_thread() {
                self.own[event] = 0.0;
                self.gap[event] = 0.0;
                self.flags[event] |= UNSYNC;
            }
            lane = on;
        }
    }

    /// Work that starts some time after the start of other work follows what that takes.
    fn scale_overlaps(&mut self, graph: &Graph) {
        for lane in graph.nodes.lanes.iter().filter(|lane| !lane.is_thread()) {
            for event in lane.range().skip(1) {
                let before = graph.lane_order.before[event];
                let overlaps = before != NONE && before & 1 == 0;
                let is_gone = self.is_dropped(start_of(event));
                if overlaps {
                    self.gap[event] = self.own[(before >> 1) as usize];
                }
                if is_gone {
                    self.gap[event] = 0.0;
                }
            }
        }
    }
}

/// Spans of those of the sorted `rows` that are on the track of `lane`.
fn spans_on(lane: &Lane, rows: &[u32], trace: &Trace) -> Vec<(i64, i64)> {
    let track = &trace.tracks[lane.track as usize].rows;
    let [first, end] = [track.start, track.end].map(|bound| rows.partition_point(|row| *row < bound));
    let span = |row: &u32| (trace.events.start_ns[*row as usize], trace.events.end_ns(*row as usize));
    rows[first..end].iter().map(span).collect()
}

/// Sorts spans and joins those that touch.
fn unite(spans: &mut Vec<(i64, i64)>) {
    spans.sort_unstable();
    spans.dedup_by(|next, before| {
        let touches = next.0 <= before.1;
        if touches {
            before.1 = before.1.max(next.1);
        }
        touches
    });
}

/// How much of `from..to` the united `spans` cover.
fn covered_of(spans: &[(i64, i64)], from: i64, to: i64) -> i64 {
    let first = spans.partition_point(|span| span.1 <= from);
    let within = spans[first..].iter().take_while(|span| span.0 < to);
    within.fold(0, |sum, span| sum.saturating_add(span.1.min(to).saturating_sub(span.0.max(from))))
}

fn covered_ns(spans: &mut Vec<(i64, i64)>, from: i64, to: i64) -> i64 {
    unite(spans);
    covered_of(spans, from, to)
}
