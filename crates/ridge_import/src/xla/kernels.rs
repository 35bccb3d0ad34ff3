//! Whose work the kernels are that name no operation: their launch's, else what module, name and order point to.
//!
//! Kernels inside CUDA graphs and command buffers carry the annotations of the one launch: none, or the whole buffer's.
//! XLA names a generated kernel after its instruction, so the module that was running and the kernel's name find it;
//! the kernels of libraries are found by their place among those. Kernels of one launch belong to one module.

use super::operations::{Operations, command_buffers};
use crate::import::Import;
use ridge_hlo::{FoundBy, HloModule, Implemented, KernelFinder};
use ridge_trace::{Attribution, EventKind, NONE, StringId};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Finds the operation of every kernel that names none, in all processes that run modules of XLA.
pub(crate) fn attribute(import: &mut Import) {
    if import.builder.modules.is_empty() {
        return;
    }
    let buffers = command_buffers(import);
    let modules = Modules::of(import);
    let lost = unnamed(&buffers, &modules, import);
    let mut operations = Operations::of_all(import);
    for of_process in lost.chunk_by(|kernel, next| kernel.process == next.process) {
        attribute_process(of_process, &buffers, &modules, &mut operations, import);
    }
}

fn attribute_process(
    lost: &[Unnamed],
    buffers: &[bool],
    modules: &Modules,
    operations: &mut Operations,
    import: &mut Import,
) {
    let graphs: Vec<&[Unnamed]> = lost.chunk_by(Unnamed::is_of_one_launch).collect();
    let said: Vec<Said> = graphs.iter().map(|graph| said(graph, buffers, import)).collect();
    let (answers, answer_of) = answers(&graphs, &said, &modules.with_hlo(lost[0].process, import), import);
    let placed: Vec<_> = answers.iter().map(|answer| answer.operations(operations, import)).collect();
    for ((graph, said), answer) in graphs.into_iter().zip(said).zip(answer_of) {
        if let Said::Operation(op) = said {
            graph.iter().for_each(|kernel| set(kernel.row, op, Attribution::ByLaunch, import));
            continue;
        }
        let placed = answer.map_or(&[][..], |answer| &placed[answer]);
        for (kernel, (op, how)) in graph.iter().zip(placed) {
            // A kernel that nothing places keeps the name of its command buffer.
            let is_of_buffer = *how == Attribution::ModuleOnly && kernel.op != NONE;
            set(kernel.row, if is_of_buffer { kernel.op } else { *op }, *how, import);
        }
    }
}

fn set(row: u32, op: u32, how: Attribution, import: &mut Import) {
    let slices = import.builder.slices(row..row + 1);
    slices.op[0] = op;
    slices.attribution[0] = how as u8;
}

/// A kernel without an operation, or with that of a whole command buffer.
#[derive(Debug, Clone, Copy)]
struct Unnamed {
    process: u32,
    row: u32,
    name: u32,
    start_ns: i64,
    correlation: u32,
    /// Raw row of its launch, or [`NONE`].
    launch: u32,
    /// The operation of its command buffer, or [`NONE`].
    op: u32,
}

impl Unnamed {
    fn is_of_one_launch(&self, other: &Unnamed) -> bool {
        self.correlation != 0 && self.correlation == other.correlation
    }
}

/// Rows of the modules table by who may have run them.
#[derive(Debug, Default)]
struct Modules {
    of_process: FxHashMap<u32, Vec<u32>>,
    /// Those of dumps that were read beside captures: they ran nothing themselves.
    of_dumps: Vec<u32>,
}

impl Modules {
    fn of(import: &Import) -> Modules {
        let mut modules = Modules::default();
        let mut has_rows = vec![false; import.builder.processes().len()];
        import.builder.tracks().iter().for_each(|track| has_rows[track.process as usize] = true);
        for (row, module) in (0..).zip(&import.builder.modules) {
            match has_rows[module.process as usize] {
                true => modules.of_process.entry(module.process).or_default().push(row),
                false => modules.of_dumps.push(row),
            }
        }
        modules
    }

    fn may_run(&self, process: u32) -> bool {
        !self.of_dumps.is_empty() || self.of_process.contains_key(&process)
    }

    /// The modules that `process` may have run and whose HLO is there.
    fn with_hlo<'i>(&self, process: u32, import: &'i Import) -> Vec<(u32, &'i HloModule)> {
        let own = self.of_process.get(&process).map_or(&[][..], Vec::as_slice);
        let hlo = |row: &u32| Some((*row, &import.hlo[import.builder.modules[*row as usize].hlo? as usize]));
        own.iter().chain(&self.of_dumps).filter_map(hlo).collect()
    }
}

/// Kernels to find an operation for, by process, by launch and in the order they ran.
///
/// Copies of a command buffer are marked on the way: they are the buffer's, and that is all to know of them.
fn unnamed(buffers: &[bool], modules: &Modules, import: &mut Import) -> Vec<Unnamed> {
    let mut kernels = Vec::new();
    for (track, rows) in import.builder.pieces().to_vec() {
        let process = import.builder.tracks()[track as usize].process;
        if modules.may_run(process) {
            unnamed_of(process, rows, buffers, import, &mut kernels);
        }
    }
    kernels.sort_by_key(|kernel| (kernel.process, kernel.correlation, kernel.start_ns));
    kernels
}

fn unnamed_of(process: u32, rows: Range<u32>, buffers: &[bool], import: &mut Import, kernels: &mut Vec<Unnamed>) {
    let slices = import.builder.slices(rows.clone());
    for at in 0..slices.len() {
        let op = slices.op[at];
        if op != NONE && !is_buffer(buffers, op) {
            continue;
        }
        if slices.kind[at] == EventKind::Kernel as u8 {
            kernels.push(Unnamed {
                process,
                row: rows.start + at as u32,
                name: slices.name[at],
                start_ns: slices.start_ns[at],
                correlation: slices.correlation[at],
                launch: slices.link[at],
                op,
            });
        } else if op != NONE && EventKind::from_byte(slices.kind[at]).is_device_work() {
            slices.attribution[at] = Attribution::ModuleOnly as u8;
        }
    }
}

fn is_buffer(buffers: &[bool], op: u32) -> bool {
    buffers.get(op as usize).is_some_and(|is_buffer| *is_buffer)
}

/// What a graph's annotations say of it.
#[derive(Debug, Clone, Copy)]
enum Said {
    Nothing,
    /// The launch names an operation, which is that of all its kernels.
    Operation(u32),
    /// The command buffer belongs to this module.
    Module(u32),
}

fn said(graph: &[Unnamed], buffers: &[bool], import: &mut Import) -> Said {
    let Some(first) = graph.first() else { return Said::Nothing };
    let by_launch =
        if first.launch == NONE { NONE } else { import.builder.slices(first.launch..first.launch + 1).op[0] };
    if by_launch != NONE && !is_buffer(buffers, by_launch) {
        return Said::Operation(by_launch);
    }
    let buffer = if first.op == NONE { by_launch } else { first.op };
    match import.builder.operations.get(buffer as usize) {
        Some(operation) if operation.module != NONE => Said::Module(operation.module),
        _ => Said::Nothing,
    }
}

/// The module of a graph and the instructions of its kernels.
#[derive(Debug)]
struct Answer {
    module: Option<u32>,
    instructions: Vec<Implemented>,
}

impl Answer {
    /// Looks up kernels of these names, which ran in this order.
    fn of(
        module: Option<u32>,
        names: &[u32],
        modules: &[(u32, &HloModule)],
        finders: &mut FxHashMap<u32, KernelFinder<'_>>,
        import: &Import,
    ) -> Answer {
        let names: Vec<&str> = names.iter().map(|name| import.builder.strings.get(StringId(*name))).collect();
        let module = module.or_else(|| best_module(&names, modules, finders));
        let instructions = match module.and_then(|module| finders.get_mut(&module)) {
            Some(finder) => finder.instructions(&names),
            None => vec![None; names.len()],
        };
        Answer { module, instructions }
    }

    /// The operation of each kernel and how it was found.
    fn operations(&self, operations: &mut Operations, import: &mut Import) -> Vec<(u32, Attribution)> {
        let Some(module) = self.module else {
            return vec![(NONE, Attribution::Unattributed); self.instructions.len()];
        };
        let hlo = import.builder.modules[module as usize].hlo;
        let mut place = |implemented: &Implemented| match (hlo, implemented) {
            (Some(hlo), Some((id, by))) => {
                let name = import.hlo[hlo as usize].instruction(*id).name.clone();
                let how = match by {
                    FoundBy::Name => Attribution::ByModule,
                    FoundBy::Order => Attribution::ByOrder,
                };
                (operations.operation(module, &name, "", import), how)
            }
            _ => (operations.operation(module, "", "", import), Attribution::ModuleOnly),
        };
        self.instructions.iter().map(&mut place).collect()
    }
}

/// The distinct answers, and which of them is each graph's: graphs repeat, and the same names give the same answer.
///
/// A graph whose launch names an operation asks nothing.
fn answers(
    graphs: &[&[Unnamed]],
    said: &[Said],
    modules: &[(u32, &HloModule)],
    import: &Import,
) -> (Vec<Answer>, Vec<Option<usize>>) {
    let mut finders: FxHashMap<u32, KernelFinder<'_>> =
        modules.iter().map(|(row, hlo)| (*row, KernelFinder::new(hlo))).collect();
    let mut answers = Vec::new();
    let mut known: FxHashMap<Vec<u32>, usize> = FxHashMap::default();
    // The module, if it is said, then the names.
    let mut key = Vec::new();
    let mut answer_of = Vec::with_capacity(graphs.len());
    for (graph, said) in graphs.iter().zip(said) {
        let module = match said {
            Said::Operation(_) => {
                answer_of.push(None);
                continue;
            }
            Said::Module(module) => Some(*module),
            Said::Nothing => None,
        };
        key.clear();
        key.push(module.unwrap_or(NONE));
        key.extend(graph.iter().map(|kernel| kernel.name));
        let answer = match known.get(&key) {
            Some(answer) => *answer,
            None => {
                answers.push(Answer::of(module, &key[1..], modules, &mut finders, import));
                known.insert(key.clone(), answers.len() - 1);
                answers.len() - 1
            }
        };
        answer_of.push(Some(answer));
    }
    (answers, answer_of)
}

/// The module with most of these kernel names; none where two explain as many or none explains any.
fn best_module(
    names: &[&str],
    modules: &[(u32, &HloModule)],
    finders: &FxHashMap<u32, KernelFinder<'_>>,
) -> Option<u32> {
    let mut distinct = names.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    let mut best: Option<(usize, u32)> = None;
    let mut is_tie = false;
    for (module, _) in modules {
        let Some(finder) = finders.get(module) else { continue };
        let score = distinct.iter().filter(|name| finder.knows(name)).count();
        match best {
            Some((top, _)) if score < top => {}
            Some((top, _)) if score == top => is_tie = true,
            _ => {
                best = Some((score, *module));
                is_tie = false;
            }
        }
    }
    best.filter(|(score, _)| *score > 0 && !is_tie).map(|(_, module)| module)
}
