//! A computation without anything that two compilations of one program may name or place differently.

use crate::{BackendConfig, ComputationId, HloModule, InstructionId, Metadata};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write as _;

impl HloModule {
    /// A computation and all that it calls as text without names, source positions, frontend attributes and what the backend
    /// decided: two are the same program, at the same size, if and only if their texts are equal. Long constants are cut.
    pub fn nameless_text(&self, entry: ComputationId) -> String {
        let order = self.reached_from(entry);
        let mut plain = self.clone();
        plain.entry = None;
        let mut instructions: FxHashMap<InstructionId, usize> = FxHashMap::default();
        for (number, id) in order.iter().enumerate() {
            plain.computations[id.0 as usize].name = format!("c{number}");
            for instruction in self.computation(*id).in_order() {
                let next = instructions.len();
                instructions.insert(instruction, next);
            }
        }
        for (id, number) in &instructions {
            let instruction = &mut plain.instructions[id.0 as usize];
            instruction.name = format!("v{number}");
            instruction.metadata = Metadata::default();
            instruction.backend_config = BackendConfig::default();
            if let Some(attributes) = &mut instruction.attributes {
                attributes.frontend_attributes.clear();
            }
        }
        order.iter().map(|id| plain.computation_text(*id)).collect()
    }

    /// The shapes of a computation's parameters and of its result: `(f32[8,8], s32[]) -> f32[8]`.
    pub fn signature(&self, id: ComputationId) -> String {
        let mut parameters: Vec<_> =
            self.instructions_of(id).iter().filter(|instruction| instruction.parameter_number.is_some()).collect();
        parameters.sort_by_key(|parameter| parameter.parameter_number);
        let mut text = String::from("(");
        for (position, parameter) in parameters.iter().enumerate() {
            let comma = if position == 0 { "" } else { ", " };
            let _ = write!(text, "{comma}{}", parameter.shape.without_layout());
        }
        text.push(')');
        if let Some(root) = self.computation(id).root {
            let _ = write!(text, " -> {}", self.instruction(root).shape.without_layout());
        }
        text
    }

    /// A computation and those that it calls, each once, in the order in which they are first called.
    fn reached_from(&self, entry: ComputationId) -> Vec<ComputationId> {
        let mut order = vec![entry];
        let mut seen = FxHashSet::from_iter([entry]);
        let mut at = 0;
        while let Some(id) = order.get(at).copied() {
            at += 1;
            for instruction in self.computation(id).in_order() {
                order.extend(self.instruction(instruction).called.iter().filter(|called| seen.insert(**called)));
            }
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use crate::HloModule;

    /// A doubled array, with these names, this scope, this extent and this factor.
    fn text(name: &str, scope: &str, extent: u32, factor: &str) -> String {
        let module = HloModule::from_text(&format!(
            "HloModule jit_{name}\n\n%{name} (p: f32[{extent}]) -> f32[{extent}] {{\n  %p = f32[{extent}]{{0}} parameter(0)\n  %c = f32[] constant({factor})\n  %all = f32[{extent}]{{0}} broadcast(%c), dimensions={{}}\n  ROOT %m = f32[{extent}]{{0}} multiply(%p, %all), metadata={{op_name=\"{scope}\"}}\n}}\n\nENTRY %main (x: f32[{extent}]) -> f32[{extent}] {{\n  %x.{name} = f32[{extent}]{{0}} parameter(0)\n  ROOT %y = f32[{extent}]{{0}} fusion(%x.{name}), kind=kLoop, calls=%{name}\n}}\n"
        ))
        .expect("HLO");
        module.nameless_text(module.entry.expect("an entry"))
    }

    #[test]
    fn names_and_places_differ_and_sizes_and_constants_matter() {
        let one = text("f", "jit(f)/mul", 8, "2");
        assert_eq!(one, text("g", "jit(g)/while/mul", 8, "2"));
        assert_ne!(one, text("f", "jit(f)/mul", 16, "2"));
        assert_ne!(one, text("f", "jit(f)/mul", 8, "3"));
    }

    #[test]
    fn what_was_printed_and_read_again_is_the_same() {
        let module = HloModule::from_text(
            "HloModule jit_f\n\n%body (s: (s32[], f32[4])) -> (s32[], f32[4]) {\n  %s = (s32[], f32[4]{0}) parameter(0)\n  %i = s32[] get-tuple-element(%s), index=0\n  %a = f32[4]{0} get-tuple-element(%s), index=1\n  ROOT %t = (s32[], f32[4]{0}) tuple(%i, %a)\n}\n\n%cond (s: (s32[], f32[4])) -> pred[] {\n  %s = (s32[], f32[4]{0}) parameter(0)\n  ROOT %c = pred[] constant(false)\n}\n\nENTRY %main (x: (s32[], f32[4])) -> (s32[], f32[4]) {\n  %x = (s32[], f32[4]{0}) parameter(0)\n  ROOT %w = (s32[], f32[4]{0}) while(%x), condition=%cond, body=%body\n}\n",
        )
        .expect("HLO");
        let again = HloModule::from_text(&module.to_text()).expect("HLO");
        for name in ["main", "body"] {
            let [one, other] = [&module, &again].map(|module| {
                let id = module.computation_named(name).expect("a computation");
                (module.nameless_text(id), module.signature(id))
            });
            assert_eq!(one, other);
        }
        let body = module.computation_named("body").expect("a computation");
        assert_eq!(module.signature(body), "((s32[], f32[4])) -> (s32[], f32[4])");
    }
}
