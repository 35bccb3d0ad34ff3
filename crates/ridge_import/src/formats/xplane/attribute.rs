//! Whose work a kernel was: the operation its stats name, else its launch's, else what its module and name point to.
//!
//! Kernels inside CUDA graphs and command buffers carry no operation when the graph was built before the capture.
//! XLA names a generated kernel after its instruction, so the module that was running and the kernel's name find it.

use super::decode::{OpKey, OpScope};
use super::plane::StatTable;
use super::stats::TextKey;
use crate::import::Import;
use ridge_hlo::wire::text;
use ridge_trace::{Attribution, EventKind, Module, NONE, Operation, StringId};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::ops::Range;

/// Operations of one capture as they are found.
#[derive(Debug)]
pub(super) struct OperationTable {
    process: u32,
    by_program: FxHashMap<u64, u32>,
    by_module_name: FxHashMap<StringId, u32>,
    ids: FxHashMap<(u32, StringId), u32>,
}

impl OperationTable {
    /// Knows the modules that `import` has of `process`.
    pub(super) fn new(process: u32, import: &Import) -> OperationTable {
        let mut table = OperationTable {
            process,
            by_program: FxHashMap::default(),
            by_module_name: FxHashMap::default(),
            ids: FxHashMap::default(),
        };
        for (row, module) in import.builder.modules.iter().enumerate() {
            if module.process == process {
                table.by_program.entry(module.program_id).or_insert(row as u32);
                table.by_module_name.entry(module.name).or_insert(row as u32);
            }
        }
        table
    }

    /// The row of an operation known by the stats of an event, or [`NONE`] where they name none.
    pub(super) fn resolve(
        &mut self,
        key: &OpKey<'_>,
        scope: &OpScope<'_>,
        stats: &StatTable<'_>,
        import: &mut Import,
    ) -> u32 {
        let hlo_op = key_text(key.hlo_op, stats);
        if hlo_op.is_empty() {
            return self.framework_operation(&key_text(key.framework_op, stats), import);
        }
        // Nested operations are written outermost first: `a::b::c`.
        let name = hlo_op.rsplit("::").next().unwrap_or(&hlo_op).to_owned();
        let module = self.module(key.program_id, &key_text(key.hlo_module, stats), import);
        let path = format!("{}{}", key_text(scope.prefix, stats), key_text(scope.name, stats));
        self.operation(module, &name, &path, import)
    }

    /// TensorFlow names `scope/op:Type#attributes#`; JAX's outermost annotation, the module, names no operation.
    fn framework_operation(&mut self, annotation: &str, import: &mut Import) -> u32 {
        let innermost = annotation.rsplit("::").next().unwrap_or(annotation);
        let path = innermost.split('#').next().unwrap_or_default();
        if path.is_empty() || path.starts_with("XlaModule") || path.starts_with("Thunk") {
            return NONE;
        }
        let name = path.rsplit_once(':').map_or(path, |(name, _)| name);
        if name.is_empty() {
            return NONE;
        }
        self.operation(NONE, name, path, import)
    }

    fn module(&mut self, program_id: Option<u64>, name: &str, import: &mut Import) -> u32 {
        if let Some(&row) = program_id.and_then(|id| self.by_program.get(&id)) {
            return row;
        }
        let name = import.builder.strings.intern(name);
        if program_id.is_none()
            && let Some(&row) = self.by_module_name.get(&name)
        {
            return row;
        }
        // The capture ran a module whose HLO it does not have.
        let row = import.builder.modules.len() as u32;
        let program_id = program_id.unwrap_or(0);
        import.builder.modules.push(Module { process: self.process, name, program_id, hlo: None });
        self.by_program.entry(program_id).or_insert(row);
        self.by_module_name.entry(name).or_insert(row);
        row
    }

    /// The row of the operation called `name` in `module`; an empty name stands for the module as a whole.
    fn operation(&mut self, module: u32, name: &str, path: &str, import: &mut Import) -> u32 {
        let name_id = import.builder.strings.intern(name);
        if let Some(&row) = self.ids.get(&(module, name_id)) {
            return row;
        }
        let hlo = import.builder.modules.get(module as usize).and_then(|module| module.hlo);
        let found = hlo.and_then(|hlo| import.hlo[hlo as usize].instruction_named(name));
        let own_path = match (hlo, found) {
            (Some(hlo), Some(id)) => {
                let module = &import.hlo[hlo as usize];
                let own = &module.instruction(id).metadata.op_name;
                // A fusion that says nothing is as its main instruction.
                let said = if own.is_empty() { &module.instruction(module.hero(id)).metadata.op_name } else { own };
                said.clone()
            }
            _ => String::new(),
        };
        let scope = import.builder.strings.intern(if own_path.is_empty() { path } else { &own_path });
        let instruction = found.map_or(NONE, |id| id.0);
        let row = import.builder.operations.len() as u32;
        import.builder.operations.push(Operation { name: name_id, module, instruction, scope });
        self.ids.insert((module, name_id), row);
        row
    }

    /// Finds the operation of every device row of `rows` that names none; `rows` is what one capture added.
    pub(super) fn attribute_by_name(&mut self, rows: Range<u32>, import: &mut Import) {
        let lost = unnamed(rows, import);
        if lost.is_empty() {
            return;
        }
        let running = RunningModules::new(&lost, import);
        for kernel in lost {
            if let Some(op) = launch_operation(kernel.launch, import) {
                let slices = import.builder.slices(kernel.row..kernel.row + 1);
                slices.op[0] = op;
                slices.attribution[0] = Attribution::ByLaunch as u8;
                continue;
            }
            let module = running.module_of(&kernel, import);
            let name = import.builder.strings.get(StringId(kernel.name)).to_owned();
            let (op, how) = match module {
                None => (NONE, Attribution::Unattributed),
                Some(module) => match instruction_of(module, &name, import) {
                    Some(instruction) => (self.operation(module, &instruction, "", import), Attribution::ByModule),
                    None => (self.operation(module, "", "", import), Attribution::ModuleOnly),
                },
            };
            let slices = import.builder.slices(kernel.row..kernel.row + 1);
            slices.op[0] = op;
            slices.attribution[0] = how as u8;
        }
    }
}

fn key_text<'a>(key: TextKey<'a>, stats: &StatTable<'a>) -> Cow<'a, str> {
    match key {
        TextKey::None => Cow::Borrowed(""),
        TextKey::Inline(bytes) => text(bytes),
        TextKey::Ref(id) => text(stats.name(id).unwrap_or_default()),
    }
}

/// A kernel without an operation.
#[derive(Debug, Clone, Copy)]
struct Unnamed {
    row: u32,
    name: u32,
    /// Raw row of its launch, or [`NONE`].
    launch: u32,
}

fn unnamed(rows: Range<u32>, import: &mut Import) -> Vec<Unnamed> {
    let slices = import.builder.slices(rows.clone());
    let is_unnamed = |row: &usize| slices.kind[*row] == EventKind::Kernel as u8 && slices.op[*row] == NONE;
    let kernels = (0..slices.len()).filter(is_unnamed);
    kernels
        .map(|row| Unnamed { row: rows.start + row as u32, name: slices.name[row], launch: slices.link[row] })
        .collect()
}

/// Which module was running when kernels without an operation did.
///
/// Kernels of one launch (a graph) belong to one module: the one that explains most of their names.
#[derive(Debug)]
struct RunningModules {
    by_launch: FxHashMap<u32, u32>,
}

impl RunningModules {
    fn new(lost: &[Unnamed], import: &mut Import) -> RunningModules {
        let mut by_launch: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for kernel in lost {
            if kernel.launch != NONE {
                by_launch.entry(kernel.launch).or_default().push(kernel.name);
            }
        }
        let mut modules = FxHashMap::default();
        // Graphs repeat: the same names give the same answer.
        let mut answers: FxHashMap<Vec<u32>, Option<u32>> = FxHashMap::default();
        for (launch, mut names) in by_launch {
            names.sort_unstable();
            names.dedup();
            let found = *answers.entry(names).or_insert_with_key(|names| best_module(names, import));
            if let Some(module) = found {
                modules.insert(launch, module);
            }
        }
        RunningModules { by_launch: modules }
    }

    fn module_of(&self, kernel: &Unnamed, import: &Import) -> Option<u32> {
        // A launch of one kernel says nothing beyond the name; only a name that one module has is an answer.
        match self.by_launch.get(&kernel.launch) {
            Some(module) => Some(*module),
            None => only_module(kernel.name, import),
        }
    }
}

/// The operation that the launch's own stats name.
fn launch_operation(launch: u32, import: &mut Import) -> Option<u32> {
    if launch == NONE {
        return None;
    }
    let op = import.builder.slices(launch..launch + 1).op[0];
    (op != NONE).then_some(op)
}

/// The module with most of these kernel names; none where two explain as many or none explains any.
fn best_module(names: &[u32], import: &Import) -> Option<u32> {
    let mut best: Option<(usize, u32)> = None;
    let mut is_tie = false;
    for module in modules_with_hlo(import) {
        let known =
            |name: &&u32| instruction_of(module, import.builder.strings.get(StringId(**name)), import).is_some();
        let score = names.iter().filter(known).count();
        match best {
            Some((top, _)) if score < top => {}
            Some((top, _)) if score == top => is_tie = true,
            _ => {
                best = Some((score, module));
                is_tie = false;
            }
        }
    }
    best.filter(|(score, _)| *score > 0 && !is_tie).map(|(_, module)| module)
}

fn only_module(name: u32, import: &Import) -> Option<u32> {
    let name = import.builder.strings.get(StringId(name));
    let mut having = modules_with_hlo(import).filter(|module| instruction_of(*module, name, import).is_some());
    let first = having.next()?;
    having.next().is_none().then_some(first)
}

fn modules_with_hlo(import: &Import) -> impl Iterator<Item = u32> + '_ {
    let modules = import.builder.modules.iter().enumerate();
    modules.filter(|(_, module)| module.hlo.is_some()).map(|(row, _)| row as u32)
}

/// The instruction of `module` that a kernel of this name implements.
fn instruction_of(module: u32, kernel: &str, import: &Import) -> Option<String> {
    let hlo = &import.hlo[import.builder.modules.get(module as usize)?.hlo? as usize];
    let instruction = hlo.instruction(hlo.kernel_instruction(kernel)?);
    // What is inside a fusion is part of a kernel and launches none.
    (!hlo.computation(instruction.computation).is_fusion).then(|| instruction.name.clone())
}
