//! What devices reach, as a calibration measured it: one document for each machine, or one for each device that is kept.

use crate::read::Document;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What devices reach.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CeilingsDocument {
    /// [`Document::SCHEMA`].
    pub schema: String,
    /// Each device; a host's processor is one.
    #[serde(default)]
    pub devices: Vec<MeasuredDevice>,
}

impl CeilingsDocument {
    /// The document of `devices`.
    pub fn of(devices: Vec<MeasuredDevice>) -> CeilingsDocument {
        CeilingsDocument { schema: CeilingsDocument::SCHEMA.to_owned(), devices }
    }
}

impl Document for CeilingsDocument {
    const SCHEMA: &'static str = "ridgeline.ceilings.v1";
    const MAX_BYTES: u64 = 16 << 20;
}

/// One device and its figures.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MeasuredDevice {
    /// Its name as the system or the driver reports it.
    pub name: String,
    /// `cpu`, `gpu`, `tpu`.
    pub platform: String,
    /// Of a processor: its architecture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub architecture: Option<String>,
    /// Of a processor: the cores that were used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usable_cores: Option<u64>,
    /// What else is known of it.
    #[serde(flatten)]
    pub more: Map<String, Value>,
    /// Versions of Python and its packages; `None` where Python measured nothing.
    pub versions: Option<Map<String, Value>>,
    /// What was measured.
    #[serde(default)]
    pub figures: Vec<Figure>,
    /// What was not.
    #[serde(default)]
    pub missing: Vec<MissingFigure>,
}

impl MeasuredDevice {
    /// Of a processor: bytes of its last-level caches together.
    pub fn last_level_cache_bytes(&self) -> Option<u64> {
        self.more.get("last_level_cache_bytes")?.as_u64()
    }
}

/// One measured figure.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// What was measured (`stream_triad`, `multiply_add`).
    pub what: String,
    /// Type of the numbers (`f32`), where it matters.
    #[serde(rename = "type")]
    pub number_type: Option<String>,
    /// `native` for the host's own loops, `jax` for loops compiled by JAX.
    #[serde(default)]
    pub by: String,
    /// `bytes/s`, `flop/s`, `op/s` or `ns`.
    pub unit: String,
    /// The best round, in `unit`.
    pub value: f64,
    /// The median round, in `unit`, where each round did the same.
    pub median: Option<f64>,
    /// Rounds measured.
    #[serde(default)]
    pub rounds: u64,
    /// When it was measured, seconds since 1970.
    #[serde(default)]
    pub measured_unix_s: u64,
    /// Part of the host's processor time that others used meanwhile; `None` where the system does not tell.
    #[serde(default)]
    pub busy_share: Option<f64>,
    /// What else the measurement says: work of a round, copies by size.
    #[serde(flatten)]
    pub details: Map<String, Value>,
}

impl Figure {
    /// Others must use more than this part of the processors for a figure to count as disturbed.
    const BUSY: f64 = 0.1;

    /// Whether it was measured on a busy machine, and may be too low.
    pub fn was_disturbed(&self) -> bool {
        self.busy_share.is_some_and(|share| share > Figure::BUSY)
    }

    /// Whether `other` is of the same thing, measured the same way.
    pub fn is_again(&self, other: &Figure) -> bool {
        (&self.what, &self.number_type, &self.by) == (&other.what, &other.number_type, &other.by)
    }
}

/// A figure that could not be measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MissingFigure {
    /// What was to be measured.
    pub what: String,
    /// Type of the numbers, where it matters.
    #[serde(rename = "type")]
    pub number_type: Option<String>,
    /// Why it could not.
    pub why: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{read, to_text};

    #[test]
    fn what_was_read_is_written_alike() {
        let text = r#"{"schema": "ridgeline.ceilings.v1", "devices": [
            {"name": "X", "platform": "cpu", "architecture": "x86_64", "usable_cores": 2, "memory_bytes": 7,
             "last_level_cache_bytes": null, "versions": null,
             "figures": [{"what": "core_copy", "type": null, "by": "native", "unit": "bytes/s", "value": 2.5, "median": null,
                          "rounds": 3, "measured_unix_s": 9, "busy_share": 0.25, "amount": 4.0}],
             "missing": [{"what": "matrix", "type": "tf32", "why": "not here"}]}]}"#;
        let parsed = read::<CeilingsDocument>(text.as_bytes()).expect("a document");
        let expected: Value = serde_json::from_str(text).expect("JSON");
        assert_eq!(to_text(&parsed.document), to_text(&expected));
        assert_eq!((parsed.damaged.len(), parsed.document.devices[0].figures[0].was_disturbed()), (0, true));
    }

    #[test]
    fn a_figure_of_an_earlier_version_is_one() {
        let text = r#"{"schema":"ridgeline.ceilings.v1","devices":[{"name":"X","platform":"gpu","figures":[
            {"what":"matrix","type":"f32","by":"jax","unit":"flop/s","value":2e12}, {"what":"matrix","type":"f64","value":null}]}]}"#;
        let parsed = read::<CeilingsDocument>(text.as_bytes()).expect("a document");
        let [figure] = &parsed.document.devices[0].figures[..] else { panic!("one figure") };
        assert_eq!((figure.value, figure.busy_share, figure.was_disturbed()), (2e12, None, false));
    }
}
