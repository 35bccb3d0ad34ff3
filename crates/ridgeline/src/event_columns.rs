//! What is known of events beyond the trace's own columns, for tables of all of them.
//!
//! [`Session::event`] says the same of one event; the words and numbers here are those.

use crate::session::Session;
use ridge_analysis::{Analysis, EventCategories, EventFacts};
use ridge_trace::NONE;

/// Columns beside those of the events.
#[derive(Debug, Clone, Copy)]
pub struct EventColumns<'s> {
    analysis: Analysis<'s>,
    facts: &'s EventFacts,
    categories: &'s EventCategories,
}

impl Session {
    /// What is known of every event beyond the trace's own columns.
    pub fn event_columns(&self) -> EventColumns<'_> {
        let analysis = self.analysis();
        EventColumns { analysis, facts: analysis.event_facts(), categories: self.event_categories() }
    }
}

impl EventColumns<'_> {
    /// Duration less what ran directly inside, nanoseconds, as tables sum it.
    pub fn self_ns(&self, row: usize) -> i64 {
        self.facts.self_ns[row]
    }

    /// Events of the same track that enclose it.
    pub fn depth(&self, row: usize) -> u32 {
        self.facts.depth[row]
    }

    /// Number of the step that caused it, or that it is.
    pub fn step(&self, row: usize) -> Option<i64> {
        let step = self.facts.step[row];
        self.analysis.trace.steps.get(step as usize).map(|step| step.number)
    }

    /// What kind of work it is.
    pub fn category(&self, row: usize) -> &str {
        self.categories.name_of(&self.analysis.trace.events, row)
    }

    /// The innermost line of the program that its operation came from: file and line.
    pub fn line(&self, row: usize) -> Option<(&str, u32)> {
        let op = self.analysis.trace.events.op[row];
        let lines = self.analysis.lines().of(op).filter(|_| op != NONE)?;
        lines.stack.first().map(|line| (line.file.as_str(), line.line))
    }

    /// Floating-point operations and bytes of compulsory traffic, where both are known.
    pub fn work(&self, row: usize) -> Option<(f64, f64)> {
        let events = &self.analysis.trace.events;
        let is_compute = events.kind(row).is_compute();
        let sums = is_compute.then(|| self.analysis.work_of_event(row as u32, events.dur_ns[row])).flatten()?;
        (sums.known_ns > 0.0).then_some((sums.flops, sums.bytes))
    }
}
