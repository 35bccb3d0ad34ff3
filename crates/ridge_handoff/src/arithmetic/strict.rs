//! Every operation rounded once to its own type, in the order of the program, nothing contracted.

use super::{Arithmetic, real_of_whole, related, whole_of_real};
use crate::program::{Each, Relation};
use ridge_hlo::ElementType;

/// As the generated C++ computes, compiled with `-ffp-contract=off`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Strict {
    /// What sums and products of single precision do with denormals.
    pub(crate) denormals: Denormals,
}

/// What becomes of denormals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Denormals {
    /// They stay.
    #[default]
    Kept,
    /// They are taken for zeros, and zeros are given for them: `apfloat.x` of XLS's library.
    Flushed,
}

impl Strict {
    /// As Verilog that XLS makes computes.
    pub(crate) const XLS: Strict = Strict { denormals: Denormals::Flushed };
}

/// A denormal of single precision as the zero of its sign.
fn flushed(value: f64) -> f64 {
    if value.abs() < f64::from(f32::MIN_POSITIVE) { 0.0_f64.copysign(value) } else { value }
}

macro_rules! of_type {
    ($name:ident, $pair:ident, $float:ty) => {
        fn $name(each: Each, a: $float) -> $float {
            match each {
                Each::Abs => a.abs(),
                Each::Negate => -a,
                Each::Sign => {
                    if a > 0.0 {
                        1.0
                    } else if a < 0.0 {
                        -1.0
                    } else {
                        a
                    }
                }
                Each::Floor => a.floor(),
                Each::Ceil => a.ceil(),
                Each::RoundAway => a.round(),
                Each::RoundEven => a.round_ties_even(),
                Each::Sqrt => a.sqrt(),
                Each::Rsqrt => 1.0 / a.sqrt(),
                Each::Cbrt => a.cbrt(),
                Each::Exp => a.exp(),
                Each::Expm1 => a.exp_m1(),
                Each::Log => a.ln(),
                Each::Log1p => a.ln_1p(),
                Each::Logistic => 1.0 / (1.0 + (-a).exp()),
                Each::Sine => a.sin(),
                Each::Cosine => a.cos(),
                Each::Tan => a.tan(),
                Each::Tanh => a.tanh(),
                _ => <$float>::NAN,
            }
        }

        fn $pair(each: Each, a: $float, b: $float) -> $float {
            match each {
                Each::Add => a + b,
                Each::Subtract => a - b,
                Each::Multiply => a * b,
                Each::Divide => a / b,
                Each::Remainder => a % b,
                Each::Maximum => {
                    if a.is_nan() || b.is_nan() {
                        <$float>::NAN
                    } else if a < b {
                        b
                    } else {
                        a
                    }
                }
                Each::Minimum => {
                    if a.is_nan() || b.is_nan() {
                        <$float>::NAN
                    } else if b < a {
                        b
                    } else {
                        a
                    }
                }
                Each::Power => a.powf(b),
                Each::Atan2 => a.atan2(b),
                _ => <$float>::NAN,
            }
        }
    };
}

of_type!(one_single, two_single, f32);
of_type!(one_double, two_double, f64);

/// An operation on one double.
pub(super) fn one(each: Each, a: f64) -> f64 {
    one_double(each, a)
}

/// An operation on two doubles.
pub(super) fn two(each: Each, a: f64, b: f64) -> f64 {
    two_double(each, a, b)
}

impl Arithmetic for Strict {
    type Real = f64;

    fn real(&self, value: f64, ty: ElementType) -> f64 {
        if ty == ElementType::F32 { f64::from(value as f32) } else { value }
    }

    fn value(&self, real: f64) -> f64 {
        real
    }

    fn one(&self, each: Each, a: f64, ty: ElementType) -> f64 {
        if ty == ElementType::F32 { f64::from(one_single(each, a as f32)) } else { one_double(each, a) }
    }

    fn two(&self, each: Each, a: f64, b: f64, ty: ElementType) -> f64 {
        if ty != ElementType::F32 {
            return two_double(each, a, b);
        }
        let single = |a: f64, b: f64| f64::from(two_single(each, a as f32, b as f32));
        let is_flushed = matches!(each, Each::Add | Each::Subtract | Each::Multiply);
        match self.denormals {
            Denormals::Flushed if is_flushed => flushed(single(flushed(a), flushed(b))),
            _ => single(a, b),
        }
    }

    fn compare(&self, relation: Relation, a: f64, b: f64) -> (bool, bool) {
        (related(relation, a, b), true)
    }

    fn bits(&self, real: f64, ty: ElementType) -> Option<(i64, bool)> {
        match ty {
            ElementType::F32 => Some((i64::from((real as f32).to_bits().cast_signed()), true)),
            ElementType::F64 => Some((real.to_bits().cast_signed(), true)),
            _ => None,
        }
    }

    fn narrowed(&self, real: f64) -> f64 {
        f64::from(real as f32)
    }

    fn of_whole(&self, whole: i64, _: bool, from: ElementType, to: ElementType) -> f64 {
        real_of_whole(whole, from, to)
    }

    fn to_whole(&self, real: f64, ty: ElementType) -> (i64, bool) {
        (whole_of_real(real, ty), true)
    }
}
