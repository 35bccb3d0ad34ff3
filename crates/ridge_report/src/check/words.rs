//! The sentences that all forms share.

use crate::cell::Cell;
use crate::number::{show, show_share};
use ridgeline::units::Nanos;
use ridgeline::{Check, Doubt, Evidence, Finding, Level, Per, Record, Saving, SavingBasis, Standing, State, standing};

/// The first line: the step, how busy the device was, what the causes hold, whether the capture can be judged.
pub fn headline(check: &Check) -> String {
    let found = &check.diagnosis;
    let unit_ns = found.frame.unit_ns();
    let mut parts = Vec::new();
    if found.busy_share.is_some() {
        parts.push(match found.frame.per {
            Per::Step => format!("step {}", Nanos(unit_ns)),
            Per::Capture => format!("capture {} without start-up", Nanos(unit_ns)),
        });
    }
    parts.extend(found.busy_share.map(|busy| format!("device busy {}", show_share(busy).joined())));
    let causes = found.causes().filter(|finding| !finding.is_information).count();
    let held = Nanos((found.held_share * unit_ns as f64) as i64);
    parts.push(match causes {
        0 if found.state == State::CannotJudge => "no verdict".to_owned(),
        0 => "nothing found that holds 3 % of it".to_owned(),
        1 => format!("one cause holds {held} of it"),
        causes => format!("{causes} causes hold {held} of it"),
    });
    parts.push(format!("capture: {}", state_words(found.state)));
    parts.join(" · ")
}

fn state_words(state: State) -> &'static str {
    match state {
        State::Fit => "fit to judge",
        State::Partly => "fit to judge in part",
        State::CannotJudge => "cannot be judged",
    }
}

/// What a finding holds: `2.13 of 3.04 ms per step`.
pub(super) fn holds(check: &Check, finding: &Finding) -> Option<String> {
    if finding.is_information || finding.share <= 0.0 {
        return None;
    }
    let frame = &check.diagnosis.frame;
    if finding.beside_ns > 0 {
        let held = Nanos(finding.beside_ns);
        return Some(format!("{held} beside {} ({})", Nanos(frame.unit_ns()), show_share(finding.share).joined()));
    }
    let held = Nanos((finding.share * frame.unit_ns() as f64) as i64);
    let per = match frame.per {
        Per::Step => " per step",
        Per::Capture => "",
    };
    Some(format!("{held} of {}{per} ({})", Nanos(frame.unit_ns()), show_share(finding.share).joined()))
}

/// One thing that speaks for a finding.
pub(super) fn evidence(evidence: &Evidence) -> String {
    match evidence.number {
        Some(number) => {
            let shown = show(Cell::Real(number.value), number.unit);
            format!("{} {}", shown.joined(), evidence.says)
        }
        None => evidence.says.clone(),
    }
}

/// What mending would save, with where the number comes from.
pub(super) fn saving(saving: &Saving, rule: &str) -> String {
    let per = match saving.per {
        Per::Step => " per step",
        Per::Capture => "",
    };
    let (low, high) = (coarse(saving.low_ns), coarse(saving.high_ns));
    let amount = if low == high { format!("about {high}{per}") } else { format!("{low} to {high}{per}") };
    let record = of_record(rule, saving.basis);
    match (saving.basis, &saving.refused) {
        (SavingBasis::Replay, _) => format!("{amount} (replay; {record})"),
        (SavingBasis::Wall, _) => format!("{amount} (its part of the time; {record})"),
        (SavingBasis::Bound, Some(why)) => format!("at most {high}{per}; no prediction: {why}"),
        (SavingBasis::Bound, None) => format!("at most {high}{per}; what would take its place is not known"),
    }
}

/// What was measured of such predictions.
fn of_record(rule: &str, basis: SavingBasis) -> String {
    let ratios = |record: &Record| {
        format!("{} pairs, predicted/measured {:.2} to {:.2}", record.pairs, record.lowest_ratio, record.highest_ratio)
    };
    match standing(rule, basis) {
        Standing::OfRule(record) => format!("this rule's record: {}", ratios(record)),
        Standing::OfAll(record) => format!("record of all rules: {}", ratios(record)),
        Standing::None => "this rule has no record yet".to_owned(),
    }
}

/// What cannot be told because of a doubt.
pub(super) fn consequence(doubt: &Doubt) -> String {
    if doubt.blocks.is_empty() {
        return "good to know; no answer depends on it".to_owned();
    }
    let blocks: Vec<&str> = doubt.blocks.iter().map(|question| question.words()).collect();
    format!("cannot tell {}", blocks.join(", "))
}

/// A time with two digits that matter.
fn coarse(ns: i64) -> Nanos {
    let unit = 10_i64.pow(ns.unsigned_abs().max(1).ilog10().saturating_sub(1));
    Nanos(ns.saturating_add(unit / 2).div_euclid(unit).saturating_mul(unit))
}

/// The levels that other tools know.
pub(super) fn level_of(finding: &Finding) -> &'static str {
    match finding.level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Info => "note",
    }
}
