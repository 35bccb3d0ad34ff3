//! Captures that are protobufs: XPlane, HLO, pprof.
//!
//! Field numbers are those of `xplane.proto` (openxla/xla), `hlo.proto` and `xla_data.proto` (openxla/xla) and `profile.proto`
//! (google/pprof).

use crate::error::RedactError;
use crate::removed::{Removed, What};
use crate::wire::{Field, Records, Rewriter, Shape};
use crate::words::Words;
use Field::{Drop, Message, Text};
use std::io::Write;

/// `XSpace.hostnames`.
const HOSTNAMES: u32 = 4;

/// Field 3 of a map entry's value is reached through field 2 of the entry.
const XSTAT: Shape = Shape(&[(5, Text)]);
const XEVENT: Shape = Shape(&[(4, Message(&XSTAT))]);
const XLINE: Shape = Shape(&[(2, Text), (4, Message(&XEVENT)), (11, Text)]);
const XEVENT_METADATA: Shape = Shape(&[(2, Text), (4, Text), (5, Message(&XSTAT))]);
const EVENT_METADATA_ENTRY: Shape = Shape(&[(2, Message(&XEVENT_METADATA))]);
const XSTAT_METADATA: Shape = Shape(&[(2, Text), (3, Text)]);
const STAT_METADATA_ENTRY: Shape = Shape(&[(2, Message(&XSTAT_METADATA))]);
const XPLANE: Shape = Shape(&[
    (2, Text),
    (3, Message(&XLINE)),
    (4, Message(&EVENT_METADATA_ENTRY)),
    (5, Message(&STAT_METADATA_ENTRY)),
    (6, Message(&XSTAT)),
]);
/// An XPlane capture.
pub(crate) const XSPACE: Shape =
    Shape(&[(1, Message(&XPLANE)), (2, Text), (3, Text), (HOSTNAMES, Drop(What::HostName))]);

const OP_METADATA: Shape = Shape(&[(1, Text), (2, Text), (3, Text)]);
const INSTRUCTION: Shape = Shape(&[(1, Text), (2, Text), (7, Message(&OP_METADATA)), (43, Text)]);
const COMPUTATION: Shape = Shape(&[(1, Text), (2, Message(&INSTRUCTION))]);
const STACK_FRAMES: Shape = Shape(&[(1, Text), (2, Text)]);
const HLO_MODULE: Shape = Shape(&[(1, Text), (3, Message(&COMPUTATION)), (17, Message(&STACK_FRAMES))]);
/// An HLO module with its buffers.
pub(crate) const HLO_PROTO: Shape = Shape(&[(1, Message(&HLO_MODULE))]);

/// A pprof profile: every text is in its string table.
pub(crate) const PPROF: Shape = Shape(&[(6, Text)]);

/// Rewrites `message`, a whole capture, into `out`: one record of the top level after the other.
pub(crate) fn rewrite(
    message: &[u8],
    shape: &Shape,
    words: &Words,
    out: &mut dyn Write,
) -> Result<Removed, RedactError> {
    let mut rewriter = Rewriter { words, needles: words.needles(), removed: Removed::default() };
    let mut rewritten = Vec::new();
    for record in Records::new(message) {
        let record = record?;
        rewritten.clear();
        rewriter.record(record, shape, 0, &mut rewritten)?;
        out.write_all(&rewritten)?;
    }
    Ok(rewriter.removed)
}

/// The host names that an XPlane capture lists.
pub(crate) fn host_names(space: &[u8]) -> impl Iterator<Item = &str> {
    let records = Records::new(space).filter_map(Result::ok).filter(|record| record.number == HOSTNAMES);
    records.filter_map(|record| std::str::from_utf8(record.bytes?).ok())
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
    fn lengths_follow_and_numbers_stay() {
        let stat = |text: &[u8]| [&[8, 3][..], &message(&[(5, text)])].concat();
        let capture = |text: &[u8], hosts: &[(u32, &[u8])]| {
            let line = message(&[(4, &message(&[(4, &stat(text))]))]);
            let plane = [&message(&[(2, b"/host:CPU")])[..], &message(&[(3, &line)]), &[0x48, 0x96, 1]].concat();
            [message(&[(1, &plane)]), message(hosts)].concat()
        };
        let given = capture(b"/home/someone-with-a-long-name/x.py:3", &[(4, b"vm7")]);
        assert_eq!(rewritten(&given, &XSPACE, &Words::default()), capture(b"~/x.py:3", &[]));
    }

    #[test]
    fn a_module_inside_a_value_is_rewritten() {
        let hlo = |file: &[u8]| message(&[(1, &message(&[(1, b"jit_f"), (17, &message(&[(1, file)]))]))]);
        let capture = |file: &[u8]| {
            let metadata = message(&[(5, &message(&[(6, &hlo(file))]))]);
            message(&[(1, &message(&[(4, &message(&[(2, &metadata)]))]))])
        };
        assert_eq!(rewritten(&capture(b"/root/a/b.py"), &XSPACE, &Words::default()), capture(b"~/a/b.py"));
    }

    #[test]
    fn fields_that_are_not_known_are_cleaned_too() {
        let given = message(&[(1, &message(&[(900, &message(&[(7, b"run by ada")]))]))]);
        let clean = message(&[(1, &message(&[(900, &message(&[(7, b"run by <user>")]))]))]);
        assert_eq!(rewritten(&given, &HLO_PROTO, &Words::of("", "ada", "")), clean);
    }

    #[test]
    fn damage_is_refused() {
        let cut = &message(&[(1, b"/home/ada/x")])[..6];
        assert!(matches!(
            rewrite(cut, &XSPACE, &Words::default(), &mut Vec::new()),
            Err(RedactError::Damaged { offset: 0, .. })
        ));
    }
}
