//! Operations on whole numbers and truths, as XLA defines them where Verilog does not.

use super::{Wires, compared};
use crate::program::Each;
use ridge_hlo::ElementType;

/// Wires that an operation needs, and its value; `None` where it has no design.
pub(super) fn operation(
    at: usize,
    each: Each,
    of: &[String],
    (from, own): (ElementType, Wires),
    (ty, wires): (ElementType, Wires),
) -> Option<(String, String)> {
    let (a, b) = (of[0].as_str(), of.get(1).map_or("", String::as_str));
    let is_truth = ty == ElementType::Pred;
    let zero = wires.literal(0);
    let plain = |value: String| Some((String::new(), value));
    match each {
        Each::Add => plain(if is_truth { format!("{a} | {b}") } else { format!("{a} + {b}") }),
        Each::Multiply => plain(if is_truth { format!("{a} & {b}") } else { format!("{a} * {b}") }),
        Each::Subtract => plain(format!("{a} - {b}")),
        Each::Negate => plain(format!("-{a}")),
        Each::Abs => plain(if wires.is_signed { format!("{a} < {zero} ? -{a} : {a}") } else { a.to_owned() }),
        Each::Sign => {
            let (one, less) = (wires.literal(1), wires.literal(-1));
            let below = if wires.is_signed { format!("{a} < {zero} ? {less} : ") } else { String::new() };
            plain(format!("{below}{a} == {zero} ? {zero} : {one}"))
        }
        Each::Divide | Each::Remainder => {
            let (kind, all) = (if wires.is_signed { " signed" } else { "" }, wires.literal(-1));
            // Neither a division by zero nor one that overflows is left to the tools.
            let overflows = if wires.is_signed { format!(" || {b} == {all}") } else { String::new() };
            let divisor = format!(
                "  wire{kind} [{}:0] d{at} = {b} == {zero}{overflows} ? {} : {b};\n",
                wires.width - 1,
                wires.literal(1)
            );
            let turned = if wires.is_signed { format!("{b} == {all} ? -{a} : ") } else { String::new() };
            let value = match each {
                Each::Divide => format!("{b} == {zero} ? {all} : {turned}{a} / d{at}"),
                _ => format!("{b} == {zero} ? {a} : {a} % d{at}"),
            };
            Some((divisor, value))
        }
        Each::Minimum => plain(format!("{b} < {a} ? {b} : {a}")),
        Each::Maximum => plain(format!("{a} < {b} ? {b} : {a}")),
        Each::And => plain(format!("{a} & {b}")),
        Each::Or => plain(format!("{a} | {b}")),
        Each::Xor => plain(format!("{a} ^ {b}")),
        Each::Not => plain(format!("~{a}")),
        // A number of places that is negative is a large one to Verilog, and shifts everything out.
        Each::ShiftLeft => plain(format!("{a} << {b}")),
        Each::ShiftRight if wires.is_signed => plain(format!("{a} >>> {b}")),
        Each::ShiftRightLogical => plain(format!("{a} >> {b}")),
        Each::Select => plain(format!("{a} ? {b} : {}", of.get(2)?)),
        Each::Compare(relation) => plain(compared(relation, a, b)),
        Each::Convert if from == ty => plain(a.to_owned()),
        Each::Convert if is_truth => plain(format!("{a} != {}", own.literal(0))),
        // By their low bits, or longer by their sign.
        Each::Convert => {
            plain(if own.width >= wires.width { format!("{a}[{}:0]", wires.width - 1) } else { a.to_owned() })
        }
        _ => None,
    }
}
