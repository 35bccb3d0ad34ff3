//! Captures that are protobufs: HLO, pprof.
//!
//! Field numbers are those of `hlo.proto` and `xla_data.proto` (openxla/xla) and `profile.proto`
//! (google/pprof).

use crate::error::RedactError;
use crate::found::Replace;
use crate::removed::Removed;
use crate::rewriter::Rewriter;
use crate::wire::Field::{Message, Text};
use crate::wire::{Records, Shape};
use crate::words::Words;
use std::io::Write;

const OP_METADATA: Shape = Shape(&[(1, Text), (2, Text), (3, Text)]);
const INSTRUCTION: Shape = Shape(&[(1, Text), (2, Text), (7, Message(&OP_METADATA)), (43, Text)]);
const COMPUTATION: Shape = Shape(&[(1, Text), (2, Message(&INSTRUCTION))]);
const STACK_FRAMES: Shape = Shape(&[(1, Text), (2, Text)]);
const HLO_MODULE: Shape = Shape(&[(1, Text), (3, Message(&COMPUTATION)), (17, Message(&STACK_FRAMES))]);
/// An HLO module with its buffers.
pub(crate) const HLO_PROTO: Shape = Shape(&[(1, Message(&HLO_MODULE))]);

/// A pprof profile: every text is in its string table.
pub(crate) const PPROF: Shape = Shape(&[(6, Text)]);

const NAMED: Shape = Shape(&[(2, Text)]);
const TRACK_EVENT: Shape = Shape(&[(4, Message(&Shape(&[(6, Text), (10, Text)]))), (22, Text), (23, Text)]);
const INTERNED: Shape = Shape(&[
    (1, Message(&NAMED)),
    (2, Message(&NAMED)),
    (3, Message(&NAMED)),
    (24, Message(&NAMED)),
    (29, Message(&NAMED)),
]);
const TRACK: Shape =
    Shape(&[(2, Text), (3, Message(&Shape(&[(2, Text), (6, Text)]))), (4, Message(&Shape(&[(5, Text)]))), (10, Text)]);
const PACKET: Shape = Shape(&[(11, Message(&TRACK_EVENT)), (12, Message(&INTERNED)), (60, Message(&TRACK))]);
/// A trace of Perfetto: `trace.proto`, and what it names.
pub(crate) const PERFETTO: Shape = Shape(&[(1, Message(&PACKET))]);
/// `TracePacket.compressed_packets`, which are not looked into.
const COMPRESSED: u32 = 50;

/// Refuses a trace of Perfetto with packets that hide what they say.
pub(crate) fn refuse_compressed(trace: &[u8]) -> Result<(), RedactError> {
    let mut packets = Records::new(trace).map_while(Result::ok).filter_map(|record| record.bytes);
    let is_compressed =
        |packet: &[u8]| Records::new(packet).map_while(Result::ok).any(|record| record.number == COMPRESSED);
    if packets.any(is_compressed) {
        return Err(RedactError::Unknown {
            found: "a Perfetto trace with compressed packets",
            hint: "`ridgeline export FILE --to perfetto -o trace.pftrace` makes a redacted trace of it",
        });
    }
    Ok(())
}

/// Rewrites `message`, a whole capture, into `out`: one record of the top level after the other.
pub(crate) fn rewrite(
    message: &[u8],
    shape: &Shape,
    words: &Words,
    out: &mut dyn Write,
) -> Result<Removed, RedactError> {
    let mut rewriter = Rewriter::new(words, Replace::Word);
    let mut rewritten = Vec::new();
    for record in Records::new(message) {
        let record = record?;
        rewritten.clear();
        rewriter.record(record, shape, 0, &mut rewritten)?;
        out.write_all(&rewritten)?;
    }
    Ok(rewriter.removed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::push_record;

    /// Nested records: `message(&[(1, text), (2, &inner)])`.
    fn message(fields: &[(u32, &[u8])]) -> Vec<u8> {
        let mut out = Vec::new();
        fields.iter().for_each(|(number, bytes)| push_record(*number, bytes, &mut out));
        out
    }

    fn rewritten(message: &[u8], shape: &Shape, words: &Words) -> Vec<u8> {
        let mut out = Vec::new();
        rewrite(message, shape, words, &mut out).expect("a message");
        out
    }

    #[test]
    fn fields_that_are_not_known_are_cleaned_too() {
        let given = message(&[(1, &message(&[(900, &message(&[(7, b"run by ada")]))]))]);
        let clean = message(&[(1, &message(&[(900, &message(&[(7, b"run by <user>")]))]))]);
        assert_eq!(rewritten(&given, &HLO_PROTO, &Words::of("", "ada", "")), clean);
    }

    #[test]
    fn attributes_go_by_their_key() {
        // frontend_attributes of an instruction: a map of texts.
        let module = |secret: &[u8]| {
            let entry = message(&[(1, b"apiKey"), (2, secret)]);
            let instruction = message(&[(1, b"f"), (68, &message(&[(1, &entry)]))]);
            message(&[(1, &message(&[(3, &message(&[(2, &instruction)]))]))])
        };
        assert_eq!(rewritten(&module(b"abc"), &HLO_PROTO, &Words::default()), module(b"<redacted>"));
    }

    #[test]
    fn damage_is_refused() {
        let cut = &message(&[(1, b"/home/ada/x")])[..6];
        assert!(matches!(
            rewrite(cut, &HLO_PROTO, &Words::default(), &mut Vec::new()),
            Err(RedactError::Damaged { offset: 0, .. })
        ));
    }
}
