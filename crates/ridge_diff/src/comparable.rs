//! Whether two sides may be compared, before any number is.

use crate::summary::{Summary, Unit};
use ridge_units::Share;
use std::collections::{BTreeMap, BTreeSet};

/// What a doubt does to the verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// It explains a part of the difference, perhaps all of it; the reader decides.
    Warns,
    /// No verdict is given.
    Refuses,
}

impl Weight {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Weight::Warns => "warns",
            Weight::Refuses => "refuses",
        }
    }
}

/// What speaks against a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doubt {
    /// What it does to the verdict.
    pub weight: Weight,
    /// What it is, a sentence without a period.
    pub message: String,
    /// What would make the sides comparable.
    pub command: Option<String>,
}

/// Without steps, captures that have less of their time in common than this are of different programs.
const LEAST_IN_COMMON: f64 = 0.2;
/// Without steps, numbers of events that differ by more than this factor are of different amounts of work.
const MOST_EVENTS: f64 = 2.0;
/// Time of compiling that differs by more than this part of the time that is compared is said.
const MOST_COMPILING: f64 = 0.2;
/// Options and versions that are named.
const NAMED: usize = 4;

/// The command that makes captures that can be compared.
pub(crate) const RECORD_STEPS: &str = "ridgeline record --steps 10..40 -- python PROGRAM.py";

/// What speaks against comparing the sides; `in_common` is the part of the time of work that both have, 0 to 1.
pub(crate) fn doubts(before: &[Summary], after: &[Summary], in_common: f64) -> Vec<Doubt> {
    let mut found: Vec<Doubt> = Vec::new();
    for (side, runs) in [("before", before), ("after", after)] {
        found.extend(runs.iter().filter_map(|run| empty(side, run)));
        found.extend(runs.iter().filter(|run| !run.lost.is_empty()).map(|run| lost(side, run)));
    }
    found.extend(units(before, after));
    found.extend(work(before, after, in_common));
    found.extend(compiling(before, after));
    found.extend(origins(before, after));
    found.sort_by_key(|doubt| std::cmp::Reverse(doubt.weight));
    found
}

fn warns(message: String) -> Doubt {
    Doubt { weight: Weight::Warns, message, command: None }
}

fn refuses(message: String, command: Option<&str>) -> Doubt {
    Doubt { weight: Weight::Refuses, message, command: command.map(str::to_owned) }
}

fn empty(side: &str, run: &Summary) -> Option<Doubt> {
    let name = &run.name;
    let says = match run.unit {
        None => format!("{side} ({name}): no device work and no marked step, so there is no time to compare"),
        Some(_) if run.whole_ns <= 0 => format!("{side} ({name}): the time to compare is empty"),
        Some(_) => return None,
    };
    Some(refuses(says, Some(RECORD_STEPS)))
}

fn lost(side: &str, run: &Summary) -> Doubt {
    let more = run.lost.len().saturating_sub(1);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    refuses(format!("{side} ({}): records are lost: {}{more}", run.name, run.lost[0]), None)
}

fn units(before: &[Summary], after: &[Summary]) -> Option<Doubt> {
    let of = |runs: &[Summary]| runs.iter().filter_map(|run| run.unit).map(Unit::name).collect::<BTreeSet<_>>();
    let (before, after) = (of(before), of(after));
    let both: BTreeSet<_> = before.union(&after).copied().collect();
    if both.len() < 2 {
        return None;
    }
    let said = |units: &BTreeSet<&str>| units.iter().copied().collect::<Vec<_>>().join(" and ");
    let says = format!("times are per {} before and per {} after", said(&before), said(&after));
    Some(refuses(says, Some(RECORD_STEPS)))
}

/// Whether both did the same.
fn work(before: &[Summary], after: &[Summary], in_common: f64) -> Vec<Doubt> {
    let mut found = Vec::new();
    let is_stepped = before.iter().chain(after).all(|run| run.unit == Some(Unit::Step));
    let is_whole = before.iter().chain(after).all(|run| run.origin.is_whole_program);
    if in_common < LEAST_IN_COMMON {
        let says = format!(
            "only {} of device work can be matched to the other side: different programs, or operations without names",
            Share(in_common).rounded()
        );
        // Steps that the program marked are the same amount of work whatever they are made of, and so is all of a program.
        found.push(if is_stepped || is_whole { warns(says) } else { refuses(says, None) });
    }
    let names = |runs: &[Summary]| runs.iter().filter_map(|run| run.origin.step_name.clone()).collect::<BTreeSet<_>>();
    let (names_before, names_after) = (names(before), names(after));
    if is_stepped && names_before != names_after {
        let said = |names: &BTreeSet<String>| names.iter().cloned().collect::<Vec<_>>().join("`, `");
        found.push(warns(format!(
            "steps are called `{}` before and `{}` after: they may not be the same work",
            said(&names_before),
            said(&names_after)
        )));
    }
    let is_capture = before.iter().chain(after).all(|run| run.unit == Some(Unit::Capture));
    if is_capture {
        let events = |runs: &[Summary]| -> f64 {
            let all = runs.iter().flat_map(|run| &run.items).map(|item| item.events);
            all.fold(0, u64::saturating_add) as f64 / runs.len().max(1) as f64
        };
        let (before, after) = (events(before), events(after));
        let is_other = before.max(after) > MOST_EVENTS * before.min(after);
        if is_whole {
            let more = if is_other { format!(", {before:.0} events against {after:.0}") } else { String::new() };
            found.push(warns(format!(
                "no steps are marked: whole programs are compared{more}, which is fair where both do the same work"
            )));
        } else if is_other {
            let says = format!("no steps are marked, and {after:.0} events against {before:.0} are not the same work");
            found.push(refuses(says, Some(RECORD_STEPS)));
        } else {
            found.push(warns(
                "no steps are marked: whole captures are compared, as long as they happen to be".to_owned(),
            ));
        }
    }
    found
}

/// Whole programs are timed without what they compile, which may be what changed.
fn compiling(before: &[Summary], after: &[Summary]) -> Option<Doubt> {
    let whole = |runs: &[Summary]| -> f64 {
        let time = |run: &Summary| run.whole_ns as f64 / run.units.max(1) as f64;
        runs.iter().map(time).sum::<f64>() / runs.len().max(1) as f64
    };
    let compile = |runs: &[Summary]| -> f64 {
        let all = runs.iter().flat_map(|run| &run.measures).filter(|measure| measure.key == "compile_ns");
        all.map(|measure| measure.value).sum::<f64>() / runs.len().max(1) as f64
    };
    let is_capture = before.iter().chain(after).all(|run| run.unit == Some(Unit::Capture));
    let (first, other) = (compile(before), compile(after));
    if !is_capture || (other - first).abs() < MOST_COMPILING * whole(before) {
        return None;
    }
    let seconds = |ns: f64| format!("{:.2} s", ns / 1e9);
    Some(warns(format!(
        "compilation takes {} before and {} after, and is not part of the compared time",
        seconds(first),
        seconds(other)
    )))
}

/// Devices, formats, versions and options that differ.
fn origins(before: &[Summary], after: &[Summary]) -> Vec<Doubt> {
    let mut found = Vec::new();
    let of = |runs: &[Summary], of: &dyn Fn(&Summary) -> Vec<String>| runs.iter().flat_map(of).collect::<BTreeSet<_>>();
    let mut differ = |what: &str, each: &dyn Fn(&Summary) -> Vec<String>| {
        let (before, after) = (of(before, each), of(after, each));
        if before != after && !before.is_empty() && !after.is_empty() {
            let said = |all: &BTreeSet<String>| all.iter().cloned().collect::<Vec<_>>().join(", ");
            found.push(warns(format!("other {what}: {} before, {} after", said(&before), said(&after))));
        }
    };
    differ("devices", &|run| run.origin.devices.iter().map(|device| device.model.clone()).collect());
    differ("processors", &|run| run.origin.processor.iter().cloned().collect());
    differ("numbers of devices", &|run| vec![run.devices.to_string()]);
    differ("formats, with profilers of different overhead", &|run| run.origin.formats.clone());
    let clock = |khz: u64| format!("{} MHz", khz / 1000);
    differ("clocks", &|run| run.origin.devices.iter().filter_map(|device| device.clock_khz).map(clock).collect());
    found.extend(changed("versions", before, after, |run| &run.origin.versions));
    found.extend(changed("options of the recorder", before, after, |run| &run.origin.options));
    found
}

/// Keys that both sides have with other values.
fn changed(
    what: &str,
    before: &[Summary],
    after: &[Summary],
    of: impl Fn(&Summary) -> &BTreeMap<String, String>,
) -> Option<Doubt> {
    let (first, other) = (of(before.first()?), of(after.first()?));
    let pairs = first.iter().filter_map(|(key, value)| Some((key, value, other.get(key)?)));
    let all: Vec<String> = pairs
        .filter(|(_, before, after)| before != after)
        .map(|(key, before, after)| format!("{key} {before} → {after}"))
        .collect();
    if all.is_empty() {
        return None;
    }
    let more = all.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(warns(format!("other {what}: {}{more}", all[..all.len().min(NAMED)].join(", "))))
}
