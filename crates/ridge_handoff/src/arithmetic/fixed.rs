//! Fixed point: `fixed<W,I>` has W bits in two's complement, I of them before the point, as `ap_fixed<W,I,AP_RND,AP_SAT>`.
//!
//! Every result is rounded to the nearest, halves upwards, and held within the range.

use super::{Arithmetic, real_of_whole, related, whole_of_real};
use crate::arithmetic::strict;
use crate::program::{Each, Relation};
use ridge_hlo::ElementType;
use std::fmt;
use std::str::FromStr;

/// A format, and a way to compute in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fixed {
    /// All bits, 2 to 32.
    pub width: u32,
    /// Those before the point, the sign's included.
    pub integer: u32,
}

/// What is no format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected `fixed<W,I>` with 2 to 32 bits and 1 to W of them before the point, found `{0}`")]
pub struct FormatError(String);

impl FromStr for Fixed {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<Fixed, FormatError> {
        let wrong = || FormatError(text.to_owned());
        let inside = text.trim().strip_prefix("fixed<").and_then(|rest| rest.strip_suffix('>')).ok_or_else(wrong)?;
        let (width, integer) = inside.split_once(',').ok_or_else(wrong)?;
        let (width, integer) =
            (width.trim().parse().map_err(|_| wrong())?, integer.trim().parse().map_err(|_| wrong())?);
        if !(2..=32).contains(&width) || !(1..=width).contains(&integer) {
            Err(wrong())
        } else {
            Ok(Fixed { width, integer })
        }
    }
}

impl fmt::Display for Fixed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "fixed<{},{}>", self.width, self.integer)
    }
}

impl Fixed {
    /// Bits behind the point.
    pub fn fraction(self) -> u32 {
        self.width - self.integer
    }

    /// The format as a part of a file's name, `fixed_16_8`.
    pub fn slug(self) -> String {
        format!("fixed_{}_{}", self.width, self.integer)
    }

    fn held(self, raw: i128) -> i64 {
        let most = (1_i128 << (self.width - 1)) - 1;
        raw.clamp(-most - 1, most) as i64
    }

    /// The nearest number of the format, as its bits.
    pub fn of(self, value: f64) -> i64 {
        let scaled = (value * f64::from(self.fraction()).exp2() + 0.5).floor();
        if scaled.is_nan() { 0 } else { self.held(scaled.clamp(-1e18, 1e18) as i128) }
    }
}

impl Arithmetic for Fixed {
    type Real = i64;

    fn real(&self, value: f64, _: ElementType) -> i64 {
        self.of(value)
    }

    fn value(&self, real: i64) -> f64 {
        real as f64 * (-f64::from(self.fraction())).exp2()
    }

    fn one(&self, each: Each, a: i64, _: ElementType) -> i64 {
        match each {
            Each::Abs => self.held(i128::from(a).abs()),
            Each::Negate => self.held(-i128::from(a)),
            _ => self.of(strict::one(each, self.value(a))),
        }
    }

    fn two(&self, each: Each, a: i64, b: i64, _: ElementType) -> i64 {
        let (x, y) = (i128::from(a), i128::from(b));
        match each {
            Each::Add => self.held(x + y),
            Each::Subtract => self.held(x - y),
            Each::Multiply => {
                let half = if self.fraction() == 0 { 0 } else { 1_i128 << (self.fraction() - 1) };
                self.held((x * y + half) >> self.fraction())
            }
            Each::Divide if y == 0 => self.held(x.signum() << 64),
            Each::Divide => {
                let (x, y) = if y < 0 { (-x, -y) } else { (x, y) };
                self.held(((x << (self.fraction() + 1)) + y).div_euclid(2 * y))
            }
            Each::Maximum => a.max(b),
            Each::Minimum => a.min(b),
            _ => self.of(strict::two(each, self.value(a), self.value(b))),
        }
    }

    fn compare(&self, relation: Relation, a: i64, b: i64) -> (bool, bool) {
        (related(relation, a as f64, b as f64), true)
    }

    fn bits(&self, _: i64, _: ElementType) -> Option<(i64, bool)> {
        None
    }

    fn narrowed(&self, real: i64) -> i64 {
        real
    }

    fn of_whole(&self, whole: i64, _: bool, from: ElementType, _: ElementType) -> i64 {
        self.of(real_of_whole(whole, from, ElementType::F64))
    }

    fn to_whole(&self, real: i64, ty: ElementType) -> (i64, bool) {
        (whole_of_real(self.value(real), ty), true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_read_and_held() {
        let format: Fixed = "fixed<16,8>".parse().expect("a format");
        assert_eq!((format.fraction(), format.to_string()), (8, "fixed<16,8>".to_owned()));
        for (value, expected) in
            [(0.5, 128), (-0.5, -128), (127.999, 32767), (1e30, 32767), (-1e30, -32768), (f64::NAN, 0)]
        {
            assert_eq!(format.of(value), expected, "{value}");
        }
        let ty = ElementType::F32;
        assert_eq!(format.two(Each::Multiply, 1, 128, ty), 1, "halves go up");
        assert_eq!(format.two(Each::Multiply, -1, 128, ty), 0, "halves go up");
        assert_eq!(format.two(Each::Add, 32767, 1, ty), 32767);
        for wrong in ["fixed<16>", "fixed<40,8>", "fixed<16,17>", "int8", "fixed<16,0>"] {
            assert!(wrong.parse::<Fixed>().is_err(), "{wrong}");
        }
    }
}
