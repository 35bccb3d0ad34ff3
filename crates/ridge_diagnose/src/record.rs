//! The published record: how predictions compared with what mending really saved, for each rule and for all together.
//!
//! `rules.toml` is written by `make rules`, which runs every pair of programs in `suites/rules/`.

use crate::saving::SavingBasis;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Pairs of a rule from which its own record says more than that of all rules.
const FEWEST_PAIRS: u32 = 3;

/// How predictions compared with measurements.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct Record {
    /// Pairs of programs, one before and one after mending.
    pub pairs: u32,
    /// The least of predicted over measured savings; of all rules together, what nine of ten pairs were above.
    pub lowest_ratio: f64,
    /// The median.
    pub median_ratio: f64,
    /// The most; of all rules together, what nine of ten pairs were below.
    pub highest_ratio: f64,
}

/// What speaks for a prediction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Standing {
    /// The rule's own pairs.
    OfRule(&'static Record),
    /// The rule has too few pairs of its own, so those of all rules count.
    OfAll(&'static Record),
    /// Nothing was measured.
    None,
}

impl Standing {
    /// The record that counts.
    pub fn record(self) -> Option<&'static Record> {
        match self {
            Standing::OfRule(record) | Standing::OfAll(record) => Some(record),
            Standing::None => None,
        }
    }

    /// The record, if it is of the rule itself.
    pub fn of_rule(self) -> Option<&'static Record> {
        match self {
            Standing::OfRule(record) => Some(record),
            _ => None,
        }
    }
}

/// Records by the basis of the predictions.
type ByBasis = BTreeMap<String, Record>;

#[derive(Debug, Default, Deserialize)]
struct Records {
    #[serde(default)]
    all: ByBasis,
    #[serde(default)]
    rule: BTreeMap<String, ByBasis>,
}

/// The record of the rule called `id`, where it has one of that basis.
pub fn record_of(id: &str, basis: SavingBasis) -> Option<&'static Record> {
    records().rule.get(id)?.get(basis.name()).filter(|record| is_sound(record))
}

/// The record that counts for a prediction of the rule called `id`.
pub fn standing(id: &str, basis: SavingBasis) -> Standing {
    let own = record_of(id, basis).filter(|record| record.pairs >= FEWEST_PAIRS);
    let all = || records().all.get(basis.name()).filter(|record| is_sound(record));
    own.map(Standing::OfRule).or_else(|| all().map(Standing::OfAll)).unwrap_or(Standing::None)
}

fn records() -> &'static Records {
    static RECORDS: OnceLock<Records> = OnceLock::new();
    RECORDS.get_or_init(|| toml::from_str(include_str!("../rules.toml")).unwrap_or_default())
}

fn is_sound(record: &Record) -> bool {
    record.lowest_ratio > 0.0 && record.highest_ratio >= record.lowest_ratio
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RULES;

    #[test]
    fn the_record_can_be_read_and_names_rules() {
        let records: Records = toml::from_str(include_str!("../rules.toml")).expect("the record");
        let bases = [SavingBasis::Replay, SavingBasis::Wall].map(SavingBasis::name);
        let of_rules = records.rule.values().flatten();
        for (basis, record) in of_rules.chain(&records.all) {
            assert!(bases.contains(&basis.as_str()), "{basis} predicts nothing");
            assert!(record.lowest_ratio <= record.median_ratio && record.median_ratio <= record.highest_ratio);
        }
        for id in records.rule.keys() {
            assert!(RULES.iter().any(|rule| rule.id == id), "{id} is no rule");
        }
    }

    #[test]
    fn pairs_of_all_rules_are_those_of_each() {
        let records: Records = toml::from_str(include_str!("../rules.toml")).expect("the record");
        for (basis, all) in &records.all {
            let pairs: u32 = records.rule.values().filter_map(|of| of.get(basis)).map(|record| record.pairs).sum();
            assert_eq!(pairs, all.pairs, "{basis}");
        }
    }
}
