//! What the bundle's own prediction says of boards: from `perf/offload.json`, as `ridgeline offload` wrote it.

use super::place;
use crate::verify::Opened;
use serde_json::Value;

/// A board's predicted time for one call, transfers included, nanoseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Board {
    /// Its name.
    pub name: String,
    /// The interval of 80%, and what is in the middle.
    pub p10_ns: f64,
    /// The middle.
    pub p50_ns: f64,
    /// The upper end.
    pub p90_ns: f64,
    /// Of the middle, what the copies to the board and back take.
    pub transfers_ns: f64,
}

/// What was predicted when the bundle was made.
#[derive(Debug, Clone, PartialEq)]
pub struct Predicted {
    /// One call on the device that boards were held against, nanoseconds, in the middle.
    pub call_ns: Option<f64>,
    /// That device.
    pub device: String,
    /// Where that time is from, `measured` or `sheet`.
    pub times: String,
    /// The boards, the fastest first.
    pub boards: Vec<Board>,
}

/// The prediction for the bundle's region; `None` where it is no region of `offload`.
pub fn predicted(bundle: &Opened) -> Option<Predicted> {
    let document = bundle.json("perf/offload.json")?;
    let name = place(bundle).region;
    let region = document["regions"].as_array()?.iter().find(|one| one["name"] == name.as_str())?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut boards: Vec<Board> = region["boards"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|board| {
            let parts = &board["parts"];
            let part = |key: &str| parts[key].as_f64().unwrap_or(0.0);
            Some(Board {
                name: text(&board["name"]),
                p10_ns: board["p10_ns"].as_f64()?,
                p50_ns: board["p50_ns"].as_f64()?,
                p90_ns: board["p90_ns"].as_f64()?,
                transfers_ns: part("input_ns") + part("output_ns"),
            })
        })
        .collect();
    boards.sort_by(|a, b| a.p50_ns.total_cmp(&b.p50_ns));
    Some(Predicted {
        call_ns: region["call"]["p50_ns"].as_f64(),
        device: text(&document["baseline"]["device"]),
        times: text(&document["baseline"]["times"]),
        boards,
    })
}
