//! A number that knows its unit and its basis.

use crate::{Basis, Unit};

/// A number with its unit and where it comes from; arithmetic keeps the weaker basis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantity {
    /// The number.
    pub value: f64,
    /// What it is measured in.
    pub unit: Unit,
    /// Where it comes from.
    pub basis: Basis,
}

impl Quantity {
    /// A number of `unit`.
    pub fn new(value: f64, unit: Unit, basis: Basis) -> Quantity {
        Quantity { value, unit, basis }
    }

    /// Nanoseconds.
    pub fn nanos(ns: i64, basis: Basis) -> Quantity {
        Quantity::new(ns as f64, Unit::Nanos, basis)
    }

    /// The sum with another quantity of the same unit; `None` where the units differ.
    pub fn plus(self, other: Quantity) -> Option<Quantity> {
        self.joined(other, self.value + other.value)
    }

    /// What is left without another quantity of the same unit; `None` where the units differ.
    pub fn less(self, other: Quantity) -> Option<Quantity> {
        self.joined(other, self.value - other.value)
    }

    /// As a part of `whole`, a [`Unit::Share`]; `None` where the units differ or there is no whole.
    pub fn share_of(self, whole: Quantity) -> Option<Quantity> {
        let part = || Quantity::new(self.value / whole.value, Unit::Share, self.basis.and(whole.basis));
        (self.unit == whole.unit && whole.value > 0.0).then(part)
    }

    /// So many times as much.
    pub fn times(self, factor: f64) -> Quantity {
        Quantity { value: self.value * factor, ..self }
    }

    fn joined(self, other: Quantity, value: f64) -> Option<Quantity> {
        (self.unit == other.unit).then(|| Quantity::new(value, self.unit, self.basis.and(other.basis)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_keeps_the_weaker_basis() {
        let measured = Quantity::nanos(30, Basis::Measured);
        let modelled = Quantity::nanos(60, Basis::Modelled);
        assert_eq!(measured.plus(modelled), Some(Quantity::nanos(90, Basis::Modelled)));
        assert_eq!(modelled.less(measured), Some(Quantity::nanos(30, Basis::Modelled)));
        assert_eq!(measured.share_of(modelled), Some(Quantity::new(0.5, Unit::Share, Basis::Modelled)));
        assert_eq!(measured.times(2.0), Quantity::nanos(60, Basis::Measured));
    }

    #[test]
    fn units_do_not_mix() {
        let bytes = Quantity::new(4.0, Unit::Bytes, Basis::Counted);
        assert_eq!(Quantity::nanos(1, Basis::Measured).plus(bytes), None);
        assert_eq!(bytes.share_of(Quantity::new(0.0, Unit::Bytes, Basis::Counted)), None);
    }
}
