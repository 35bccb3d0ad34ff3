//! The numbers that a program is computed with: exactly as typed, in double precision with a bound of the error, or in
//! fixed point.

mod bounded;
mod fixed;
mod strict;

pub(crate) use bounded::Bound;
pub use bounded::Bounded;
pub use fixed::{Fixed, FormatError};
pub use strict::Strict;

use crate::program::{Each, Relation};
use ridge_hlo::ElementType;

/// A number of an array.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<R> {
    /// Of a real type.
    Real(R),
    /// Of an integer type, or 0 and 1: what it is, and whether rounding may have made it another.
    Whole(i64, bool),
}

/// A way to compute with real numbers; whole numbers are computed alike by all.
///
/// What is provided is for those that keep no account of the error.
pub trait Arithmetic {
    /// A real number.
    type Real: Copy + std::fmt::Debug;

    /// The number that stands for `value`.
    fn real(&self, value: f64, ty: ElementType) -> Self::Real;
    /// The nearest double to it.
    fn value(&self, real: Self::Real) -> f64;
    /// An operation on one number.
    fn one(&self, each: Each, a: Self::Real, ty: ElementType) -> Self::Real;
    /// An operation on two numbers.
    fn two(&self, each: Each, a: Self::Real, b: Self::Real, ty: ElementType) -> Self::Real;
    /// Whether they are so related, and whether rounding may have made it so.
    fn compare(&self, relation: Relation, a: Self::Real, b: Self::Real) -> (bool, bool);
    /// The bits of a number of this type, and whether rounding may have made them others; `None` where numbers have none.
    fn bits(&self, real: Self::Real, ty: ElementType) -> Option<(i64, bool)>;
    /// A number of double precision in single precision.
    fn narrowed(&self, real: Self::Real) -> Self::Real;
    /// A whole number as a real one.
    fn of_whole(&self, whole: i64, is_sure: bool, from: ElementType, to: ElementType) -> Self::Real;
    /// A real number as a whole one, cut towards zero: it, and whether rounding may have made it another.
    fn to_whole(&self, real: Self::Real, ty: ElementType) -> (i64, bool);
    /// The first of two that nobody can choose between for sure.
    fn join(&self, chosen: Self::Real, _other: Self::Real) -> Self::Real {
        chosen
    }
    /// A number of which nothing is known for sure.
    fn unsure(&self, real: Self::Real) -> Self::Real {
        real
    }
    /// What a sum of so many numbers adds to the error, whatever its order; `magnitude` is the sum without signs.
    fn after_sum(&self, sum: Self::Real, _count: usize, _magnitude: f64, _ty: ElementType) -> Self::Real {
        sum
    }
}

/// Keeps the bits of `ty`: two's complement, or what is below 2^bits; 64 bits unsigned as their pattern.
pub(crate) fn wrapped(value: i64, ty: ElementType) -> i64 {
    match ty {
        ElementType::Pred => i64::from(value != 0),
        ElementType::S8 => i64::from(value as i8),
        ElementType::S16 => i64::from(value as i16),
        ElementType::S32 => i64::from(value as i32),
        ElementType::U8 => i64::from(value as u8),
        ElementType::U16 => i64::from(value as u16),
        ElementType::U32 => i64::from(value as u32),
        _ => value,
    }
}

pub(crate) fn is_signed(ty: ElementType) -> bool {
    ty.name().starts_with('s')
}

/// A whole number of type `ty` as a double and, where that is asked, rounded once to single precision.
pub(crate) fn real_of_whole(value: i64, from: ElementType, to: ElementType) -> f64 {
    match (from == ElementType::U64, to == ElementType::F32) {
        (false, false) => value as f64,
        (false, true) => f64::from(value as f32),
        (true, false) => value.cast_unsigned() as f64,
        (true, true) => f64::from(value.cast_unsigned() as f32),
    }
}

/// A real number cut towards zero and held within `ty`; what is no number is 0.
pub(crate) fn whole_of_real(value: f64, ty: ElementType) -> i64 {
    match ty {
        ElementType::Pred => i64::from(value != 0.0),
        ElementType::S8 => i64::from(value as i8),
        ElementType::S16 => i64::from(value as i16),
        ElementType::S32 => i64::from(value as i32),
        ElementType::U8 => i64::from(value as u8),
        ElementType::U16 => i64::from(value as u16),
        ElementType::U32 => i64::from(value as u32),
        ElementType::U64 => (value as u64).cast_signed(),
        _ => value as i64,
    }
}

/// An operation on whole numbers of type `ty`, as XLA defines it where others leave it open; `None` where there is none.
pub(crate) fn whole(each: Each, a: i64, b: i64, ty: ElementType) -> Option<i64> {
    let bits = ty.bits().map_or(64, |bits| i64::from(bits).max(1));
    let signed = is_signed(ty);
    let shift = if signed && b < 0 || b.cast_unsigned() >= bits.cast_unsigned() { None } else { Some(b as u32) };
    let mask = if bits == 64 { u64::MAX } else { (1_u64 << bits) - 1 };
    let unsigned = |value: i64| value.cast_unsigned() & mask;
    let less = if signed { a < b } else { unsigned(a) < unsigned(b) };
    let found = match each {
        Each::Abs => {
            if signed {
                a.wrapping_abs()
            } else {
                a
            }
        }
        Each::Negate => a.wrapping_neg(),
        Each::Not => {
            if ty == ElementType::Pred {
                1 - a
            } else {
                !a
            }
        }
        Each::Sign => {
            if signed {
                a.signum()
            } else {
                i64::from(a != 0)
            }
        }
        Each::Add if ty == ElementType::Pred => a | b,
        Each::Multiply if ty == ElementType::Pred => a & b,
        Each::Add => a.wrapping_add(b),
        Each::Subtract => a.wrapping_sub(b),
        Each::Multiply => a.wrapping_mul(b),
        Each::Divide if b == 0 => -1,
        Each::Remainder if b == 0 => a,
        Each::Divide => {
            if signed {
                a.wrapping_div(b)
            } else {
                (unsigned(a) / unsigned(b)).cast_signed()
            }
        }
        Each::Remainder => {
            if signed {
                a.wrapping_rem(b)
            } else {
                (unsigned(a) % unsigned(b)).cast_signed()
            }
        }
        Each::Maximum => {
            if less {
                b
            } else {
                a
            }
        }
        Each::Minimum => {
            if less {
                a
            } else {
                b
            }
        }
        Each::And => a & b,
        Each::Or => a | b,
        Each::Xor => a ^ b,
        Each::ShiftLeft => shift.map_or(0, |by| a.wrapping_shl(by)),
        Each::ShiftRight => shift.map_or(if a < 0 { -1 } else { 0 }, |by| a >> by),
        Each::ShiftRightLogical => shift.map_or(0, |by| (unsigned(a) >> by).cast_signed()),
        Each::Compare(relation) => {
            return Some(i64::from(match relation {
                Relation::Eq => a == b,
                Relation::Ne => a != b,
                Relation::Lt => less,
                Relation::Le => less || a == b,
                Relation::Gt => !less && a != b,
                Relation::Ge => !less,
            }));
        }
        _ => return None,
    };
    Some(wrapped(found, ty))
}

/// Whether two doubles are so related.
pub(crate) fn related(relation: Relation, a: f64, b: f64) -> bool {
    match relation {
        Relation::Eq => a == b,
        Relation::Ne => a != b,
        Relation::Lt => a < b,
        Relation::Le => a <= b,
        Relation::Gt => a > b,
        Relation::Ge => a >= b,
    }
}
