//! The line of the program that each operation came from, or that it is owed to.

use super::Shared;
use crate::{Analysis, Need, WorkGroups};
use ridge_hlo::{AttributedBy, Origins, SourceFrame};
use ridge_trace::NONE;
use rustc_hash::{FxHashMap, FxHashSet};

/// File, line and function.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Line {
    /// The file, as the compiler names it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The function that it is in.
    pub function: String,
}

/// Where an operation came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpLines {
    /// Its stack, innermost first; not empty.
    pub stack: Vec<Line>,
    /// Why it is owed to that line, where no line made it: inferred from the data flow.
    pub owed: Option<AttributedBy>,
}

/// The lines of the operations that ran.
#[derive(Debug, Default)]
pub struct Lines {
    of_op: FxHashMap<u32, OpLines>,
}

impl Shared for Lines {
    const NEEDS: &'static [Need] = &[Need::of::<WorkGroups>()];

    fn make(analysis: &Analysis<'_>) -> Lines {
        let ops: FxHashSet<u32> = analysis.groups().groups.iter().map(|group| group.op).collect();
        let mut lines = Lines::default();
        let mut unnamed: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for op in ops.into_iter().filter(|op| *op != NONE) {
            let Some((module, instruction)) = analysis.instruction(op) else { continue };
            let stack = owned(&module.source_in_fusion(instruction));
            if stack.is_empty() {
                let hlo = analysis.operation(op).and_then(|op| analysis.trace.modules[op.module as usize].hlo);
                unnamed.entry(hlo.unwrap_or(NONE)).or_default().push(op);
            } else {
                lines.of_op.insert(op, OpLines { stack, owed: None });
            }
        }
        for (hlo, ops) in unnamed {
            let Some(module) = analysis.hlo.get(hlo as usize) else { continue };
            let origins = Origins::new(module);
            for op in ops {
                let origin = analysis.instruction(op).and_then(|(_, instruction)| origins.of(instruction));
                let Some(origin) = origin else { continue };
                let stack = owned(&module.source_in_fusion(origin.at));
                if !stack.is_empty() {
                    lines.of_op.insert(op, OpLines { stack, owed: Some(origin.why) });
                }
            }
        }
        lines
    }
}

impl Lines {
    /// Where the operation at row `op` came from; `None` where nothing tells.
    pub fn of(&self, op: u32) -> Option<&OpLines> {
        self.of_op.get(&op)
    }
}

fn owned(frames: &[SourceFrame<'_>]) -> Vec<Line> {
    let line = |frame: &SourceFrame<'_>| Line {
        file: frame.file.to_string(),
        line: frame.line,
        function: frame.function.to_string(),
    };
    frames.iter().map(line).collect()
}

impl<'a> Analysis<'a> {
    /// The lines that operations came from.
    pub fn lines(&self) -> &'a Lines {
        self.get()
    }
}
