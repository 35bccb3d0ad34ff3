//! Many copies so small that starting them takes longer than moving the bytes.

use crate::case::Case;
use crate::copying::{Copies, Copying, bytes_words, ways};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::rule::{Find, Group, Rule};
use crate::words::percent;
use ridge_analysis::{Need, Per};
use ridge_replay::{Action, Edit};
use ridge_table::Subject;

pub(crate) static RULE: Rule = Rule {
    id: "many-small-copies",
    group: Group::Copies,
    summary: "Many small copies",
    document: include_str!("many_small_copies.md"),
    asks: &[Question::Device],
    explains: &[],
    needs: &[Need::of::<Copies>()],
    find: Find::Causes(find),
};

/// Below this part of the time nobody would notice.
const LEAST: f64 = 0.01;
/// Copies of fewer bytes are small: starting one takes longer than moving it.
const SMALL: u64 = 64 << 10;
/// Fewer in a step are nothing to unite.
const LEAST_PER_STEP: u64 = 10;
/// The same where no steps are marked.
const LEAST_PER_CAPTURE: u64 = 100;
/// The part of the link's rate below which a copy is mostly its own start.
const SLOW: f64 = 0.1;
/// Where nothing tells the rate of the link, that of 16 lanes of PCIe 4.0, bytes per second.
const USUAL_RATE: f64 = 25e9;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let ways = ways(case, case.copies());
    let is_slow = |copy: &Copying| {
        let rate = ways.get(&(copy.device, copy.kind)).map_or(USUAL_RATE, |way| way.rate);
        copy.rate().is_some_and(|achieved| achieved < SLOW * rate)
    };
    let mut copies = case.copies_in_loop().to_vec();
    copies.retain(|copy| (1..SMALL).contains(&copy.bytes()) && is_slow(copy));
    let divisor = case.analyzed().count.max(1).saturating_mul(case.breakdown().devices.len().max(1) as u64);
    let least = if case.analyzed().per == Per::Step { LEAST_PER_STEP } else { LEAST_PER_CAPTURE };
    let exposed = copies.iter().fold(0_i64, |sum, copy| sum.saturating_add(copy.exposed_ns));
    if copies.len() as u64 / divisor <= least || case.share(exposed) < LEAST {
        return Ok(Vec::new());
    }
    let bytes = copies.iter().fold(0_u64, |sum, copy| sum.saturating_add(copy.bytes()));
    let (longest, place) = case.longest_copy(&copies).unzip();
    let finding = Finding::new(format!(
        "copies of {} on average take {} of the time with no overlapping computation",
        bytes_words(bytes / copies.len().max(1) as u64),
        percent(case.share(exposed).min(1.0)),
    ))
    .at(place.flatten())
    .about(longest.map(Subject::Event))
    .number("small copies", case.count_per_unit(copies.len() as u64))
    .number("in copies not hidden behind compute", case.per_unit(exposed))
    .why("every copy has microseconds of startup latency, regardless of its size")
    .help("pack the values into one buffer and copy it once, or create them on the device")
    .claims(case.claim_of(&copies, |_| 1.0 - SLOW))
    .edit(Edit { rows: copies.iter().map(|copy| copy.row).collect(), action: Action::Scale(SLOW as f32) });
    Ok(vec![finding])
}
