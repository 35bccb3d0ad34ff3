//! Operations that do the same to every element.

use super::work::OpKind::{self, Add, Compare, Convert, DivideSqrt, Integer, Multiply, Transcendental};
use super::{Work, sizes};
use crate::{ElementType, HloModule, Instruction};

/// The work of an elementwise instruction; `None` if it is none.
pub(super) fn work(module: &HloModule, instruction: &Instruction) -> Option<Work> {
    let element_type = compute_type(module, instruction);
    let kinds = per_element(&instruction.opcode, element_type)?;
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
fn per_element(opcode: &str, element_type: ElementType) -> Option<Kinds> {
    Some(match opcode {
        "convert" | "reduce-precision" | "stochastic-convert" => &[(Convert, 1.0)],
        "bitcast-convert" | "complex" | "real" | "imag" => &[],
        "clamp" if !element_type.is_float() => &[(Integer, 2.0)],
        "clamp" => &[(Compare, 2.0)],
        _ if element_type.is_complex() => return complex(opcode),
        _ if element_type.is_float() => return real(opcode),
        _ => return integer(opcode),
    })
}

fn real(opcode: &str) -> Option<Kinds> {
    Some(match opcode {
        "add" | "subtract" | "negate" | "abs" => &[(Add, 1.0)],
        "multiply" => &[(Multiply, 1.0)],
        "divide" | "remainder" | "sqrt" | "rsqrt" => &[(DivideSqrt, 1.0)],
        "compare" | "maximum" | "minimum" | "select" | "sign" | "is-finite" => &[(Compare, 1.0)],
        "ceil" | "floor" | "round-nearest-afz" | "round-nearest-even" => &[(Convert, 1.0)],
        _ if is_transcendental(opcode) => &[(Transcendental, 1.0)],
        _ => return None,
    })
}

/// Complex arithmetic by its textbook formulas, in operations on the parts.
fn complex(opcode: &str) -> Option<Kinds> {
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
        _ if is_transcendental(opcode) => &[(Transcendental, 1.0)],
        _ => return None,
    })
}

fn integer(opcode: &str) -> Option<Kinds> {
    let is_known = matches!(
        opcode,
        "abs"
            | "add"
            | "and"
            | "compare"
            | "count-leading-zeros"
            | "divide"
            | "maximum"
            | "minimum"
            | "multiply"
            | "negate"
            | "not"
            | "or"
            | "popcnt"
            | "power"
            | "remainder"
            | "select"
            | "shift-left"
            | "shift-right-arithmetic"
            | "shift-right-logical"
            | "sign"
            | "subtract"
            | "xor"
    );
    is_known.then_some(&[(Integer, 1.0)])
}

fn is_transcendental(opcode: &str) -> bool {
    matches!(
        opcode,
        "acos"
            | "acosh"
            | "asin"
            | "asinh"
            | "atan2"
            | "atanh"
            | "cbrt"
            | "cosh"
            | "cosine"
            | "erf"
            | "exponential"
            | "exponential-minus-one"
            | "log"
            | "log-plus-one"
            | "logistic"
            | "power"
            | "sine"
            | "sinh"
            | "tan"
            | "tanh"
    )
}
