//! Device time by operation, kernel, module and kind of work: partitions of all device work, most self time first.
//!
//! Work of no known operation or module is a row too. What ran inside work of the same row counts once.

use crate::context::category;
use crate::context::labels::{op_module, op_name};
use crate::context::nested_likes::count_once;
use crate::context::partition::{WorkRow, partition};
use crate::{Analysis, Group, Need, Shared, WorkGroups};
use ridge_trace::{Attribution, EventKind, LaunchShape, ModuleRow, NONE, OpRow, StringId};
use std::hash::Hash;

/// What a row of [`Ops`] is: an operation and how it is known, or the kind of work that has none.
///
/// An operation that is partly named by the capture and partly inferred has a row for each, so that no measured
/// number contains a guess.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct OpKey {
    /// The operation; `None` for work of no known one.
    pub op: Option<OpRow>,
    /// How it is known.
    pub attribution: Attribution,
    /// The kind of work, where it has no operation.
    pub kind: Option<EventKind>,
}

impl OpKey {
    /// The operation as a row of the operations table, [`NONE`] where it is not known.
    pub fn row(&self) -> u32 {
        self.op.map_or(NONE, |op| op.0)
    }

    /// The name of the operation, or of the kind of work that has none.
    pub fn label(&self, analysis: &Analysis<'_>) -> String {
        match self.kind {
            Some(kind) if !kind.is_compute() => format!("({})", kind.name()),
            _ => op_name(analysis, self.row()),
        }
    }

    /// The name of the compiled program that the operation belongs to.
    pub fn module(&self, analysis: &Analysis<'_>) -> Option<String> {
        op_module(analysis, self.row())
    }
}

/// What a row of [`Kernels`] is: name, operation and launch shape of its kernels, or the kind of work that is no kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KernelKey {
    /// Their name.
    pub name: StringId,
    /// The operation that they worked for.
    pub op: Option<OpRow>,
    /// Row of the launch shapes, where they are kernels.
    detail: u32,
    /// The kind of work.
    pub kind: EventKind,
}

impl KernelKey {
    /// How the kernels were launched.
    pub fn shape(&self, analysis: &Analysis<'_>) -> Option<LaunchShape> {
        let shapes = &analysis.trace.launch_shapes;
        (self.kind == EventKind::Kernel).then(|| shapes.get(self.detail as usize).copied()).flatten()
    }
}

/// Operations.
#[derive(Debug)]
pub struct Ops(pub Vec<WorkRow<OpKey>>);

/// Kernels; copies and memory sets are rows too.
#[derive(Debug)]
pub struct Kernels(pub Vec<WorkRow<KernelKey>>);

/// Compiled programs that ran.
#[derive(Debug)]
pub struct Modules(pub Vec<WorkRow<Option<ModuleRow>>>);

/// Kinds of work.
#[derive(Debug)]
pub struct Categories(pub Vec<WorkRow<String>>);

fn rows<K: Hash + Eq + Clone>(analysis: &Analysis<'_>, key: impl Fn(&Group) -> Option<K>) -> Vec<WorkRow<K>> {
    let mut rows = partition(analysis, key);
    count_once(analysis, &mut rows);
    rows
}

macro_rules! partitions {
    ($($model:ident: |$analysis:ident, $group:ident| $key:expr;)*) => {$(
        impl Shared for $model {
            const NEEDS: &'static [Need] = &[Need::of::<WorkGroups>()];

            fn make($analysis: &Analysis<'_>) -> $model {
                $model(rows($analysis, |$group| $key))
            }
        }
    )*};
}

partitions! {
    Ops: |analysis, group| {
        let kind = (group.op == NONE).then_some(group.kind);
        Some(OpKey { op: OpRow::known(group.op), attribution: group.attribution, kind })
    };
    // Operations of a CPU launch no kernels.
    Kernels: |analysis, group| (group.kind != EventKind::DeviceOp).then_some(KernelKey {
        name: StringId(group.name),
        op: OpRow::known(group.op),
        detail: group.detail,
        kind: group.kind,
    });
    Modules: |analysis, group| Some(analysis.operation(group.op).and_then(|op| ModuleRow::known(op.module)));
    Categories: |analysis, group| Some(category::of(analysis, group).into_owned());
}
