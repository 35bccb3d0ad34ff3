//! Operations and the modules they belong to, as events name them, joined with the HLO of those modules.

use crate::import::Import;
use crate::xla::command_buffer::is_command_buffer;
use ridge_trace::{Module, NONE, Operation, StringId};
use rustc_hash::FxHashMap;

/// Rows of the modules and operations of one process.
#[derive(Debug)]
pub(crate) struct Operations {
    process: u32,
    by_program: FxHashMap<u64, u32>,
    by_module_name: FxHashMap<StringId, u32>,
    ids: FxHashMap<(u32, StringId), u32>,
}

impl Operations {
    /// Knows the modules that `import` has of `process`.
    pub(crate) fn new(process: u32, import: &Import) -> Operations {
        let mut table = Operations {
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
        // Earlier windows of the process have brought some of its operations.
        for (row, operation) in import.builder.operations.iter().enumerate() {
            let module = import.builder.modules.get(operation.module as usize);
            if module.is_some_and(|module| module.process == process) {
                table.ids.insert((operation.module, operation.name), row as u32);
            }
        }
        table
    }

    /// Knows the operations of all modules that `import` has, to add to them.
    pub(crate) fn of_all(import: &Import) -> Operations {
        let mut table = Operations::new(NONE, import);
        let operations = import.builder.operations.iter().enumerate();
        for (row, operation) in operations.filter(|(_, operation)| operation.module != NONE) {
            table.ids.entry((operation.module, operation.name)).or_insert(row as u32);
        }
        table
    }

    /// The row of a module, by its program id where that is known, else by its name.
    pub(crate) fn module(&mut self, program_id: Option<u64>, name: &str, import: &mut Import) -> u32 {
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

    /// The module with an instruction called `name`, where there is only one.
    pub(crate) fn only_module_with(&self, name: &str, import: &Import) -> Option<u32> {
        let has_it = |module: &Module| {
            let hlo = module.hlo.and_then(|hlo| import.hlo.get(hlo as usize));
            module.process == self.process && hlo.is_some_and(|hlo| hlo.instruction_named(name).is_some())
        };
        let modules = import.builder.modules.iter().enumerate();
        let mut found = modules.filter(|(_, module)| has_it(module)).map(|(row, _)| row as u32);
        found.next().filter(|_| found.next().is_none())
    }

    /// The row of the operation of these texts: its name, its module's and its scope; [`NONE`] where it has no name.
    pub(crate) fn of_texts(&mut self, texts: [u32; 3], import: &mut Import) -> u32 {
        let [name, module, scope] = texts.map(|text| import.builder.strings.get(StringId(text)).to_owned());
        if name.is_empty() {
            return NONE;
        }
        let module = if module.is_empty() { NONE } else { self.module(None, &module, import) };
        self.operation(module, &name, &scope, import)
    }

    /// The row of the operation called `name` in `module`; an empty name stands for the module as a whole.
    pub(crate) fn operation(&mut self, module: u32, name: &str, path: &str, import: &mut Import) -> u32 {
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
}

/// Which operations stand for all of a command buffer, by row.
pub(crate) fn command_buffers(import: &Import) -> Vec<bool> {
    import.builder.operations.iter().map(|operation| is_buffer(operation, import)).collect()
}

fn is_buffer(operation: &Operation, import: &Import) -> bool {
    let hlo = import.builder.modules.get(operation.module as usize).and_then(|module| module.hlo);
    match hlo.filter(|_| operation.instruction != NONE) {
        // Before command buffers were made of thunks they were computations that an instruction calls.
        Some(hlo) => &*import.hlo[hlo as usize].instructions[operation.instruction as usize].opcode == "call",
        None => is_command_buffer(import.builder.strings.get(operation.name)),
    }
}
