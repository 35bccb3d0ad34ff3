//! Which instructions move values between devices, also where a wrapper hides it.

use crate::{HloModule, InstructionId, Phase};

/// Wrappers inside wrappers; XLA makes two.
const MAX_DEPTH: u32 = 4;

impl HloModule {
    /// The collective that `id` begins: itself, or the one inside an `async-start` or a fusion; `None` for all else.
    ///
    /// What only waits for the end of one (`all-reduce-done`) begins none.
    pub fn collective(&self, id: InstructionId) -> Option<InstructionId> {
        self.collective_inside(id, 0)
    }

    fn collective_inside(&self, id: InstructionId, depth: u32) -> Option<InstructionId> {
        let instruction = self.instruction(id);
        if instruction.opcode.is_collective() {
            return (instruction.opcode.phase() != Phase::End).then_some(id);
        }
        if depth == MAX_DEPTH || !matches!(&*instruction.opcode, "async-start" | "fusion") {
            return None;
        }
        let inside = instruction.called.iter().flat_map(|called| self.computation(*called).instruction_ids());
        inside.into_iter().find_map(|inner| self.collective_inside(inner, depth + 1))
    }
}

#[cfg(test)]
mod tests {
    use crate::HloModule;

    #[test]
    fn a_collective_is_found_in_its_wrapper() {
        let text = "HloModule m\n\n\
            wrapped {\n  p = f32[8]{0} parameter(0)\n  ROOT rs = f32[2]{0} reduce-scatter(p), dimensions={0}, to_apply=sum\n}\n\n\
            sum {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n\n\
            ENTRY main {\n  x = f32[8]{0} parameter(0)\n  \
            start = ((f32[8]{0}), f32[2]{0}) async-start(x), calls=wrapped\n  \
            done = f32[2]{0} async-done(start)\n  \
            all = f32[8]{0} all-reduce(x), to_apply=sum\n  ROOT twice = f32[8]{0} add(all, all)\n}\n";
        let module = HloModule::from_text(text).expect("it can be read");
        let found = |name: &str| {
            let id = module.instruction_named(name).expect("it is there");
            module.collective(id).map(|id| module.instruction(id).name.clone())
        };
        let names = ["start", "done", "all", "twice"].map(found);
        assert_eq!(names, [Some("rs".to_owned()), None, Some("all".to_owned()), None]);
    }
}
