//! Arithmetic by kind, element type and the part of the device that can do it.
//!
//! It adds up; which instruction does how much of what is decided in the files beside it.

use crate::ElementType;

/// Counts stay below this, so that no sum or product of them is infinite.
pub(super) const CEILING: f64 = 1e300;

/// A product that stays finite, whatever a broken file claims.
pub(super) fn times(left: f64, right: f64) -> f64 {
    (left * right).min(CEILING)
}

/// A kind of arithmetic.
///
/// Every kind counts one operation but [`OpKind::MultiplyAdd`], which counts two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OpKind {
    /// A product added to a sum, as in matrix products: two operations.
    MultiplyAdd,
    /// A product.
    Multiply,
    /// A sum or difference, a negation, an absolute value.
    Add,
    /// A comparison, minimum, maximum or selection.
    Compare,
    /// A quotient, remainder, square root or its inverse.
    DivideSqrt,
    /// A function such as `exp` or `sin`, counted as one operation however the device computes it.
    Transcendental,
    /// A change of type or a rounding; counted, but no floating-point operation.
    Convert,
    /// Any arithmetic on integers and booleans but the multiply-adds of integer matrix products.
    Integer,
}

impl OpKind {
    /// All kinds.
    pub const ALL: [OpKind; 8] = [
        OpKind::MultiplyAdd,
        OpKind::Multiply,
        OpKind::Add,
        OpKind::Compare,
        OpKind::DivideSqrt,
        OpKind::Transcendental,
        OpKind::Convert,
        OpKind::Integer,
    ];

    /// Its name in tables, `multiply_add`.
    pub fn name(self) -> &'static str {
        match self {
            OpKind::MultiplyAdd => "multiply_add",
            OpKind::Multiply => "multiply",
            OpKind::Add => "add",
            OpKind::Compare => "compare",
            OpKind::DivideSqrt => "divide_sqrt",
            OpKind::Transcendental => "transcendental",
            OpKind::Convert => "convert",
            OpKind::Integer => "integer",
        }
    }

    /// Operations one of it counts.
    pub fn operations(self) -> f64 {
        if self == OpKind::MultiplyAdd { 2.0 } else { 1.0 }
    }
}

/// The part of a device that can do a piece of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unit {
    /// Matrix products and convolutions, which tensor or matrix cores can do where the device has them for the type.
    Matrix,
    /// Everything else.
    Plain,
}

/// So much of one kind of arithmetic.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WorkItem {
    /// What is done.
    pub kind: OpKind,
    /// The type it is done in: that of the operands; a complex type's parts count as real numbers.
    pub element_type: ElementType,
    /// Which part of the device can do it.
    pub unit: Unit,
    /// How often; a multiply-add is one.
    pub count: f64,
}

impl WorkItem {
    /// Operations: [`WorkItem::count`], twice for multiply-adds.
    pub fn operations(&self) -> f64 {
        times(self.count, self.kind.operations())
    }

    /// Whether it counts as floating-point operations.
    pub fn is_floating(&self) -> bool {
        self.element_type.is_float() && !matches!(self.kind, OpKind::Convert | OpKind::Integer)
    }

    fn is_like(&self, other: &WorkItem) -> bool {
        self.kind == other.kind && self.element_type == other.element_type && self.unit == other.unit
    }
}

/// Arithmetic, item by item.
#[derive(Debug, Clone, Default)]
pub struct Work {
    items: Vec<WorkItem>,
}

impl Work {
    /// Each kind, type and unit once, in no particular order.
    pub fn by(&self) -> &[WorkItem] {
        &self.items
    }

    /// Floating-point operations: a multiply-add is two, everything else one, changes of type none.
    pub fn flops(&self) -> f64 {
        self.sum(WorkItem::is_floating)
    }

    /// Operations on integers and booleans, multiply-adds of integer matrix products as two.
    pub fn integer_ops(&self) -> f64 {
        self.sum(|item| !item.element_type.is_float() && item.kind != OpKind::Convert)
    }

    /// Operations of one kind on every type.
    pub fn of(&self, kind: OpKind) -> f64 {
        self.sum(|item| item.kind == kind)
    }

    /// Whether there is none at all.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    fn sum(&self, wanted: impl Fn(&WorkItem) -> bool) -> f64 {
        self.items
            .iter()
            .filter(|item| wanted(item))
            .map(WorkItem::operations)
            .fold(0.0, |sum, operations| f64::min(sum + operations, CEILING))
    }

    /// Adds `count` of a kind that runs on plain units; complex types count as their parts' type.
    pub(super) fn add(&mut self, kind: OpKind, element_type: ElementType, count: f64) {
        self.push(WorkItem { kind, element_type: part_type(element_type), unit: Unit::Plain, count });
    }

    /// Adds multiply-adds that matrix units can do; one of complex numbers is four of real ones.
    pub(super) fn add_matrix(&mut self, element_type: ElementType, count: f64) {
        let parts = if element_type.is_complex() { 4.0 } else { 1.0 };
        let element_type = part_type(element_type);
        let count = times(count, parts);
        self.push(WorkItem { kind: OpKind::MultiplyAdd, element_type, unit: Unit::Matrix, count });
    }

    /// Adds all of `other`, `factor` times.
    pub(super) fn add_times(&mut self, other: &Work, factor: f64) {
        for item in &other.items {
            self.push(WorkItem { count: times(item.count, factor), ..*item });
        }
    }

    /// Adds all of `other`.
    pub(super) fn add_all(&mut self, other: &Work) {
        self.add_times(other, 1.0);
    }

    fn push(&mut self, added: WorkItem) {
        if added.count.is_nan() || added.count <= 0.0 {
            return;
        }
        match self.items.iter_mut().find(|item| item.is_like(&added)) {
            Some(item) => item.count = (item.count + added.count).min(CEILING),
            None => self.items.push(WorkItem { count: added.count.min(CEILING), ..added }),
        }
    }
}

impl PartialEq for Work {
    /// The same items in any order.
    fn eq(&self, other: &Work) -> bool {
        self.items.len() == other.items.len() && self.items.iter().all(|item| other.items.contains(item))
    }
}

/// The type arithmetic on `element_type` is done in.
pub(super) fn part_type(element_type: ElementType) -> ElementType {
    match element_type {
        ElementType::C64 => ElementType::F32,
        ElementType::C128 => ElementType::F64,
        other => other,
    }
}
