//! What the recorder watched of the program, for the rules that judge it.

use crate::arguments::name_of;
use crate::case::{Case, Framework};
use crate::finding::Place;
use crate::programs::Program;
use ridge_analysis::{Looks, PythonLooks};
use ridge_hlo::InstructionId;
use ridge_trace::{PythonPlace, PythonStack, SteadyArguments, Watched};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

impl<'a> Case<'a> {
    /// What was watched of the judged processes.
    pub(crate) fn watched(&self) -> &'a [Watched] {
        if self.framework() == Framework::Torch { &self.trace().python.watched } else { &[] }
    }

    /// The entry parameters of a compiled program that are the same arrays in every call, and the looks that say so.
    pub(crate) fn steady(&self, program: &Program<'_>) -> Option<(BTreeSet<InstructionId>, u64)> {
        let steady = self.looks_at(program).max_by_key(|steady| steady.looks).filter(|steady| steady.looks > 0)?;
        Some((parameters(program, &steady.arguments), steady.looks))
    }

    /// The entry parameters of a compiled program that are other arrays from call to call.
    pub(crate) fn changing(&self, program: &Program<'_>) -> BTreeSet<InstructionId> {
        self.looks_at(program).flat_map(|looks| parameters(program, &looks.changing)).collect()
    }

    fn looks_at(&self, program: &Program<'a>) -> impl Iterator<Item = &'a SteadyArguments> + use<'a> {
        let function = program.function(self);
        let all = self.trace().python.watched.iter().flat_map(|watched| &watched.steady);
        all.filter(move |looks| looks.function == function)
    }

    /// The place in the words of a finding.
    pub(crate) fn place_of_python(&self, place: &PythonPlace) -> Place {
        Place { file: self.trace().strings.get(place.file).to_owned(), line: place.line, is_inferred: false }
    }

    /// The part of the judged time in which the program was at `place` or in what that calls, by the looks at it.
    pub(crate) fn part_within(&self, place: &PythonPlace) -> Option<f64> {
        self.part_where(|found| (found.file, found.line) == (place.file, place.line))
    }

    /// The same of all places that `is_one` tells.
    pub(crate) fn part_where(&self, is_one: impl Fn(&PythonPlace) -> bool) -> Option<f64> {
        let all = self.analysis.get::<PythonLooks>().count;
        let within = self.looks_where(is_one).values().sum::<u64>();
        (all >= FEWEST).then(|| within as f64 / all as f64)
    }

    /// The part of the judged time in which the program was at a line of a finding, or in what that calls.
    pub(crate) fn part_at(&self, place: &Place) -> Option<f64> {
        let file = self.trace().strings.find(&place.file)?;
        self.part_where(|found| found.file == file && found.line == place.line)
    }

    /// The looks that found the program at such a place, or in what that calls.
    pub(crate) fn looks_where(&self, is_one: impl Fn(&PythonPlace) -> bool) -> Looks {
        let python = &self.trace().python;
        let is_at = |row: &u32| python.places.get(*row as usize).is_some_and(&is_one);
        self.looks_with(|stack| stack.places.iter().any(is_at))
    }

    /// The looks that found such a stack.
    pub(crate) fn looks_with(&self, is_it: impl Fn(&PythonStack) -> bool) -> Looks {
        let stacks = &self.trace().python.stacks;
        let all = self.analysis.get::<PythonLooks>().all().iter();
        let found = all.filter(|(row, _)| stacks.get(**row as usize).is_some_and(&is_it));
        found.map(|(row, count)| (*row, *count)).collect()
    }

    /// All rows of the breakdown with `share` of each: no event says when it was, so every moment has its part.
    pub(crate) fn claim_of_all(&self, share: f64) -> Vec<(usize, f32)> {
        (0..self.breakdown().rows.len()).map(|at| (at, share as f32)).collect()
    }
}

/// The entry parameters with these names.
fn parameters(program: &Program<'_>, names: &[String]) -> BTreeSet<InstructionId> {
    let module = program.module;
    let Some(entry) = module.entry else { return BTreeSet::new() };
    let names: FxHashSet<&str> = names.iter().map(String::as_str).collect();
    let is_named = |id: &InstructionId| {
        module.instruction(*id).opcode == "parameter" && names.contains(name_of(module, *id).as_str())
    };
    module.computation(entry).instruction_ids().filter(is_named).collect()
}

/// Fewer looks tell no part.
const FEWEST: u64 = 10;
