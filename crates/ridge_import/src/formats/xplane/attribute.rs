//! The operations that events name in their stats.
//!
//! Kernels that name none, or the command buffer they were launched with, are in `graph_kernels.rs`.

use super::decode::{OpKey, OpScope};
use super::plane::StatTable;
use super::stats::TextKey;
use crate::formats::command_buffer::is_command_buffer;
use crate::import::Import;
use ridge_hlo::InstructionId;
use ridge_hlo::wire::text;
use ridge_trace::{Module, NONE, Operation, StringId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;

/// Operations of one capture as they are found.
#[derive(Debug)]
pub(super) struct OperationTable {
    process: u32,
    by_program: FxHashMap<u64, u32>,
    by_module_name: FxHashMap<StringId, u32>,
    ids: FxHashMap<(u32, StringId), u32>,
    /// Operations that stand for all of a command buffer.
    buffers: FxHashSet<u32>,
}

impl OperationTable {
    /// Knows the modules that `import` has of `process`.
    pub(super) fn new(process: u32, import: &Import) -> OperationTable {
        let mut table = OperationTable {
            process,
            by_program: FxHashMap::default(),
            by_module_name: FxHashMap::default(),
            ids: FxHashMap::default(),
            buffers: FxHashSet::default(),
        };
        for (row, module) in import.builder.modules.iter().enumerate() {
            if module.process == process {
                table.by_program.entry(module.program_id).or_insert(row as u32);
                table.by_module_name.entry(module.name).or_insert(row as u32);
            }
        }
        table.know_operations(import);
        table
    }

    /// Operations that earlier windows of the process have brought.
    fn know_operations(&mut self, import: &Import) {
        for (row, operation) in import.builder.operations.iter().enumerate() {
            let module = import.builder.modules.get(operation.module as usize);
            let Some(module) = module.filter(|module| module.process == self.process) else { continue };
            self.ids.insert((operation.module, operation.name), row as u32);
            let found = (operation.instruction != NONE).then_some(InstructionId(operation.instruction));
            if stands_for_buffer(module.hlo, found, import.builder.strings.get(operation.name), import) {
                self.buffers.insert(row as u32);
            }
        }
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

    /// Whether an operation stands for all of a command buffer.
    pub(super) fn is_buffer(&self, operation: u32) -> bool {
        self.buffers.contains(&operation)
    }

    /// The row of the operation called `name` in `module`; an empty name stands for the module as a whole.
    pub(super) fn operation(&mut self, module: u32, name: &str, path: &str, import: &mut Import) -> u32 {
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
        if stands_for_buffer(hlo, found, name, import) {
            self.buffers.insert(row);
        }
        row
    }
}

/// Whether an operation stands for all of a command buffer.
fn stands_for_buffer(hlo: Option<u32>, instruction: Option<InstructionId>, name: &str, import: &Import) -> bool {
    match (hlo, instruction) {
        // Before command buffers were made of thunks they were computations that an instruction calls.
        (Some(hlo), Some(id)) => &*import.hlo[hlo as usize].instruction(id).opcode == "call",
        _ => is_command_buffer(name),
    }
}

fn key_text<'a>(key: TextKey<'a>, stats: &StatTable<'a>) -> Cow<'a, str> {
    match key {
        TextKey::None => Cow::Borrowed(""),
        TextKey::Inline(bytes) => text(bytes),
        TextKey::Ref(id) => text(stats.name(id).unwrap_or_default()),
    }
}
