//! What a sort's comparator means: recognized by its whole structure, or refused.

use crate::program::Order;
use crate::refusal::{Refusal, refuse};
use ridge_hlo::{ComputationId, HloModule, Instruction, InstructionId};

/// How far into a comparator is looked.
const DEEPEST: usize = 24;

/// Less-than as `jax.numpy.sort` of 32-bit numbers lowers it: zeros and what is no number are made alike, then the bits are
/// compared as integers, those of negative numbers turned round.
const TOTAL: &str = "LT(select(LT(B0,0),xor(2147483647,B0),B0),select(LT(B1,0),xor(2147483647,B1),B1))";
const CANONICAL: &str = "bits(select(NE(P,P),nan,select(EQ(P,0),0,P)))";

/// The order that a sort's comparator makes.
pub(super) fn order(module: &HloModule, sort: &Instruction) -> Result<Order, Refusal> {
    let called = sort.called.first().copied();
    let text = called.and_then(|called| text_of(module, called)).unwrap_or_default();
    let canonical = |number: &str| CANONICAL.replace('P', number);
    let total = TOTAL.replace("B0", &canonical("p0")).replace("B1", &canonical("p1"));
    let total_turned = total.replace("p0", "q").replace("p1", "p0").replace('q', "p1");
    Ok(match text.as_str() {
        "LT(p0,p1)" | "GT(p1,p0)" => Order::Less,
        "GT(p0,p1)" | "LT(p1,p0)" => Order::Greater,
        text if text == total => Order::Total,
        text if text == total_turned.replace("LT(select", "GT(select") => Order::Total,
        _ => return refuse(format!("`{}` sorts by an unsupported comparison", sort.name)),
    })
}

fn text_of(module: &HloModule, computation: ComputationId) -> Option<String> {
    let mut out = String::new();
    write(module, module.computation(computation).root?, 0, &mut out)?;
    Some(out)
}

fn write(module: &HloModule, id: InstructionId, depth: usize, out: &mut String) -> Option<()> {
    let instruction = module.instruction(id);
    if depth > DEEPEST || out.len() > 4096 {
        return None;
    }
    match &*instruction.opcode {
        "parameter" => out.push_str(&format!("p{}", instruction.parameter_number?)),
        "constant" => out.push_str(&instruction.literal.as_deref()?.scalar()?.to_string()),
        opcode => {
            out.push_str(match opcode {
                "compare" => instruction.attributes().comparison_direction.as_deref()?,
                "bitcast" | "bitcast-convert" => "bits",
                other => other,
            });
            out.push('(');
            for (at, operand) in instruction.operands.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { "," });
                write(module, *operand, depth + 1, out)?;
            }
            out.push(')');
        }
    }
    Some(())
}
