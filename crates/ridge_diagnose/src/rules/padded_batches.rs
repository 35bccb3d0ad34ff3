//! Batches of sequences are padded further than their longest one.

use crate::case::{Case, Framework};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::operator_calls::NEEDS;
use crate::programs::{Program, programs};
use crate::rule::{Find, Group, Rule};
use crate::words::percent;
use ridge_hlo::InstructionId;
use ridge_table::{Basis, Quantity, Unit};
use ridge_trace::Padding;

pub(crate) static RULE: Rule = Rule {
    id: "padded-batches",
    group: Group::Compute,
    summary: "Batches padded beyond their longest sequence",
    document: include_str!("padded_batches.md"),
    asks: &[Question::Device],
    explains: &["kernel-hotspot", "hot-line", "unexplained-work"],
    needs: NEEDS,
    find: Find::Causes(find),
};

/// Batches that were looked at.
const FEWEST: u64 = 4;
/// The part of all positions beyond the longest sequence of the batch from which on it warns.
const LEAST: f64 = 0.3;
/// The same of a compiled function's arguments: of the next power of two, up to half is padding.
const LEAST_IN_BUCKETS: f64 = 0.5;
/// The part that is padding at all from which on it informs.
const LEAST_IN_ALL: f64 = 0.4;
/// Of the time, what operations over padding of compiled programs must hold.
const LEAST_OF_PROGRAM: f64 = 0.1;
/// Of the time, what has to do with positions at least; at most attention takes its square.
const LEAST_OF_TIME: f64 = 0.6;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let all = case.trace().python.watched.iter().filter_map(|watched| watched.padding.as_ref());
    // What a compiled function is given is judged by its own programs, whatever else the process imports.
    let is_torch = case.framework() == Framework::Torch;
    let padding = all.filter(|padding| padding.looks >= FEWEST && padding.function.is_empty() == is_torch).max_by_key(|padding| padding.looks);
    let Some(padding) = padding else { return Ok(Vec::new()) };
    let busy = case.busy_share().unwrap_or(1.0);
    let place = padding.place.as_ref().map(|place| case.place_of_python(place));
    let (share, part) = (padding.share, padding.beyond_longest);
    let told = |finding: Finding| {
        let finding = finding.at(place).number("of all positions are padding", Quantity::new(share, Unit::Share, Basis::Counted));
        // Joined graphs are one row.
        let is_of_rows = padding.function.is_empty() || part < share;
        let finding = if is_of_rows { finding.number("of all positions are beyond the longest sequence of their batch", Quantity::new(part, Unit::Share, Basis::Counted)) } else { finding };
        finding.number("batches inspected", Quantity::new(padding.looks as f64, Unit::Count, Basis::Counted))
    };
    if !padding.function.is_empty() {
        return Ok(of_programs(case, padding, told).into_iter().collect());
    }
    let told = |finding: Finding| {
        told(finding)
            .why("every layer computes the padding as well, and the results are masked or discarded")
            .help("pad each batch only to its own longest sequence (`torch.nn.utils.rnn.pad_sequence` in the `collate_fn`), and batch sequences of similar length together")
    };
    if part >= LEAST {
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

/// Padding in the arguments of a compiled function: operations over the padded extent compute it.
fn of_programs(case: &Case<'_>, padding: &Padding, told: impl FnOnce(Finding) -> Finding) -> Option<Finding> {
    let whole = programs(case).into_iter().filter(|program| program.function(case) == padding.function);
    let with_padding = |program: Program<'_>| {
        let module = program.module;
        let has_it = |id: InstructionId| module.instruction(id).shape.dimensions.contains(&padding.extent);
        let is_over_it = |id: &InstructionId| {
            let hero = module.hero(*id);
            has_it(*id) || has_it(hero) || module.instruction(hero).operands.iter().any(|operand| has_it(*operand))
        };
        let over: Vec<InstructionId> = program.ran.keys().copied().filter(is_over_it).collect();
        program.claim(&over, 1.0)
    };
    let rows: Vec<(usize, f32)> = whole.flat_map(with_padding).collect();
    let held = case.share_of(rows.iter().copied());
    let finding = |words: String, part: f64| {
        told(Finding::new(words))
            .number("of the time is in operations over these positions", Quantity::new(held, Unit::Share, Basis::Measured))
            .why("a compiled function computes the padding as well, and the results are masked or discarded")
            .help("pad each batch to the next of a few fixed sizes (buckets) above its own total, not to the largest of the data set, and batch examples of similar size together: each size compiles once (for graphs `jraph.dynamically_batch`)")
            .claims(rows.iter().map(|(at, held)| (*at, held * part as f32)))
    };
    let (beyond, share) = (padding.beyond_longest, padding.share);
    if beyond >= LEAST_IN_BUCKETS && held * beyond >= LEAST_OF_PROGRAM {
        let words = format!("{} of the {} positions in arguments of `{}` are padding for every example of their batch", percent(beyond), padding.extent, padding.function);
        return Some(finding(words, beyond).priced(held * beyond * LEAST_OF_TIME, 1.0 - (1.0 - beyond) * (1.0 - beyond)));
    }
    let is_much = share >= LEAST_IN_ALL && held * share >= LEAST_OF_PROGRAM;
    is_much.then(|| {
        let words = format!("{} of the positions in arguments of `{}` are padding", percent(share), padding.function);
        finding(words, share).information()
    })
}
