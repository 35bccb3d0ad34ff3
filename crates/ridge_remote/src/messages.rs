//! The messages of `tensorflow.ProfilerService`, as far as they are needed.
//!
//! Numbers are those of `profiler_service.proto` and `profiler_options.proto` of TSL, held against the server of JAX
//! 0.10.1 by `python/tests/test_attach.py`.

use crate::error::RemoteError;
use crate::wire::{put_bytes, put_number};
use ridge_hlo::wire::Fields;
use std::time::Duration;

/// The plane of an XSpace that holds compiled modules.
const MODULES: &[u8] = b"/host:metadata";

/// `ProfileRequest` for a capture of `duration` in the session `session`.
pub(crate) fn profile(duration: Duration, session: &str, host: &str) -> Vec<u8> {
    let ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX).max(1);
    let mut options = Vec::new();
    put_number(&mut options, 5, 1); // version
    put_number(&mut options, 2, 2); // host_tracer_level
    put_number(&mut options, 3, 1); // device_tracer_level
    put_number(&mut options, 7, 1); // enable_hlo_proto
    put_number(&mut options, 9, ms); // duration_ms: the one that counts
    let mut request = Vec::new();
    put_number(&mut request, 1, ms);
    put_bytes(&mut request, 4, &options);
    put_bytes(&mut request, 6, session.as_bytes());
    put_bytes(&mut request, 7, host.as_bytes());
    put_number(&mut request, 9, 1); // emit_xspace: send it, and write nothing there
    request
}

/// `TerminateRequest`: the capture of `session` ends now, and what it has is sent.
pub(crate) fn terminate(session: &str) -> Vec<u8> {
    let mut request = Vec::new();
    put_bytes(&mut request, 1, session.as_bytes());
    request
}

/// The XSpace of a `ProfileResponse`.
pub(crate) fn xspace(response: &[u8]) -> Result<&[u8], RemoteError> {
    let mut found: &[u8] = &[];
    for field in Fields::new(response) {
        let (number, value) = field.map_err(|error| RemoteError::Broken(error.what))?;
        if let (8, Some(bytes)) = (number, value.bytes()) {
            found = bytes;
        }
    }
    if found.is_empty() { Err(RemoteError::Nothing) } else { Ok(found) }
}

/// The planes of `xspace` that hold compiled modules, as fields that another XSpace can be continued with.
pub(crate) fn modules(xspace: &[u8]) -> Vec<u8> {
    let mut found = Vec::new();
    for plane in planes(xspace).filter(|plane| name_of(plane) == Some(MODULES)) {
        put_bytes(&mut found, 1, plane);
    }
    found
}

/// Whether `xspace` has a plane of compiled modules with anything in it.
pub(crate) fn has_modules(xspace: &[u8]) -> bool {
    let metadata = |plane: &[u8]| Fields::new(plane).map_while(Result::ok).any(|(number, _)| number == 4);
    planes(xspace).any(|plane| name_of(plane) == Some(MODULES) && metadata(plane))
}

fn planes(xspace: &[u8]) -> impl Iterator<Item = &[u8]> {
    Fields::new(xspace).map_while(Result::ok).filter(|(number, _)| *number == 1).filter_map(|(_, value)| value.bytes())
}

fn name_of(plane: &[u8]) -> Option<&[u8]> {
    let mut fields = Fields::new(plane).map_while(Result::ok);
    fields.find(|(number, _)| *number == 2).and_then(|(_, value)| value.bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space(planes: &[(&str, bool)]) -> Vec<u8> {
        let mut space = Vec::new();
        for (name, has_metadata) in planes {
            let mut plane = Vec::new();
            put_bytes(&mut plane, 2, name.as_bytes());
            if *has_metadata {
                put_bytes(&mut plane, 4, b"\x08\x01");
            }
            put_bytes(&mut space, 1, &plane);
        }
        space
    }

    #[test]
    fn modules_continue_a_capture_that_has_none() {
        let with = space(&[("/host:CPU", false), ("/host:metadata", true)]);
        let without = space(&[("/host:CPU", false), ("/host:metadata", false)]);
        assert!(has_modules(&with) && !has_modules(&without));
        let joined = [without, modules(&with)].concat();
        assert!(has_modules(&joined));
        assert_eq!(planes(&joined).count(), 3);
    }

    #[test]
    fn damaged_answers_are_errors_or_nothing() {
        assert!(matches!(xspace(b""), Err(RemoteError::Nothing)));
        assert!(matches!(xspace(b"\x42\xff\xff\xff\xff\x0f"), Err(RemoteError::Broken(_))));
        assert!(modules(b"\x0a\xff\xff\xff\xff\x0f").is_empty());
        let whole = space(&[("/host:metadata", true)]);
        for end in 0..whole.len() {
            let _ = (modules(&whole[..end]), has_modules(&whole[..end]), xspace(&whole[..end]).is_ok());
        }
    }
}
