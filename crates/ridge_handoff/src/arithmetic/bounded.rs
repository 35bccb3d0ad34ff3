//! Double precision, with a bound of how far off any engine may be that rounds each operation to its type.
//!
//! Running error analysis (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., §3.3): the error of a result
//! is what its operands' errors become, and half a unit in the last place of its own. Sums take the bound that holds for
//! every order (§4.2). Contraction into a multiply-add rounds less and stays within. Denormals may be flushed to zero.

use super::{Arithmetic, real_of_whole, related, whole_of_real};
use crate::arithmetic::strict;
use crate::program::{Each, Relation};
use ridge_hlo::ElementType;

/// A double and how far off another engine's value may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// In double precision.
    pub value: f64,
    /// At most so far off.
    pub error: f64,
}

/// Computes [`Bound`]s.
#[derive(Debug, Clone, Copy, Default)]
pub struct Bounded;

/// Units in the last place that libraries are taken to be off in functions that need not be rounded exactly; XLA's and
/// glibc's own are below 4.
const FUNCTION_ULPS: f64 = 4.0;

/// Half a unit in the last place over the value, and the least normal number, which may be flushed.
fn rounding(ty: ElementType) -> (f64, f64) {
    match ty {
        ElementType::F32 => (f64::powi(2.0, -24), f64::from(f32::MIN_POSITIVE)),
        _ => (f64::powi(2.0, -53), f64::MIN_POSITIVE),
    }
}

/// The greatest number of a type.
fn most(ty: ElementType) -> f64 {
    if ty == ElementType::F32 { f64::from(f32::MAX) } else { f64::MAX }
}

fn bound(value: f64, carried: f64, ty: ElementType, roundings: f64) -> Bound {
    let (unit, least) = rounding(ty);
    let own = if value.is_finite() { unit * value.abs() * roundings + least } else { 0.0 };
    // What overflows in double precision overflows everywhere; what may overflow in `ty` does so in some engines.
    let may_overflow = value.is_finite() && value.abs() + carried + own > most(ty);
    let error = if may_overflow || carried.is_nan() { f64::INFINITY } else { carried + own };
    Bound { value, error }
}

impl Arithmetic for Bounded {
    type Real = Bound;

    fn real(&self, value: f64, _: ElementType) -> Bound {
        Bound { value, error: 0.0 }
    }

    fn value(&self, real: Bound) -> f64 {
        real.value
    }

    fn one(&self, each: Each, a: Bound, ty: ElementType) -> Bound {
        let value = strict::one(each, a.value);
        match each {
            Each::Abs | Each::Negate => Bound { value, error: a.error },
            Each::Sign | Each::Floor | Each::Ceil | Each::RoundAway | Each::RoundEven => {
                let (low, high) = (strict::one(each, a.value - a.error), strict::one(each, a.value + a.error));
                Bound { value, error: if low == high || a.value.is_nan() { 0.0 } else { (high - low).abs() } }
            }
            _ => {
                // The steepest of the function near the value, by its ends: exact for monotone ones, and sine and cosine
                // change no faster than their argument.
                let carried = match each {
                    Each::Sine | Each::Cosine => a.error.min(2.0),
                    _ if a.error == 0.0 => 0.0,
                    _ => {
                        let ends = [a.value - a.error, a.value + a.error].map(|end| strict::one(each, end));
                        ends.iter()
                            .map(|end| (end - value).abs())
                            .fold(0.0, |most, one| if one > most || one.is_nan() { one } else { most })
                    }
                };
                bound(value, carried, ty, 2.0 * FUNCTION_ULPS)
            }
        }
    }

    fn two(&self, each: Each, a: Bound, b: Bound, ty: ElementType) -> Bound {
        let value = strict::two(each, a.value, b.value);
        let (x, y) = (a.value.abs(), b.value.abs());
        match each {
            Each::Maximum | Each::Minimum => Bound { value, error: a.error.max(b.error) },
            Each::Add | Each::Subtract => bound(value, a.error + b.error, ty, 1.0),
            Each::Multiply => {
                bound(value, product(x, b.error) + product(y, a.error) + product(a.error, b.error), ty, 1.0)
            }
            Each::Divide if a.error == 0.0 && b.error == 0.0 => bound(value, 0.0, ty, 1.0),
            Each::Divide if y > b.error => bound(value, (a.error + value.abs() * b.error) / (y - b.error), ty, 1.0),
            _ if a.error == 0.0 && b.error == 0.0 => bound(value, 0.0, ty, 2.0 * FUNCTION_ULPS),
            _ => Bound { value, error: f64::INFINITY },
        }
    }

    fn compare(&self, relation: Relation, a: Bound, b: Bound) -> (bool, bool) {
        let is_apart = (a.value - b.value).abs() > a.error + b.error;
        let is_exact = a.error == 0.0 && b.error == 0.0;
        (related(relation, a.value, b.value), is_apart || is_exact || a.value.is_nan() || b.value.is_nan())
    }

    fn bits(&self, real: Bound, ty: ElementType) -> Option<(i64, bool)> {
        let (bits, _) = strict::Strict::default().bits(real.value, ty)?;
        Some((bits, real.error == 0.0))
    }

    fn narrowed(&self, real: Bound) -> Bound {
        bound(real.value, real.error, ElementType::F32, 1.0)
    }

    fn of_whole(&self, whole: i64, is_sure: bool, from: ElementType, to: ElementType) -> Bound {
        let value = real_of_whole(whole, from, ElementType::F64);
        let own = if real_of_whole(whole, from, to) == value { 0.0 } else { rounding(to).0 * value.abs() };
        Bound { value, error: if is_sure { own } else { f64::INFINITY } }
    }

    fn to_whole(&self, real: Bound, ty: ElementType) -> (i64, bool) {
        let whole = whole_of_real(real.value, ty);
        let ends = [real.value - real.error, real.value + real.error].map(|end| whole_of_real(end, ty));
        // What does not fit is held within the type by some engines and not by others.
        let fits = whole as f64 == real.value.trunc()
            || ty == ElementType::Pred
            || ty == ElementType::U64 && real.value >= 0.0;
        (whole, fits && (real.error == 0.0 || ends == [whole, whole]))
    }

    fn join(&self, chosen: Bound, other: Bound) -> Bound {
        let apart = (chosen.value - other.value).abs();
        let apart = if apart.is_nan() { f64::INFINITY } else { apart };
        Bound { value: chosen.value, error: chosen.error.max(other.error) + apart }
    }

    fn unsure(&self, real: Bound) -> Bound {
        Bound { error: f64::INFINITY, ..real }
    }

    fn after_sum(&self, sum: Bound, count: usize, magnitude: f64, ty: ElementType) -> Bound {
        let (unit, least) = rounding(ty);
        let count = count as f64;
        let error = sum.error + count * unit * magnitude * 1.01 + count * least;
        // In another order a part of the sum may overflow.
        let may_overflow = magnitude.is_finite() && magnitude > most(ty);
        Bound { value: sum.value, error: if may_overflow { f64::INFINITY } else { error } }
    }
}

/// A product in which nothing times infinity is nothing.
fn product(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b }
}
