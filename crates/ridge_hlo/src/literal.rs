//! Constants, as far as they help to read a program or to compute it: scalars and small arrays, and the first elements of others.
//!
//! Large constants are not kept: a module may carry gigabytes of weights, and nobody reads them here.

use std::fmt;

use crate::{ElementType, Shape};

/// Elements kept of a large constant.
const FEW: usize = 16;

/// Elements of a constant that is kept whole, and of all constants of a module that are.
const WHOLE: u64 = 1 << 14;
pub(crate) const WHOLE_IN_A_MODULE: u64 = 1 << 18;

/// Elements to keep of a constant of so many; `left` are those that its module may still keep.
pub(crate) fn elements_kept(expected: Option<u64>, left: &mut u64) -> usize {
    match expected {
        Some(count) if count > FEW as u64 && count <= WHOLE.min(*left) => {
            *left -= count;
            count as usize
        }
        _ => FEW,
    }
}

/// The beginning of a constant's value.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Literal {
    /// The elements in logical (row-major) order: all of a small constant, a few of a large one; empty if the value was left out.
    pub values: Vec<Scalar>,
    /// Whether there were more than those kept, or the file left them out.
    pub is_cut: bool,
}

/// One element of a constant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scalar {
    /// A boolean.
    Bool(bool),
    /// A signed integer.
    Int(i64),
    /// An unsigned integer.
    Uint(u64),
    /// A real number, widened.
    Float(f64),
    /// A complex number, widened: real and imaginary part.
    Complex(f64, f64),
}

impl Literal {
    /// The value if it is a scalar that was kept.
    pub fn scalar(&self) -> Option<Scalar> {
        match self.values[..] {
            [value] if !self.is_cut => Some(value),
            _ => None,
        }
    }

    /// The value of a scalar integer, as loop bounds are.
    pub fn integer(&self) -> Option<i64> {
        match self.scalar()? {
            Scalar::Int(value) => Some(value),
            Scalar::Uint(value) => i64::try_from(value).ok(),
            _ => None,
        }
    }
}

/// How many digits a real number is printed with.
#[derive(Clone, Copy)]
enum Digits {
    /// As many as a single-precision number needs.
    Single,
    /// As many as a double-precision number needs.
    Double,
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, Digits::Double)
    }
}

impl Scalar {
    fn write(self, out: &mut impl fmt::Write, digits: Digits) -> fmt::Result {
        match self {
            Scalar::Bool(value) => write!(out, "{value}"),
            Scalar::Int(value) => write!(out, "{value}"),
            Scalar::Uint(value) => write!(out, "{value}"),
            Scalar::Float(value) => write_float(out, value, digits),
            Scalar::Complex(real, imaginary) => {
                out.write_str("(")?;
                write_float(out, real, digits)?;
                out.write_str(", ")?;
                write_float(out, imaginary, digits)?;
                out.write_str(")")
            }
        }
    }
}

/// HLO's spelling: `inf`, `-inf`, `nan`, integers without a point.
fn write_float(out: &mut impl fmt::Write, value: f64, digits: Digits) -> fmt::Result {
    let is_plain = value == 0.0 || (1e-5..1e16).contains(&value.abs());
    match digits {
        _ if value.is_nan() => out.write_str("nan"),
        _ if value.is_infinite() => out.write_str(if value > 0.0 { "inf" } else { "-inf" }),
        Digits::Single if is_plain => write!(out, "{}", value as f32),
        Digits::Single => write!(out, "{:e}", value as f32),
        Digits::Double if is_plain => write!(out, "{value}"),
        Digits::Double => write!(out, "{value:e}"),
    }
}

impl Literal {
    /// Writes it as HLO text does for elements of this type.
    pub(crate) fn write(&self, out: &mut impl fmt::Write, element_type: ElementType) -> fmt::Result {
        let digits = match element_type {
            ElementType::F64 | ElementType::C128 | ElementType::Unknown => Digits::Double,
            _ => Digits::Single,
        };
        if let Some(value) = self.scalar() {
            return value.write(out, digits);
        }
        out.write_str("{")?;
        for (position, value) in self.values.iter().enumerate() {
            out.write_str(if position == 0 { "" } else { ", " })?;
            value.write(out, digits)?;
        }
        out.write_str(match (self.is_cut, self.values.is_empty()) {
            (true, true) => "...",
            (true, false) => ", ...",
            (false, _) => "",
        })?;
        out.write_str("}")
    }
}

impl fmt::Display for Literal {
    /// All digits of real numbers, since a literal does not know its type.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, ElementType::Unknown)
    }
}

/// The scalar `text` says, for elements of this type; `None` if it is no number.
pub(crate) fn parse_scalar(text: &str, element_type: ElementType) -> Option<Scalar> {
    let text = text.trim();
    if element_type == ElementType::Pred {
        return match text {
            "true" | "1" => Some(Scalar::Bool(true)),
            "false" | "0" => Some(Scalar::Bool(false)),
            _ => None,
        };
    }
    if element_type.is_integer() {
        return match element_type.name().starts_with('s') {
            true => text.parse().ok().map(Scalar::Int),
            false => text.parse().ok().map(Scalar::Uint),
        };
    }
    if element_type.is_complex() {
        let (real, imaginary) = text.strip_prefix('(')?.strip_suffix(')')?.split_once(',')?;
        return Some(Scalar::Complex(parse_float(real, element_type)?, parse_float(imaginary, element_type)?));
    }
    parse_float(text, element_type).map(Scalar::Float)
}

fn parse_float(text: &str, element_type: ElementType) -> Option<f64> {
    let text = text.trim();
    // NaNs with a payload are printed `nan(0x...)`.
    let text = if text.starts_with("nan") || text.starts_with("-nan") { "nan" } else { text };
    match element_type {
        ElementType::F64 | ElementType::C128 => text.parse::<f64>().ok(),
        _ => text.parse::<f32>().ok().map(f64::from),
    }
}

/// How many elements a literal of this shape has; `None` for tuples and broken shapes.
pub(crate) fn expected_elements(shape: &Shape) -> Option<u64> {
    if shape.is_tuple() { None } else { shape.element_count().ok() }
}
