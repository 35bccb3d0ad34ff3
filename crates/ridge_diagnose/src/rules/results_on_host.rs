//! Results are worked on by libraries of the host while the device waits.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::parts::HostPart;
use crate::rule::{Find, Group, Rule};
use crate::words::percent;
use ridge_analysis::{Need, PythonLooks};

pub(crate) static RULE: Rule = Rule {
    id: "results-on-host",
    group: Group::Host,
    summary: "Results processed on the host while the device waits",
    document: include_str!("results_on_host.md"),
    asks: &[Question::Device, Question::Idle, Question::Host],
    explains: &["host-pause", "blocking-call"],
    needs: &[Need::of::<PythonLooks>()],
    find: Find::Causes(find),
};

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    Ok(case
        .finding_of_part(
            HostPart::Computing,
            |share, _| format!("the device waits {} of the time while the host computes on results or inputs, which a compiled function could do on the device", percent(share)),
        )
        .map(|finding| {
            finding
                .why("the host launches nothing while it computes, and it has to wait for results from the device first")
                .help("process results on the device, inside the compiled step (`jnp.percentile` for `np.percentile`), and fetch only the final values, or do it every N steps; prepare inputs ahead, in a thread or a loader worker")
        })
        .into_iter()
        .collect())
}
