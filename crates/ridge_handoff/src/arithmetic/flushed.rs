//! Single precision where sums and products take denormals for zeros, and give zeros for them: `apfloat.x` of XLS's library.

use super::{Arithmetic, Strict};
use crate::program::{Each, Relation};
use ridge_hlo::ElementType;

/// As Verilog that XLS makes computes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Flushed;

/// A denormal as the zero of its sign.
fn flushed(value: f64, ty: ElementType) -> f64 {
    let is_small = ty == ElementType::F32 && value.abs() < f64::from(f32::MIN_POSITIVE);
    if is_small { 0.0_f64.copysign(value) } else { value }
}

impl Arithmetic for Flushed {
    type Real = f64;

    fn real(&self, value: f64, ty: ElementType) -> f64 {
        Strict.real(value, ty)
    }

    fn value(&self, real: f64) -> f64 {
        real
    }

    fn one(&self, each: Each, a: f64, ty: ElementType) -> f64 {
        Strict.one(each, a, ty)
    }

    fn two(&self, each: Each, a: f64, b: f64, ty: ElementType) -> f64 {
        if matches!(each, Each::Add | Each::Subtract | Each::Multiply) {
            flushed(Strict.two(each, flushed(a, ty), flushed(b, ty), ty), ty)
        } else {
            Strict.two(each, a, b, ty)
        }
    }

    fn compare(&self, relation: Relation, a: f64, b: f64) -> (bool, bool) {
        Strict.compare(relation, a, b)
    }

    fn bits(&self, real: f64, ty: ElementType) -> Option<(i64, bool)> {
        Strict.bits(real, ty)
    }

    fn narrowed(&self, real: f64) -> f64 {
        Strict.narrowed(real)
    }

    fn of_whole(&self, whole: i64, is_sure: bool, from: ElementType, to: ElementType) -> f64 {
        Strict.of_whole(whole, is_sure, from, to)
    }

    fn to_whole(&self, real: f64, ty: ElementType) -> (i64, bool) {
        Strict.to_whole(real, ty)
    }

    fn join(&self, chosen: f64, _: f64) -> f64 {
        chosen
    }

    fn unsure(&self, real: f64) -> f64 {
        real
    }

    fn after_sum(&self, sum: f64, _: usize, _: f64, _: ElementType) -> f64 {
        sum
    }
}
