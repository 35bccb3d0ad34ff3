//! What a program costs: arithmetic by kind and type, and bytes counted two ways.
//!
//! [`ModuleCosts`] looks at every instruction of a module once. A [`Cost`] is that of one execution, with all that the
//! instruction calls. Two counts of bytes stand side by side and are never mixed:
//!
//! - [`Cost::bytes_accessed`] is what XLA's own `HloCostAnalysis` reports, kept so that numbers can be laid beside other
//!   tools'. It bills every reader of a buffer, so it can be many times what memory has to carry.
//! - [`Cost::compulsory`] is what memory has to carry at least: each distinct region read once, each result written
//!   once, slices and gathers at what they touch, nothing for values that live inside a fusion.
//!
//! Work that HLO does not tell is [`Cost::unknown`], not zero, and what a number rests on is in [`Cost::assumptions`].
//! Formulas and their sources are on the functions and in `docs/cost-model.md`.
//!
//! ```
//! use ridge_hlo::{HloModule, cost::{ModuleCosts, Unit}};
//!
//! let module = HloModule::from_text(
//!     "HloModule m\n\n\
//!      ENTRY %main (a: f32[8,16], b: f32[16,4]) -> f32[8,4] {\n  \
//!        %a = f32[8,16]{1,0} parameter(0)\n  \
//!        %b = f32[16,4]{1,0} parameter(1)\n  \
//!        ROOT %dot.1 = f32[8,4]{1,0} dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n\
//!      }\n",
//! )?;
//! let costs = ModuleCosts::new(&module);
//! let dot = costs.of(module.instruction_named("dot.1").expect("the text names it"));
//! assert_eq!(dot.work.flops(), 2.0 * 8.0 * 4.0 * 16.0);
//! assert_eq!(dot.compulsory.total(), 4.0 * (8.0 * 16.0 + 16.0 * 4.0 + 8.0 * 4.0));
//! assert_eq!(dot.dominant().expect("it has work").unit, Unit::Matrix);
//! # Ok::<(), ridge_hlo::HloError>(())
//! ```
//!
//! It knows no device, no time and no counter: rates, roofs and measured bytes are for those who have them.

mod assumptions;
mod attention;
mod body;
mod boundary;
mod collectives;
mod compulsory;
mod contraction;
mod convolution_calls;
mod custom_call;
mod demand;
mod elementwise;
mod gemm;
mod linear_algebra;
mod module_costs;
mod random;
mod reach;
mod reductions;
mod sizes;
mod transforms;
mod trips;
mod windows;
mod work;
mod xla_bytes;

pub use assumptions::{Assumption, Assumptions, UnknownWhy, UnknownWork};
pub use module_costs::{ModuleCosts, Observed};
pub use work::{OpKind, Unit, Work, WorkItem};

use crate::ElementType;
use module_costs::Costing;
use work::{CEILING, times};

/// What one execution costs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cost {
    /// Arithmetic that has to be done.
    pub work: Work,
    /// Bytes as XLA's `HloCostAnalysis` counts them; loops times their trips.
    pub bytes_accessed: Traffic,
    /// Bytes that memory has to carry at least.
    pub compulsory: Traffic,
    /// Bytes a device sends to others, in the collectives' ring algorithms.
    pub collective_bytes: f64,
    /// Work that is done but not in [`Cost::work`].
    pub unknown: Option<UnknownWork>,
    /// What the numbers rest on besides the program.
    pub assumptions: Assumptions,
}

/// Bytes from and to memory.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Traffic {
    /// Bytes read.
    pub read: f64,
    /// Bytes written.
    pub written: f64,
}

impl Traffic {
    /// Bytes read and written.
    pub fn total(self) -> f64 {
        (self.read + self.written).min(CEILING)
    }

    fn add_times(&mut self, other: Traffic, factor: f64) {
        self.read = (self.read + times(other.read, factor)).min(CEILING);
        self.written = (self.written + times(other.written, factor)).min(CEILING);
    }
}

impl Cost {
    /// That of one call of what no module describes: `products` multiply-adds that matrix units can do, `plain` arithmetic,
    /// both in `element_type`, and what it reads and writes.
    pub fn of_call(element_type: ElementType, products: f64, plain: &[(OpKind, f64)], traffic: Traffic) -> Cost {
        let mut work = Work::default();
        work.add_matrix(element_type, products);
        for (kind, count) in plain {
            let kind = if element_type.is_float() || element_type.is_complex() { *kind } else { OpKind::Integer };
            work.add(kind, element_type, *count);
        }
        Cost { work, bytes_accessed: traffic, compulsory: traffic, ..Cost::default() }
    }

    /// Floating-point operations, and those of integer products in matrix units, which data sheets rate alike.
    pub fn counted_operations(&self) -> f64 {
        let is_integer_product = |item: &&WorkItem| item.unit == Unit::Matrix && !item.element_type.is_float();
        let integer = self.work.by().iter().filter(is_integer_product).map(WorkItem::operations);
        integer.fold(self.work.flops(), |sum, operations| f64::min(sum + operations, CEILING))
    }

    /// [`Cost::counted_operations`] per byte of compulsory traffic; `None` without traffic.
    pub fn intensity(&self) -> Option<f64> {
        let bytes = self.compulsory.total();
        (bytes > 0.0).then(|| self.counted_operations() / bytes)
    }

    /// The largest item of its work, by operations; changes of type aside. Its type and unit say which roof applies.
    pub fn dominant(&self) -> Option<WorkItem> {
        let items = self.work.by().iter().filter(|item| item.kind != OpKind::Convert);
        items.copied().max_by(|left, right| left.operations().total_cmp(&right.operations()))
    }

    /// The type most of its work is done in.
    pub fn dominant_type(&self) -> Option<ElementType> {
        self.dominant().map(|item| item.element_type)
    }

    /// Whether most of its work can be done by matrix units.
    pub fn is_matrix(&self) -> bool {
        self.dominant().is_some_and(|item| item.unit == Unit::Matrix)
    }

    /// Adds all of `other`, `factor` times.
    fn add_times(&mut self, other: &Cost, factor: f64) {
        self.work.add_times(&other.work, factor);
        self.bytes_accessed.add_times(other.bytes_accessed, factor);
        self.compulsory.add_times(other.compulsory, factor);
        self.collective_bytes = (self.collective_bytes + times(other.collective_bytes, factor)).min(CEILING);
        self.merge_unknown(other.unknown, factor);
        self.assumptions.add_all(other.assumptions);
    }

    /// Notes unknown work that runs `factor` times.
    fn merge_unknown(&mut self, other: Option<UnknownWork>, factor: f64) {
        let Some(other) = other.filter(|_| factor > 0.0) else { return };
        let calls = times(other.calls, factor);
        match &mut self.unknown {
            Some(unknown) => unknown.calls = (unknown.calls + calls).min(CEILING),
            None => self.unknown = Some(UnknownWork { calls, ..other }),
        }
    }
}
