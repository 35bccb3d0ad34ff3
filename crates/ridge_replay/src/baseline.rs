//! What the replay of the unchanged capture says of itself, and when that forbids a prediction.

use crate::Options;
use crate::graph::Graph;
use crate::longest::{OnPath, parts};
use crate::nodes::Node;
use crate::overlay::Overlay;
use crate::pass::Delays;
use crate::reason::Reason;
use crate::steps::Steps;
use ridge_trace::NONE;

/// How well the replay explains the unchanged capture.
#[derive(Debug, Clone, PartialEq)]
pub struct Baseline {
    /// From the first event of the graph to the last, nanoseconds.
    pub wall_ns: i64,
    /// The replay with class delays, against the capture: -0.01 is one percent too short.
    pub class_error: f64,
    /// The largest difference of any instant between the capture and its replay with own delays, nanoseconds; 0 unless
    /// something is broken.
    pub own_error_ns: i64,
    /// Part of the wall that no edit can reach, 0 to 1: it hangs on waits that the capture does not explain.
    pub rigid_share: f64,
    /// Part of the device's time whose launch is not in the capture, 0 to 1.
    pub unlinked_share: f64,
    /// Marked steps.
    pub steps: usize,
    /// What the longest path consists of.
    pub path: Path,
    /// Waits much longer than anything recorded explains, longest first.
    pub unexplained: Vec<Stretch>,
    /// Dependencies that contradict others and were left out.
    pub left_out: usize,
    /// Why no number can be given for any edit; empty where one can.
    pub refused: Vec<Reason>,
}

/// Parts of the longest path, each 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Path {
    /// The host between calls.
    pub host: f64,
    /// Calls.
    pub calls: f64,
    /// Device work.
    pub device: f64,
    /// Launches, gaps, returns and other waits.
    pub waits: f64,
}

/// A wait that nothing in the capture explains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    /// When it should have gone on, nanoseconds on the trace clock.
    pub from_ns: i64,
    /// When it did.
    pub until_ns: i64,
}

/// Of the device's time, launched unseen, from which on a capture counts as one without launches.
const FEWEST_UNLINKED: f64 = 0.9;
/// A wait this much longer than its class is unexplained: the more of a millisecond and a fiftieth of the wall.
const UNEXPLAINED_NS: i64 = 1_000_000;
const UNEXPLAINED_PART: i64 = 50;
/// How many stretches are kept.
const MOST_STRETCHES: usize = 64;

/// What predictions need of a pair of replays.
#[derive(Debug)]
pub(crate) struct Replayed {
    pub(crate) class: Outcome,
    pub(crate) own: Outcome,
}

/// What predictions need of one replay.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// When the last event ends.
    pub(crate) end: i64,
    /// How long each step takes.
    pub(crate) steps: Vec<i64>,
}

impl Outcome {
    pub(crate) fn of(times: &[i64], steps: &Steps) -> Outcome {
        Outcome { end: last(times), steps: steps.times(|instant| times[instant as usize]) }
    }
}

pub(crate) fn measure(graph: &Graph, steps: &Steps, options: &Options) -> (Baseline, Replayed) {
    let none = Overlay::none();
    let pass = |delays| graph.pass(delays, &none);
    let (class, (own, halved)) = rayon::join(
        || pass(Delays::Class),
        || rayon::join(|| pass(Delays::Own), || last(&graph.pass(Delays::Own, &Overlay::halves(graph)))),
    );
    let wall_ns = wall_of(graph);
    let share = |part: i64| if wall_ns > 0 { part as f64 / wall_ns as f64 } else { 0.0 };
    let end = last_captured(graph);
    let mut baseline = Baseline {
        wall_ns,
        class_error: share(last(&class).saturating_sub(end)),
        own_error_ns: own_error(graph, &own),
        rigid_share: (1.0 - 2.0 * share(end.saturating_sub(halved))).clamp(0.0, 1.0),
        unlinked_share: unlinked_share(graph, 0..graph.nodes.len()),
        steps: steps.spans.len(),
        path: path(graph, wall_ns),
        unexplained: unexplained(graph, wall_ns),
        left_out: graph.order.left_out,
        refused: Vec::new(),
    };
    baseline.refused = refusals(&baseline, options);
    (baseline, Replayed { class: Outcome::of(&class, steps), own: Outcome::of(&own, steps) })
}

/// The last of all times.
fn last(times: &[i64]) -> i64 {
    times.iter().copied().max().unwrap_or(0)
}

fn last_captured(graph: &Graph) -> i64 {
    last(&graph.nodes.end)
}

/// What forbids any prediction from a capture.
fn refusals(baseline: &Baseline, options: &Options) -> Vec<Reason> {
    let is_rigid = baseline.rigid_share > options.most_rigid;
    let has_launches = baseline.unlinked_share < FEWEST_UNLINKED;
    let found = [
        (baseline.wall_ns <= 0, Reason::Nothing),
        (baseline.own_error_ns != 0, Reason::NotExact(baseline.own_error_ns)),
        (is_rigid && !has_launches, Reason::NoLaunches),
        (is_rigid && has_launches, Reason::Rigid(baseline.rigid_share)),
        (baseline.class_error.abs() > options.most_class_error, Reason::ClassError(baseline.class_error)),
        ((1..options.fewest_steps).contains(&baseline.steps), Reason::FewSteps(baseline.steps)),
    ];
    found.into_iter().filter(|(holds, _)| *holds).map(|(_, reason)| reason).collect()
}

fn wall_of(graph: &Graph) -> i64 {
    let first = graph.nodes.start.iter().copied().min().unwrap_or(0);
    last_captured(graph) - if graph.nodes.len() == 0 { 0 } else { first }
}

fn own_error(graph: &Graph, own: &[i64]) -> i64 {
    let errors = own
        .iter()
        .enumerate()
        .map(|(instant, time)| time.saturating_sub(graph.nodes.time(instant as u32)).saturating_abs());
    errors.max().unwrap_or(0)
}

/// Part of the device time of `events` whose launch is unknown.
pub(crate) fn unlinked_share(graph: &Graph, events: impl IntoIterator<Item = usize>) -> f64 {
    let (mut all, mut unlinked) = (0_i64, 0_i64);
    for event in events.into_iter().filter(|event| matches!(graph.nodes.kind[*event], Node::Work(_))) {
        let took = graph.nodes.end[event] - graph.nodes.start[event];
        all = all.saturating_add(took);
        unlinked = unlinked.saturating_add(if graph.launches.call[event] == NONE { took } else { 0 });
    }
    if all > 0 { unlinked as f64 / all as f64 } else { 0.0 }
}

/// What the longest path consists of.
fn path(graph: &Graph, wall_ns: i64) -> Path {
    let whole = wall_ns.max(1) as f64;
    let mut path = Path::default();
    for found in parts(graph) {
        let share = (found.until_ns - found.from_ns) as f64 / whole;
        *match found.what {
            OnPath::Device => &mut path.device,
            OnPath::Call => &mut path.calls,
            OnPath::Host => &mut path.host,
            OnPath::Wait => &mut path.waits,
        } += share;
    }
    path
}

fn unexplained(graph: &Graph, wall_ns: i64) -> Vec<Stretch> {
    let limit = UNEXPLAINED_NS.max(wall_ns / UNEXPLAINED_PART);
    let mut found: Vec<Stretch> = (0..2 * graph.nodes.len() as u32)
        .filter_map(|instant| {
            let until_ns = graph.nodes.time(instant);
            let (from, delay) = graph.binding(instant)?;
            let from_ns = graph.nodes.time(from).saturating_add(delay);
            (until_ns - from_ns > limit).then_some(Stretch { from_ns, until_ns })
        })
        .collect();
    found.sort_by_key(|stretch| stretch.from_ns - stretch.until_ns);
    found.truncate(MOST_STRETCHES);
    found
}
