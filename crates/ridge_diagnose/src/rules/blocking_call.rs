//! The host waits for the device, and then the device waits for the host.

use crate::case::{Case, Framework};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::rule::{Find, Group, Rule};
use crate::waits::{DeviceWaits, Waits, copies_and_waits};
use crate::words::short;
use ridge_analysis::{Need, PythonLooks};
use ridge_replay::Action;

pub(crate) static RULE: Rule = Rule {
    id: "blocking-call",
    group: Group::Host,
    summary: "Blocking host synchronization",
    document: include_str!("blocking_call.md"),
    asks: &[Question::Device, Question::Idle, Question::Host],
    explains: &[],
    needs: &[Need::of::<DeviceWaits>(), Need::of::<PythonLooks>()],
    find: Find::Causes(find),
};

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let message = |call: &str, share: &str| {
        format!("the host waits for the device in `{call}`, after which the device waits {share} of the time for the host")
    };
    let says = "idle after the call that could have been used";
    let found = case.findings_of_waits(|name| !copies_and_waits(name), message, says, Action::Unsync);
    Ok(found.map(|(waits, finding)| explained(case, &waits, finding)).collect())
}

fn explained(case: &Case<'_>, waits: &Waits<'_>, finding: Finding) -> Finding {
    let finding = finding
        .why("while it waits the host prepares nothing, so the device has nothing to do when the call returns")
        .help(advice(case.framework()));
    let finding = case.unless_steered(finding);
    match waits.all.first().and_then(|wait| case.operator_around(wait.row)) {
        Some(operator) => finding.fact(format!("called by `{}`", short(operator))),
        None => finding,
    }
}

fn advice(framework: Framework) -> &'static str {
    match framework {
        Framework::Torch => {
            "leave values on the device: no `.item()`, `print(tensor)` or `if tensor` in the step; read metrics back every N steps, with `non_blocking=True`"
        }
        Framework::Jax => {
            "call `block_until_ready`, `float()` and `np.asarray` after the loop or every N steps; `jax.lax.while_loop` decides on the device when to stop"
        }
        Framework::Other => {
            "wait after the loop, or for an event of an earlier step, so that the next work is queued before this one ends"
        }
    }
}
