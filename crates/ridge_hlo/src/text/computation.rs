//! Computations: a head line ending in `{`, instructions, a line beginning with `}`.

use rustc_hash::FxHashMap;

use super::cursor::Cursor;
use super::lists::unquote;
use super::{Loading, excerpt};
use crate::ids::{computation_id, instruction_id};
use crate::{Computation, InstructionId};

/// Names of a computation being read, to be resolved at its end.
#[derive(Default)]
pub(super) struct Scope<'t> {
    /// Positions of its instructions by name.
    by_name: FxHashMap<&'t str, u32>,
    /// Per instruction, how many of `references` are operands, and how many control predecessors.
    pub(super) counts: Vec<[u32; 2]>,
    pub(super) references: Vec<&'t str>,
    pub(super) root: Option<InstructionId>,
}

impl<'t> Loading<'t> {
    /// Reads the computation whose head `line` at `start` was just passed.
    pub(super) fn computation(&mut self, line: &'t str, start: usize, cursor: &mut Cursor<'t>) {
        let position = self.module.computations.len();
        let id = computation_id(position);
        let (is_entry, head) = match line.trim_start().strip_prefix("ENTRY ") {
            Some(head) => (true, head),
            None => (false, line.trim_start()),
        };
        let name = Cursor::new(head.trim_start_matches('%')).take_name();
        if name.is_empty() {
            self.notes.add(start, || format!("expected a computation's name, found `{}`", excerpt(line)));
        }
        let first = self.module.instructions.len();
        self.module.computations.push(Computation { name: name.to_owned(), ..Computation::default() });
        if is_entry {
            self.module.entry = Some(id);
        }
        let mut scope = Scope::default();
        let thread = self.body(&mut scope, id, cursor);
        self.resolve_names(&scope, first, start);
        let last = self.module.instructions.len();
        let computation = &mut self.module.computations[position];
        computation.instructions = instruction_id(first).0..instruction_id(last).0;
        computation.root = scope.root.or_else(|| computation.instructions.clone().next_back().map(InstructionId));
        computation.execution_thread = thread;
    }

    /// Reads instructions up to the closing brace, and gives the thread named after it.
    fn body(&mut self, scope: &mut Scope<'t>, id: crate::ComputationId, cursor: &mut Cursor<'t>) -> String {
        loop {
            cursor.skip_space();
            let start = cursor.at();
            if cursor.take("}") {
                let rest = cursor.peek_line();
                cursor.skip_line();
                let thread = rest.split_once("execution_thread=").map(|(_, value)| unquote(value));
                return thread.filter(|thread| thread != "main").unwrap_or_default();
            }
            if cursor.peek_line().is_empty() {
                self.notes.add(start, || "expected `}` at the end of a computation, found the end".to_owned());
                return String::new();
            }
            let Some((name, instruction)) = self.instruction(scope, cursor) else {
                continue;
            };
            let position = instruction_id(self.module.instructions.len());
            scope.by_name.insert(name, position.0);
            self.module.instructions.push(crate::Instruction { computation: id, ..instruction });
        }
    }

    fn resolve_names(&mut self, scope: &Scope<'t>, first: usize, start: usize) {
        let mut references = scope.references.as_slice();
        let mut dangling: Option<(&str, usize)> = None;
        for (instruction, counts) in self.module.instructions[first..].iter_mut().zip(&scope.counts) {
            let mut take = |count: u32| {
                let (these, rest) = references.split_at((count as usize).min(references.len()));
                references = rest;
                let found = these.iter().filter_map(|name| {
                    let found = scope.by_name.get(name).copied().map(InstructionId);
                    if found.is_none() {
                        dangling =
                            Some((dangling.map_or(*name, |(first, _)| first), dangling.map_or(1, |(_, n)| n + 1)));
                    }
                    found
                });
                found.collect::<Vec<_>>()
            };
            instruction.operands = take(counts[0]);
            instruction.control_predecessors = take(counts[1]);
        }
        if let Some((first, count)) = dangling {
            self.notes.add(start, || {
                format!(
                    "{count} operands of this computation lead to nothing and were dropped; the first: {}",
                    excerpt(first)
                )
            });
        }
    }
}
