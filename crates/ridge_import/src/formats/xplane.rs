//! XPlane captures (`*.xplane.pb`) from the profilers of JAX and TensorFlow.
//!
//! The file is decoded in place: no message tree is built, and no length, id or reference in it is trusted.
//! The events of every line are decoded in parallel chunks, straight into the trace's columns.
//! Field numbers are from tensorflow/tsl `profiler/protobuf/xplane.proto`; stat names are from XLA's `xplane_schema.cc`,
//! `cupti_collector.cc` and `rocm_collector.cc`.
//!
//! Nothing is derived that viewers derive (steps, name scopes); analyses do that from the events.

mod attribute;
mod decode;
mod id_map;
mod metadata;
mod modules;
mod plane;
mod read;
mod space;
mod stats;
mod windows;

use crate::choice::InFolder;
use crate::formats::Format;
use crate::import::{Import, ImportError, Source};
use ridge_redact::Redactor;

/// The XPlane format.
pub(super) struct XPlane;

impl Format for XPlane {
    fn name(&self) -> &'static str {
        "xplane"
    }

    fn in_folder(&self) -> InFolder {
        InFolder::Capture(&[".xplane.pb"])
    }

    fn sniff(&self, head: &[u8]) -> bool {
        space::looks_like_space(head)
    }

    fn redactor(&self, _head: &[u8]) -> Redactor {
        Redactor::Xplane
    }

    fn import(&self, source: Source<'_>, import: &mut Import) -> Result<(), ImportError> {
        read::read(source, import)
    }
}
