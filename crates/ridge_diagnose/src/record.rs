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

/// How a rule did on pairs of programs that were written without knowledge of it, and before it was last changed.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct BlindRecord {
    /// Pairs in which the rule's finding came first.
    pub pairs: u32,
    /// Those of them in which it was the right cause.
    pub right: u32,
    /// The least of predicted over measured savings, where an amount was predicted and the cause was right.
    pub lowest_ratio: Option<f64>,
    /// The most.
    pub highest_ratio: Option<f64>,
}

impl BlindRecord {
    /// `blind: 9 of 12 right, 0.6 to 1.5`
    pub fn words(&self) -> String {
        let ratios = self.lowest_ratio.zip(self.highest_ratio);
        let ratios = ratios.map(|(low, high)| format!(", {low:.1} to {high:.1}")).unwrap_or_default();
        format!("blind: {} of {} right{ratios}", self.right, self.pairs)
    }
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
    #[serde(default)]
    blind: BTreeMap<String, BlindRecord>,
}

/// The record of the rule called `id` on blind pairs; `None` where there are none.
pub fn blind_record_of(id: &str) -> Option<&'static BlindRecord> {
    records().blind.get(id).filter(|record| record.pairs > 0 && record.right <= record.pairs)
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
        let bases = [SavingBasis::Replay, SavingBasis::ShareOfTime].map(SavingBasis::name);
        let of_rules = records.rule.values().flatten();
        for (basis, record) in of_rules.chain(&records.all) {
            assert!(bases.contains(&basis.as_str()), "{basis} predicts nothing");
            assert!(record.lowest_ratio <= record.median_ratio && record.median_ratio <= record.highest_ratio);
        }
        for id in records.rule.keys().chain(records.blind.keys()) {
            assert!(RULES.iter().any(|rule| rule.id == id), "{id} is no rule");
        }
    }

    #[test]
    fn blind_pairs_are_counted_apart() {
        let text = "[blind.copies]\npairs = 12\nright = 9\nlowest_ratio = 0.6\nhighest_ratio = 1.5\n\n[blind.calls]\npairs = 2\nright = 0\n";
        let records: Records = toml::from_str(text).expect("a record");
        let words: Vec<String> = records.blind.values().map(BlindRecord::words).collect();
        assert_eq!(words, ["blind: 0 of 2 right", "blind: 9 of 12 right, 0.6 to 1.5"]);
        assert!(records.rule.is_empty());
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
