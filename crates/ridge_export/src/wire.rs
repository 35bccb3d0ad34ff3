//! The little of the protobuf wire format that a writer needs.

/// Appends a varint field.
pub(crate) fn varint(number: u32, value: u64, out: &mut Vec<u8>) {
    raw(u64::from(number) << 3, out);
    raw(value, out);
}

/// Appends a length-delimited field.
pub(crate) fn bytes(number: u32, value: &[u8], out: &mut Vec<u8>) {
    begin_bytes(number, value.len(), out);
    out.extend_from_slice(value);
}

/// Appends the beginning of a length-delimited field of `length` bytes, which follow.
pub(crate) fn begin_bytes(number: u32, length: usize, out: &mut Vec<u8>) {
    raw(u64::from(number) << 3 | 2, out);
    raw(length as u64, out);
}

/// Appends a field of eight bytes: fixed64, or the bits of a double.
pub(crate) fn fixed64(number: u32, value: u64, out: &mut Vec<u8>) {
    raw(u64::from(number) << 3 | 1, out);
    out.extend_from_slice(&value.to_le_bytes());
}

fn raw(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
