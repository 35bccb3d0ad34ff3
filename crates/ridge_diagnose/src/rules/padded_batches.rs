//! Batches of sequences are padded further than their longest one.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::rule::{Find, Group, Rule};
use crate::words::percent;
use ridge_table::{Basis, Quantity, Unit};

pub(crate) static RULE: Rule = Rule {
    id: "padded-batches",
    group: Group::Compute,
    summary: "Batches padded beyond their longest sequence",
    document: include_str!("padded_batches.md"),
    asks: &[Question::Device],
    explains: &["kernel-hotspot"],
    needs: &[],
    find: Find::Causes(find),
};

/// Batches that were looked at.
const FEWEST: u64 = 4;
/// The part of all positions beyond the longest sequence of the batch from which on it warns.
const LEAST: f64 = 0.2;
/// The part that is padding at all from which on it informs.
const LEAST_IN_ALL: f64 = 0.4;
/// Of the time, what has to do with positions at least; at most attention takes its square.
const LEAST_OF_TIME: f64 = 0.6;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let padding = case.watched().iter().find_map(|watched| watched.padding.as_ref());
    let Some(padding) = padding.filter(|padding| padding.looks >= FEWEST) else { return Ok(Vec::new()) };
    let busy = case.busy_share().unwrap_or(1.0);
    let place = padding.place.as_ref().map(|place| case.place_of_python(place));
    let told = |finding: Finding| {
        finding
            .at(place)
            .number("of all positions are padding", Quantity::new(padding.share, Unit::Share, Basis::Counted))
            .number("of all positions are beyond the longest sequence of their batch", Quantity::new(padding.beyond_longest, Unit::Share, Basis::Counted))
            .number("batches inspected", Quantity::new(padding.looks as f64, Unit::Count, Basis::Counted))
            .why("every layer computes the padding as well, and the results are masked or discarded")
            .help("pad each batch only to its own longest sequence (`torch.nn.utils.rnn.pad_sequence` in the `collate_fn`), and batch sequences of similar length together")
    };
    if padding.beyond_longest >= LEAST {
        let part = padding.beyond_longest;
        let claim = case.work().map(|work| (work.at, part as f32));
        let words = format!("batches are padded beyond their longest sequence: {} of all positions", percent(part));
        let finding = told(Finding::new(words)).claims(claim);
        // Whatever the host does for each batch shrinks with it at most as much.
        return Ok(vec![finding.priced(busy * part * LEAST_OF_TIME, 1.0 - (1.0 - part) * (1.0 - part))]);
    }
    if padding.share >= LEAST_IN_ALL {
        let words = format!("{} of the positions in batches are padding", percent(padding.share));
        return Ok(vec![told(Finding::new(words)).information()]);
    }
    Ok(Vec::new())
}
