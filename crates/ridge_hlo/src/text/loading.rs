//! A module being read from text.

use rustc_hash::FxHashMap;

use crate::error::Notes;
use crate::ids::computation_id;
use crate::{ComputationId, HloModule};

/// A module being read.
#[derive(Default)]
pub(super) struct Loading<'t> {
    pub(super) module: HloModule,
    pub(super) notes: Notes,
    /// Per instruction that calls any, the names of the computations it calls, in call order.
    pub(super) calls: Vec<(u32, Vec<&'t str>)>,
    pub(super) seen_header: bool,
    /// Whether any frame says that it has no parent; see [`super::tables`].
    pub(super) has_raw_parents: bool,
}

impl<'t> Loading<'t> {
    pub(super) fn finish(mut self, text: &str) -> HloModule {
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
pub(super) fn excerpt(text: &str) -> String {
    const CHARACTERS: usize = 40;
    let line = text.trim_start().lines().next().unwrap_or_default();
    let mut short: String = line.chars().take(CHARACTERS).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    short
}
