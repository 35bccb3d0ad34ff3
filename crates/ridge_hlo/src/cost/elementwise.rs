//! Operations that do the same to every element.

use super::work::OpKind::{self, Add, Compare, Convert, DivideSqrt, Integer, Multiply, Transcendental};
use super::{Work, sizes};
use crate::{ElementType, Elementwise, HloModule, Instruction, OpcodeClass};

/// The work of an elementwise instruction; `None` if it is none.
pub(super) fn work(module: &HloModule, instruction: &Instruction) -> Option<Work> {
    let element_type = compute_type(module, instruction);
    let OpcodeClass::Elementwise(arithmetic) = instruction.opcode.class() else { return None };
    let kinds = per_element(&instruction.opcode, arithmetic, element_type)?;
    let elements = sizes::elements(&instruction.shape);
    let mut work = Work::default();
    for &(kind, count) in kinds {
        work.add(kind, element_type, elements * count);
    }
    Some(work)
}

/// The type the work is done in: that of the result, but of what is compared or read where the result is of another.
fn compute_type(module: &HloModule, instruction: &Instruction) -> ElementType {
    let operand = |at: usize| instruction.operands.get(at).map(|&id| module.instruction(id).shape.element_type);
    let own = instruction.shape.element_type;
    match &*instruction.opcode {
        "compare" | "is-finite" | "abs" => operand(0).unwrap_or(own),
        // What is converted counts as the real type of the two, so that it is told from integer work.
        "convert" if !own.is_float() => operand(0).unwrap_or(own),
        _ => own,
    }
}

type Kinds = &'static [(OpKind, f64)];

/// What is done to each element; empty for moves, `None` for what is not elementwise.
fn per_element(opcode: &str, arithmetic: Elementwise, element_type: ElementType) -> Option<Kinds> {
    Some(match arithmetic {
        Elementwise::Convert => &[(Convert, 1.0)],
        Elementwise::Parts => &[],
        // A computation of its own says what it does.
        Elementwise::Map => return None,
        _ if opcode == "clamp" && !element_type.is_float() => &[(Integer, 2.0)],
        _ if opcode == "clamp" => &[(Compare, 2.0)],
        _ if element_type.is_complex() => return complex(opcode, arithmetic),
        _ if element_type.is_float() => return real(arithmetic),
        _ => return integer(opcode, arithmetic),
    })
}

fn real(arithmetic: Elementwise) -> Option<Kinds> {
    Some(match arithmetic {
        Elementwise::Add => &[(Add, 1.0)],
        Elementwise::Multiply => &[(Multiply, 1.0)],
        Elementwise::DivideSqrt => &[(DivideSqrt, 1.0)],
        Elementwise::Compare => &[(Compare, 1.0)],
        Elementwise::Round => &[(Convert, 1.0)],
        Elementwise::Transcendental => &[(Transcendental, 1.0)],
        Elementwise::Logic | Elementwise::Convert | Elementwise::Parts | Elementwise::Map => return None,
    })
}

/// Complex arithmetic by its textbook formulas, in operations on the parts.
fn complex(opcode: &str, arithmetic: Elementwise) -> Option<Kinds> {
    Some(match opcode {
        "add" | "subtract" | "negate" => &[(Add, 2.0)],
        // (a + bi)(c + di) = (ac - bd) + (ad + bc)i
        "multiply" => &[(Multiply, 4.0), (Add, 2.0)],
        // The product with the conjugate, over the sum of squares.
        "divide" => &[(Multiply, 6.0), (Add, 3.0), (DivideSqrt, 2.0)],
        "abs" => &[(Multiply, 2.0), (Add, 1.0), (DivideSqrt, 1.0)],
        // Through the absolute value: two more roots give the parts.
        "sqrt" | "rsqrt" => &[(Multiply, 2.0), (Add, 3.0), (DivideSqrt, 3.0)],
        "sign" => &[(Multiply, 2.0), (Add, 1.0), (DivideSqrt, 3.0)],
        "compare" | "is-finite" => &[(Compare, 2.0)],
        "select" => &[(Compare, 1.0)],
        _ if arithmetic == Elementwise::Transcendental => &[(Transcendental, 1.0)],
        _ => return None,
    })
}

fn integer(opcode: &str, arithmetic: Elementwise) -> Option<Kinds> {
    let is_known = match opcode {
        "sqrt" | "rsqrt" | "is-finite" => false,
        "power" => true,
        _ => !matches!(arithmetic, Elementwise::Transcendental | Elementwise::Round),
    };
    is_known.then_some(&[(Integer, 1.0)])
}
