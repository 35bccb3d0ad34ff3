//! Leaving out of a document what does not fit its type.
//!
//! The type itself says what fits: where reading fails, the part that it failed in is taken out and reading begins again.

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::{Path, Segment};
use std::fmt;

/// Parts that may be left out before a document counts as broken; each costs one more look at the whole.
const MOST_DAMAGED: usize = 64;

/// A part of a document that was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// Where it was: keys, with `[]` for an entry of a list.
    pub place: String,
    /// What was expected and found.
    pub why: String,
    /// How often.
    pub count: u64,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "damaged and left out: {}: {}", self.place, self.why)
    }
}

/// The document without what is damaged in it.
pub(crate) fn undamaged<D: DeserializeOwned>(mut whole: Value) -> Result<Parsed<D>, serde_json::Error> {
    let mut damaged = Vec::new();
    for _ in 0..MOST_DAMAGED {
        let error = match serde_path_to_error::deserialize(&whole) {
            Ok(document) => return Ok(Parsed { document, damaged }),
            Err(error) => error,
        };
        match take_out(&mut whole, error.path()) {
            None => return Err(error.into_inner()),
            // A value that is not known is no damage.
            Some(Value::Null) => {}
            Some(_) => note(&mut damaged, place(error.path()), error.inner().to_string()),
        }
    }
    D::deserialize(&whole).map(|document| Parsed { document, damaged })
}

fn note(damaged: &mut Vec<Damage>, place: String, why: String) {
    match damaged.iter_mut().find(|known| known.place == place && known.why == why) {
        Some(known) => known.count += 1,
        None => damaged.push(Damage { place, why, count: 1 }),
    }
}

/// Takes what is at `path` out of `whole`; `None` where that is the whole.
fn take_out(whole: &mut Value, path: &Path) -> Option<Value> {
    let segments: Vec<&Segment> = path.iter().collect();
    let (last, parents) = segments.split_last()?;
    let mut at = whole;
    for segment in parents {
        at = match segment {
            Segment::Map { key } => at.get_mut(key)?,
            Segment::Seq { index } => at.get_mut(index)?,
            Segment::Enum { .. } | Segment::Unknown => return None,
        };
    }
    match (last, at) {
        (Segment::Map { key }, Value::Object(members)) => members.shift_remove(key),
        (Segment::Seq { index }, Value::Array(items)) if *index < items.len() => Some(items.remove(*index)),
        _ => None,
    }
}

fn place(path: &Path) -> String {
    let mut place = String::new();
    for segment in path.iter() {
        match segment {
            Segment::Seq { .. } => place.push_str("[]"),
            other if place.is_empty() => place = other.to_string(),
            other => place = format!("{place}.{other}"),
        }
    }
    place
}

/// A document as far as it could be understood.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed<D> {
    /// What could be understood.
    pub document: D,
    /// What could not, and was left out.
    pub damaged: Vec<Damage>,
}

#[cfg(test)]
mod tests {
    use crate::{BenchResults, Manifest, Parsed, read};

    fn told<D>(parsed: &Parsed<D>) -> Vec<String> {
        parsed.damaged.iter().map(|damage| format!("{damage} ({})", damage.count)).collect()
    }

    #[test]
    fn what_is_damaged_is_left_out_and_said() {
        let text = r#"{"schema":"ridgeline.bench.v1","later":[1],"suite":3,"summary":[
            {"operation":"a","volume_size":8,"status":"ok","median_s":"fast"}, "no row", {"volume_size":8}, {"volume_size":9},
            {"operation":"b","volume_size":8,"status":"ok","median_s":0.5,"later":{}}]}"#;
        let parsed = read::<BenchResults>(text.as_bytes()).expect("a document");
        let rows: Vec<_> = parsed.document.summary.iter().map(|row| (row.operation.as_str(), row.median_s)).collect();
        assert_eq!(rows, [("a", None), ("b", Some(0.5))]);
        assert_eq!(
            told(&parsed),
            [
                "damaged and left out: suite: invalid type: integer `3`, expected a string (1)",
                "damaged and left out: summary[].median_s: invalid type: string \"fast\", expected f64 (1)",
                "damaged and left out: summary[]: invalid type: string \"no row\", expected struct BenchRow (1)",
                "damaged and left out: summary[]: missing field `operation` (2)",
            ]
        );
    }

    #[test]
    fn what_is_not_known_is_no_damage() {
        let text = r#"{"schema":"ridgeline.manifest.v1","modules":null,"missing":null,"complete":null,"program":null}"#;
        let parsed = read::<Manifest>(text.as_bytes()).expect("a document");
        assert_eq!((told(&parsed), parsed.document.modules.len()), (Vec::new(), 0));
    }

    #[test]
    fn what_is_damaged_throughout_is_broken() {
        let rows = vec!["3"; 100].join(",");
        let text = format!(r#"{{"schema":"ridgeline.bench.v1","summary":[{rows}]}}"#);
        let error = read::<BenchResults>(text.as_bytes()).expect_err("a hundred rows that are none").to_string();
        assert!(error.contains("found one that is damaged throughout: invalid type: integer `3`"), "{error}");
    }
}
