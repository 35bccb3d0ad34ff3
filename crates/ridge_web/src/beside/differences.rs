//! What differs between two stretches: devices by operation, the host by call, idle time by cause, largest first.

use crate::page::Page;
use crate::selection::{Chosen, SideSums, Sum, sums_of_sides};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Rows of each list.
const ROWS: usize = 200;

type Both = BTreeMap<String, [Sum; 2]>;

/// `{totals, lists: [{side, rows: [[name, one_ns, other_ns, one_events, other_events]], rest}]}`.
pub(super) fn differences(of: [(&Page, &Chosen<'_>); 2]) -> Value {
    let sums = of.map(|(page, chosen)| sums_of_sides(page, chosen));
    let idle = of.map(|(page, chosen)| idle_by_cause(page, chosen));
    let long = of.map(|(_, chosen)| chosen.to.saturating_sub(chosen.from));
    let total = |name: &str, ns: [i64; 2]| json!([name, ns[0], ns[1]]);
    let side = |of: fn(&SideSums) -> &Vec<(String, Sum)>| both([of(&sums[0]), of(&sums[1])]);
    json!({
        "totals": [total("in all", long), total("devices busy", [sums[0].busy_ns, sums[1].busy_ns])],
        "row": ["name", "one_ns", "other_ns", "one_events", "other_events"],
        "lists": [
            listed("device", side(|sums| &sums.device)),
            listed("host", side(|sums| &sums.host)),
            listed("idle", both([&idle[0], &idle[1]])),
        ],
    })
}

fn both(of: [&Vec<(String, Sum)>; 2]) -> Both {
    let mut all = Both::new();
    for (at, (name, sum)) in of.into_iter().enumerate().flat_map(|(at, rows)| rows.iter().map(move |row| (at, row))) {
        all.entry(name.clone()).or_default()[at].join(sum);
    }
    all
}

/// The largest differences of self time, and how much the others come to.
fn listed(side: &str, all: Both) -> Value {
    let mut rows: Vec<(String, [Sum; 2])> = all.into_iter().collect();
    let delta = |sums: &[Sum; 2]| sums[1].self_ns.saturating_sub(sums[0].self_ns);
    rows.sort_by_key(|(_, sums)| std::cmp::Reverse((delta(sums).unsigned_abs(), sums[0].self_ns.max(sums[1].self_ns))));
    let rest = rows.get(ROWS..).unwrap_or_default();
    let rest_ns = rest.iter().fold(0, |sum: i64, (_, sums)| sum.saturating_add(delta(sums)));
    let row =
        |(name, [one, other]): &(String, [Sum; 2])| json!([name, one.self_ns, other.self_ns, one.events, other.events]);
    json!({
        "side": side,
        "rows": rows.iter().take(ROWS).map(row).collect::<Vec<_>>(),
        "rest": (!rest.is_empty()).then(|| json!({ "rows": rest.len(), "delta_ns": rest_ns })),
    })
}

/// Idle time of all devices between the chosen times.
fn idle_by_cause(page: &Page, chosen: &Chosen<'_>) -> Vec<(String, Sum)> {
    let mut causes: BTreeMap<&str, Sum> = BTreeMap::new();
    for device in 0..page.session().trace().devices.len() as u32 {
        for part in page.session().idle_parts(device, &chosen.window, 0) {
            let (start, end) = (part.start_ns.max(chosen.window.start), part.end_ns().min(chosen.window.end));
            let ns = end.saturating_sub(start).max(0);
            causes.entry(part.cause.name()).or_default().join(&Sum { self_ns: ns, total_ns: ns, events: 1 });
        }
    }
    causes.into_iter().map(|(cause, sum)| (cause.to_owned(), sum)).collect()
}
