//! Operations of single precision: bit by bit what IEEE 754 says, denormals among them.

use super::is_signed;
use crate::program::{Each, Relation};
use ridge_hlo::ElementType;

/// The functions that a design holds.
pub(super) const FUNCTIONS: &str = include_str!("single.v");

/// The value of an operation; `None` where it has no design.
pub(super) fn operation(each: Each, of: &[String], from: ElementType, ty: ElementType) -> Option<String> {
    let (a, b) = (of[0].as_str(), of.get(1).map_or("", String::as_str));
    let bit = |is: bool| if is { "1'b1" } else { "1'b0" };
    Some(match each {
        Each::Add => format!("sum({a}, {b})"),
        Each::Subtract => format!("sum({a}, {b} ^ 32'h80000000)"),
        Each::Multiply => format!("product({a}, {b})"),
        Each::Divide => format!("quotient({a}, {b})"),
        Each::Sqrt => format!("root({a})"),
        Each::Rsqrt => format!("quotient(32'h3f800000, root({a}))"),
        Each::Negate => format!("{a} ^ 32'h80000000"),
        Each::Abs => format!("{a} & 32'h7fffffff"),
        Each::Sign => format!("signum({a})"),
        Each::Floor => format!("integral({a}, 2'd0)"),
        Each::Ceil => format!("integral({a}, 2'd1)"),
        Each::RoundEven => format!("integral({a}, 2'd2)"),
        Each::RoundAway => format!("integral({a}, 2'd3)"),
        Each::Minimum => format!("lesser({a}, {b})"),
        Each::Maximum => format!("greater({a}, {b})"),
        Each::IsFinite => format!("({a} & 32'h7f800000) != 32'h7f800000"),
        Each::Compare(relation) => match relation {
            Relation::Eq => format!("equal({a}, {b})"),
            Relation::Ne => format!("!equal({a}, {b})"),
            Relation::Lt => format!("less({a}, {b})"),
            Relation::Gt => format!("less({b}, {a})"),
            Relation::Le => format!("less({a}, {b}) || equal({a}, {b})"),
            Relation::Ge => format!("less({b}, {a}) || equal({a}, {b})"),
        },
        Each::Convert if from == ty => a.to_owned(),
        Each::Convert if ty == ElementType::Pred => format!("!equal({a}, 32'h0)"),
        Each::Convert if ty.is_float() => format!("from_whole({}, {a})", bit(is_signed(from))),
        Each::Convert => format!("to_whole({a}, {}, 7'd{})", bit(is_signed(ty)), ty.bits()?),
        _ => return None,
    })
}
