//! From two replays under edits to a range, and how far to trust it.
//!
//! The range spans the savings by class and by own delays.
//! It is widened by the rigid share, and by what the steps' savings scatter.

use crate::Replay;
use crate::baseline::{Outcome, unlinked_share};
use crate::classes::median;
use crate::edit::{Action, Edit};
use crate::nodes::Node;
use crate::overlay::Overlay;
use crate::pass::Delays;
use crate::reason::Reason;
use ridge_trace::NONE;

/// What an edit would save.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// The wall of the capture, nanoseconds.
    pub wall_ns: i64,
    /// The least it saves of the wall, nanoseconds; below 0 it costs time.
    pub low_ns: i64,
    /// The most it saves.
    pub high_ns: i64,
    /// The same per step, where steps are marked.
    pub per_step: Option<PerStep>,
    /// What may be said with the numbers.
    pub basis: Basis,
    /// Why no number may be shown; the numbers are 0 then.
    pub refused: Option<Reason>,
}

/// Savings per step: medians over the steps but the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PerStep {
    /// A step as captured, nanoseconds.
    pub captured_ns: i64,
    /// The least saved of it.
    pub low_ns: i64,
    /// The most.
    pub high_ns: i64,
}

/// What may be said of a prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// An amount: the replay explains the capture.
    Amount,
    /// Whether it saves, not how much: the replay misses the capture by more than it should, or the work that replaces
    /// other work is not known.
    Direction,
}

impl Basis {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Basis::Amount => "amount",
            Basis::Direction => "direction",
        }
    }
}

impl Replay<'_> {
    /// What `edits` would save together.
    pub fn apply(&self, edits: &[Edit]) -> Prediction {
        match self.refusal(edits) {
            Some(reason) => self.no_number(reason),
            None => self.predict(edits),
        }
    }

    fn no_number(&self, reason: Reason) -> Prediction {
        Prediction {
            wall_ns: self.baseline.wall_ns,
            low_ns: 0,
            high_ns: 0,
            per_step: None,
            basis: Basis::Direction,
            refused: Some(reason),
        }
    }

    /// Why these edits get no number.
    fn refusal(&self, edits: &[Edit]) -> Option<Reason> {
        if let Some(reason) = self.baseline.refused.first() {
            return Some(*reason);
        }
        if edits.is_empty() {
            return None;
        }
        if !edits.iter().any(|edit| self.reaches(edit)) {
            return Some(Reason::NothingEdited);
        }
        let shortens = |edit: &&Edit| matches!(edit.action, Action::Drop | Action::Scale(_));
        let work = self.work_of(edits.iter().filter(shortens));
        let unlinked = unlinked_share(&self.graph, work.iter().copied());
        if unlinked > self.options.most_unlinked {
            return Some(Reason::Unlinked(unlinked));
        }
        self.unexplained_wait(&self.work_of(edits.iter())).map(Reason::Unexplained)
    }

    fn reaches(&self, edit: &Edit) -> bool {
        match edit.action {
            Action::HostScale(_) => !edit.rows.is_empty(),
            _ => edit.rows.iter().any(|row| self.event(*row).is_some()),
        }
    }

    fn event(&self, row: u32) -> Option<usize> {
        self.graph.nodes.of_row.get(row as usize).filter(|event| **event != NONE).map(|event| *event as usize)
    }

    fn work_of<'e>(&self, edits: impl Iterator<Item = &'e Edit>) -> Vec<usize> {
        let events = edits.flat_map(|edit| edit.rows.iter().filter_map(|row| self.event(*row)));
        let mut events: Vec<usize> =
            events.filter(|event| matches!(self.graph.nodes.kind[*event], Node::Work(_))).collect();
        events.sort_unstable();
        events.dedup();
        events
    }

    /// The longest unexplained wait in which most of the time of `events` lies.
    fn unexplained_wait(&self, events: &[usize]) -> Option<i64> {
        let nodes = &self.graph.nodes;
        let sum = |spans: &mut dyn Iterator<Item = i64>| spans.fold(0_i64, |sum, span| sum.saturating_add(span.max(0)));
        let all = sum(&mut events.iter().map(|event| nodes.end[*event] - nodes.start[*event]));
        let within = |from: i64, until: i64| -> i64 {
            let mut spans = events.iter().map(|event| nodes.end[*event].min(until) - nodes.start[*event].max(from));
            sum(&mut spans)
        };
        let stretches = self.baseline.unexplained.iter();
        let mut around = stretches.filter(|stretch| all > 0 && within(stretch.from_ns, stretch.until_ns) > all / 2);
        around.next().map(|stretch| stretch.until_ns - stretch.from_ns)
    }

    fn predict(&self, edits: &[Edit]) -> Prediction {
        let overlay = Overlay::of(edits, &self.graph, self.trace);
        let pass = |delays| Outcome::of(&self.graph.pass(delays, &overlay), &self.steps);
        let (class, own) = rayon::join(|| pass(Delays::Class), || pass(Delays::Own));
        let before = &self.replayed;
        let saved = [before.class.end.saturating_sub(class.end), before.own.end.saturating_sub(own.end)];
        let middle = |steps: &[i64]| median(&mut steps.to_vec()).unwrap_or(0);
        let medians = |before: &Outcome, after: &Outcome| middle(&before.steps).saturating_sub(middle(&after.steps));
        let saved_per_step = [medians(&before.class, &class), medians(&before.own, &own)];
        let scatter = scatter(&before.own.steps, &own.steps);
        let halves = self.is_cpu && edits.iter().any(|edit| edit.action.overlaps());
        let range = |saved: [i64; 2], scatter: f64, whole: i64| self.widened(saved, scatter, halves, whole);
        let steps = self.steps.spans.len();
        let wall_ns = self.baseline.wall_ns;
        let (low_ns, high_ns) = range(saved, scatter * steps as f64, wall_ns);
        Prediction {
            wall_ns,
            low_ns,
            high_ns,
            per_step: (steps > 0).then(|| {
                let captured_ns = middle(&self.captured_steps());
                let (low_ns, high_ns) = range(saved_per_step, scatter, captured_ns);
                PerStep { captured_ns, low_ns, high_ns }
            }),
            basis: self.basis(edits),
            refused: None,
        }
    }

    fn basis(&self, edits: &[Edit]) -> Basis {
        let replaces = edits.iter().any(|edit| edit.action == Action::Merge);
        let is_vague = self.baseline.class_error.abs() > self.options.vague_class_error;
        if replaces || is_vague { Basis::Direction } else { Basis::Amount }
    }

    fn captured_steps(&self) -> Vec<i64> {
        self.steps.times(|instant| self.graph.nodes.time(instant))
    }

    /// The range of two savings of `whole`, widened by the rigid share and the scatter of steps.
    ///
    /// What overlaps on a processor competes for its cores: measured, such savings came out at half.
    fn widened(&self, saved: [i64; 2], scatter: f64, halves: bool, whole: i64) -> (i64, i64) {
        let (low, high) = (saved[0].min(saved[1]), saved[0].max(saved[1]));
        let rigid = self.baseline.rigid_share;
        let below = low.saturating_abs() as f64 * rigid + scatter;
        let above = high.saturating_abs() as f64 * rigid + scatter;
        let low = (low as f64 - below) * if halves && low > 0 { 0.5 } else { 1.0 };
        // What saves cannot end up costing by being uncertain.
        let low = if saved[0].min(saved[1]) >= 0 { low.max(0.0) } else { low };
        // Nothing saves more than there is.
        ((low as i64).min(whole), ((high as f64 + above) as i64).min(whole))
    }
}

/// The standard error of what the steps save.
fn scatter(before: &[i64], after: &[i64]) -> f64 {
    let saved: Vec<f64> =
        before.iter().zip(after).map(|(before, after)| before.saturating_sub(*after) as f64).collect();
    if saved.len() < 2 {
        return 0.0;
    }
    let count = saved.len() as f64;
    let mean = saved.iter().sum::<f64>() / count;
    let variance = saved.iter().map(|saved| (saved - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (variance / count).sqrt()
}
