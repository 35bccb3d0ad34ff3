//! Copies whose calls return when the copy is done, and the idle time after them.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::rule::{Find, Group, Rule};
use crate::waits::{DeviceWaits, copies_and_waits};
use ridge_analysis::Need;
use ridge_replay::Action;

pub(crate) static RULE: Rule = Rule {
    id: "sync-copy",
    group: Group::Copies,
    summary: "Blocking copies",
    document: include_str!("sync_copy.md"),
    asks: &[Question::Device, Question::Idle, Question::Host],
    explains: &[],
    needs: &[Need::of::<DeviceWaits>()],
    find: Find::Causes(find),
};

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let message = |call: &str, share: &str| {
        format!("`{call}` blocks until the copy is done, and the device then waits {share} of the time for the host")
    };
    let says = "avoidable idle time after blocking copies";
    let found = case.findings_of_waits(copies_and_waits, message, says, Action::Asynchronous);
    let explained = |finding: Finding| {
        finding
            .why("the host launches nothing while it waits for the copy, so the device runs out of work before the copy finishes")
            .help("copy asynchronously from pinned memory (`cudaMemcpyAsync` on a stream; in PyTorch `tensor.to(device, non_blocking=True)`), and synchronize only where the value is used")
    };
    Ok(found.map(|(_, finding)| explained(finding)).collect())
}
