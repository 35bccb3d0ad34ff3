//! The JSON lines that the worker writes, one event each.

use ridge_documents::{Environment, Figure, MissingFigure};
use serde::Deserialize;
use serde_json::{Map, Value};

/// What the worker says.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum WorkerEvent {
    Plan { figures: usize },
    Environment(Environment),
    Device(Map<String, Value>),
    Start { what: String, number_type: Option<String> },
    Measured(Figure),
    Missing(MissingFigure),
    Interrupted,
    Broken { reason: String },
}

/// The event of one line; `None` for a line that is none, which a newer or broken worker may write.
pub(super) fn parse(line: &str) -> Option<WorkerEvent> {
    let Value::Object(mut value) = serde_json::from_str(line).ok()? else { return None };
    let kind = value.shift_remove("event")?;
    Some(match kind.as_str()? {
        "plan" => WorkerEvent::Plan { figures: usize::try_from(value.get("probes")?.as_u64()?).ok()? },
        "environment" => WorkerEvent::Environment(ridge_documents::part(value.get("environment")?)?.document),
        "device" => match value.shift_remove("device")? {
            Value::Object(device) => WorkerEvent::Device(device),
            _ => return None,
        },
        "start" => WorkerEvent::Start { what: text(&mut value, "what")?, number_type: text(&mut value, "type") },
        "measured" => WorkerEvent::Measured(figure(value)?),
        "missing" => WorkerEvent::Missing(MissingFigure {
            what: text(&mut value, "what")?,
            number_type: text(&mut value, "type"),
            why: text(&mut value, "why")?,
        }),
        "interrupted" => WorkerEvent::Interrupted,
        "broken" => WorkerEvent::Broken { reason: text(&mut value, "reason")? },
        _ => return None,
    })
}

/// A figure; what it has beside the known fields are its details. One that is no positive number is none.
fn figure(mut value: Map<String, Value>) -> Option<Figure> {
    value.insert("by".into(), "jax".into());
    let figure = Figure::deserialize(Value::Object(value)).ok()?;
    let is_one = figure.value.is_finite() && figure.value > 0.0;
    is_one.then(|| Figure { measured_unix_s: super::clock::now_unix_s(), ..figure })
}

fn text(value: &mut Map<String, Value>, key: &str) -> Option<String> {
    value.shift_remove(key)?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_keeps_what_it_says_beside_the_known_fields() {
        let line = r#"{"event":"measured","what":"matrix","type":"f32","unit":"flop/s","value":2e9,"median":1e9,"rounds":3,"edge":64}"#;
        let Some(WorkerEvent::Measured(figure)) = parse(line) else { panic!("a figure") };
        assert_eq!((figure.what.as_str(), figure.value, figure.median, figure.rounds), ("matrix", 2e9, Some(1e9), 3));
        assert_eq!(Value::Object(figure.details), serde_json::json!({"edge": 64}));
    }

    #[test]
    fn a_line_that_is_no_event_is_none() {
        for line in [
            "",
            "[]",
            "{}",
            r#"{"event":"later"}"#,
            r#"{"event":"plan"}"#,
            r#"{"event":"plan","probes":-1}"#,
            r#"{"event":"start","what":1}"#,
            r#"{"event":"device","device":3}"#,
            r#"{"event":"measured","what":"matrix","unit":"flop/s","value":-1}"#,
            r#"{"event":"measured","what":"matrix","unit":"flop/s","value":0}"#,
        ] {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
