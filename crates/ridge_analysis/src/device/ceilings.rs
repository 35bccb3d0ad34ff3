//! What a device can do at most, each figure with where it is from: the one type that data sheets, measurements and
//! the captures' own words all fill.
//!
//! Reads no sheet and no file, and decides nothing about operations: that is for the roofline.

use ridge_table::Basis;
use std::fmt;

/// Types of numbers that devices have rates for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NumberType {
    /// 64-bit floating point.
    F64,
    /// 32-bit floating point.
    F32,
    /// 32-bit floating point with a mantissa of 10 bits, in matrix units only.
    Tf32,
    /// 16-bit floating point with an exponent of 8 bits.
    Bf16,
    /// 16-bit floating point with an exponent of 5 bits.
    F16,
    /// 8-bit floating point of any kind.
    F8,
    /// 8-bit integer.
    I8,
}

impl NumberType {
    /// Every type, widest first.
    pub const ALL: [NumberType; 7] = [
        NumberType::F64,
        NumberType::F32,
        NumberType::Tf32,
        NumberType::Bf16,
        NumberType::F16,
        NumberType::F8,
        NumberType::I8,
    ];

    /// The name in files and tables.
    pub fn name(self) -> &'static str {
        match self {
            NumberType::F64 => "f64",
            NumberType::F32 => "f32",
            NumberType::Tf32 => "tf32",
            NumberType::Bf16 => "bf16",
            NumberType::F16 => "f16",
            NumberType::F8 => "f8",
            NumberType::I8 => "i8",
        }
    }

    /// The type that [`NumberType::name`] names.
    pub fn from_name(name: &str) -> Option<NumberType> {
        NumberType::ALL.into_iter().find(|number| number.name() == name)
    }
}

/// Which part of a core computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ComputeUnit {
    /// Ordinary arithmetic, scalar or vector.
    Plain,
    /// Units for matrix products: tensor cores, matrix cores, AMX.
    Matrix,
}

impl ComputeUnit {
    /// Both.
    pub const ALL: [ComputeUnit; 2] = [ComputeUnit::Plain, ComputeUnit::Matrix];

    /// The name in files and tables.
    pub fn name(self) -> &'static str {
        match self {
            ComputeUnit::Plain => "plain",
            ComputeUnit::Matrix => "matrix",
        }
    }
}

/// What is limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Limit {
    /// Operations per second, dense; a multiply-add is two.
    Rate(NumberType, ComputeUnit),
    /// Exponentials, logarithms, sines and their like per second, each counted as one.
    Transcendental(NumberType),
    /// Comparisons of a sort per second, of which n numbers take n log₂ n.
    Comparison(NumberType),
    /// Device memory, bytes per second, reads and writes together.
    Memory,
    /// Last-level cache, bytes per second.
    Cache,
    /// Copies from host to device memory, bytes per second.
    HostToDevice,
    /// Copies from device to host memory, bytes per second.
    DeviceToHost,
    /// The least time from one kernel to the next, seconds.
    Launch,
}

impl Limit {
    /// Every limit.
    pub fn all() -> impl Iterator<Item = Limit> {
        let rates =
            ComputeUnit::ALL.into_iter().flat_map(|unit| NumberType::ALL.map(|number| Limit::Rate(number, unit)));
        let own =
            NumberType::ALL.into_iter().flat_map(|number| [Limit::Transcendental(number), Limit::Comparison(number)]);
        rates.chain(own).chain([Limit::Memory, Limit::Cache, Limit::HostToDevice, Limit::DeviceToHost, Limit::Launch])
    }

    /// The limit whose name in files this is.
    pub fn from_name(name: &str) -> Option<Limit> {
        Limit::all().find(|limit| limit.to_string() == name)
    }
}

/// The name in files: `f32.plain`, `bf16.matrix`, `f32.transcendental`, `memory`.
impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Rate(number, unit) => write!(f, "{}.{}", number.name(), unit.name()),
            Limit::Transcendental(number) => write!(f, "{}.transcendental", number.name()),
            Limit::Comparison(number) => write!(f, "{}.comparison", number.name()),
            Limit::Memory => f.write_str("memory"),
            Limit::Cache => f.write_str("cache"),
            Limit::HostToDevice => f.write_str("host_to_device"),
            Limit::DeviceToHost => f.write_str("device_to_host"),
            Limit::Launch => f.write_str("launch"),
        }
    }
}

/// One figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Ceiling {
    /// What is limited.
    pub limit: Limit,
    /// The figure in the limit's unit: operations per second, bytes per second or seconds.
    pub value: f64,
    /// Where it is from.
    pub basis: Basis,
    /// The document or the measurement, in words.
    pub source: String,
}

/// All that is known of what one device can do.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ceilings {
    /// The device's name.
    pub device: String,
    /// The figures; several of one limit may differ in their basis.
    pub entries: Vec<Ceiling>,
    /// Bytes of the last-level cache, where known.
    pub cache_bytes: Option<u64>,
    /// What a reader should know: where sources disagree.
    pub notes: Vec<String>,
}

impl Ceilings {
    /// The best known figure of `limit`: measured before sheet before capture.
    pub fn get(&self, limit: Limit) -> Option<&Ceiling> {
        self.entries.iter().filter(|entry| entry.limit == limit).min_by_key(|entry| entry.basis)
    }

    /// [`Ceilings::get`]'s figure alone.
    pub fn value(&self, limit: Limit) -> Option<f64> {
        self.get(limit).map(|entry| entry.value)
    }

    /// These with the figures of `others` added, such as measurements to a sheet's.
    pub fn with(mut self, others: &Ceilings) -> Ceilings {
        self.entries.extend(others.entries.iter().cloned());
        self.notes.extend(others.notes.iter().cloned());
        self.cache_bytes = self.cache_bytes.or(others.cache_bytes);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_has_a_name_of_its_own() {
        for limit in Limit::all() {
            assert_eq!(Limit::from_name(&limit.to_string()), Some(limit));
        }
        assert_eq!(Limit::Rate(NumberType::Bf16, ComputeUnit::Matrix).to_string(), "bf16.matrix");
    }

    #[test]
    fn a_measurement_goes_before_a_sheet() {
        let entry = |value, basis| Ceiling { limit: Limit::Memory, value, basis, source: String::new() };
        let one = |value, basis| Ceilings { entries: vec![entry(value, basis)], ..Ceilings::default() };
        let sheet = one(4.8e12, Basis::Sheet).with(&one(4.9e12, Basis::Capture));
        assert_eq!(sheet.value(Limit::Memory), Some(4.8e12));
        assert_eq!(sheet.with(&one(4.1e12, Basis::Measured)).value(Limit::Memory), Some(4.1e12));
        assert_eq!(Ceilings::default().value(Limit::Launch), None);
    }
}
