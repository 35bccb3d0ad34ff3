//! Writing the protobuf wire format: numbers and what has a length. [`ridge_hlo::wire`] reads it.

/// Appends field `number` with an integer.
pub(crate) fn put_number(message: &mut Vec<u8>, number: u32, value: u64) {
    varint(message, u64::from(number) << 3);
    varint(message, value);
}

/// Appends field `number` with bytes: a string or a message.
pub(crate) fn put_bytes(message: &mut Vec<u8>, number: u32, bytes: &[u8]) {
    varint(message, u64::from(number) << 3 | 2);
    varint(message, bytes.len() as u64);
    message.extend_from_slice(bytes);
}

fn varint(message: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        message.push(value as u8 | 0x80);
        value >>= 7;
    }
    message.push(value as u8);
}
