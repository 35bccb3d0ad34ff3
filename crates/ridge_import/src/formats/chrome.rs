//! Traces in Chrome's JSON format: from PyTorch (Kineto), from XLA's profiler (`*.trace.json.gz`), and from any other
//! program.
//!
//! All variants from 2021 to 2026 work, with keys in any order, as an object or a bare list, even if the file is truncated
//! or slightly damaged.
//! The text is read once; parts of a large file are read in parallel, and compressed files are read while they are unpacked.
//! Times are converted to nanoseconds exactly, from their decimal text.
//!
//! If there is also a capture trace of CUDA graphs (vLLM's `capture_torch_profiler`, SGLang's `--enable-profile-cuda-graph`),
//! it names the kernels of their replays, provided that its launches name their kernels, as on ROCm.
//!
//! Nothing is derived: steps, operators and collectives are the ones named in the file.

mod backward;
mod captured;
mod chunk;
mod classify;
mod clock;
mod decimal;
mod event;
mod flaws;
mod gloo;
mod header;
mod json;
mod link;
mod memory;
mod names;
mod own;
mod place;
mod placed;
mod processor;
mod read;
mod reread;
mod row;
mod steps;
mod store;
mod text;
mod walk;
mod xla;

use crate::choice::InFolder;
use crate::formats::Format;
use crate::import::{Import, ImportError, Source};
use crate::packed::Packed;
use ridge_redact::Redactor;

pub(super) use read::read;

/// The Chrome trace format.
pub(super) struct Chrome;

impl Format for Chrome {
    fn name(&self) -> &'static str {
        "chrome"
    }

    fn in_folder(&self) -> InFolder {
        // XLA leaves one beside each of its captures.
        InFolder::Copy
    }

    fn takes_modules(&self) -> bool {
        // A predicted timeline stands beside the modules that it was made of.
        true
    }

    fn sniff(&self, head: &[u8]) -> bool {
        looks_like_trace(head)
    }

    fn redactor(&self, _head: &[u8]) -> Redactor {
        Redactor::Json
    }

    fn import(&self, source: Source<'_>, import: &mut Import) -> Result<(), ImportError> {
        read::read(source, import)
    }

    fn import_packed(&self, packed: Packed<'_>, import: &mut Import) -> Result<(), ImportError> {
        read::read_packed(packed, import)
    }
}

/// Whether a file that begins with `head` is a trace: an object with one of its keys first, or a list of events.
fn looks_like_trace(head: &[u8]) -> bool {
    /// Keys that nothing else begins with.
    const OWN: [&[u8]; 8] = [
        b"\"traceEvents\"",
        b"\"deviceProperties\"",
        b"\"baseTimeNanoseconds\"",
        b"\"distributedInfo\"",
        b"\"displayTimeUnit\"",
        b"\"traceName\"",
        b"\"systemTraceEvents\"",
        b"\"stackFrames\"",
    ];
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let has = |word: &[u8]| memchr::memmem::find(text, word).is_some();
    match text {
        [b'{', rest @ ..] if rest.trim_ascii_start().starts_with(b"\"") => {
            // Other tools put a block of their own first.
            OWN.iter().any(|key| has(key)) || rest.trim_ascii_start().starts_with(b"\"metadata\"")
        }
        [b'[', rest @ ..] if rest.trim_ascii_start().starts_with(b"{") => has(b"\"ph\""),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_are_told_from_other_json() {
        for (head, expected) in [
            (r#"{"traceEvents": ["#, true),
            ("{\n \"schemaVersion\": 1,\n \"deviceProperties\": [", true),
            (r#"[{"name": "a", "ph": "X"}"#, true),
            ("[\n{\"ph\":", true),
            (r#"[[-1, 1, 512, 0], [0, 2"#, false),
            (r#"{"schema": 1, "command": ["python"]}"#, false),
            ("HloModule jit_f", false),
            ("", false),
        ] {
            assert_eq!(looks_like_trace(head.as_bytes()), expected, "{head}");
        }
    }
}
