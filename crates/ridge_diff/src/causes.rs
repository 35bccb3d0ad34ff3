//! What `check` found on each side: what vanished, what is new.

use crate::place::Place;
use serde::{Deserialize, Serialize};

/// A cause that `check` found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FoundCause {
    /// The rule.
    pub rule: String,
    /// What it says.
    pub message: String,
    /// The line of the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// The part of the time that it holds, 0 to 1.
    pub share: f64,
    /// What mending it was predicted to save; `None` where no amount was predicted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saving: Option<PredictedSaving>,
}

/// What mending a cause was predicted to save, as parts of the time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PredictedSaving {
    /// At least, 0 to 1.
    pub low: f64,
    /// At most, 0 to 1.
    pub high: f64,
    /// Where the prediction comes from, as `check` names it: `replay` or `wall`.
    pub basis: String,
}

/// What became of a cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingStatus {
    /// Only before.
    Resolved,
    /// Only after.
    New,
    /// On both sides.
    Unchanged,
}

impl FindingStatus {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            FindingStatus::Resolved => "vanished",
            FindingStatus::New => "new",
            FindingStatus::Unchanged => "stayed",
        }
    }

    /// What became of it, for people.
    pub fn words(self) -> &'static str {
        match self {
            FindingStatus::Resolved => "resolved",
            FindingStatus::New => "new",
            FindingStatus::Unchanged => "unchanged",
        }
    }
}

/// A cause on one or both sides.
#[derive(Debug, Clone, PartialEq)]
pub struct CauseChange {
    /// What became of it.
    pub status: FindingStatus,
    /// The cause, of the side after where it is there.
    pub cause: FoundCause,
    /// The part of the time that it held before.
    pub before_share: f64,
    /// The part that it holds after.
    pub after_share: f64,
}

impl CauseChange {
    /// Whether it is on the side before, and on that after.
    pub fn is_in(&self) -> (bool, bool) {
        (self.status != FindingStatus::New, self.status != FindingStatus::Resolved)
    }
}

/// The causes of both sides, matched by rule and line, else by rule alone; what changed most first.
pub fn cause_changes(before: &[FoundCause], after: &[FoundCause]) -> Vec<CauseChange> {
    let mut left: Vec<&FoundCause> = before.iter().collect();
    let mut open: Vec<&FoundCause> = after.iter().collect();
    let mut found = Vec::new();
    for same in [same_line as fn(&FoundCause, &FoundCause) -> bool, |a, b| a.rule == b.rule] {
        open.retain(|cause| {
            let Some(at) = left.iter().position(|known| same(known, cause)) else { return true };
            let known = left.remove(at);
            let (before_share, after_share) = (known.share, cause.share);
            let cause = (*cause).clone();
            found.push(CauseChange { status: FindingStatus::Unchanged, cause, before_share, after_share });
            false
        });
    }
    let vanished = |cause: &&FoundCause| CauseChange {
        status: FindingStatus::Resolved,
        cause: (*cause).clone(),
        before_share: cause.share,
        after_share: 0.0,
    };
    let new = |cause: &&FoundCause| CauseChange {
        status: FindingStatus::New,
        cause: (*cause).clone(),
        before_share: 0.0,
        after_share: cause.share,
    };
    found.extend(left.iter().map(vanished));
    found.extend(open.iter().map(new));
    let moved = |change: &CauseChange| (change.after_share - change.before_share).abs();
    found.sort_by(|a, b| {
        (a.status == FindingStatus::Unchanged)
            .cmp(&(b.status == FindingStatus::Unchanged))
            .then(moved(b).total_cmp(&moved(a)))
    });
    found
}

fn same_line(one: &FoundCause, other: &FoundCause) -> bool {
    let place = |cause: &FoundCause| cause.place.as_ref().map(|place| (place.file_name().to_owned(), place.identity()));
    one.rule == other.rule && place(one) == place(other) && (one.place.is_some() || one.message == other.message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_matched_by_line_before_rule() {
        let cause = |rule: &str, line: u32, share: f64| FoundCause {
            rule: rule.to_owned(),
            message: String::new(),
            place: Some(Place {
                file: "a/x.py".to_owned(),
                line,
                function: String::new(),
                text: None,
                is_inferred: false,
            }),
            share,
            saving: None,
        };
        let before = [cause("copies", 3, 0.5), cause("copies", 9, 0.1), cause("gone", 1, 0.2)];
        let after = [cause("copies", 9, 0.1), cause("copies", 4, 0.5), cause("fresh", 1, 0.1)];
        let found: Vec<_> = cause_changes(&before, &after)
            .into_iter()
            .map(|change| (change.status.name(), change.cause.rule, change.before_share, change.after_share))
            .collect();
        let expected = [
            ("vanished", "gone", 0.2, 0.0),
            ("new", "fresh", 0.0, 0.1),
            ("stayed", "copies", 0.1, 0.1),
            ("stayed", "copies", 0.5, 0.5),
        ];
        assert_eq!(found, expected.map(|(status, rule, before, after)| (status, rule.to_owned(), before, after)));
    }
}
