//! Gigabytes come from the host while the device computes little.

use crate::case::Case;
use crate::copying::{Copies, Copying, LARGE_BYTES, bytes_words};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::rule::{Find, Group, Rule};
use crate::words::percent;
use ridge_analysis::{Need, Per};
use ridge_replay::{Action, Edit};
use ridge_table::{Basis, Quantity, Subject, Unit};
use ridge_trace::EventKind;

pub(crate) static RULE: Rule = Rule {
    id: "weights-streamed",
    group: Group::Copies,
    summary: "Weights streamed from host memory",
    document: include_str!("weights_streamed.md"),
    asks: &[Question::Device],
    explains: &["copies-in-loop", "pageable-copy", "slow-copy", "sync-copy", "blocking-call"],
    needs: &[Need::of::<Copies>()],
    find: Find::Causes(find),
};

/// Below this part of the time, copies are not what the program waits for.
const LEAST: f64 = 0.20;
/// Above this part of the time, the device computes more than little.
const MOST_COMPUTE: f64 = 0.50;
/// Fewer bytes per step, or in a capture without steps, are batches rather than weights.
const LEAST_BYTES: u64 = 1 << 30;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let mut copies = case.copies_in_loop().to_vec();
    copies.retain(|copy| copy.kind == EventKind::CopyHostToDevice && copy.bytes() >= LARGE_BYTES);
    let bytes = copies.iter().fold(0_u64, |sum, copy| sum.saturating_add(copy.bytes()));
    let per_unit = bytes / case.analyzed().count.max(1);
    let exposed = copies.iter().fold(0_i64, |sum, copy| sum.saturating_add(copy.exposed_ns));
    let computing = case.work().filter(|work| work.kind.is_compute()).map(|work| work.row.ns).sum();
    let is_streamed = per_unit >= LEAST_BYTES && case.share(exposed) >= LEAST && case.share(computing) <= MOST_COMPUTE;
    if !is_streamed {
        return Ok(Vec::new());
    }
    Ok(vec![finding(case, &copies, per_unit, computing)])
}

fn finding(case: &Case<'_>, copies: &[Copying], per_unit: u64, computing: i64) -> Finding {
    let ns = copies.iter().fold(0_i64, |sum, copy| sum.saturating_add(copy.ns));
    let bytes: f64 = copies.iter().map(|copy| copy.bytes() as f64).sum();
    let exposed = copies.iter().fold(0_i64, |sum, copy| sum.saturating_add(copy.exposed_ns));
    let (longest, place) = case.longest_copy(copies).unzip();
    let per = if case.analyzed().per == Per::Step { "every step" } else { "the capture" };
    Finding::new(format!(
        "{} are copied from the host in {per}, while the devices compute {} of the time",
        bytes_words(per_unit),
        percent(case.share(computing)),
    ))
    .at(place.flatten())
    .about(longest.map(Subject::Event))
    .number("in copies of 1 MB or more not hidden behind compute", case.per_unit(exposed))
    .number("large copies", case.count_per_unit(copies.len() as u64))
    .number("achieved bandwidth", Quantity::new(bytes / (ns.max(1) as f64 / 1e9), Unit::BytesPerSec, Basis::Measured))
    .why("the host link is tens of times slower than device memory, and weights that don't stay on the device are copied again every time")
    .help("keep the weights on the device: use smaller types (8 or 4 bits), offload fewer layers, or add a device; otherwise prefetch the next layer during compute, and use each layer for more tokens or a larger batch")
    .claims(case.claim_of(copies, |_| 1.0))
    .edit(Edit { rows: copies.iter().map(|copy| copy.row).collect(), action: Action::Drop })
}
