//! Who uses each value of a module.

use crate::{HloModule, InstructionId};

/// Who uses each instruction's value, each user once.
#[derive(Debug)]
pub struct Users {
    starts: Vec<u32>,
    users: Vec<InstructionId>,
}

impl Users {
    /// Looks through `module` once.
    pub fn new(module: &HloModule) -> Users {
        let mut starts = vec![0u32; module.instructions.len() + 1];
        let uses = || {
            module.instruction_ids().flat_map(|user| {
                let operands = &module.instruction(user).operands;
                let is_first = move |at: usize| !operands[..at.min(64)].contains(&operands[at]);
                (0..operands.len()).filter(move |&at| is_first(at)).map(move |at| (operands[at], user))
            })
        };
        uses().for_each(|(used, _)| starts[used.0 as usize + 1] += 1);
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut users = vec![InstructionId::default(); starts.last().map_or(0, |&end| end as usize)];
        for (used, user) in uses() {
            let slot = &mut next[used.0 as usize];
            users[*slot as usize] = user;
            *slot += 1;
        }
        Users { starts, users }
    }

    /// The users of one value, in module order.
    pub fn of(&self, id: InstructionId) -> &[InstructionId] {
        let at = id.0 as usize;
        &self.users[self.starts[at] as usize..self.starts[at + 1] as usize]
    }
}
