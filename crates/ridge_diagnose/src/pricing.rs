//! What work would take on the device that ran the program: at rates that were measured or printed, else at those of an ordinary
//! core, which may be wrong by a factor of two.

use crate::case::Case;
use crate::programs::Program;
use ridge_analysis::{ComputeUnit, Costs, Limit, NumberType};
use ridge_hlo::cost::{Cost, OpKind, Unit};
use ridge_hlo::{ElementType, InstructionId};
use ridge_trace::DeviceRow;

/// Rates of one ordinary core with vectors of 256 bits, where nothing better is known: bytes, products of matrices, other
/// arithmetic and special functions per second, in single precision.
const ORDINARY: Rates = Rates { memory: 8e9, matrix: 3e10, plain: 4e9, functions: 2e8 };

/// Arithmetic and bytes of one run of something, by what limits it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Work {
    /// Operations of products of matrices and convolutions.
    pub(crate) matrix: f64,
    /// Other arithmetic.
    pub(crate) plain: f64,
    /// Exponentials, powers, sines and their like.
    pub(crate) functions: f64,
    /// Bytes from and to memory.
    pub(crate) bytes: f64,
}

impl Work {
    /// What the cost model counts of one execution; `None` where a part of it is unknown.
    pub(crate) fn of(cost: &Cost) -> Option<Work> {
        if cost.unknown.is_some() {
            return None;
        }
        let sum = |wanted: &dyn Fn(OpKind, Unit) -> bool| -> f64 {
            cost.work.by().iter().filter(|item| wanted(item.kind, item.unit)).map(|item| item.operations()).sum()
        };
        Some(Work {
            matrix: sum(&|kind, unit| kind != OpKind::Transcendental && unit == Unit::Matrix),
            plain: sum(&|kind, unit| kind != OpKind::Transcendental && unit == Unit::Plain),
            functions: sum(&|kind, _| kind == OpKind::Transcendental),
            bytes: cost.compulsory.total(),
        })
    }

    /// Both, one after the other.
    pub(crate) fn plus(self, other: Work) -> Work {
        Work {
            matrix: self.matrix + other.matrix,
            plain: self.plain + other.plain,
            functions: self.functions + other.functions,
            bytes: self.bytes + other.bytes,
        }
    }

    /// It so many times.
    pub(crate) fn times(self, count: f64) -> Work {
        Work {
            matrix: self.matrix * count,
            plain: self.plain * count,
            functions: self.functions * count,
            bytes: self.bytes * count,
        }
    }
}

/// Operations and bytes per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rates {
    memory: f64,
    matrix: f64,
    plain: f64,
    functions: f64,
}

impl Rates {
    /// The rates of a device for numbers of one type; `None` for an accelerator of which none are known.
    pub(crate) fn of(case: &Case<'_>, device: DeviceRow, number: ElementType) -> Option<Rates> {
        let wide = matches!(number, ElementType::F64 | ElementType::C128);
        let narrow = matches!(number, ElementType::Bf16 | ElementType::F16);
        let number = match number {
            ElementType::Bf16 => NumberType::Bf16,
            ElementType::F16 => NumberType::F16,
            _ if wide => NumberType::F64,
            _ => NumberType::F32,
        };
        let ceilings = case.analysis.ceilings.get(device.index());
        let known = |limit| ceilings.and_then(|ceilings| ceilings.value(limit)).filter(|rate| *rate > 0.0);
        if !case.is_processor(device) && known(Limit::Memory).is_none() {
            return None;
        }
        let part = if wide { 0.5 } else { 1.0 };
        let plain = known(Limit::Rate(number, ComputeUnit::Plain))
            .or_else(|| known(Limit::Rate(NumberType::F32, ComputeUnit::Plain)).map(|rate| rate * part));
        let matrix = known(Limit::Rate(number, ComputeUnit::Matrix))
            .or_else(|| known(Limit::Rate(NumberType::Tf32, ComputeUnit::Matrix)).filter(|_| !wide && !narrow));
        let functions = known(Limit::Transcendental(number)).or_else(|| plain.map(|rate| rate / 16.0));
        Some(Rates {
            memory: known(Limit::Memory).unwrap_or(ORDINARY.memory),
            matrix: matrix.or(plain).unwrap_or(ORDINARY.matrix * part),
            plain: plain.unwrap_or(ORDINARY.plain * part),
            functions: functions.unwrap_or(ORDINARY.functions * part),
        })
    }

    /// Nanoseconds that work takes at these rates: memory and arithmetic side by side.
    pub(crate) fn ns(&self, work: Work) -> f64 {
        let arithmetic = work.matrix / self.matrix + work.plain / self.plain + work.functions / self.functions;
        1e9 * arithmetic.max(work.bytes / self.memory)
    }
}

/// What the instructions `ids` of a program cost together in the judged time; `None` where one of them is not known.
pub(crate) fn work_of(case: &Case<'_>, program: &Program<'_>, ids: &[InstructionId]) -> Option<Work> {
    let costs: &Costs = case.analysis.get();
    ids.iter().try_fold(Work::default(), |sum, id| {
        let one = Work::of(costs.of(&case.analysis, program.row, *id)?)?;
        Some(sum.plus(one.times(program.events(*id) as f64)))
    })
}

/// What a better form takes of the time of what it replaces, at least and at most: 0 to 1.
///
/// At least it takes what it takes at the device's rates, at most as much longer as what it replaces took longer than that.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Left {
    /// At least.
    pub(crate) least: f64,
    /// At most.
    pub(crate) most: f64,
}

/// The most that a better form is taken to be slower than its price, where what it replaces is slower still.
const SLOWEST: f64 = 6.0;
/// The least that it is taken to be: nothing runs at its roof all the time.
const USUAL: f64 = 1.6;

/// How much further from the device's rates the better form is taken to be than what was faster than its price.
const NARROWER: f64 = 2.0;

/// How much faster or slower than its price work in good order is: the rates may be those of an ordinary core.
const FASTER: f64 = 1.6;
const SLOWER: f64 = 1.8;

impl Left {
    /// Of work that took `ns` and would take `before` nanoseconds at the rates, where its better form would take `after`.
    pub(crate) fn of(ns: f64, before: f64, after: f64) -> Option<Left> {
        if ns <= 0.0 || !before.is_finite() || !after.is_finite() {
            return None;
        }
        let slower = if before > 0.0 { ns / before } else { SLOWEST };
        // What was faster than its price shows that the rates are too low, though other sizes may be further from them.
        let least = after * slower.min(1.0) / ns;
        let most = after * (slower * NARROWER * USUAL).min(USUAL).max(slower.min(SLOWEST)) / ns;
        Some(Left { least: least.min(1.0), most: most.clamp(least.min(1.0), 1.0) })
    }
}

impl Left {
    /// Of work that took `ns`, where its better form takes about `after` because what was slow about it goes.
    pub(crate) fn near(ns: f64, after: f64) -> Option<Left> {
        if ns <= 0.0 || !after.is_finite() {
            return None;
        }
        let (least, most) = (after / FASTER / ns, SLOWER * after / ns);
        Some(Left { least: least.min(1.0), most: most.min(1.0) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_better_form_takes() {
        // Ten times slower than its price: the better form takes its price, or six times that.
        assert_eq!(Left::of(1000.0, 100.0, 10.0), Some(Left { least: 0.01, most: 0.06 }));
        // At its price: the better form is taken to be a little slower.
        assert_eq!(Left::of(1000.0, 1000.0, 500.0), Some(Left { least: 0.5, most: 0.8 }));
        // Twice as fast as its price: the rates are half of the real ones.
        assert_eq!(Left::of(1000.0, 2000.0, 500.0), Some(Left { least: 0.25, most: 0.8 }));
        assert_eq!(Left::of(0.0, 1.0, 1.0), None);
    }
}
