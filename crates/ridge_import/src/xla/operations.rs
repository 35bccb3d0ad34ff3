//! Operations and the modules they belong to, as events name them, joined with the HLO of those modules.

use crate::import::Import;
use crate::xla::command_buffer::is_command_buffer;
use ridge_trace::{Module, NONE, Operation, StringId};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// Rows of the modules and operations of one process.
#[derive(Debug)]
pub(crate) struct Operations {
    process: u32,
    by_program: FxHashMap<u64, u32>,
    by_module_name: FxHashMap<StringId, u32>,
    by_both: FxHashMap<(u64, StringId), u32>,
    ids: FxHashMap<(u32, StringId), u32>,
}

/// The modules that ran, as their events name them: program id and name, with the operations that did.
pub(crate) type Ran = BTreeMap<(u64, String), BTreeSet<String>>;

impl Operations {
    /// Knows the modules that `import` has of `process`.
    pub(crate) fn new(process: u32, import: &Import) -> Operations {
        let mut table = Operations {
            process,
            by_program: FxHashMap::default(),
            by_module_name: FxHashMap::default(),
            by_both: FxHashMap::default(),
            ids: FxHashMap::default(),
        };
        for (row, module) in import.builder.modules.iter().enumerate() {
            if module.process == process {
                table.by_program.entry(module.program_id).or_insert(row as u32);
                table.by_module_name.entry(module.name).or_insert(row as u32);
                table.by_both.entry((module.program_id, module.name)).or_insert(row as u32);
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

    /// Finds the modules that ran under another program id than the one their HLO is kept under, which is so of
    /// executables from a compilation cache: they name the id that they had where they were compiled, and that may be
    /// another module's here. Such a module is the one of its name that has all operations that ran, and that nothing ran
    /// of under its own id.
    ///
    /// Gives how many were found, and of how many several may be it.
    pub(crate) fn find_renumbered(&mut self, ran: &Ran, import: &mut Import) -> (u64, u64) {
        let (mut found, mut unclear) = (0, 0);
        for ((program_id, name), operations) in ran {
            let name_id = import.builder.strings.intern(name);
            let known = self.by_both.get(&(*program_id, name_id));
            if known.is_some_and(|row| import.builder.modules[*row as usize].hlo.is_some()) {
                continue;
            }
            let may_be_it = |module: &Module| {
                let hlo = module.hlo.and_then(|hlo| import.hlo.get(hlo as usize));
                module.process == self.process
                    && module.name == name_id
                    && !ran.contains_key(&(module.program_id, name.clone()))
                    && hlo.is_some_and(|hlo| operations.iter().all(|op| hlo.instruction_named(op).is_some()))
            };
            let modules = import.builder.modules.iter().enumerate();
            let mut rows = modules.filter(|(_, module)| may_be_it(module)).map(|(row, _)| row as u32);
            match (rows.next(), rows.next()) {
                (Some(row), None) => {
                    self.by_both.insert((*program_id, name_id), row);
                    found += 1;
                }
                (Some(_), Some(_)) => unclear += 1,
                (None, _) => {}
            }
        }
        (found, unclear)
    }

    /// The row of a module, by its program id and name where both are known, else by the one that is.
    pub(crate) fn module(&mut self, program_id: Option<u64>, name: &str, import: &mut Import) -> u32 {
        let name_id = import.builder.strings.intern(name);
        let known = match program_id {
            Some(id) => self.by_both.get(&(id, name_id)).or_else(|| {
                // An id alone is one only where a name is missing: another module may have it by chance.
                let row = self.by_program.get(&id)?;
                let other = import.builder.modules[*row as usize].name;
                (name.is_empty() || import.builder.strings.get(other).is_empty()).then_some(row)
            }),
            None => self.by_module_name.get(&name_id),
        };
        if let Some(&row) = known {
            return row;
        }
        // The capture ran a module whose HLO it does not have.
        let row = import.builder.modules.len() as u32;
        let program_id = program_id.unwrap_or(0);
        import.builder.modules.push(Module { process: self.process, name: name_id, program_id, hlo: None });
        self.by_program.entry(program_id).or_insert(row);
        self.by_module_name.entry(name_id).or_insert(row);
        self.by_both.entry((program_id, name_id)).or_insert(row);
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

#[cfg(test)]
mod tests {
    use super::*;
    use ridge_hlo::HloModule;

    /// A process with modules of one operation each: name, program id, operation.
    fn import(modules: &[(&str, u64, &str)]) -> Import {
        let mut import = Import::default();
        let process = import.builder.add_process("host", None);
        for (name, program_id, op) in modules {
            let text =
                format!("HloModule {name}\n\nENTRY %e {{\n  ROOT %{op} = f32[8]{{0}} iota(), iota_dimension=0\n}}\n");
            import.hlo.push(HloModule::from_text(&text).expect("HLO text of the test"));
            let (name, hlo) = (import.builder.strings.intern(name), Some(import.hlo.len() as u32 - 1));
            import.builder.modules.push(Module { process, name, program_id: *program_id, hlo });
        }
        import
    }

    /// Where what ran is found: the program id of the module that has its HLO, or that there is none.
    #[track_caller]
    fn check(modules: &[(&str, u64, &str)], ran: &[(&str, u64, &str)], counted: (u64, u64), expected: &[Option<u64>]) {
        let mut import = import(modules);
        let mut operations = Operations::new(0, &import);
        let of = |(name, id, op): &(&str, u64, &str)| ((*id, (*name).to_owned()), BTreeSet::from([(*op).to_owned()]));
        let all: Ran = ran.iter().map(of).collect();
        assert_eq!(operations.find_renumbered(&all, &mut import), counted);
        let found: Vec<Option<u64>> = ran
            .iter()
            .map(|(name, id, _)| {
                let row = operations.module(Some(*id), name, &mut import);
                let module = &import.builder.modules[row as usize];
                module.hlo.map(|_| module.program_id)
            })
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn executables_from_a_cache_run_under_an_id_that_may_be_another_modules() {
        // As JAX's compilation cache leaves it: alpha ran as 6, which is delta's, and has its HLO under 17.
        let modules = [("delta", 6, "mul"), ("alpha", 17, "add"), ("beta", 14, "cos")];
        check(
            &modules,
            &[("delta", 6, "mul"), ("alpha", 6, "add"), ("beta", 9, "cos")],
            (2, 0),
            &[Some(6), Some(17), Some(14)],
        );
        // Another program of that name, and one whose HLO ran under its own id, are not it.
        check(
            &modules,
            &[("alpha", 6, "sub"), ("beta", 9, "cos"), ("beta", 14, "cos")],
            (0, 0),
            &[None, None, Some(14)],
        );
        // Of two that may be it none is taken.
        check(&[("f", 3, "add"), ("f", 5, "add")], &[("f", 9, "add")], (0, 1), &[None]);
    }
}
