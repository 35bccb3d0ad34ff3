//! The stats that mean something to Ridgeline, and their values in any of the forms captures use.
//!
//! The same stat may be a string in one capture and a reference to an interned one in the next, a signed integer or
//! an unsigned one: any number and any text is accepted.

use crate::xla::host::SparseRole;
use ridge_hlo::wire::{Fields, Value, varint};

/// What a stat says, known by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Role {
    /// Nothing that is used.
    Other,
    HloOp,
    HloModule,
    ProgramId,
    /// Outermost annotation (`tf_op`), or TensorFlow's of 2021 (`annotation`).
    FrameworkOp,
    /// Scope path of the operation, without its prefix.
    OpName,
    /// Common start of scope paths.
    OpPrefix,
    CorrelationId,
    KernelDetails,
    TransferDetails,
    Occupancy,
    /// One that few events have.
    Sparse(SparseRole),
    Allocator,
    AllocationBytes,
    RequestedBytes,
    BytesInUse,
    PeakBytes,
    Fragmentation,
    Address,
}

impl Role {
    /// The role of the stat called `name`.
    pub(super) fn of(name: &[u8]) -> Role {
        match name {
            b"hlo_op" => Role::HloOp,
            b"hlo_module" => Role::HloModule,
            b"program_id" => Role::ProgramId,
            b"tf_op" | b"annotation" => Role::FrameworkOp,
            b"name" => Role::OpName,
            b"prefix" => Role::OpPrefix,
            b"correlation_id" => Role::CorrelationId,
            b"kernel_details" => Role::KernelDetails,
            b"memcpy_details" | b"Memcpy_details" | b"memset_details" | b"Memset_details" => Role::TransferDetails,
            b"theoretical_occupancy_pct" => Role::Occupancy,
            b"_pt" => Role::Sparse(SparseRole::ProducerType),
            b"_p" => Role::Sparse(SparseRole::ProducerId),
            b"_ct" => Role::Sparse(SparseRole::ConsumerType),
            b"_c" => Role::Sparse(SparseRole::ConsumerId),
            b"step_num" => Role::Sparse(SparseRole::StepNumber),
            b"_r" => Role::Sparse(SparseRole::IsRoot),
            b"run_id" => Role::Sparse(SparseRole::RunId),
            b"device_ordinal" => Role::Sparse(SparseRole::DeviceOrdinal),
            b"cuda_graph_id" => Role::Sparse(SparseRole::GraphId),
            b"allocator_name" => Role::Allocator,
            b"allocation_bytes" => Role::AllocationBytes,
            b"requested_bytes" => Role::RequestedBytes,
            b"bytes_allocated" => Role::BytesInUse,
            b"peak_bytes_in_use" => Role::PeakBytes,
            b"fragmentation" => Role::Fragmentation,
            b"addr" => Role::Address,
            _ => Role::Other,
        }
    }
}

/// A stat's value as it stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum StatValue<'a> {
    None,
    Double(f64),
    /// Signed or unsigned: the bits.
    Integer(u64),
    /// Text or bytes in place.
    Bytes(&'a [u8]),
    /// Id of the stat metadata whose name is the text.
    Ref(u64),
}

impl<'a> StatValue<'a> {
    /// The value as an integer; decimal text counts.
    pub(super) fn integer(self) -> Option<u64> {
        match self {
            StatValue::Integer(bits) => Some(bits),
            StatValue::Double(number) => Some(number as i64 as u64),
            StatValue::Bytes(text) => std::str::from_utf8(text).ok()?.trim().parse::<i64>().ok().map(|n| n as u64),
            StatValue::Ref(_) | StatValue::None => None,
        }
    }

    /// The value as a real number.
    pub(super) fn real(self) -> Option<f64> {
        match self {
            StatValue::Double(number) => Some(number),
            StatValue::Integer(bits) => Some(bits as i64 as f64),
            StatValue::Bytes(text) => std::str::from_utf8(text).ok()?.trim().parse().ok(),
            StatValue::Ref(_) | StatValue::None => None,
        }
    }

    /// The value as text, in place or interned.
    pub(super) fn text(self) -> TextKey<'a> {
        match self {
            StatValue::Bytes(text) => TextKey::Inline(text),
            StatValue::Ref(id) => TextKey::Ref(id),
            _ => TextKey::None,
        }
    }
}

/// Text that need not be looked up to be compared within one plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) enum TextKey<'a> {
    #[default]
    None,
    /// Id of the stat metadata whose name is the text.
    Ref(u64),
    /// The text itself.
    Inline(&'a [u8]),
}

/// Reads one stat: its metadata id and its value.
#[inline]
pub(super) fn stat(bytes: &[u8]) -> Option<(u64, StatValue<'_>)> {
    // Nearly every stat is two varint fields, the id first.
    let mut at = 1;
    if bytes.first() == Some(&0x08) {
        let id = varint(bytes, &mut at)?;
        if let Some(&key @ (0x18 | 0x20 | 0x38)) = bytes.get(at) {
            at += 1;
            let value = varint(bytes, &mut at)?;
            if at == bytes.len() {
                return Some((id, if key == 0x38 { StatValue::Ref(value) } else { StatValue::Integer(value) }));
            }
        }
    }
    any_stat(bytes)
}

fn any_stat(bytes: &[u8]) -> Option<(u64, StatValue<'_>)> {
    let (mut id, mut value) = (0, StatValue::None);
    for field in Fields::new(bytes) {
        match field.ok()? {
            (1, Value::Varint(number)) => id = number,
            (2, Value::Fixed64(bits)) => value = StatValue::Double(f64::from_bits(bits)),
            (3 | 4, Value::Varint(number)) => value = StatValue::Integer(number),
            (5 | 6, Value::Bytes(text)) => value = StatValue::Bytes(text),
            (7, Value::Varint(number)) => value = StatValue::Ref(number),
            // Field 8 is a compressed string: whoever needs it inflates it.
            _ => {}
        }
    }
    Some((id, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_in_every_form() {
        for (bytes, id, value) in [
            (&[0x08, 5, 0x18, 7][..], 5, StatValue::Integer(7)),
            (&[0x08, 5, 0x38, 9], 5, StatValue::Ref(9)),
            (&[0x18, 7, 0x08, 5], 5, StatValue::Integer(7)),
            (&[0x08, 5, 0x2a, 2, b'h', b'i'], 5, StatValue::Bytes(b"hi")),
            (&[0x08, 5], 5, StatValue::None),
            (&[0x08, 5, 0x11, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f], 5, StatValue::Double(1.0)),
        ] {
            assert_eq!(stat(bytes), Some((id, value)));
        }
        assert_eq!(stat(&[0x08, 5, 0x2a, 9, b'h']), None);
        assert_eq!(StatValue::Bytes(b"42").integer(), Some(42));
    }
}
