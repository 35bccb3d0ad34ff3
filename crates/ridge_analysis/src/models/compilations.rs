//! What the program compiled, by name of the module, so that what was compiled again and again is one row.

use crate::context::Compilation;
use crate::models::ModuleRuns;
use crate::{Analysis, Need, Shared, WorkGroups};
use ridge_trace::ModuleRow;

/// What was compiled under a name, and what its modules did then.
#[derive(Debug, Clone, PartialEq)]
pub struct CompiledRow {
    /// What was compiled.
    pub of: Compilation,
    /// Its part of the time in the compiler.
    pub share: f64,
    /// The only module of that name, where there is one.
    pub module: Option<ModuleRow>,
    /// Times modules of that name ran, over all devices, where that is known.
    pub runs: Option<u64>,
    /// Self time of those modules, nanoseconds.
    pub self_ns: i64,
}

/// What was compiled, the longest first.
#[derive(Debug)]
pub struct Compiled(pub Vec<CompiledRow>);

impl Shared for Compiled {
    const NEEDS: &'static [Need] = &[Need::of::<WorkGroups>(), Need::of::<ModuleRuns>()];

    fn make(analysis: &Analysis<'_>) -> Compiled {
        let mut times = vec![0_i64; analysis.trace.modules.len()];
        for group in &analysis.groups().groups {
            let time = analysis.operation(group.op).and_then(|op| times.get_mut(op.module as usize));
            time.into_iter().for_each(|ns| *ns = ns.saturating_add(group.self_ns));
        }
        let all_s: f64 = analysis.compilations.iter().map(|of| of.compile_s).sum();
        let row = |of: &Compilation| {
            let modules = (0..).map(ModuleRow).zip(&analysis.trace.modules);
            let named = modules.filter(|(_, module)| analysis.text(module.name) == of.module);
            let named: Vec<ModuleRow> = named.map(|(row, _)| row).collect();
            let runs = named.iter().filter_map(|row| analysis.get::<ModuleRuns>().of(*row)).reduce(u64::saturating_add);
            let self_ns = named.iter().fold(0_i64, |sum, row| sum.saturating_add(times[row.index()]));
            let share = if all_s > 0.0 { of.compile_s / all_s } else { 0.0 };
            let module = if let [only] = named[..] { Some(only) } else { None };
            CompiledRow { of: of.clone(), share, module, runs, self_ns }
        };
        Compiled(analysis.compilations.iter().map(row).collect())
    }
}
