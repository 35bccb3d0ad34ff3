//! What `ridgeline check` found, in every form that people and other programs read.
//!
//! [`text::full`] is for a terminal, [`text::concise`] one line a finding; [`json::document`] is the whole answer, and
//! [`json::lines`] a finding a line; [`markdown::render`], [`sarif::log`], [`github::annotations`] and [`junit::report`]
//! are what reviews and continuous integration show.

pub mod github;
pub mod json;
pub mod junit;
pub mod markdown;
pub mod sarif;
pub mod text;
mod words;

pub use words::{evidence, headline, holds, saving};

use ridgeline::{Check, Finding, Level, ShownFinding};

/// A finding with what is shown beside it, and whether it was accepted before.
#[derive(Debug, Clone, Copy)]
pub struct Item<'c> {
    /// The finding.
    pub finding: &'c Finding,
    /// Its subjects and the text of its line.
    pub shown: &'c ShownFinding,
    /// Its position among all findings.
    pub position: usize,
}

/// How much is shown, and what was accepted before.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Also what holds little, what only informs, and what could not be told.
    pub all: bool,
    /// Fingerprints of findings that were accepted before.
    pub accepted: Vec<String>,
}

impl Options {
    /// Whether a finding was accepted before.
    pub fn accepts(&self, item: &Item<'_>) -> bool {
        self.accepted.contains(&item.shown.fingerprint)
    }
}

/// The findings that are shown as causes: what is worth mending, or all that are no symptoms.
pub(crate) fn causes<'c>(check: &'c Check, options: &Options) -> Vec<Item<'c>> {
    let is_shown = |item: &Item<'c>| {
        item.finding.because.is_none()
            // What a monitor's log can tell is all information.
            && (options.all || item.finding.level > Level::Info || check.diagnosis.log.is_some())
            && (options.all || !options.accepts(item))
    };
    items(check).filter(is_shown).collect()
}

/// The level and rule of a finding, and its message with its time.
pub(crate) fn head_and_hold(check: &Check, finding: &Finding) -> (String, String) {
    let held = words::holds(check, finding).map(|held| format!("; {held}")).unwrap_or_default();
    (format!("{}[{}]", finding.level.name(), finding.rule), format!("{}{held}", finding.message))
}

/// All findings.
pub fn items(check: &Check) -> impl Iterator<Item = Item<'_>> {
    let both = check.diagnosis.findings.iter().zip(&check.shown).enumerate();
    both.map(|(position, (finding, shown))| Item { finding, shown, position })
}

/// The symptoms of the finding at `position`.
pub(crate) fn symptoms(check: &Check, position: usize) -> impl Iterator<Item = Item<'_>> {
    items(check).filter(move |item| item.finding.because == Some(position))
}
