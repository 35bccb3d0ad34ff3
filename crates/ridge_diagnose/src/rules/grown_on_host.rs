//! An array of the host is joined anew again and again.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::parts::HostPart;
use crate::rule::{Find, Group, Rule};
use crate::words::percent;
use ridge_analysis::{Need, PythonLooks};

pub(crate) static RULE: Rule = Rule {
    id: "grown-on-host",
    group: Group::Host,
    summary: "Host array grown by concatenation every step",
    document: include_str!("grown_on_host.md"),
    asks: &[Question::Device, Question::Idle, Question::Host],
    explains: &["host-pause", "blocking-call"],
    needs: &[Need::of::<PythonLooks>()],
    find: Find::Causes(find),
};

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    Ok(case
        .finding_of_part(
            HostPart::Joining,
            |share, _| format!("the device waits {} of the time while the host concatenates growing arrays; one array of the full length, or a list joined once, would suffice", percent(share)),
        )
        .map(|finding| {
            finding
                .why("each concatenation creates a new array and copies everything already there, so the work grows with each step")
                .help("collect the pieces in a list and concatenate them once after the loop, or let `jax.lax.scan` return them as its outputs")
        })
        .into_iter()
        .collect())
}
