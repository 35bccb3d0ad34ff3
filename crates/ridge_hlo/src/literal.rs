//! Constants, as far as they help to read a program: scalars and the first elements of small arrays.
//!
//! Large constants are not kept: a module may carry gigabytes of weights, and nobody reads them here.

use std::fmt;

use crate::{ElementType, Shape};

/// Elements kept of one constant.
pub(crate) const ELEMENTS_KEPT: usize = 16;

/// The beginning of a constant's value.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Literal {
    /// The first elements in logical (row-major) order, at most sixteen; empty if the value was left out.
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

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scalar::Bool(value) => write!(f, "{value}"),
            Scalar::Int(value) => write!(f, "{value}"),
            Scalar::Uint(value) => write!(f, "{value}"),
            Scalar::Float(value) => write_float(f, *value),
            Scalar::Complex(real, imaginary) => {
                f.write_str("(")?;
                write_float(f, *real)?;
                f.write_str(", ")?;
                write_float(f, *imaginary)?;
                f.write_str(")")
            }
        }
    }
}

/// HLO's spelling: `inf`, `-inf`, `nan`, integers without a point; as few digits as a single-precision value needs.
fn write_float(f: &mut fmt::Formatter<'_>, value: f64) -> fmt::Result {
    let narrow = value as f32;
    let is_plain = value == 0.0 || (1e-5..1e16).contains(&value.abs());
    if value.is_nan() {
        f.write_str("nan")
    } else if value.is_infinite() {
        f.write_str(if value > 0.0 { "inf" } else { "-inf" })
    } else if f64::from(narrow) == value {
        if is_plain { write!(f, "{narrow}") } else { write!(f, "{narrow:e}") }
    } else if is_plain {
        write!(f, "{value}")
    } else {
        write!(f, "{value:e}")
    }
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(value) = self.scalar() {
            return write!(f, "{value}");
        }
        f.write_str("{")?;
        for (position, value) in self.values.iter().enumerate() {
            write!(f, "{}{value}", if position == 0 { "" } else { ", " })?;
        }
        f.write_str(match (self.is_cut, self.values.is_empty()) {
            (true, true) => "...",
            (true, false) => ", ...",
            (false, _) => "",
        })?;
        f.write_str("}")
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
