//! The program waited for CPUs that others used.

use crate::case::Case;
use crate::fitness::Doubt;
use crate::rule::{Find, Group, Rule};
use crate::words::percent;

pub(crate) static RULE: Rule = Rule {
    id: "cpu-contention",
    group: Group::Fitness,
    summary: "Recorded on a busy machine",
    document: include_str!("cpu_contention.md"),
    asks: &[],
    explains: &[],
    needs: &[],
    find: Find::Doubts(find),
};

/// Below this part of the time, what the threads of one program wait for each other.
const MUCH: f64 = 0.15;

fn find(case: &Case<'_>, doubts: &mut Vec<Doubt>) {
    let waited = case.known.cpu_waited;
    if waited < MUCH {
        return;
    }
    let message = format!(
        "the program's threads waited {} of the recorded time for a free CPU: the device waits longer for the host than it would on an idle machine",
        percent(waited),
    );
    doubts.push(Doubt { message, command: None, blocks: Vec::new() });
}
