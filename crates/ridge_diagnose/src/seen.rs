//! What compiled kernels show before anything ran, as findings.

use crate::case::{Case, Work};
use crate::finding::Finding;
use crate::known::Seen;
use crate::words::{count, list};
use ridge_table::{Basis, Quantity, Subject};
use ridge_trace::{NONE, StringId};
use rustc_hash::FxHashMap;

/// Names of further kernels that a finding lists.
const NAMED: usize = 3;

/// What `rule` sees in the code of compiled kernels: one finding, about the kernel that has most time, and with the others' time.
pub(crate) fn seen(case: &Case<'_>, rule: &str) -> Option<Finding> {
    let of_rule = || case.known.seen.iter().filter(|seen| seen.rule == rule);
    of_rule().next()?;
    let works = works(case);
    let mut found: Vec<(&Seen, &[Work<'_>], i64)> = of_rule()
        .filter_map(|seen| {
            let key = (seen.module.as_str(), seen.program_id, seen.instruction.as_str());
            let works = works.get(&key)?.as_slice();
            Some((seen, works, works.iter().fold(0_i64, |sum, work| sum.saturating_add(work.row.ns))))
        })
        .collect();
    found.sort_by(|one, other| other.2.cmp(&one.2).then_with(|| one.0.instruction.cmp(&other.0.instruction)));
    let (longest, works, _) = found.first()?;
    let first = works.first()?;
    let held = found.iter().fold(0_i64, |sum, (_, _, ns)| sum.saturating_add(*ns));
    let mut finding = Finding::new(format!("`{}` {}", longest.instruction, longest.what))
        .at(case.line_of(first))
        .about(first.row.example.map(Subject::Event))
        .number(
            format!("predicted for {}", count(found.len() as u64, "kernel", "kernels")),
            Quantity { basis: Basis::Modelled, ..case.per_unit(held) },
        )
        .why(longest.why)
        .help(longest.help);
    let others: Vec<&str> = found.iter().skip(1).map(|(seen, _, _)| seen.instruction.as_str()).collect();
    if !others.is_empty() {
        finding = finding.fact(format!("also in {}", list(&others, NAMED)));
    }
    let parts = |(seen, works, _): &(&Seen, &[Work<'_>], i64)| {
        let part = seen.part.map(|part| part.clamp(0.0, 1.0) as f32);
        works.iter().filter_map(|work| Some((work.at, part?))).collect::<Vec<_>>()
    };
    let claims: Vec<(usize, f32)> = found.iter().flat_map(parts).collect();
    Some(if claims.is_empty() { finding.information() } else { finding.claims(claims) })
}

/// An instruction: its module, XLA's number of that, and its name.
type Known<'a> = (&'a str, u64, &'a str);

/// Work of the devices by its instruction.
fn works<'a>(case: &Case<'a>) -> FxHashMap<Known<'a>, Vec<Work<'a>>> {
    let trace = case.trace();
    let text = |id: StringId| trace.strings.get(id);
    let mut found: FxHashMap<Known<'a>, Vec<Work<'a>>> = FxHashMap::default();
    for work in case.work().filter(|work| work.op != NONE) {
        let Some(operation) = trace.operations.get(work.op as usize) else { continue };
        let Some(module) = trace.modules.get(operation.module as usize) else { continue };
        found.entry((text(module.name), module.program_id, text(operation.name))).or_default().push(work);
    }
    found
}
