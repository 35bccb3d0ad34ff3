//! Operations in fixed point: rounded to the nearest, halves upwards, and held within the range.

use super::{Wires, compared};
use crate::arithmetic::Fixed;
use crate::program::Each;
use ridge_hlo::ElementType;

/// Wires that an operation needs, and its value; `None` where it has no design.
pub(super) fn operation(
    at: usize,
    each: Each,
    of: &[String],
    (from, own): (ElementType, Wires),
    (ty, wires): (ElementType, Wires),
    format: Fixed,
) -> Option<(String, String)> {
    let (a, b) = (of[0].as_str(), of.get(1).map_or("", String::as_str));
    let (width, fraction) = (wires.width, format.fraction() as usize);
    let plain = |value: String| Some((String::new(), value));
    let held = |bits: usize, value: &str| Some(held(at, bits, value, width));
    match each {
        Each::Add => held(width + 2, &format!("{a} + {b}")),
        Each::Subtract => held(width + 2, &format!("{a} - {b}")),
        Each::Negate => held(width + 2, &format!("-{a}")),
        Each::Abs => held(width + 2, &format!("{a} < {} ? -{a} : {a}", wires.literal(0))),
        Each::Multiply => {
            let bits = 2 * width + 2;
            let half = if fraction == 0 { 0 } else { 1_u64 << (fraction - 1) };
            let product = format!("  wire signed [{}:0] p{at} = {a} * {b};\n", bits - 1);
            let (more, value) = held(bits, &format!("(p{at} + {bits}'sh{half:x}) >>> {fraction}"))?;
            Some((product + &more, value))
        }
        Each::Divide => Some(quotient(at, a, b, width, fraction)),
        Each::Minimum => plain(format!("{b} < {a} ? {b} : {a}")),
        Each::Maximum => plain(format!("{a} < {b} ? {b} : {a}")),
        Each::Compare(relation) => plain(compared(relation, a, b)),
        Each::Sign => {
            let [one, zero, less] = [format.of(1.0), 0, format.of(-1.0)].map(|value| wires.literal(value));
            plain(format!("{a} < {zero} ? {less} : {a} == {zero} ? {zero} : {one}"))
        }
        Each::Floor => plain(format!("({a} >>> {fraction}) <<< {fraction}")),
        Each::Ceil => {
            let bits = width + 2;
            held(bits, &format!("(({a} + {bits}'sh{:x}) >>> {fraction}) <<< {fraction}", below_one(fraction)))
        }
        Each::Convert if from.is_float() && ty.is_float() => plain(a.to_owned()),
        Each::Convert if ty == ElementType::Pred => plain(format!("{a} != {}", own.literal(0))),
        Each::Convert if ty.is_float() => {
            let bits = (own.width + fraction + 3).max(width + 2);
            let a = if own.is_signed { a.to_owned() } else { format!("$signed({{1'b0, {a}}})") };
            held(bits, &format!("{a} <<< {fraction}"))
        }
        Each::Convert => Some(cut(at, a, own, wires, fraction)),
        _ => None,
    }
}

/// All bits behind the point.
fn below_one(fraction: usize) -> u64 {
    (1 << fraction) - 1
}

/// A value of more bits, held within those of the format.
fn held(at: usize, bits: usize, value: &str, width: usize) -> (String, String) {
    let most = (1_u64 << (width - 1)) - 1;
    let wires = format!("  wire signed [{}:0] w{at} = {value};\n", bits - 1);
    let chosen = format!(
        "w{at} > {bits}'sh{most:x} ? {width}'sh{most:x} : w{at} < -{bits}'sh{:x} ? {width}'sh{:x} : w{at}[{}:0]",
        most + 1,
        most + 1,
        width - 1
    );
    (wires, chosen)
}

/// A quotient: what is above the divisor's half counts as one more; by zero it is the end of the range.
fn quotient(at: usize, a: &str, b: &str, width: usize, fraction: usize) -> (String, String) {
    let bits = width + fraction + 4;
    let (last, most) = (bits - 1, (1_u64 << (width - 1)) - 1);
    let zero = format!("{bits}'sh0");
    let mut wires = String::new();
    // Both with the divisor's sign turned where it is negative, so that rounding down is rounding down.
    for (name, value) in [("a", a), ("b", b)] {
        wires += &format!("  wire signed [{last}:0] {name}{at} = {b} < {width}'sh0 ? -{value} : {value};\n");
    }
    wires += &format!("  wire signed [{last}:0] p{at} = (a{at} <<< {}) + b{at};\n", fraction + 1);
    wires += &format!("  wire signed [{last}:0] d{at} = b{at} == {zero} ? {bits}'sh1 : b{at} <<< 1;\n");
    wires += &format!("  wire signed [{last}:0] q{at} = p{at} / d{at};\n");
    let end = format!("a{at} < {zero} ? -{bits}'sh{:x} : a{at} == {zero} ? {zero} : {bits}'sh{most:x}", most + 1);
    let exact = format!("p{at} < q{at} * d{at} ? q{at} - {bits}'sh1 : q{at}");
    let (more, value) = held(at, bits, &format!("b{at} == {zero} ? ({end}) : {exact}"), width);
    (wires + &more, value)
}

/// A number cut towards zero, and held within the bits of a whole one.
fn cut(at: usize, a: &str, own: Wires, to: Wires, fraction: usize) -> (String, String) {
    let bits = own.width.max(to.width) + 2;
    let (last, zero) = (bits - 1, format!("{bits}'sh0"));
    let wires = format!(
        "  wire signed [{last}:0] a{at} = {a};\n  wire signed [{last}:0] w{at} = (a{at} + (a{at} < {zero} ? {bits}'sh{:x} : {zero})) >>> {fraction};\n",
        below_one(fraction)
    );
    let magnitude = if to.is_signed { to.width - 1 } else { to.width };
    let ends = if to.is_signed { [1_u128 << magnitude, (1 << magnitude) - 1] } else { [0, (1 << magnitude) - 1] };
    let [least, most] = ends.map(|end| format!("{bits}'sh{end:x}"));
    let part = |end: &str| format!("{end}[{}:0]", to.width - 1);
    let names = format!("  wire signed [{last}:0] l{at} = -{least};\n  wire signed [{last}:0] m{at} = {most};\n");
    let value = format!(
        "w{at} < l{at} ? {} : w{at} > m{at} ? {} : {}",
        part(&format!("l{at}")),
        part(&format!("m{at}")),
        part(&format!("w{at}"))
    );
    (wires + &names, value)
}
