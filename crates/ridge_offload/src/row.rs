//! A kernel in the tables of the validation page: what was published, and what the model says of it.

use crate::predict::Interval;
use crate::published::{Number, Published, seconds_words};

/// A kernel with its intervals, seconds.
pub(crate) struct Row<'a> {
    pub(crate) kernel: &'a Published,
    pub(crate) raw: Interval,
    pub(crate) calibrated: Interval,
}

impl Row<'_> {
    /// The number that counts.
    pub(crate) fn number(&self) -> Option<&Number> {
        self.kernel.number.as_ref().filter(|_| self.kernel.left_out.is_none())
    }

    /// The predicted middle over the published time.
    pub(crate) fn ratio(&self) -> Option<f64> {
        self.number().map(|number| self.raw.p50 / number.seconds)
    }

    /// Its line.
    pub(crate) fn text(&self) -> String {
        let interval =
            |interval: &Interval| format!("{} to {}", seconds_words(interval.p10), seconds_words(interval.p90));
        let inside = |interval: &Interval| match self.number() {
            Some(number) if interval.holds(number.seconds) => "yes",
            Some(_) => "**no**",
            None => "",
        };
        let (said, time) = match &self.kernel.number {
            Some(number) => (number.said.clone(), seconds_words(number.seconds)),
            None => ("not looked up yet".to_owned(), String::new()),
        };
        format!(
            "| {} | {} | `{}` | {said} | {time} | {} | {} | {} | {} | {} | {} |\n",
            self.kernel.name,
            self.kernel.board.id,
            self.kernel.paper,
            seconds_words(self.raw.p50),
            self.ratio().map(|ratio| format!("{ratio:.2}")).unwrap_or_default(),
            interval(&self.raw),
            inside(&self.raw),
            interval(&self.calibrated),
            inside(&self.calibrated),
        )
    }
}

/// The head of such a table.
pub(crate) const TABLE: &str = "
| kernel | board | paper | published | as time | P50 | predicted / published | P10 to P90, model only | inside | calibrated | inside |
|---|---|---|---|---|---|---|---|---|---|---|
";
