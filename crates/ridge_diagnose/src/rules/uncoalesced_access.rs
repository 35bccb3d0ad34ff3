//! A profiled kernel reads or writes global memory in scattered pieces.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::CannotTell;
use crate::profiled::{Profiled, findings};
use crate::rule::{Find, Group, Rule};
use crate::seen::seen;
use crate::words::{percent, short};
use ridge_table::{Basis, Quantity, Unit};

pub(crate) static RULE: Rule = Rule {
    id: "uncoalesced-access",
    group: Group::Compute,
    summary: "Uncoalesced global memory access",
    document: include_str!("uncoalesced_access.md"),
    asks: &[],
    explains: &[],
    needs: &[],
    find: Find::Causes(find),
};

/// The part of the sectors of global accesses that ideal accesses would not need.
const EXCESS: f64 = 0.3;
/// Below this part of the peak of its busiest memory, traffic is not what the kernel waits for.
const BUSY: f64 = 0.4;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    if case.known.is_predicted {
        return Ok(seen(case, RULE.id).into_iter().collect());
    }
    findings(case, judge)
}

fn judge(launch: &Profiled<'_>) -> Option<(Finding, f32)> {
    let excess = launch.numbers.excess_sectors.filter(|excess| *excess >= EXCESS)?;
    let busy = launch.numbers.memory_share.filter(|busy| *busy >= BUSY)?;
    let finding = Finding::new(format!("{} of the memory sectors that `{}` fetches aren't needed by any thread", percent(excess), short(launch.name)))
        .number("of the sectors would be unnecessary with ideal accesses", Quantity::new(excess, Unit::Share, Basis::Measured))
        .number("of peak in the busiest memory unit", Quantity::new(busy, Unit::Share, Basis::Measured))
        .why("threads of a warp access scattered addresses, so each access fetches 32-byte sectors for only a few threads")
        .help("make neighboring threads access neighboring addresses: swap the loops or the layout (structure of arrays), or stage tiles in shared memory");
    Some((finding, (excess * busy) as f32))
}
