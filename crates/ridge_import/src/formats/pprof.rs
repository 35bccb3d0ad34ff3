//! JAX device memory profiles (`jax.profiler.save_device_memory_profile`): memory in use by call stack, in pprof format.
//!
//! A profile has no times, so opening one shows a snapshot of blocks. The label `kind` distinguishes buffers from
//! executables, and the label `device` distinguishes devices.
//! Field numbers are from google/pprof `proto/profile.proto`. No string, location or function is assumed to exist.

mod read;

use crate::choice::InFolder;
use crate::formats::Format;
use crate::import::{Import, ImportError, Source};
use ridge_hlo::wire::{Fields, Value};
use ridge_redact::Redactor;

/// The memory profile format.
pub(super) struct Pprof;

impl Format for Pprof {
    fn name(&self) -> &'static str {
        "pprof"
    }

    fn in_folder(&self) -> InFolder {
        InFolder::Beside("memory", &[".pb.gz"])
    }

    fn sniff(&self, head: &[u8]) -> bool {
        looks_like_profile(head)
    }

    fn redactor(&self, _head: &[u8]) -> Redactor {
        Redactor::Pprof
    }

    fn import(&self, source: Source<'_>, import: &mut Import) -> Result<(), ImportError> {
        read::read(source, import)
    }
}

/// A profile begins with the types of its samples: messages of two small numbers, which are places of strings.
fn looks_like_profile(head: &[u8]) -> bool {
    let mut fields = Fields::new(head).map_while(Result::ok);
    let types =
        fields.by_ref().take_while(|field| matches!(field, (1, Value::Bytes(part)) if is_value_type(part))).count();
    types > 0
}

/// `ValueType`: its type and its unit.
fn is_value_type(message: &[u8]) -> bool {
    let fields: Vec<_> = Fields::new(message).take(3).collect();
    let small = |field: &Result<(u32, Value<'_>), _>| matches!(field, Ok((1 | 2, Value::Varint(0..=65_535))));
    fields.len() == 2 && fields.iter().all(small) && message.len() <= 8
}
