//! The outermost message: planes, host names, errors and warnings of the profiler.

use crate::import::Source;
use ridge_hlo::wire::{Fields, Value, WireError};

/// The parts of an `XSpace`, as slices of the source.
#[derive(Debug, Default)]
pub(super) struct Space<'a> {
    /// Serialized planes.
    pub(super) planes: Vec<&'a [u8]>,
    /// Errors the profiler reported.
    pub(super) errors: Vec<&'a [u8]>,
    /// Warnings the profiler reported.
    pub(super) warnings: Vec<&'a [u8]>,
    /// How many hosts it names; the names are private.
    pub(super) hosts: usize,
    /// Where reading stopped, if before the end, and the bytes of a plane that was cut there.
    pub(super) broken: Option<(WireError, Option<&'a [u8]>)>,
    /// Fields that no `XSpace` has.
    pub(super) unknown_fields: u64,
}

/// Splits the source into planes; a cut last plane is returned as far as it goes.
pub(super) fn split<'a>(source: &Source<'a>) -> Space<'a> {
    let mut space = Space::default();
    for field in Fields::new(source.bytes) {
        match field {
            Ok((1, Value::Bytes(plane))) => space.planes.push(plane),
            Ok((2, Value::Bytes(text))) => space.errors.push(text),
            Ok((3, Value::Bytes(text))) => space.warnings.push(text),
            Ok((4, Value::Bytes(_))) => space.hosts += 1,
            Ok(_) => space.unknown_fields += 1,
            Err(error) => space.broken = Some((error, cut_plane(source.bytes, error.offset))),
        }
    }
    space
}

/// The rest of the file where a plane was announced that goes beyond its end.
fn cut_plane(bytes: &[u8], offset: usize) -> Option<&[u8]> {
    if bytes.get(offset) != Some(&0x0a) {
        return None;
    }
    let mut at = offset + 1;
    ridge_hlo::wire::varint(bytes, &mut at)?;
    Some(&bytes[at..])
}

/// Whether `head` begins like an `XSpace`: a plane whose first field is an id or a name, or a bare host name list.
pub(super) fn looks_like_space(head: &[u8]) -> bool {
    let Some(inner) = cut_plane(head, 0) else { return false };
    let mut at = 0;
    let Some(key) = ridge_hlo::wire::varint(inner, &mut at) else { return false };
    match key {
        // Plane id. A pprof profile begins with two small numbers in the same place, a plane never has a second.
        0x08 => {
            let id = ridge_hlo::wire::varint(inner, &mut at);
            id.is_some() && ridge_hlo::wire::varint(inner, &mut at) != Some(0x10)
        }
        // Plane name: they begin with a slash or are one of a few words.
        0x12 => {
            let length = ridge_hlo::wire::varint(inner, &mut at);
            let name = inner.get(at..).unwrap_or_default();
            let known: [&[u8]; 5] = [b"/", b"Task Env", b"Host CPU", b"Syscalls", b"#Chip"];
            length.is_some() && known.iter().any(|start| name.starts_with(start))
        }
        _ => false,
    }
}
