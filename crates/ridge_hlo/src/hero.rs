//! Which instruction of a fusion stands for it: the one that gives it its cost, its name and its source line.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{HloModule, Instruction, InstructionId, SourceFrame};

/// Fusions nested deeper than this are not looked into; XLA nests one or two levels.
const DEPTH_LIMIT: u32 = 8;

impl HloModule {
    /// The instruction that gives a fusion its cost and name; the instruction itself if it is no fusion.
    ///
    /// That is the costliest kind of work inside, in the order matrix products and convolutions, scatters and sorts,
    /// reductions, transposes, in-place updates; of equal kinds the one nearest the result. Where there is none of
    /// these it is the result itself, seen through bitcasts and tuples.
    pub fn hero(&self, id: InstructionId) -> InstructionId {
        let mut hero = id;
        for _ in 0..DEPTH_LIMIT {
            match self.hero_inside(hero) {
                Some(inside) => hero = inside,
                None => break,
            }
        }
        hero
    }

    fn hero_inside(&self, id: InstructionId) -> Option<InstructionId> {
        let instruction = self.instruction(id);
        if !instruction.is_fusion() {
            return None;
        }
        let body = self.computation(*instruction.called.first()?);
        let root = body.root?;
        let best = body
            .instruction_ids()
            .rev()
            .map(|inside| (weight(self.instruction(inside)), inside))
            .filter(|(weight, _)| *weight > 0)
            .fold(None, |best: Option<(u32, InstructionId)>, (weight, inside)| match best {
                Some((heaviest, _)) if heaviest >= weight => best,
                _ => Some((weight, inside)),
            });
        Some(best.map_or_else(|| self.through_wrappers(root), |(_, inside)| inside))
    }

    /// The instruction behind bitcasts, copies of results and tuples.
    fn through_wrappers(&self, root: InstructionId) -> InstructionId {
        let mut seen = FxHashSet::default();
        let mut id = root;
        while seen.insert(id) {
            let instruction = self.instruction(id);
            let is_wrapper = matches!(&*instruction.opcode, "bitcast" | "tuple" | "get-tuple-element" | "reshape");
            match instruction.operands.first() {
                Some(&inner) if is_wrapper && self.instruction(inner).opcode != "parameter" => id = inner,
                _ => break,
            }
        }
        id
    }

    /// Where a fusion came from: its own source, else its hero's, else its result's, else the most common inside.
    ///
    /// For other instructions it is [`HloModule::source_stack`].
    pub fn source_in_fusion(&self, id: InstructionId) -> Vec<SourceFrame<'_>> {
        self.instruction_with(id, |instruction| instruction.metadata.has_source())
            .map(|found| self.source_stack(found))
            .unwrap_or_default()
    }

    /// A fusion's `op_name`: its own, else its hero's, else its result's, else the most common inside; may be empty.
    pub fn op_name_in_fusion(&self, id: InstructionId) -> &str {
        self.instruction_with(id, |instruction| !instruction.metadata.op_name.is_empty())
            .map_or("", |found| &self.instruction(found).metadata.op_name)
    }

    /// The instruction that answers for `id`: itself if `has` holds, else the best one inside the fusion it is.
    fn instruction_with(&self, id: InstructionId, has: impl Fn(&Instruction) -> bool) -> Option<InstructionId> {
        let holds = |id: &InstructionId| has(self.instruction(*id));
        if holds(&id) {
            return Some(id);
        }
        let body = self.instruction(id).called.first().filter(|_| self.instruction(id).is_fusion())?;
        let hero = Some(self.hero(id)).filter(holds);
        let root = self.computation(*body).root.filter(holds);
        hero.or(root).or_else(|| self.most_common_inside(id, &holds))
    }

    fn most_common_inside(&self, id: InstructionId, holds: &impl Fn(&InstructionId) -> bool) -> Option<InstructionId> {
        let body = self.instruction(id).called.first()?;
        let mut counts: FxHashMap<(u32, &str, u32), (usize, InstructionId)> = FxHashMap::default();
        for inside in self.computation(*body).instruction_ids().filter(holds) {
            let metadata = &self.instruction(inside).metadata;
            let key = (metadata.stack_frame_id, metadata.source_file.as_str(), metadata.source_line);
            counts.entry(key).or_insert((0, inside)).0 += 1;
        }
        counts.into_values().max_by_key(|&(count, first)| (count, std::cmp::Reverse(first))).map(|(_, first)| first)
    }
}

/// How much an instruction tends to dominate a fusion; 0 for those that never do.
fn weight(instruction: &Instruction) -> u32 {
    match &*instruction.opcode {
        "dot" | "convolution" | "ragged-dot" | "scaled-dot" | "custom-call" => 9,
        "fft" | "cholesky" | "triangular-solve" => 8,
        "scatter" | "sort" | "select-and-scatter" | "topk" => 7,
        "reduce" | "reduce-window" => 5,
        "transpose" => 4,
        "copy" => 3,
        "dynamic-update-slice" => 2,
        "fusion" => 1,
        _ if instruction.opcode.is_collective() => 6,
        _ => 0,
    }
}
