//! What XLA says in its NVTX ranges: `TSL:Thunk:#hlo_op=dot.1#` and the like.
//!
//! The grammar is that of `tsl::profiler::TraceMeEncode` and of `ScopedAnnotation` in XLA's GPU executor: a name, then
//! keys and values between two `#`. Values may hold commas, so known keys are looked for and not split at.

use super::rows::{EventRow, Timeline};
use crate::import::Import;
use ridge_trace::{EventKind, Module, NONE, Operation, StringId};
use rustc_hash::FxHashMap;

/// What a range says XLA was doing.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum XlaRange {
    /// Running a module.
    Module { name: String, program_id: u64 },
    /// Running one operation of a module.
    Thunk { op: String, scope: String },
    /// Compiling.
    Compile,
}

/// Reads the name of a range, with its domain in front.
pub(crate) fn range(name: &str) -> Option<XlaRange> {
    let said = name.strip_prefix("TSL:")?;
    if said.starts_with("XlaCompile") || said.starts_with("XlaPass") || said.starts_with("XlaAutotuner") {
        return Some(XlaRange::Compile);
    }
    let (kind, arguments) = said.split_once(":#")?;
    let arguments = arguments.strip_suffix('#').unwrap_or(arguments);
    match kind {
        "XlaModule" => Some(XlaRange::Module {
            name: value(arguments, "hlo_module").to_owned(),
            program_id: value(arguments, "program_id").parse().unwrap_or(0),
        }),
        "Thunk" => Some(XlaRange::Thunk {
            op: value(arguments, "hlo_op").to_owned(),
            scope: value(arguments, "name").to_owned(),
        }),
        _ => None,
    }
}

/// Keys that these ranges have.
const KEYS: [&str; 6] = ["prefix", "name", "hlo_op", "hlo_module", "program_id", "run_id"];

/// The value of `key`: up to the next known key or the end; empty where there is none.
fn value<'a>(arguments: &'a str, key: &str) -> &'a str {
    let starts = |key: &str| {
        let at = |(at, _): (usize, &str)| (at == 0 || arguments.as_bytes()[at - 1] == b',').then_some(at);
        arguments.match_indices(&format!("{key}=")).find_map(at)
    };
    let Some(start) = starts(key) else { return "" };
    let next = KEYS.iter().filter_map(|key| starts(key)).filter(|at| *at > start).min();
    let end = next.map_or(arguments.len(), |next| next - 1);
    &arguments[start + key.len() + 1..end]
}

/// Rows of modules and operations by what ranges say of them, for one process.
#[derive(Debug, Default)]
pub(crate) struct Operations {
    modules: FxHashMap<(StringId, u64), u32>,
    operations: FxHashMap<Operation, u32>,
}

impl Operations {
    /// The row of a module.
    pub(crate) fn module(&mut self, process: u32, name: &str, program_id: u64, import: &mut Import) -> u32 {
        let name = import.builder.strings.intern(name);
        let modules = &mut import.builder.modules;
        if self.modules.is_empty() {
            // One that was read before, with its HLO, is the same.
            for (row, known) in modules.iter().enumerate().filter(|(_, known)| known.process == process) {
                self.modules.entry((known.name, known.program_id)).or_insert(row as u32);
            }
        }
        *self.modules.entry((name, program_id)).or_insert_with(|| {
            modules.push(Module { process, name, program_id, hlo: None });
            modules.len() as u32 - 1
        })
    }

    /// The row of an operation of `module`, joined with its HLO where that is there.
    pub(crate) fn operation(&mut self, module: u32, op: &str, scope: &str, import: &mut Import) -> u32 {
        let hlo = import.builder.modules.get(module as usize).and_then(|module| import.hlo.get(module.hlo? as usize));
        let found = hlo.and_then(|hlo| hlo.instruction_named(op));
        let name = import.builder.strings.intern(op);
        let scope = import.builder.strings.intern(scope);
        let operation = Operation { name, module, instruction: found.map_or(NONE, |id| id.0), scope };
        *self.operations.entry(operation).or_insert_with(|| {
            import.builder.operations.push(operation);
            import.builder.operations.len() as u32 - 1
        })
    }
}

/// A range that is open during the sweep of a thread: its end, the module around it, and its operation if it is one.
#[derive(Clone, Copy)]
struct Open {
    end_ns: i64,
    module: u32,
    operation: Option<u32>,
}

/// Gives device work the operation whose range was open where it was launched, for the lanes of one process.
///
/// Rows must be sorted by start, longest first.
pub(super) fn attribute(
    timeline: &mut Timeline,
    lanes: &[usize],
    process: u32,
    ranges: &FxHashMap<u32, XlaRange>,
    import: &mut Import,
) {
    let mut operations = Operations::default();
    let mut launched: FxHashMap<u32, u32> = FxHashMap::default();
    for lane in lanes {
        let mut open: Vec<Open> = Vec::new();
        for row in &timeline.rows[*lane] {
            while open.last().is_some_and(|open| open.end_ns <= row.start_ns) {
                open.pop();
            }
            let end_ns = row.start_ns.saturating_add(row.dur_ns);
            let inside = open.last().map_or(NONE, |open| open.module);
            match ranges.get(&row.name).filter(|_| row.kind == EventKind::HostRange) {
                Some(XlaRange::Module { name, program_id }) => {
                    let module = operations.module(process, name, *program_id, import);
                    open.push(Open { end_ns, module, operation: None });
                }
                Some(XlaRange::Thunk { op, scope }) => {
                    let operation = Some(operations.operation(inside, op, scope, import));
                    open.push(Open { end_ns, module: inside, operation });
                }
                _ if row.correlation != 0 => {
                    let operation = open.last().and_then(|open| open.operation);
                    launched.extend(operation.map(|operation| (row.correlation, operation)));
                }
                _ => {}
            }
        }
    }
    for lane in lanes {
        let work = timeline.rows[*lane].iter_mut().filter(|row| row.kind.is_device_work());
        for row in work {
            let EventRow { correlation, op, .. } = row;
            *op = launched.get(correlation).copied().unwrap_or(*op);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_say_module_and_operation() {
        let module = |name: &str, program_id| Some(XlaRange::Module { name: name.to_owned(), program_id });
        let thunk = |op: &str, scope: &str| Some(XlaRange::Thunk { op: op.to_owned(), scope: scope.to_owned() });
        for (name, expected) in [
            ("TSL:XlaModule:#hlo_module=jit_f,program_id=5#", module("jit_f", 5)),
            ("TSL:XlaModule:#prefix=jit(f)/a,b,hlo_module=jit_f,program_id=5#", module("jit_f", 5)),
            ("TSL:Thunk:#hlo_op=all-reduce-start#", thunk("all-reduce-start", "")),
            ("TSL:Thunk:#name=jit(f)/g(a=1,b=2)/dot,hlo_op=dot.1#", thunk("dot.1", "jit(f)/g(a=1,b=2)/dot")),
            ("TSL:XlaCompile:#module=jit_f,program_id=5#", Some(XlaRange::Compile)),
            ("TSL:Thunk:#", thunk("", "")),
            ("TSL:other", None),
            ("Thunk:#hlo_op=x#", None),
        ] {
            assert_eq!(range(name), expected, "{name}");
        }
    }
}
