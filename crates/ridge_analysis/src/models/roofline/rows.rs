//! The rows of a roofline: name, time and work of each operation, kernel, module, step or range.

use crate::context::labels::{module_name, op_module, op_name};
use crate::context::partition::{WorkRow, partition};
use crate::models::work::{Rows, WorkSums, sums};
use crate::{Analysis, Group};
use ridge_table::Subject;
use ridge_trace::{ModuleRow, NONE, OpRow, StringId};

/// One row on one kind of device.
#[derive(Debug, Clone)]
pub struct RooflineRow {
    /// What the row is about, where the trace knows it.
    pub subject: Option<Subject>,
    /// Its name.
    pub name: String,
    /// Module of an operation, operation of a kernel, number of a step.
    pub of: Option<String>,
    /// Kind of device, by position in [`crate::Workload::classes`].
    pub class: u32,
    /// Its work and time.
    pub sums: WorkSums,
    /// Its part of the rows' time.
    pub share: f64,
}

/// The rows by `by`, most measured time first; of launches under a profiler there are none here.
pub fn rows(analysis: &Analysis<'_>, by: RooflineBy) -> Vec<RooflineRow> {
    let mut rows = match by {
        RooflineBy::Kernel => of_groups(
            analysis,
            Rows::SingleKernels,
            |group| (group.name, group.op),
            |(name, op)| Named {
                subject: Some(Subject::Named(StringId(*name))),
                name: analysis.text(StringId(*name)).to_owned(),
                of: Some(op_name(analysis, *op)),
            },
        ),
        RooflineBy::Module => of_groups(
            analysis,
            Rows::WholeExecutions,
            |group| analysis.operation(group.op).map_or(NONE, |op| op.module),
            |module| Named {
                subject: ModuleRow::known(*module).map(Subject::Module),
                name: module_name(analysis, *module),
                of: None,
            },
        ),
        RooflineBy::Op => of_groups(
            analysis,
            Rows::WholeExecutions,
            |group| group.op,
            |op| Named {
                subject: OpRow::known(*op).map(Subject::Op),
                name: op_name(analysis, *op),
                of: op_module(analysis, *op),
            },
        ),
        RooflineBy::Step => of_steps(analysis),
        RooflineBy::Range => of_ranges(analysis),
        RooflineBy::Profile => Vec::new(),
    };
    rows.retain(|row| row.sums.self_ns() > 0.0);
    rows.sort_by(|one, other| other.sums.self_ns().total_cmp(&one.sums.self_ns()));
    let all: f64 = rows.iter().map(|row| row.sums.self_ns()).sum();
    rows.iter_mut().for_each(|row| row.share = if all > 0.0 { row.sums.self_ns() / all } else { 0.0 });
    rows
}

/// What a row is called.
struct Named {
    subject: Option<Subject>,
    name: String,
    of: Option<String>,
}

impl Named {
    /// A row for each kind of device of `by_class`.
    fn rows<'s>(self, by_class: &'s [WorkSums]) -> impl Iterator<Item = RooflineRow> + 's {
        (0_u32..).zip(by_class).map(move |(class, sums)| RooflineRow {
            subject: self.subject.clone(),
            name: self.name.clone(),
            of: self.of.clone(),
            class,
            sums: sums.clone(),
            share: 0.0,
        })
    }
}

fn of_steps(analysis: &Analysis<'_>) -> Vec<RooflineRow> {
    let named = |step: &crate::StepRow| Named {
        subject: Some(Subject::Event(step.event)),
        name: analysis.text(step.name).to_owned(),
        of: Some(step.number.to_string()),
    };
    analysis.steps().rows.iter().flat_map(|step| named(step).rows(&step.work)).collect()
}

fn of_ranges(analysis: &Analysis<'_>) -> Vec<RooflineRow> {
    let named = |range: &crate::RangeRow| Named {
        subject: range.name.map(Subject::Range),
        name: range.label(analysis),
        of: None,
    };
    analysis.ranges().rows.iter().flat_map(|range| named(range).rows(&range.work)).collect()
}

/// Rows of all compute work by `key`.
fn of_groups<K: std::hash::Hash + Eq + Clone>(
    analysis: &Analysis<'_>,
    kind: Rows,
    key: impl Fn(&Group) -> K,
    name: impl Fn(&K) -> Named,
) -> Vec<RooflineRow> {
    let workload = analysis.workload();
    let counts = |group: &Group| group.kind.is_compute() || group.op != NONE;
    let parts = partition(analysis, |group| counts(group).then(|| (key(group), workload.class(group.device))));
    let row = |part: &WorkRow<(K, u32)>| {
        let Named { subject, name, of } = name(&part.key.0);
        RooflineRow {
            subject,
            name,
            of,
            class: part.key.1,
            sums: sums(analysis, &part.time.groups(analysis), kind),
            share: 0.0,
        }
    };
    parts.iter().map(row).collect()
}

/// What a point of a roofline is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RooflineBy {
    /// HLO instruction or framework operation.
    Op,
    /// Kernel.
    Kernel,
    /// Compiled program.
    Module,
    /// Step that the program marked.
    Step,
    /// Range that the program named.
    Range,
    /// Launch under a hardware profiler.
    Profile,
}
