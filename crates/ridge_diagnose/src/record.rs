//! The published record: how each rule's predictions compared with what mending it really saved.
//!
//! `rules.toml` is written by `make rules`, which runs every pair of programs in `suites/rules/`.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// How a rule's predictions compared with measurements.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct Record {
    /// Pairs of programs, one before and one after mending.
    pub pairs: u32,
    /// The least of predicted over measured savings.
    pub lowest_ratio: f64,
    /// The median.
    pub median_ratio: f64,
    /// The most.
    pub highest_ratio: f64,
}

#[derive(Debug, Default, Deserialize)]
struct Records {
    #[serde(default)]
    rule: BTreeMap<String, Record>,
}

/// The record of the rule called `id`, where it has one.
pub fn record_of(id: &str) -> Option<&'static Record> {
    static RECORDS: OnceLock<Records> = OnceLock::new();
    let records = RECORDS.get_or_init(|| toml::from_str(include_str!("../rules.toml")).unwrap_or_default());
    records.rule.get(id).filter(|record| record.lowest_ratio > 0.0 && record.highest_ratio >= record.lowest_ratio)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RULES;

    #[test]
    fn the_record_can_be_read_and_names_rules() {
        let records: Records = toml::from_str(include_str!("../rules.toml")).expect("the record");
        for (id, record) in &records.rule {
            assert!(RULES.iter().any(|rule| rule.id == id), "{id} is no rule");
            assert!(record.lowest_ratio <= record.median_ratio && record.median_ratio <= record.highest_ratio);
        }
    }
}
