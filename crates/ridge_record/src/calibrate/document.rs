//! A calibration as the document `ridgeline.ceilings.v1`.

use serde_json::{Map, Value, json};

use super::outcome::{Calibrated, Calibration, Figure, MissingFigure};

/// Name and version of the document.
const SCHEMA: &str = "ridgeline.ceilings.v1";

impl Calibration {
    /// The document of all devices, as text.
    pub fn to_json(&self) -> String {
        let devices = self.devices.iter().map(|device| device_json(device, &self.versions)).collect();
        text(devices)
    }

    /// The document of one device with the figures of `kept`, an earlier document of it, that were not measured again.
    pub(super) fn one_device(&self, device: &Calibrated, kept: &Value) -> String {
        let mut fresh = device_json(device, &self.versions);
        let earlier = kept["devices"].as_array().into_iter().flatten().find(|known| known["name"] == fresh["name"]);
        let figures = earlier.and_then(|known| known["figures"].as_array()).cloned().unwrap_or_default();
        if let Some(measured) = fresh["figures"].as_array_mut() {
            let again = |old: &Value| measured.iter().any(|new| is_same(new, old));
            let left: Vec<Value> = figures.into_iter().filter(|old| !again(old)).collect();
            measured.extend(left);
        }
        text(vec![fresh])
    }
}

/// Whether two figures are of the same thing, measured the same way.
fn is_same(a: &Value, b: &Value) -> bool {
    ["what", "type", "by"].iter().all(|key| a[*key] == b[*key])
}

fn text(devices: Vec<Value>) -> String {
    let document = json!({ "schema": SCHEMA, "devices": devices });
    serde_json::to_string_pretty(&document).expect("a value without maps of other keys than text") + "\n"
}

fn device_json(device: &Calibrated, versions: &Value) -> Value {
    let mut described = Map::new();
    described.insert("name".into(), json!(device.name));
    described.insert("platform".into(), json!(device.platform));
    described.extend(device.description.clone());
    described.insert("versions".into(), versions.clone());
    described.insert("figures".into(), device.figures.iter().map(figure).collect());
    described.insert("missing".into(), device.missing.iter().map(missing).collect());
    Value::Object(described)
}

fn figure(figure: &Figure) -> Value {
    let mut value = Map::new();
    value.insert("what".into(), json!(figure.what));
    value.insert("type".into(), json!(figure.number_type));
    value.insert("by".into(), json!(figure.by));
    value.insert("unit".into(), json!(figure.unit));
    value.insert("value".into(), json!(figure.value));
    value.insert("median".into(), json!(figure.median));
    value.insert("rounds".into(), json!(figure.rounds));
    value.insert("measured_unix_s".into(), json!(figure.measured_unix_s));
    value.extend(figure.details.clone());
    Value::Object(value)
}

fn missing(missing: &MissingFigure) -> Value {
    json!({ "what": missing.what, "type": missing.number_type, "why": missing.why })
}
