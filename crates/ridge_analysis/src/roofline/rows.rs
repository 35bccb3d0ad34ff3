//! The rows of a roofline: name, time and work of each operation, kernel, module, step or annotated operation.

use super::columns::{Rows, sums};
use super::sums::WorkSums;
use crate::rows::partition;
use crate::{Analysis, By, Group, by_annotation, by_op, by_step};
use ridge_trace::{Attribution, NONE, StringId};

/// One row on one kind of device.
#[derive(Debug, Clone)]
pub(crate) struct RooflineRow {
    pub(crate) name: String,
    /// Module of an operation, operation of a kernel, number of a step.
    pub(crate) of: Option<String>,
    pub(crate) class: u32,
    pub(crate) sums: WorkSums,
}

/// The rows by `by`, most measured time first.
pub(crate) fn rows(analysis: &Analysis<'_>, by: By) -> Vec<RooflineRow> {
    let mut rows = match by {
        By::Kernel => of_groups(
            analysis,
            Rows::SingleKernels,
            |group| (group.name, group.op),
            |(name, op)| (analysis.text(StringId(*name)).to_owned(), Some(by_op::name(analysis, *op))),
        ),
        By::Module => of_groups(
            analysis,
            Rows::WholeExecutions,
            |group| analysis.operation(group.op).map_or(NONE, |op| op.module),
            |module| (module_name(analysis, *module), None),
        ),
        By::Step => by_step::work(analysis),
        By::Operation => by_annotation::work(analysis),
        _ => of_groups(
            analysis,
            Rows::WholeExecutions,
            |group| group.op,
            |op| (by_op::name(analysis, *op), by_op::module(analysis, *op)),
        ),
    };
    rows.retain(|row| row.sums.self_ns() > 0.0);
    rows.sort_by(|one, other| other.sums.self_ns().total_cmp(&one.sums.self_ns()));
    rows
}

/// Adds the work of the event at `row` to the sums of its device's class.
pub(crate) fn add_event(analysis: &Analysis<'_>, by_class: &mut Vec<WorkSums>, row: u32, self_ns: i64, device: u32) {
    let (workload, events) = (analysis.workload(), &analysis.trace.events);
    let class = workload.class(device) as usize;
    if by_class.len() <= class {
        by_class.resize(class + 1, WorkSums::default());
    }
    let attribution = Attribution::from_byte(events.attribution[row as usize]);
    match workload.of(events.op[row as usize], attribution, device) {
        Some(work) => by_class[class].add(work, 1.0, self_ns as f64),
        None if events.kind(row as usize).is_compute() => by_class[class].add_unknown(self_ns as f64),
        None => {}
    }
}

/// One row for each class of device that has any work.
pub(crate) fn rows_by_class(name: String, of: Option<String>, by_class: Vec<WorkSums>) -> Vec<RooflineRow> {
    let classes = by_class.into_iter().enumerate();
    let rows =
        classes.map(|(class, sums)| RooflineRow { name: name.clone(), of: of.clone(), class: class as u32, sums });
    rows.collect()
}

fn module_name(analysis: &Analysis<'_>, module: u32) -> String {
    let found = analysis.trace.modules.get(module as usize);
    found.map_or("(no module)".to_owned(), |module| analysis.text(module.name).to_owned())
}

/// Rows of all compute work by `key`.
fn of_groups<K: std::hash::Hash + Eq + Clone>(
    analysis: &Analysis<'_>,
    kind: Rows,
    key: impl Fn(&Group) -> K,
    name: impl Fn(&K) -> (String, Option<String>),
) -> Vec<RooflineRow> {
    let workload = analysis.workload();
    let counts = |group: &Group| group.kind.is_compute() || group.op != NONE;
    let parts =
        partition(&analysis.groups().groups, |group| counts(group).then(|| (key(group), workload.class(group.device))));
    let row = |part: &crate::rows::Row<'_, (K, u32)>| {
        let (name, of) = name(&part.key.0);
        RooflineRow { name, of, class: part.key.1, sums: sums(analysis, &part.groups, kind) }
    };
    parts.iter().map(row).collect()
}
