//! The text reader: HLO as XLA dumps it, before and after optimization, old and new.
//!
//! Instructions are found by the balance of their brackets, not by a grammar of every attribute: an attribute this
//! crate does not know is kept as text, and a line that makes no sense costs that line.

mod attributes;
mod computation;
mod cursor;
mod header;
mod instruction;
pub(crate) mod labels;
mod lists;
mod literal;
mod shape;
mod tables;

pub(crate) use lists::split_list;

use rustc_hash::FxHashMap;

use crate::error::Notes;
use crate::module::computation_id;
use crate::{ComputationId, HloError, HloModule};
use cursor::Cursor;

/// Positions are 32 bits, and half of them are plenty.
const INSTRUCTION_LIMIT: usize = 1 << 31;

/// A module being read.
#[derive(Default)]
struct Loading<'t> {
    module: HloModule,
    notes: Notes,
    /// Per instruction that calls any, the names of the computations it calls, in call order.
    calls: Vec<(u32, Vec<&'t str>)>,
    seen_header: bool,
    /// Whether any frame says that it has no parent; see [`tables`].
    has_raw_parents: bool,
}

/// Reads a module; see [`HloModule::from_text`].
pub(crate) fn read(text: &str) -> Result<HloModule, HloError> {
    let mut loading = Loading::default();
    let mut cursor = Cursor::new(text);
    loop {
        cursor.skip_space();
        let start = cursor.at();
        let line = cursor.peek_line();
        if line.is_empty() {
            break;
        }
        if let Some(header) = line.strip_prefix("HloModule ") {
            cursor.skip_line();
            loading.header(header);
        } else if let Some(table) = tables::Table::titled(line) {
            cursor.skip_line();
            loading.table(table, &mut cursor);
        } else if line.trim_end().ends_with('{') {
            cursor.skip_line();
            loading.computation(line, start, &mut cursor);
        } else {
            loading.notes.add(start, || format!("expected a computation, found `{}`", excerpt(line)));
            cursor.skip_line();
        }
        if loading.module.instructions.len() >= INSTRUCTION_LIMIT {
            return Err(HloError::TooLarge { limit: INSTRUCTION_LIMIT, offset: cursor.at() });
        }
    }
    if !loading.seen_header && loading.module.computations.is_empty() {
        let found = if text.trim().is_empty() { "the end".to_owned() } else { format!("`{}`", excerpt(text)) };
        return Err(HloError::NotText { found, offset: 0 });
    }
    Ok(loading.finish(text))
}

impl<'t> Loading<'t> {
    fn finish(mut self, text: &str) -> HloModule {
        self.resolve_calls(text);
        if !self.has_raw_parents {
            self.module.frames.frames.iter_mut().for_each(|frame| frame.parent = frame.parent.saturating_sub(1));
        }
        if self.module.is_scheduled {
            for computation in &mut self.module.computations {
                // XLA schedules no fusion bodies.
                if !computation.is_fusion {
                    computation.schedule = Some(computation.instruction_ids().collect());
                }
            }
        }
        self.module.index();
        self.module.notes = self.notes.finish();
        self.module
    }

    fn resolve_calls(&mut self, text: &str) {
        let by_name: FxHashMap<&str, ComputationId> = self
            .module
            .computations
            .iter()
            .enumerate()
            .rev()
            .map(|(position, computation)| (computation.name.as_str(), computation_id(position)))
            .collect();
        let mut fusion_bodies = Vec::new();
        for (caller, names) in &self.calls {
            let instruction = &mut self.module.instructions[*caller as usize];
            for name in names {
                match by_name.get(name) {
                    Some(&found) => instruction.called.push(found),
                    None => {
                        let offset = (name.as_ptr() as usize).wrapping_sub(text.as_ptr() as usize);
                        self.notes.add(offset, || format!("expected a computation, found no `{}`", excerpt(name)));
                    }
                }
            }
            if instruction.is_fusion() {
                fusion_bodies.extend(instruction.called.iter().copied());
            }
        }
        for body in fusion_bodies {
            self.module.computations[body.0 as usize].is_fusion = true;
        }
    }
}

/// The beginning of a text for a message, one line.
fn excerpt(text: &str) -> String {
    const CHARACTERS: usize = 40;
    let line = text.trim_start().lines().next().unwrap_or_default();
    let mut short: String = line.chars().take(CHARACTERS).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    short
}
