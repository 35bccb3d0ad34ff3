//! What an instruction is, whatever it is called: a number that two instructions of one structure share.
//!
//! It is made of opcode, shape without layout, call target, dimensions, and of the computations that it runs: the same of each
//! of their instructions, in any order. Names, numbers, source lines and layouts are left out, because recompiling changes
//! them. It is kept in files, so it is FNV-1a with 64 bits, which does not change from one version to the next
//! (<https://datatracker.ietf.org/doc/html/draft-eastlake-fnv>).

use ridge_hlo::{HloModule, Instruction, InstructionId};

/// Computations inside computations that are looked into: fusions nest one or two deep, loops a few.
const DEPTH: u32 = 6;
/// Instructions that are looked at for one; a loop over a whole network has more and is told apart by the first of them.
const MOST: u32 = 4096;

/// The structure of an instruction.
pub(crate) fn structure(module: &HloModule, id: InstructionId) -> u64 {
    let mut left = MOST;
    of(module, id, DEPTH, &mut left)
}

fn of(module: &HloModule, id: InstructionId, depth: u32, left: &mut u32) -> u64 {
    let instruction = module.instruction(id);
    let mut hash = own(instruction);
    if depth == 0 {
        return hash;
    }
    for called in &instruction.called {
        // A sum does not know the order, which schedules and passes change.
        let mut inside = 0_u64;
        for id in module.computation(*called).instruction_ids() {
            if *left == 0 {
                break;
            }
            *left -= 1;
            inside = inside.wrapping_add(of(module, id, depth - 1, left));
        }
        hash = fnv(hash, &inside.to_le_bytes());
    }
    hash
}

fn own(instruction: &Instruction) -> u64 {
    let mut hash = fnv(OFFSET, instruction.opcode.as_bytes());
    hash = fnv(hash, instruction.shape.without_layout().to_string().as_bytes());
    hash = fnv(hash, instruction.custom_call_target.as_deref().unwrap_or_default().as_bytes());
    instruction.dimensions.iter().fold(hash, |hash, dimension| fnv(hash, &dimension.to_le_bytes()))
}

const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

fn fnv(hash: u64, bytes: &[u8]) -> u64 {
    // The end of one part is not the beginning of the next.
    let parts = bytes.iter().chain(std::iter::once(&0xff));
    parts.fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(body: &str) -> HloModule {
        let text = format!(
            "HloModule m\n\nfused {{\n{body}\n}}\n\nENTRY main {{\n  p = f32[8] parameter(0)\n  ROOT f.1 = f32[8] fusion(p), kind=kLoop, calls=fused\n}}\n"
        );
        HloModule::from_text(&text).expect("HLO")
    }

    #[test]
    fn names_and_order_do_not_matter_and_work_does() {
        let of = |body: &str| {
            let module = module(body);
            structure(&module, module.instruction_named("f.1").expect("it is there"))
        };
        let first =
            of("  a = f32[8] parameter(0)\n  b = f32[8] sine(a)\n  c = f32[8] cosine(a)\n  ROOT d = f32[8] add(b, c)");
        let renamed = of(
            "  x.7 = f32[8]{0} parameter(0)\n  z = f32[8] cosine(x.7)\n  y.9 = f32[8] sine(x.7)\n  ROOT w = f32[8] add(y.9, z)",
        );
        let other =
            of("  a = f32[8] parameter(0)\n  b = f32[8] sine(a)\n  c = f32[8] sine(a)\n  ROOT d = f32[8] add(b, c)");
        assert_eq!(first, renamed);
        assert_ne!(first, other);
    }
}
