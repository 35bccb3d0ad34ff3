//! The device's clock beside the host's: no wait returns before its work has ended.
//!
//! On one of two ranks of a real capture the device ran 4 to 7 µs ahead; without correction every wait seems to return early.

use crate::launches::Launches;
use crate::nodes::{Lane, Node, Nodes};
use crate::syncs::last_launched_before;

/// Differences above this are not the clock's.
const FAR_NS: i64 = 50_000;
/// What a return takes at least, nanoseconds.
const QUICKEST_RETURN_NS: i64 = 2_000;
/// Fewer waits say nothing.
const FEWEST_WAITS: usize = 4;

/// Moves each device whose work seems to end after the calls that waited for it.
pub(crate) fn correct(nodes: &mut Nodes, launches: &Launches) {
    let mut devices: Vec<(u32, u32)> = (nodes.lanes.iter())
        .filter(|lane| !lane.is_thread() && !lane.is_operations)
        .map(|lane| (lane.device, lane.process))
        .collect();
    devices.sort_unstable();
    devices.dedup();
    let streams = nodes.streams_by(|lane| lane.device);
    for users in devices.chunk_by(|(one, _), (other, _)| one == other) {
        let device = users[0].0;
        // A device has one clock, whichever processes work on it; each waits for its own work.
        let mut differences = Vec::new();
        for &(_, process) in users {
            let own = streams[&device].iter().filter(|lane| nodes.lanes[**lane].process == process);
            differences.extend(differences_of(nodes, launches, &own.copied().collect::<Vec<_>>(), process));
        }
        let shift = shift_of(differences);
        if shift < 0 {
            shift_device(nodes, device, shift);
        }
    }
}

/// From the end of the work that each wait of `process` is about to the return of the wait, nanoseconds.
fn differences_of(nodes: &Nodes, launches: &Launches, streams: &[usize], process: u32) -> Vec<i64> {
    let threads = nodes.lanes.iter().filter(|lane| lane.is_thread() && lane.process == process);
    let waits = threads.flat_map(|lane| lane.range()).filter(|event| match nodes.kind[*event] {
        Node::Call(call) => call.may_wait(),
        _ => false,
    });
    let nearest = |wait: usize| {
        let ends = streams.iter().filter_map(|lane| last_launched_before(nodes, launches, *lane, wait));
        ends.map(|work| nodes.end[wait] - nodes.end[work]).min_by_key(|difference| difference.abs())
    };
    waits.filter_map(nearest).filter(|found| found.abs() <= FAR_NS).collect()
}

fn shift_of(mut differences: Vec<i64>) -> i64 {
    if differences.len() < FEWEST_WAITS {
        return 0;
    }
    let low = differences.len() / 20;
    let (_, fifth_percentile, _) = differences.select_nth_unstable(low);
    if *fifth_percentile < 0 { *fifth_percentile - QUICKEST_RETURN_NS } else { 0 }
}

/// Moves all lanes of a device, those too that were not searched for waits: they share its clock.
fn shift_device(nodes: &mut Nodes, device: u32, shift: i64) {
    let lanes = nodes.lanes.iter().filter(|lane| !lane.is_thread() && lane.device == device);
    for event in lanes.flat_map(Lane::range) {
        nodes.start[event] = nodes.start[event].saturating_add(shift);
        nodes.end[event] = nodes.end[event].saturating_add(shift);
    }
}
