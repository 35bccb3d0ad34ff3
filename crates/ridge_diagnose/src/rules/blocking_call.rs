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
        format!("the host blocks on the device in `{call}`, and then the device waits {share} of the time for the host")
    };
    let says = "avoidable idle time after the call";
    let found = case.findings_of_waits(|name| !copies_and_waits(name), message, says, Action::Unsync);
    Ok(found.map(|(waits, finding)| explained(case, &waits, finding)).collect())
}

/// Where host and device are the same cores, a program that reads each step's result pays for what else it does on the host: less is
/// seldom avoidable.
const LEAST_ON_PROCESSORS: f64 = 0.30;

fn explained(case: &Case<'_>, waits: &Waits<'_>, finding: Finding) -> Finding {
    let finding = finding
        .why("the host queues nothing while it waits, so the device has no work when the call returns")
        .help(advice(case.framework()));
    let finding = case.unless_steered(finding);
    let share = case.share_of(finding.claim.iter().copied());
    let may_be_wanted = case.is_on_processors() && share < LEAST_ON_PROCESSORS;
    let finding = if may_be_wanted { finding.information() } else { finding };
    match waits.all.first().and_then(|wait| case.operator_around(wait.row)) {
        Some(operator) => finding.fact(format!("called by `{}`", short(operator))),
        None => finding,
    }
}

fn advice(framework: Framework) -> &'static str {
    match framework {
        Framework::Torch => {
            "keep values on the device: no `.item()`, `print(tensor)` or `if tensor` in the step; read metrics back every N steps, with `non_blocking=True`"
        }
        Framework::Jax => {
            "call `block_until_ready`, `float()` and `np.asarray` after the loop or every N steps; to stop on a condition, use `jax.lax.while_loop`, which checks it on the device"
        }
        Framework::Other => {
            "wait after the loop, or on an event from an earlier step, to queue the next work before the current work ends"
        }
    }
}
