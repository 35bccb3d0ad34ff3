//! Many collectives that are so small that starting them takes longer than moving their bytes.

use crate::case::{Case, Framework};
use crate::collectives::Exposure;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::rule::{Find, Group, Rule};
use ridge_analysis::Need;
use crate::words::{count, percent};
use ridge_table::{Basis, Quantity, Subject, Unit};
use ridge_trace::EventRow;

pub(crate) static RULE: Rule = Rule {
    id: "small-messages",
    group: Group::Devices,
    summary: "Many small collectives",
    document: include_str!("small_messages.md"),
    asks: &[Question::Device],
    explains: &[],
    needs: &[Need::of::<Exposure>()],
    find: Find::Causes(find),
};

/// Bytes below which a collective's time is that of starting it: 10 to 20 µs at 10 GB/s between hosts are 100 to 200 KB, and
/// more where links are faster.
const SMALL: u64 = 65_536;
/// So many in each step, or in the capture, on one device.
const MANY: usize = 8;
/// Below this part of the time it is not worth a change.
const LEAST: f64 = 0.01;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let exposed = &case.exposure().events;
    let small: Vec<_> = (case.analysis.collectives().parts.iter())
        .filter(|part| exposed.get(&part.collective.event).is_some_and(|ns| *ns > 0))
        .filter(|part| {
            part.collective.bytes_in.max(part.collective.bytes_out).is_some_and(|bytes| bytes > 0 && bytes <= SMALL)
        })
        .collect();
    let devices = case.breakdown().devices.len().max(1);
    let per_unit = small.len() / devices / usize::try_from(case.analyzed().count.max(1)).unwrap_or(usize::MAX);
    if per_unit < MANY {
        return Ok(Vec::new());
    }
    // The shortest shows what starting costs; what is longer waited for a rank, which merging does not change.
    let start_ns = small.iter().map(|part| part.dur_ns).min().unwrap_or(0);
    let gone = 1.0 - 1.0 / per_unit as f64;
    let time = |event: u32| exposed.get(&event).map_or(0, |ns| ((*ns).min(start_ns) as f64 * gone) as i64);
    let claim = case.parts_of_events(small.iter().map(|part| (part.collective.event, time(part.collective.event))));
    let share = case.share_of(claim.iter().copied());
    if share < LEAST {
        return Ok(Vec::new());
    }
    let most =
        small.iter().filter_map(|part| part.collective.bytes_in.max(part.collective.bytes_out)).max().unwrap_or(0);
    let finding = Finding::new(format!(
        "{} with few bytes spend {} of the time on startup latency",
        count(per_unit as u64, "collective", "collectives"),
        percent(share)
    ))
    .about(small.first().and_then(|part| EventRow::known(part.collective.event)).map(Subject::Event))
    .number("in these collectives", case.count_per_unit(small.len() as u64))
    .number("moved by the largest one", Quantity::new(most as f64, Unit::Bytes, Basis::Counted))
    .number("shortest one, taken as the startup latency", Quantity::nanos(start_ns, Basis::Measured))
    .why("every collective needs a round of messages between all ranks, no matter how few bytes it moves")
    .help(match case.framework() {
        Framework::Jax => "concatenate the values and reduce them once, or let XLA combine collectives: `--xla_gpu_all_reduce_combine_threshold_bytes`",
        _ => "combine tensors before the exchange: `torch._utils._flatten_dense_tensors`, larger buckets, or `all_reduce_coalesced`; log less often",
    })
    .claims(claim);
    Ok(vec![finding])
}
