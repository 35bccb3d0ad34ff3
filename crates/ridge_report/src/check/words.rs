//! The sentences that all forms share.

use crate::cell::Cell;
use crate::number::{show, show_share};
use ridgeline::units::{Nanos, counted};
use ridgeline::{Check, Doubt, Evidence, Finding, Level, MonitorLog, Per, Saving, SavingBasis, State, blind_record_of};

/// The first line: the step, how busy the device was, the time of the findings, the quality of the capture.
pub fn headline(check: &Check) -> String {
    let found = &check.diagnosis;
    if let Some(log) = &found.log {
        return of_log(log);
    }
    let unit_ns = found.frame.unit_ns();
    let mut parts = Vec::new();
    if found.busy_share.is_some() {
        parts.push(match found.frame.per {
            Per::Step => format!("step {}", Nanos(unit_ns)),
            Per::Capture => format!("{} analyzed (startup excluded)", Nanos(unit_ns)),
        });
    }
    parts.extend(found.busy_share.map(|busy| format!("device busy {}", show_share(busy).joined())));
    let causes = found.causes().filter(|finding| !finding.is_information).count();
    let held = Nanos((found.held_share * unit_ns as f64) as i64);
    parts.push(match causes {
        0 if found.state == State::CannotJudge => "no verdict".to_owned(),
        0 => format!("no findings of {:.0}% or more", 100.0 * found.worth_mending),
        // A request for memory that failed takes no time.
        causes if held.0 == 0 => counted(causes as u64, "finding", "findings"),
        1 => format!("1 finding accounts for {held}"),
        causes => format!("{} account for {held}", counted(causes as u64, "finding", "findings")),
    });
    parts.push(format!("capture quality: {}", found.state.quality()));
    parts.join(" · ")
}

/// The first line of a monitor's log: what it says, and that causes are not in it.
fn of_log(log: &MonitorLog) -> String {
    let share = |share: f64| show_share(share).joined();
    let devices = counted(log.devices as u64, "device", "devices");
    let samples = counted(log.samples, "sample", "samples");
    let mut parts = vec![format!("a monitor's log of {devices}, {samples}")];
    parts.push(match log.used {
        None => "use not logged".to_owned(),
        Some((least, most)) if log.devices == 1 || share(least) == share(most) => {
            format!("in use for {} of the time", share(most))
        }
        Some((least, most)) => format!("in use for {} to {} of the time", share(least), share(most)),
    });
    parts.push(match log.memory {
        None => "part of memory taken not logged".to_owned(),
        Some(memory) => format!("at most {} of memory taken", share(memory)),
    });
    parts.push("a log cannot tell causes".to_owned());
    parts.join(" · ")
}

/// What the rest of the program's life was, where much of it was compiling: `14.3 s total: 8.2 s compiling, …`.
pub(super) fn life(check: &Check) -> Option<String> {
    let life = check.diagnosis.life;
    let is_much = life.whole_ns > 0 && life.compiling_ns >= life.whole_ns / 4;
    is_much.then(|| {
        format!(
            "{} total: {} compiling, {} analyzed, {} startup, pauses and shutdown",
            Nanos(life.whole_ns),
            Nanos(life.compiling_ns),
            Nanos(life.judged_ns),
            Nanos(life.rest_ns)
        )
    })
}

/// The time that a finding accounts for: `2.13 ms of 3.04 ms per step (70.1%)`.
pub fn holds(check: &Check, finding: &Finding) -> Option<String> {
    if finding.is_information || finding.share <= 0.0 {
        return None;
    }
    let frame = &check.diagnosis.frame;
    if finding.beside_ns > 0 {
        let held = Nanos(finding.beside_ns);
        return Some(format!(
            "{held} outside of the analyzed {} ({})",
            Nanos(frame.unit_ns()),
            show_share(finding.share).joined()
        ));
    }
    let held = Nanos((finding.share * frame.unit_ns() as f64) as i64);
    let per = match frame.per {
        Per::Step => " per step",
        Per::Capture => "",
    };
    Some(format!("{held} of {}{per} ({})", Nanos(frame.unit_ns()), show_share(finding.share).joined()))
}

/// One thing that speaks for a finding.
pub fn evidence(evidence: &Evidence) -> String {
    match evidence.number {
        Some(number) => {
            let shown = show(Cell::Real(number.value), number.unit);
            format!("{} {}", shown.joined(), evidence.says)
        }
        None => evidence.says.clone(),
    }
}

/// What mending would save, with where the number comes from.
pub fn saving(saving: &Saving, rule: &str) -> String {
    let per = match saving.per {
        Per::Step => " per step",
        Per::Capture => "",
    };
    let (low, high) = (coarse(saving.low_ns), coarse(saving.high_ns));
    let amount = if low == high { format!("about {high}{per}") } else { format!("{low} to {high}{per}") };
    let record = of_record(rule);
    match (saving.basis, &saving.refused) {
        (SavingBasis::Replay, _) => format!("{amount} (replay{record})"),
        (SavingBasis::ShareOfTime, _) => format!("{amount} (its share of the time{record})"),
        (SavingBasis::Price, _) => {
            format!("{amount} (its share of the time, minus the estimated cost of a replacement)")
        }
        (SavingBasis::Bound, Some(why)) => format!("at most {high}{per}; no prediction: {why}"),
        (SavingBasis::Measured, _) => format!("{amount} (measured by an experiment)"),
        (SavingBasis::Bound, None) => format!("at most {high}{per}; the cost of a replacement is unknown"),
    }
}

/// What blind pairs showed of the rule; nothing where there are none, because pairs that a rule was tuned with promise too much.
fn of_record(rule: &str) -> String {
    blind_record_of(rule).map(|record| format!("; {}", record.words())).unwrap_or_default()
}

/// What cannot be told because of a doubt.
pub(super) fn consequence(doubt: &Doubt) -> String {
    if doubt.blocks.is_empty() {
        return "informational".to_owned();
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
