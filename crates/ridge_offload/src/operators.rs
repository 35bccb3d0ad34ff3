//! Operators of a data path and the formats they compute in, with what each takes of a device.

use crate::Basis;
use ridge_hlo::ElementType;
use ridge_hlo::cost::OpKind;
use serde::Deserialize;

/// One kind of arithmetic unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operator {
    /// A product added to a sum.
    MultiplyAdd,
    /// A product.
    Multiply,
    /// A sum.
    Add,
    /// A comparison, choice, minimum or maximum.
    Compare,
    /// Two numbers put in order.
    Exchange,
    /// A quotient or root.
    Divide,
    /// An exponential, sine or their like.
    Function,
    /// A change of format.
    Convert,
}

impl Operator {
    /// All of them.
    pub const ALL: [Operator; 8] = [
        Operator::MultiplyAdd,
        Operator::Multiply,
        Operator::Add,
        Operator::Compare,
        Operator::Exchange,
        Operator::Divide,
        Operator::Function,
        Operator::Convert,
    ];

    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            Operator::MultiplyAdd => "multiply_add",
            Operator::Multiply => "multiply",
            Operator::Add => "add",
            Operator::Compare => "compare",
            Operator::Exchange => "exchange",
            Operator::Divide => "divide",
            Operator::Function => "function",
            Operator::Convert => "convert",
        }
    }

    /// The operator that does `kind`.
    pub fn of(kind: OpKind) -> Operator {
        match kind {
            OpKind::MultiplyAdd => Operator::MultiplyAdd,
            OpKind::Multiply => Operator::Multiply,
            OpKind::Add | OpKind::Integer => Operator::Add,
            OpKind::Compare => Operator::Compare,
            OpKind::DivideSqrt => Operator::Divide,
            OpKind::Transcendental => Operator::Function,
            OpKind::Convert => Operator::Convert,
        }
    }
}

/// The format of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// 64-bit floating point.
    F64,
    /// 32-bit floating point.
    F32,
    /// 16-bit floating point of either kind.
    F16,
    /// Integers and fixed point of up to 32 bits.
    I32,
    /// Integers and fixed point of up to 16 bits.
    I16,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 5] = [Format::F64, Format::F32, Format::F16, Format::I32, Format::I16];

    /// The name in files and options.
    pub fn name(self) -> &'static str {
        match self {
            Format::F64 => "f64",
            Format::F32 => "f32",
            Format::F16 => "f16",
            Format::I32 => "i32",
            Format::I16 => "i16",
        }
    }

    /// Bytes of one number.
    pub fn bytes(self) -> f64 {
        match self {
            Format::F64 => 8.0,
            Format::F32 | Format::I32 => 4.0,
            Format::F16 | Format::I16 => 2.0,
        }
    }

    /// Whether it is floating point.
    pub fn is_float(self) -> bool {
        matches!(self, Format::F64 | Format::F32 | Format::F16)
    }

    /// The format that holds this one and whose operators cost no less; `None` for the widest.
    pub fn wider(self) -> Option<Format> {
        match self {
            Format::I16 => Some(Format::I32),
            Format::I32 | Format::F16 => Some(Format::F32),
            Format::F32 => Some(Format::F64),
            Format::F64 => None,
        }
    }

    /// The format of numbers of `element`.
    pub fn of(element: ElementType) -> Format {
        let bits = element.bits().unwrap_or(32);
        match element {
            _ if element.is_complex() => {
                if bits > 64 {
                    Format::F64
                } else {
                    Format::F32
                }
            }
            _ if element.is_float() => match bits {
                0..=16 => Format::F16,
                17..=32 => Format::F32,
                _ => Format::F64,
            },
            _ if bits <= 16 => Format::I16,
            _ => Format::I32,
        }
    }
}

/// What one operator takes.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperatorCost {
    /// DSP slices or blocks.
    pub dsp: f64,
    /// Look-up tables.
    pub lut: f64,
    /// Clocks from operands to result.
    pub latency: f64,
    /// How far the figures can be trusted.
    pub basis: Basis,
    /// Where they are from.
    pub source: String,
}
