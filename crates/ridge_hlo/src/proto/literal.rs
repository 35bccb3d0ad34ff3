//! `LiteralProto`: a small constant, or the first elements of a large one, and no more.

use super::Reader;
use crate::literal::{elements_kept, expected_elements};
use crate::wire::{self, Value};
use crate::{ElementType, Literal, Scalar, Shape};

impl Reader<'_> {
    /// Reads the beginning of a literal of this shape; tuples keep no values.
    pub(super) fn literal(&mut self, message: &[u8], shape: &Shape) -> Literal {
        let expected = expected_elements(shape);
        let most = elements_kept(expected, &mut self.elements_left);
        let mut values = Vec::new();
        let mut seen = 0u64;
        self.each(message, "literal", |_, number, value| {
            if let Some(kind) = Encoding::of_field(number) {
                kind.take(value, shape.element_type, (&mut values, most), &mut seen);
            }
        });
        if values.len() > 1 && !is_row_major(shape) {
            // XLA stores elements in memory order.
            values = if expected == Some(values.len() as u64) { logical_order(shape, values) } else { Vec::new() };
        }
        let is_cut = expected != Some(values.len() as u64);
        Literal { values, is_cut }
    }
}

fn is_row_major(shape: &Shape) -> bool {
    shape.layout.as_ref().is_none_or(|layout| layout.minor_to_major.windows(2).all(|pair| pair[0] > pair[1]))
}

/// Few elements in memory order, reordered as they count; none if the layout makes no sense.
fn logical_order(shape: &Shape, values: Vec<Scalar>) -> Vec<Scalar> {
    let Some(layout) = &shape.layout else { return values };
    let mut strides = vec![0usize; shape.dimensions.len()];
    let mut stride = 1usize;
    for &dimension in &layout.minor_to_major {
        let Some(slot) = usize::try_from(dimension).ok().filter(|&dimension| dimension < strides.len()) else {
            return Vec::new();
        };
        strides[slot] = stride;
        stride *= usize::try_from(shape.dimensions[slot]).unwrap_or(0);
    }
    let in_memory = |mut logical: usize| {
        let mut at = 0;
        for (&extent, stride) in shape.dimensions.iter().zip(&strides).rev() {
            let extent = usize::try_from(extent).unwrap_or(1).max(1);
            at += logical % extent * stride;
            logical /= extent;
        }
        values.get(at).copied()
    };
    (0..values.len()).map(in_memory).collect::<Option<Vec<_>>>().unwrap_or_default()
}

/// How a literal field stores its elements.
#[derive(Clone, Copy)]
enum Encoding {
    Varints,
    /// Little-endian bytes of this width.
    Bytes(usize),
    Floats,
    Doubles,
}

impl Encoding {
    fn of_field(number: u32) -> Option<Encoding> {
        Some(match number {
            2 | 4..=7 => Encoding::Varints,
            3 | 15 | 19..=33 => Encoding::Bytes(1),
            11 | 13 | 16 | 17 => Encoding::Bytes(2),
            8 | 12 => Encoding::Floats,
            9 | 18 => Encoding::Doubles,
            _ => return None,
        })
    }

    fn take(
        self,
        value: Value<'_>,
        element_type: ElementType,
        (values, most): (&mut Vec<Scalar>, usize),
        seen: &mut u64,
    ) {
        match (self, value) {
            (Encoding::Varints, Value::Bytes(bytes)) => {
                for number in wire::packed(bytes).take(most) {
                    push(values, most, integer_scalar(number, element_type), seen);
                }
            }
            (Encoding::Varints, Value::Varint(number)) => {
                push(values, most, integer_scalar(number, element_type), seen)
            }
            (Encoding::Bytes(width), Value::Bytes(bytes)) => {
                for element in bytes.chunks_exact(width).take(most) {
                    let bits = element.iter().rev().fold(0u64, |bits, &byte| bits << 8 | u64::from(byte));
                    push(values, most, bits_scalar(bits, element_type), seen);
                }
            }
            (Encoding::Floats, Value::Fixed32(bits)) => {
                push_floats(values, most, &[f32::from_bits(bits).into()], element_type, seen)
            }
            (Encoding::Doubles, Value::Fixed64(bits)) => {
                push_floats(values, most, &[f64::from_bits(bits)], element_type, seen)
            }
            (Encoding::Floats, Value::Bytes(bytes)) => {
                let floats: Vec<f64> = bytes
                    .chunks_exact(4)
                    .take(2 * most)
                    .map(|word| f32::from_le_bytes(word.try_into().expect("chunks of four")).into())
                    .collect();
                push_floats(values, most, &floats, element_type, seen);
            }
            (Encoding::Doubles, Value::Bytes(bytes)) => {
                let floats: Vec<f64> = bytes
                    .chunks_exact(8)
                    .take(2 * most)
                    .map(|word| f64::from_le_bytes(word.try_into().expect("chunks of eight")))
                    .collect();
                push_floats(values, most, &floats, element_type, seen);
            }
            _ => {}
        }
    }
}

fn push(values: &mut Vec<Scalar>, most: usize, value: Option<Scalar>, seen: &mut u64) {
    *seen += 1;
    if let Some(value) = value
        && values.len() < most
    {
        values.push(value);
    }
}

fn push_floats(values: &mut Vec<Scalar>, most: usize, floats: &[f64], element_type: ElementType, seen: &mut u64) {
    if element_type.is_complex() {
        for pair in floats.chunks_exact(2) {
            push(values, most, Some(Scalar::Complex(pair[0], pair[1])), seen);
        }
    } else {
        for &value in floats {
            push(values, most, Some(Scalar::Float(value)), seen);
        }
    }
}

fn integer_scalar(number: u64, element_type: ElementType) -> Option<Scalar> {
    Some(match element_type {
        ElementType::Pred => Scalar::Bool(number != 0),
        _ if element_type.name().starts_with('s') => Scalar::Int(number as i64),
        _ => Scalar::Uint(number),
    })
}

/// One element stored as bits; narrow floats other than the common two are not decoded.
fn bits_scalar(bits: u64, element_type: ElementType) -> Option<Scalar> {
    use ElementType::*;
    Some(match element_type {
        Bf16 => Scalar::Float(f32::from_bits((bits as u32) << 16).into()),
        F16 => Scalar::Float(half(bits as u16)),
        S8 => Scalar::Int((bits as u8 as i8).into()),
        S16 => Scalar::Int((bits as u16 as i16).into()),
        U8 | U16 => Scalar::Uint(bits),
        // Elements below a byte may be packed, low bits first; only the first of each byte is sure.
        S4 => Scalar::Int(((bits as u8) << 4) as i8 as i64 >> 4),
        U4 => Scalar::Uint(bits & 0xf),
        _ => return None,
    })
}

/// IEEE half precision, widened.
fn half(bits: u16) -> f64 {
    let sign = if bits & 0x8000 != 0 { -1.0 } else { 1.0 };
    let exponent = i32::from(bits >> 10 & 0x1f);
    let mantissa = f64::from(bits & 0x3ff);
    sign * match exponent {
        0 => mantissa * 2f64.powi(-24),
        31 if mantissa == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + mantissa) * 2f64.powi(exponent - 25),
    }
}
