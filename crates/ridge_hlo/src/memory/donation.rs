//! Parameters whose memory could have held a result, and was not given away.
//!
//! It does not know whether the caller still needs the argument: only the program's author does.

use super::Liveness;
use crate::{HloModule, InstructionId, Shape};
use rustc_hash::FxHashSet;

/// Parameters below this are not worth a word: a page.
const LEAST_BYTES: u64 = 4096;

/// A parameter that could have been a result's memory.
#[derive(Debug, Clone, PartialEq)]
pub struct MissedDonation {
    /// The parameter.
    pub parameter: InstructionId,
    /// Path of tuple positions in it.
    pub parameter_index: Vec<i64>,
    /// Path of tuple positions in the program's result.
    pub output_index: Vec<i64>,
    /// The instruction that makes the result.
    pub made_by: InstructionId,
    /// Bytes of each.
    pub bytes: u64,
    /// Last position that reads the parameter.
    pub last_read: u32,
    /// Position that makes the result.
    pub made_at: u32,
}

/// An array of a parameter that is given to nothing.
struct Free<'m> {
    parameter: InstructionId,
    index: Vec<i64>,
    shape: &'m Shape,
    last_read: u32,
}

/// Parameters that are dead when a result of the same type and extents is made, and whose memory is not given to it.
///
/// The type and the extents must agree, as JAX demands of `donate_argnums`; each parameter is used once.
/// Most bytes first.
pub fn missed_donations(module: &HloModule, liveness: &Liveness) -> Vec<MissedDonation> {
    let Some(root) = module.entry.and_then(|entry| module.computation(entry).root) else { return Vec::new() };
    let mut free = free_parameters(module, liveness);
    let shape = &module.instruction(root).shape;
    let taken: FxHashSet<&[i64]> = module.input_output_aliases.iter().map(|alias| &alias.output_index[..]).collect();
    let mut missed = Vec::new();
    for (leaf, (output_index, array)) in shape.leaves_with_paths().into_iter().enumerate() {
        let Some(value) = liveness.made(root, leaf).filter(|value| !is_argument(module, value.at)) else { continue };
        let fits = |free: &Free<'_>| {
            free.shape.element_type == array.element_type
                && free.shape.dimensions == array.dimensions
                && free.last_read <= value.from
        };
        let Some(position) = free.iter().position(fits).filter(|_| !taken.contains(&output_index[..])) else {
            continue;
        };
        let given = free.remove(position);
        missed.push(MissedDonation {
            parameter: given.parameter,
            parameter_index: given.index,
            output_index,
            made_by: value.at,
            bytes: value.bytes,
            last_read: given.last_read,
            made_at: value.from,
        });
    }
    missed.sort_by_key(|missed| (std::cmp::Reverse(missed.bytes), missed.parameter));
    missed
}

fn is_argument(module: &HloModule, id: InstructionId) -> bool {
    let maker = module.instruction(id);
    maker.opcode == "parameter" && module.entry == Some(maker.computation)
}

fn free_parameters<'m>(module: &'m HloModule, liveness: &Liveness) -> Vec<Free<'m>> {
    let aliased = module.input_output_aliases.iter().map(|alias| (alias.parameter, &alias.parameter_index[..]));
    let donated = module.buffer_donors.iter().map(|donor| (donor.parameter, &donor.parameter_index[..]));
    let given: FxHashSet<(Option<InstructionId>, &[i64])> =
        aliased.chain(donated).map(|(number, index)| (module.parameter(number), index)).collect();
    let entry = module.entry.map(|entry| module.computation(entry).instruction_ids()).into_iter().flatten();
    let mut free = Vec::new();
    for parameter in entry.filter(|id| is_argument(module, *id)) {
        let whole = &module.instruction(parameter).shape;
        for (leaf, (index, shape)) in whole.leaves_with_paths().into_iter().enumerate() {
            let own = liveness
                .value(parameter, leaf)
                .filter(|value| value.at == parameter && !value.is_output && value.bytes >= LEAST_BYTES);
            let Some(value) = own.filter(|_| !given.contains(&(Some(parameter), &index[..]))) else {
                continue;
            };
            free.push(Free { parameter, index, shape, last_read: value.to });
        }
    }
    free
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Schedule;
    use expect_test::{Expect, expect};

    #[track_caller]
    fn check(header: &str, expected: Expect) {
        let text = format!(
            "HloModule m, is_scheduled=true{header}
             ENTRY %main (w: f32[2048], g: f32[2048], x: f32[1024]) -> (f32[2048], f32[1024], f32[2048]) {{
               %w = f32[2048]{{0}} parameter(0)
               %g = f32[2048]{{0}} parameter(1)
               %x = f32[1024]{{0}} parameter(2)
               %n = f32[2048]{{0}} subtract(%w, %g)
               %y = f32[1024]{{0}} negate(%x)
               %late = f32[1024]{{0}} add(%y, %x)
               %m = f32[2048]{{0}} negate(%g)
               ROOT %t = (f32[2048]{{0}}, f32[1024]{{0}}, f32[2048]{{0}}) tuple(%n, %y, %m)
             }}"
        );
        let module = HloModule::from_text(&text).expect("HLO text of the test");
        let liveness = Liveness::new(&module, &Schedule::new(&module));
        let name = |id: InstructionId| &module.instruction(id).name;
        let line = |missed: &MissedDonation| {
            let (from, to) = (name(missed.parameter), name(missed.made_by));
            format!("{from} read until {} for {to} at {}: {} B\n", missed.last_read, missed.made_at, missed.bytes)
        };
        expected.assert_eq(&missed_donations(&module, &liveness).iter().map(line).collect::<String>());
    }

    #[test]
    fn a_parameter_must_be_dead_when_the_result_is_made() {
        // `x` is read after `y` is made, so its memory cannot be `y`'s.
        check(
            "",
            expect![[r#"
                w read until 3 for n at 3: 8192 B
                g read until 6 for m at 6: 8192 B
            "#]],
        );
    }

    #[test]
    fn what_is_given_is_not_missed() {
        check(
            ", input_output_alias={ {0}: (0, {}, may-alias) }",
            expect![[r#"
                g read until 6 for m at 6: 8192 B
            "#]],
        );
        check(
            ", buffer_donor={ (1, {}) }",
            expect![[r#"
                w read until 3 for n at 3: 8192 B
            "#]],
        );
    }
}
