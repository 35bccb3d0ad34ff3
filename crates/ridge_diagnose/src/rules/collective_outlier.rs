//! Some collectives take many times longer than others of the same size.

use crate::case::Case;
use crate::collectives::{Exposure, meetings};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::rule::{Find, Group, Rule};
use ridge_analysis::Need;
use crate::words::{count, percent, short};
use ridge_analysis::models::collectives::Part;
use ridge_table::{Basis, Quantity, Subject};
use ridge_trace::EventRow;
use rustc_hash::FxHashMap;

pub(crate) static RULE: Rule = Rule {
    id: "collective-outlier",
    group: Group::Devices,
    summary: "Outlier collectives",
    document: include_str!("collective_outlier.md"),
    asks: &[Question::Device],
    explains: &[],
    needs: &[Need::of::<Exposure>()],
    find: Find::Causes(find),
};

/// So many times the median is an outlier, of at least so many of a kind and size.
const TIMES: i64 = 3;
const FEWEST: usize = 10;
/// Where more of them are long, long is what they are.
const MOST: usize = 4;
/// Below this part of the time nobody would notice.
const LEAST: f64 = 0.01;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    // With several ranks it is known who was waited for, and that says more.
    if !meetings(case).is_empty() {
        return Ok(Vec::new());
    }
    let exposed = &case.exposure().events;
    let mut alike: FxHashMap<(u32, u32, Option<u64>, u32), Vec<Part>> = FxHashMap::default();
    for &part in &case.analysis.collectives().parts {
        let one = part.collective;
        let name = case.trace().events.name.get(one.event as usize).copied().unwrap_or(0);
        let bytes = one.bytes_in.max(one.bytes_out);
        if bytes.is_some() && exposed.contains_key(&one.event) {
            alike.entry((part.process, one.group.0, bytes, name)).or_default().push(part);
        }
    }
    let mut excess: Vec<(u32, i64)> = Vec::new();
    let mut longest: Option<(Part, i64)> = None;
    for mut parts in alike.into_values().filter(|parts| parts.len() >= FEWEST) {
        parts.sort_by_key(|part| part.dur_ns);
        let median = parts[parts.len() / 2].dur_ns.max(1);
        let long = &parts[parts.partition_point(|part| part.dur_ns / TIMES < median)..];
        if long.len().saturating_mul(MOST) > parts.len() {
            continue;
        }
        let beyond = |part: &Part| {
            part.dur_ns.saturating_sub(median).min(exposed.get(&part.collective.event).copied().unwrap_or(0))
        };
        excess.extend(long.iter().map(|part| (part.collective.event, beyond(part))));
        let last = long.last().filter(|part| longest.is_none_or(|(known, _)| part.dur_ns > known.dur_ns));
        longest = last.map(|part| (*part, median)).or(longest);
    }
    let claim = case.parts_of_events(excess.iter().copied());
    let share = case.share_of(claim.iter().copied());
    let Some((part, median)) = longest.filter(|_| share >= LEAST) else { return Ok(Vec::new()) };
    let row = part.collective.event;
    let finding = Finding::new(format!(
        "{} took at least {TIMES} times as long as others of the same size: {} of the time",
        count(excess.len() as u64, "collective", "collectives"),
        percent(share)
    ))
    .about(EventRow::known(row).map(Subject::Event))
    .number(
        format!("longest: `{}`", short(case.trace().name(row as usize))),
        Quantity::nanos(part.dur_ns, Basis::Measured),
    )
    .seen_at(EventRow::known(row).map(Subject::Event))
    .number("median for this kind and size", Quantity::nanos(median, Basis::Measured))
    .why("another rank was late, or the network was busy; a capture of one rank can't show which")
    .help("record all ranks and open them together to see which was late: `ridgeline check RANK0 RANK1 …`")
    .claims(claim);
    Ok(vec![finding])
}
