//! Work on each element that costs more than it needs.

use super::calls::{Form, LeftBy, Match, Nodes, elements, later};

/// Smaller arrays cost what their calls cost.
const LARGE: f64 = 16384.0;
/// Exponents that a few multiplications give; PyTorch does the smaller ones so itself.
const EXPONENTS: std::ops::RangeInclusive<i64> = 4..=16;

pub(super) fn find(rest: &Nodes<'_>) -> Option<Match> {
    let (_, node) = rest.first()?;
    match node.name {
        "pow" => power(rest),
        "repeat" => repeated(rest),
        _ => None,
    }
}

/// A power with a whole exponent.
fn power(rest: &Nodes<'_>) -> Option<Match> {
    let (at, node) = rest.first()?;
    let array = node.arrays.first().filter(|array| elements(array) >= LARGE)?;
    let exponent: f64 = node.values.split('"').nth(3)?.parse().ok()?;
    let is_whole = exponent.fract() == 0.0 && EXPONENTS.contains(&(exponent.abs() as i64));
    is_whole.then(|| Match::by_form(POWER, vec![*at], array.clone()))
}

/// Copies of an array that an operator on each element reads once.
fn repeated(rest: &Nodes<'_>) -> Option<Match> {
    let (at, node) = rest.first()?;
    let array = node.arrays.first()?;
    let (_, next) = later(rest).next()?;
    let is_elementwise = matches!(
        next.name,
        "add" | "sub" | "mul" | "div" | "eq" | "ne" | "lt" | "gt" | "le" | "ge" | "where" | "maximum" | "minimum"
    );
    let all = next.broadcast();
    let is_it = is_elementwise && all >= LARGE && all >= 8.0 * elements(array) && all % elements(array).max(1.0) == 0.0;
    let both = next.arrays.iter().filter(|array| elements(array) == all).count();
    (is_it && both >= 2).then(|| Match::by_form(REPEAT, vec![*at], next.broadcast_sizes()))
}

const POWER: Form = Form {
    does: "goes to raising {} numbers to a whole power with the general `pow` function",
    instead: "a few multiplications",
    why: "the general power function takes a logarithm and an exponential of each element",
    help: "square twice for a fourth power: `y = x * x; y * y`; `x.square()` and `x ** 3` are multiplications already",
    left: LeftBy::Parts(0.1, 0.6),
};

const REPEAT: Form = Form {
    does: "goes to copying an array with `repeat` to {}, a size to which the next operator would broadcast it",
    instead: "broadcasting",
    why: "`repeat` writes every copy to memory, where an operator on each element reads one row again",
    help: "leave out `repeat`, or use `expand`, which copies nothing",
    left: LeftBy::Parts(0.0, 0.2),
};
