//! Fields of a message by their number.

use ridge_hlo::wire::{Fields, Value, text};

/// The first field `number` of a message.
pub(super) fn first(message: &[u8], number: u32) -> Option<Value<'_>> {
    let mut fields = Fields::new(message).map_while(Result::ok);
    fields.find_map(|(found, value)| (found == number).then_some(value))
}

/// Every length-delimited field `number` of a message.
pub(super) fn all(message: &[u8], number: u32) -> impl Iterator<Item = &[u8]> {
    let fields = Fields::new(message).map_while(Result::ok);
    fields.filter_map(move |(found, value)| if found == number { value.bytes() } else { None })
}

/// The first field `number` of a message as text; empty where there is none.
pub(super) fn first_text(message: &[u8], number: u32) -> String {
    first(message, number).and_then(Value::bytes).map_or_else(String::new, |bytes| text(bytes).into_owned())
}
