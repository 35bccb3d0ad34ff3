//! Time in calls of which HLO does not tell what they do.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::programs::programs;
use crate::rule::{Find, Group, Rule};
use crate::words::{list, percent};
use ridge_analysis::{Costs, Lines, Need};
use ridge_hlo::cost::UnknownWhy;
use ridge_hlo::OpcodeClass;
use ridge_table::Subject;
use ridge_trace::OpRow;
use std::collections::BTreeMap;

pub(crate) static RULE: Rule = Rule {
    id: "opaque-custom-call",
    group: Group::Structure,
    summary: "Custom calls with unknown cost",
    document: include_str!("opaque_custom_call.md"),
    asks: &[Question::Device, Question::Hlo],
    explains: &[],
    needs: &[Need::of::<Lines>(), Need::of::<Costs>()],
    find: Find::Causes(find),
};

/// The least part of the judged time.
const LEAST: f64 = 0.30;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    case.needs_hlo()?;
    let costs: &Costs = case.analysis.get();
    let mut targets: BTreeMap<&str, (i64, u32, i64)> = BTreeMap::new();
    for program in programs(case) {
        for (id, work) in &program.ran {
            let unknown = costs.of(&case.analysis, program.row, *id).and_then(|cost| cost.unknown);
            // A loop is not what it calls: that runs as operations of its own.
            let is_leaf = program.module.instruction(*id).opcode.class() != OpcodeClass::Runs;
            let Some(unknown) = unknown.filter(|unknown| is_leaf && unknown.why == UnknownWhy::CustomCall) else {
                continue;
            };
            let target = program.module.instruction(unknown.at).custom_call_target.as_deref().unwrap_or("?");
            for work in work {
                let (sum, op, most) = targets.entry(target).or_insert((0, work.op, 0));
                *sum = sum.saturating_add(work.row.ns);
                (*op, *most) = if work.row.ns > *most { (work.op, work.row.ns) } else { (*op, *most) };
            }
        }
    }
    let mut targets: Vec<(&str, (i64, u32, i64))> = targets.into_iter().collect();
    targets.sort_by_key(|(_, (ns, _, _))| std::cmp::Reverse(*ns));
    let ns = targets.iter().fold(0_i64, |sum, (_, (ns, _, _))| sum.saturating_add(*ns));
    let Some((_, (_, op, _))) = targets.first().filter(|_| case.share(ns) >= LEAST) else { return Ok(Vec::new()) };
    let names: Vec<&str> = targets.iter().map(|(name, _)| *name).collect();
    let finding = Finding::new(format!("{} of the time is in custom calls with unknown cost", percent(case.share(ns))))
        .at(case.line_of_op(*op))
        .about(OpRow::known(*op).map(Subject::Op))
        .number(format!("in calls of {}", list(&names, 3)), case.per_unit(ns))
        .why("a custom call runs external code, so its operations and bytes are unknown")
        .help("if the call is yours, declare its cost (`pl.CostEstimate` in `pallas_call`); otherwise record its kernels with Nsight Compute")
        .information();
    Ok(vec![finding])
}
