//! Kernels that PyTorch's compiler made of operators: how each was tuned, of what, for which lines, and how long it ran.

use crate::{Analysis, Shared};
use ridge_trace::{EventKind, StringId, Trace};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Most different values of one kernel that are kept: kernels of several graphs may have one name.
const MOST: usize = 8;

/// One kernel, by its name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FusedRow {
    /// Its name in the trace.
    pub id: StringId,
    /// Its name.
    pub name: String,
    /// Times that it ran.
    pub runs: u64,
    /// The time of those, nanoseconds.
    pub ns: i64,
    /// How it was tuned: several where it was compiled several times.
    pub configs: Vec<String>,
    /// Its operators.
    pub operators: Vec<String>,
    /// Its lines of the program.
    pub lines: Vec<String>,
}

/// Kernels, those with most time first.
#[derive(Debug, Default)]
pub struct Fused(pub Vec<FusedRow>);

impl Shared for Fused {
    fn make(analysis: &Analysis<'_>) -> Fused {
        let trace = analysis.trace;
        let mut of: FxHashMap<StringId, [BTreeSet<StringId>; 3]> = FxHashMap::default();
        for fused in &trace.fused {
            let known = of.entry(fused.name).or_default();
            for (set, said) in known.iter_mut().zip([fused.config, fused.operators, fused.lines]) {
                if !trace.strings.get(said).is_empty() {
                    set.insert(said);
                }
            }
        }
        let ran = ran(trace, &of);
        let texts =
            |set: BTreeSet<StringId>| set.into_iter().take(MOST).map(|id| trace.strings.get(id).to_owned()).collect();
        let row = |(id, [configs, operators, lines]): (StringId, [BTreeSet<StringId>; 3])| {
            let (runs, ns) = ran.get(&id).copied().unwrap_or_default();
            let name = trace.strings.get(id).to_owned();
            FusedRow { id, name, runs, ns, configs: texts(configs), operators: texts(operators), lines: texts(lines) }
        };
        let mut rows: Vec<FusedRow> = of.into_iter().map(row).collect();
        rows.sort_by(|one, other| (Reverse(one.ns), &one.name).cmp(&(Reverse(other.ns), &other.name)));
        Fused(rows)
    }
}

/// Runs and time of the kernels of these names.
///
/// On a processor a kernel is an operator, called `graph_0_` and its name.
fn ran<T>(trace: &Trace, names: &FxHashMap<StringId, T>) -> FxHashMap<StringId, (u64, i64)> {
    let events = &trace.events;
    let mut kernel_of: FxHashMap<u32, Option<StringId>> = FxHashMap::default();
    let mut found: FxHashMap<StringId, (u64, i64)> = FxHashMap::default();
    let mut is_on_device: BTreeSet<StringId> = BTreeSet::new();
    for row in 0..events.len() {
        let kind = events.kind(row);
        if !kind.is_compute() && kind != EventKind::Operator {
            continue;
        }
        let kernel = *kernel_of.entry(events.name[row]).or_insert_with(|| {
            let id = StringId(events.name[row]);
            let bare = || trace.strings.get(id).strip_prefix("graph_")?.split_once('_').map(|(_, name)| name);
            Some(id)
                .filter(|id| names.contains_key(id))
                .or_else(|| trace.strings.find(bare()?).filter(|id| names.contains_key(id)))
        });
        let Some(kernel) = kernel else { continue };
        // What launches a kernel has its name, too: only where no device ran it is the time that of the operator.
        if kind.is_compute() && is_on_device.insert(kernel) {
            found.remove(&kernel);
        }
        if kind.is_compute() || !is_on_device.contains(&kernel) {
            let (runs, ns) = found.entry(kernel).or_default();
            *runs += 1;
            *ns = ns.saturating_add(events.dur_ns[row]);
        }
    }
    found
}
