//! Sentences and cells that terminal and Markdown share.

use ridgeline::comparison::{By, CauseChange, Change, Comparison, MeasureChange, SideFacts, Unit, What};
use ridgeline::units::{Bytes, Nanos, Share, counted, three_digits};

/// `slower: step 12.4 ms → 15.1 ms, +21.8% (+18.2% to +25.3%)`
pub fn headline(found: &Comparison) -> String {
    let unit = found.unit.map_or("time", Unit::name);
    let (before, after) = (Nanos(found.before.unit_ns), Nanos(found.after.unit_ns));
    let mut text = format!("{}: {unit} {before} → {after}", found.verdict.state.words());
    if let Some((part, ends)) = found.parts() {
        text.push_str(&format!(", {}", signed(part)));
        if let Some((low, high)) = ends {
            let confidence = Share(found.options.confidence).rounded();
            text.push_str(&format!(" ({} to {}, {confidence} confidence)", signed(low), signed(high)));
        }
    }
    text
}

/// `+3.1%`
pub(super) fn signed(part: f64) -> String {
    Share(part).signed()
}

/// `+1.2 ms`
pub(super) fn signed_time(ns: f64) -> String {
    let ns = ns.round() as i64;
    let sign = if ns > 0 { "+" } else { "" };
    format!("{sign}{}", Nanos(ns))
}

/// `run/: 20 steps on one device, 78% busy`
pub(super) fn side(side: &SideFacts, unit: Option<Unit>) -> String {
    let name = match &side.names[..] {
        [only] => only.clone(),
        [first, rest @ ..] => format!("{first} and {} more", rest.len()),
        [] => String::new(),
    };
    let count = side.units / side.devices.max(1);
    let mut parts = Vec::new();
    match unit {
        Some(Unit::Step) => parts.push(counted(count, "step", "steps")),
        Some(Unit::Suite) => parts.push(counted(side.units, "run", "runs")),
        Some(Unit::Capture) | None => {}
    }
    if side.devices > 1 {
        parts.push(format!("{} devices", side.devices));
    }
    parts.extend(
        side.busy_share.filter(|_| unit != Some(Unit::Suite)).map(|share| format!("devices busy {}", Share(share))),
    );
    if parts.is_empty() { name } else { format!("{name}: {}", parts.join(", ")) }
}

/// What stands beside a row: where it is, why it changed, that it is new.
pub(super) fn remarks(row: &Change, by: By) -> Vec<String> {
    let mut said = Vec::new();
    match row.is_in {
        (false, true) => said.push("new".to_owned()),
        (true, false) => said.push("gone".to_owned()),
        _ => {}
    }
    said.extend(row.subject_before.iter().filter(|_| row.what == What::Operation).map(|name| format!("was `{name}`")));
    said.extend(row.why.iter().cloned());
    if let Some(place) = &row.place {
        let inferred = if place.is_inferred { ", inferred" } else { "" };
        let code = place.text.as_ref().map(|text| format!(" `{text}`")).unwrap_or_default();
        said.push(if by == By::Line { code.trim().to_owned() } else { format!("{place}{inferred}{code}") });
    }
    said.retain(|words| !words.is_empty());
    said
}

/// Rows that matter, then one that sums the others.
pub(super) struct Cut<'c> {
    /// Those with a line of their own.
    pub(super) shown: Vec<&'c Change>,
    /// How many others there are, and their sums before and after.
    pub(super) others: Option<(usize, i64, i64)>,
}

/// Differences below this part of the larger side have no line of their own.
const WORTH_A_LINE: f64 = 0.001;

/// The first `most` rows that changed by something worth a line; what nothing explains always has one.
pub(super) fn cut(rows: &[Change], unit_ns: i64, most: usize) -> Cut<'_> {
    let matters = |row: &Change| row.difference_ns().unsigned_abs() as f64 >= WORTH_A_LINE * unit_ns as f64;
    let mut shown: Vec<&Change> = Vec::new();
    let mut others = (0, 0_i64, 0_i64);
    for row in rows {
        if row.what == What::Rest || shown.len() < most && (matters(row) || most == usize::MAX) {
            shown.push(row);
        } else {
            others = (others.0 + 1, others.1.saturating_add(row.before_ns), others.2.saturating_add(row.after_ns));
        }
    }
    Cut { shown, others: (others.0 > 0).then_some(others) }
}

/// `peak memory in use: 1 GiB → 1.5 GiB`; `None` where nothing changed.
pub(super) fn measure(change: &MeasureChange, unit: Option<Unit>) -> Option<String> {
    let shown = |value: Option<f64>| {
        let Some(value) = value else { return "unknown".to_owned() };
        match change.unit.as_str() {
            "ns" => Nanos(value.round() as i64).to_string(),
            "bytes" => Bytes(value.round() as u64).to_string(),
            _ => three_digits(value),
        }
    };
    let (before, after) = (shown(change.before), shown(change.after));
    let is_of_units = unit == Some(Unit::Step) && !matches!(change.about.as_str(), "memory" | "compile" | "clock");
    let per = if is_of_units { ", per step" } else { "" };
    (before != after).then(|| format!("{}{per}: {before} → {after}", change.title))
}

/// `resolved: copies of arguments (solver.py:3), 12.0% of the time before`
pub(super) fn cause(change: &CauseChange) -> String {
    let place = change.cause.place.as_ref().map(|place| format!(" ({place})")).unwrap_or_default();
    let (before, after) = (Share(change.before_share), Share(change.after_share));
    let times = match change.is_in() {
        (true, true) => format!("{before} → {after} of the time"),
        (true, false) => format!("{before} of the time before"),
        _ => format!("{after} of the time"),
    };
    format!("{}: {}: {}{place}, {times}", change.status.words(), change.cause.rule, change.cause.message)
}
