//! Counts, floating-point operations and rates, shown in decimal units as data sheets do.

use crate::digits::{grouped, scaled};
use std::fmt;

const DECIMAL: [f64; 5] = [1e15, 1e12, 1e9, 1e6, 1e3];

fn decimal(f: &mut fmt::Formatter<'_>, value: f64, units: [&'static str; 6]) -> fmt::Result {
    let scales = [
        (DECIMAL[0], units[0]),
        (DECIMAL[1], units[1]),
        (DECIMAL[2], units[2]),
        (DECIMAL[3], units[3]),
        (DECIMAL[4], units[4]),
        (1.0, units[5]),
    ];
    f.pad(&scaled(value, &scales))
}

/// A number of things: events, executions, launches. Printed whole, with a comma between groups of three digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Count(pub u64);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&grouped(&self.0.to_string()))
    }
}

/// Floating-point operations, a count; a multiply-add is two.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Flops(pub f64);

impl fmt::Display for Flops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        decimal(f, self.0, ["PFLOP", "TFLOP", "GFLOP", "MFLOP", "kFLOP", "FLOP"])
    }
}

/// Floating-point operations per second.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct FlopsPerSec(pub f64);

impl fmt::Display for FlopsPerSec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        decimal(f, self.0, ["PFLOP/s", "TFLOP/s", "GFLOP/s", "MFLOP/s", "kFLOP/s", "FLOP/s"])
    }
}

/// Operations of any kind per second.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct OpsPerSec(pub f64);

impl fmt::Display for OpsPerSec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        decimal(f, self.0, ["Pop/s", "Top/s", "Gop/s", "Mop/s", "kop/s", "op/s"])
    }
}

/// Bytes per second, in decimal units as memory bandwidth is quoted.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct BytesPerSec(pub f64);

impl fmt::Display for BytesPerSec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        decimal(f, self.0, ["PB/s", "TB/s", "GB/s", "MB/s", "kB/s", "B/s"])
    }
}

/// Arithmetic intensity: floating-point operations per byte moved.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct FlopPerByte(pub f64);

impl fmt::Display for FlopPerByte {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{} FLOP/B", crate::three_digits(self.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_decimal_and_counts_are_whole() {
        assert_eq!(FlopsPerSec(104_425.7e9).to_string(), "104 TFLOP/s");
        assert_eq!(OpsPerSec(232e9).to_string(), "232 Gop/s");
        assert_eq!(BytesPerSec(5.3e12).to_string(), "5.3 TB/s");
        assert_eq!(Flops(32_715_571_200.0).to_string(), "32.7 GFLOP");
        assert_eq!(FlopPerByte(0.25).to_string(), "0.25 FLOP/B");
        assert_eq!(Count(5_979_302).to_string(), "5,979,302");
        assert_eq!(Count(79).to_string(), "79");
    }
}
