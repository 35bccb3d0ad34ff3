//! One `ProfileResult` message: a launch with its metrics and what the rules said.

use super::fields::{all, first, first_text};
use super::launch::{Launch, Metric, MetricValue, Rule};
use super::units::unit_of;
use ridge_hlo::wire::{Fields, Value, text};
use ridge_trace::RuleKind;

/// Reads the launch number `launch`; metrics without a name in `strings` are counted in `unnamed`.
pub(super) fn launch(message: &[u8], launch: u32, strings: &[&[u8]], unnamed: &mut u64) -> Launch {
    let mut found = Launch { launch, ..Launch::default() };
    let mut function = String::new();
    for field in Fields::new(message).map_while(Result::ok) {
        match field {
            (6, Value::Bytes(name)) => function = text(name).into_owned(),
            (7, Value::Bytes(name)) => found.name = text(name).into_owned(),
            (10, Value::Bytes(sizes)) => found.grid = triple(sizes),
            (11, Value::Bytes(sizes)) => found.block = triple(sizes),
            (13, Value::Bytes(metric)) => match named_metric(metric, strings) {
                Ok(metric) => found.metrics.extend(metric),
                Err(()) => *unnamed += 1,
            },
            (19, Value::Bytes(result)) => found.rules.extend(rules(result)),
            (23, Value::Varint(stream)) => found.stream = Some(stream),
            _ => {}
        }
    }
    if found.name.is_empty() {
        found.name = function;
    }
    found.device = match found.metric("launch__device_id") {
        Some(MetricValue::Number(number)) => Some(*number as u32),
        _ => None,
    };
    found
}

/// The three numbers of a `Uint64x3`.
fn triple(message: &[u8]) -> [u32; 3] {
    let number = |at| first(message, at).and_then(Value::integer).and_then(|size| u32::try_from(size).ok());
    [number(1).unwrap_or(0), number(2).unwrap_or(0), number(3).unwrap_or(0)]
}

/// A metric with its name; `Ok(None)` where it is none or was not collected, an error where its name is unknown.
fn named_metric(message: &[u8], strings: &[&[u8]]) -> Result<Option<Metric>, ()> {
    let id = first(message, 1).and_then(Value::integer).and_then(|id| usize::try_from(id).ok());
    let name = id.and_then(|id| strings.get(id)).ok_or(())?;
    let name = text(name).into_owned();
    // Lists of the metrics that others are made of.
    if name.starts_with("breakdown:") || name.starts_with("group:") {
        return Ok(None);
    }
    let Some(value) = first(message, 2).and_then(Value::bytes).and_then(value) else { return Ok(None) };
    let unit = unit_of(&name).to_owned();
    Ok(Some(Metric { name, value, unit }))
}

/// A `ProfileMetricValue`; `None` where it is empty.
fn value(message: &[u8]) -> Option<MetricValue> {
    let (number, value) = Fields::new(message).map_while(Result::ok).find(|(number, _)| (1..=5).contains(number))?;
    let number = match (number, value) {
        (1, Value::Bytes(words)) => return Some(MetricValue::Text(text(words).into_owned())),
        (2, Value::Fixed32(bits)) => f64::from(f32::from_bits(bits)),
        (3, Value::Fixed64(bits)) => f64::from_bits(bits),
        (4 | 5, Value::Varint(whole)) => whole as f64,
        _ => return None,
    };
    // A quotient of counters that were zero is no measurement.
    number.is_finite().then_some(MetricValue::Number(number))
}

/// What a `RuleResult` says: its messages, each a part of its body.
fn rules(result: &[u8]) -> Vec<Rule> {
    let id = first_text(result, 1);
    let items = all(result, 3).flat_map(|body| all(body, 1));
    let messages = items.flat_map(|item| all(item, 1));
    let rule = |message: &[u8]| {
        let kind = match first(message, 2).and_then(Value::integer) {
            Some(2) => RuleKind::Warning,
            Some(3) => RuleKind::Error,
            _ => RuleKind::Info,
        };
        Rule { id: id.clone(), kind, message: first_text(message, 1), speedup_pct: None }
    };
    messages.map(rule).collect()
}
