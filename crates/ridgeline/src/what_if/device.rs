//! Another device as a change of the capture: names to sheets, scaled work to edits, two replays to one range.

use crate::error::{Details, OpenError};
use crate::session::Session;
use ridge_analysis::{DeviceSheet, ScaledBy, ScaledWork, sheets, sheets_named};
use ridge_replay::{Action, Basis, Edit, PerStep, Prediction};
use ridge_table::{Basis as Source, Columns, Note, Severity, Table};

/// The device that a capture is imagined on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherDevice {
    /// Its name: that of a data sheet, a driver's, or words of one (`h100`).
    pub name: String,
    /// What was captured, where the capture does not say it.
    pub captured_on: Option<String>,
}

/// The work of `session` there, and the other sheets that the name also means.
pub(super) fn on_target(
    session: &Session,
    device: &OtherDevice,
) -> Result<(ScaledWork, Vec<&'static DeviceSheet>), OpenError> {
    let mut meant = named(&device.name)?;
    let to = meant.remove(0);
    let said = device.captured_on.as_deref().map(named).transpose()?.map(|sheets| sheets[0]);
    let found = session.with_analysis(|analysis| ScaledWork::new(analysis, to, said));
    let found = found.map_err(|unknown| {
        let message = format!(
            "expected a captured device with a data sheet, found {}, whose limits are unknown",
            unknown.join(", ")
        );
        OpenError::NotRecorded(Details::new(message).hint("`--as NAME` names the device"))
    })?;
    Ok((found, meant))
}

fn named(name: &str) -> Result<Vec<&'static DeviceSheet>, OpenError> {
    let found = sheets_named(name);
    if found.is_empty() {
        let names: Vec<&str> = sheets().iter().map(|sheet| sheet.name.as_str()).collect();
        let details = Details::new(format!("no data sheet of a device named `{name}`"));
        return Err(OpenError::UnknownName(details.hint(format!("there are {}", names.join(", ")))));
    }
    Ok(found)
}

/// One end of what work may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Low,
    High,
}

/// The work scaled to one end, with the `changes` of the user.
pub(super) fn edits(found: &ScaledWork, changes: &[Edit], end: End) -> Vec<Edit> {
    let scaled = found.parts.iter().filter(|part| !part.by.is_unscaled()).map(|part| {
        let factor = if end == End::Low { part.low } else { part.high };
        Edit { rows: part.rows.clone(), action: Action::Scale(factor) }
    });
    scaled.chain(changes.iter().cloned()).collect()
}

/// The range that holds both predictions.
pub(super) fn between(fast: Prediction, slow: Prediction) -> Prediction {
    let steps = fast.per_step.zip(slow.per_step).map(|(fast, slow)| PerStep {
        captured_ns: fast.captured_ns,
        low_ns: fast.low_ns.min(slow.low_ns),
        high_ns: fast.high_ns.max(slow.high_ns),
    });
    let amounts = fast.basis == Basis::Amount && slow.basis == Basis::Amount;
    Prediction {
        wall_ns: fast.wall_ns,
        low_ns: fast.low_ns.min(slow.low_ns),
        high_ns: fast.high_ns.max(slow.high_ns),
        per_step: steps,
        basis: if amounts { Basis::Amount } else { Basis::Direction },
        refused: fast.refused.or(slow.refused),
    }
}

/// What was scaled by what, and what was not.
pub(super) fn notes(found: &ScaledWork, others: &[&DeviceSheet]) -> Vec<Note> {
    let from: Vec<&str> = found.from.iter().map(|sheet| sheet.name.as_str()).collect();
    let mut notes = vec![Note::new(
        Severity::Info,
        format!(
            "from {} to {}, using their data sheets; the host's own time, its calls and latencies are assumed not to change",
            from.join(" and "),
            found.to.name
        ),
    )];
    if !others.is_empty() {
        let names: Vec<&str> = others.iter().map(|sheet| sheet.name.as_str()).collect();
        notes.push(Note::new(Severity::Info, format!("the name also means {}", names.join(", "))));
    }
    if found.from.iter().any(|sheet| sheet.vendor != found.to.vendor) {
        let words = "kernels of one vendor are used for the other, whose own kernels are different code and may be faster or slower";
        notes.push(Note::new(Severity::Info, words));
    }
    notes
}

/// A row for each basis.
#[derive(Debug)]
struct Row {
    by: ScaledBy,
    events: u64,
    ns: i64,
    low_ns: i64,
    high_ns: i64,
}

/// The work by basis.
pub(super) fn table(found: &ScaledWork) -> Table {
    let mut rows: Vec<Row> = Vec::new();
    for part in &found.parts {
        if rows.last().is_none_or(|row| row.by != part.by) {
            rows.push(Row { by: part.by, events: 0, ns: 0, low_ns: 0, high_ns: 0 });
        }
        let Some(row) = rows.last_mut() else { continue };
        let times = |factor: f32| (part.ns as f64 * f64::from(factor)) as i64;
        row.events += part.rows.len() as u64;
        row.ns = row.ns.saturating_add(part.ns);
        row.low_ns = row.low_ns.saturating_add(times(part.low));
        row.high_ns = row.high_ns.saturating_add(times(part.high));
    }
    Columns::over(&rows)
        .text(
            "basis",
            "By",
            "roof: operations and bytes at the roofs of both devices; waves: blocks, registers and shared memory; ratio: memory and arithmetic; memory: its bandwidth; link: that to the host",
            |row| row.by.name().to_owned(),
        )
        .key()
        .count("events", "Events", "pieces of device work", Source::Measured, |row| row.events)
        .nanos("total_ns", "As captured", "sum of their durations", Source::Measured, |row| row.ns)
        .nanos("low_ns", "At least", "the same on the other device", Source::Modelled, |row| row.low_ns)
        .nanos("high_ns", "At most", "the same on the other device", Source::Modelled, |row| row.high_ns)
        .table("elsewhere", format!("Device work on {}", found.to.name))
}
