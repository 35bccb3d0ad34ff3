//! Perfetto's own traces (`*.pftrace`): from PyTorch's monitor, from `ridgeline export`, and slices from any program.
//!
//! Packets become slices, points and counters in the form in which `traceconv json` would write them, and the reader of
//! trace-event JSON takes over from there, so both formats share one definition of event kinds, links and devices.
//! Slices may be in any order. Field numbers are from google/perfetto's `trace_packet.proto` and the files that it imports.

mod packets;
mod text;

use crate::formats::Format;
use crate::formats::chrome;
use crate::import::{Import, ImportError, Source};
use crate::note::Severity;
use ridge_hlo::wire::{Fields, Value, varint};
use ridge_redact::Redactor;

/// The format of Perfetto.
pub(super) struct Perfetto;

impl Format for Perfetto {
    fn name(&self) -> &'static str {
        "perfetto"
    }

    fn sniff(&self, head: &[u8]) -> bool {
        looks_like_packets(head)
    }

    fn redactor(&self, _head: &[u8]) -> Redactor {
        Redactor::Perfetto
    }

    fn import(&self, source: Source<'_>, import: &mut Import) -> Result<(), ImportError> {
        let limit = import.max_unpacked_bytes.unwrap_or(MOST_UNPACKED_BYTES);
        let (trace, damage) = packets::read(source.bytes, limit);
        if trace.is_empty() {
            return Err(ImportError::Broken {
                source_name: source.name.to_owned(),
                offset: damage.unwrap_or(0),
                what: "expected a Perfetto trace with slices or counters, found none".to_owned(),
            });
        }
        if let Some(offset) = damage {
            let message = "the file is damaged or incomplete; everything before that was read".to_owned();
            import.note(Severity::Lost, source.name, Some(offset), 1, message);
        }
        let mut lost = trace.lost;
        let written = text::write(trace);
        lost.beyond += written.beyond;
        lost.unended = written.unended;
        for (what, count) in lost.notes() {
            import.note(Severity::Partial, source.name, None, count, what.to_owned());
        }
        chrome::read(Source { name: source.name, bytes: &written.json }, import)?;
        if let Some(capture) = import.captures.last_mut() {
            (capture.format, capture.bytes) = ("perfetto", source.bytes.len() as u64);
        }
        Ok(())
    }
}

/// What compressed packets of one trace may grow to where nothing else is asked for.
const MOST_UNPACKED_BYTES: u64 = 1 << 30;

/// A trace of Perfetto is packets in field 1 (`perfetto/trace/trace.proto`); so are the planes of an XPlane capture, which
/// have fields 1 to 6 only.
fn looks_like_packets(head: &[u8]) -> bool {
    /// `TracePacket`: time stamp, sequence, clocks, flags, configuration, mark, compressed packets, descriptor of a track, UUID
    /// of the trace.
    const OF_PACKETS: [u32; 9] = [8, 10, 6, 13, 33, 36, 50, 60, 89];
    /// Of a plane: its number, name, lines, and tables of names.
    const OF_PLANES: [u32; 5] = [1, 2, 3, 4, 5];
    let mut at = 1;
    if head.first() != Some(&0x0a) {
        return false;
    }
    let Some(length) = varint(head, &mut at) else { return false };
    let end = usize::try_from(length).ok().and_then(|length| at.checked_add(length)).unwrap_or(usize::MAX);
    let packet = &head[at..end.min(head.len())];
    let fields: Vec<Result<(u32, Value<'_>), _>> = Fields::new(packet).collect();
    let numbers: Vec<u32> = fields.iter().flatten().map(|(number, _)| *number).collect();
    // A first packet that is longer than what is seen of the file ends in the middle of a field.
    numbers.iter().any(|number| OF_PACKETS.contains(number))
        && !numbers.iter().any(|number| OF_PLANES.contains(number))
        && (end > head.len() || fields.iter().all(Result::is_ok))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn varint_of(mut number: u64) -> Vec<u8> {
        let mut out = Vec::new();
        while number > 0x7f {
            out.push(number as u8 | 0x80);
            number >>= 7;
        }
        out.push(number as u8);
        out
    }

    fn whole(field: u64, number: u64) -> Vec<u8> {
        [varint_of(field << 3), varint_of(number)].concat()
    }

    fn bytes(field: u64, content: &[u8]) -> Vec<u8> {
        [&varint_of(field << 3 | 2)[..], &varint_of(content.len() as u64), content].concat()
    }

    #[test]
    fn a_long_text_that_many_events_name_is_not_multiplied() {
        const LONG: usize = 1 << 18;
        let text = |field| bytes(field, &[whole(1, 1), bytes(2, "x".repeat(LONG).as_bytes())].concat());
        let interned = bytes(12, &[text(2), text(29)].concat());
        let mut trace = bytes(1, &[whole(10, 1), whole(13, 1), interned].concat());
        let argument = bytes(4, &[bytes(10, b"k"), whole(17, 1)].concat());
        // Points with the long text as their name, and as an argument.
        for (at, content) in (0..4000).map(|at| (at, [whole(10, 1), argument.clone()])) {
            let event = bytes(11, &[whole(9, 3), content[at as usize % 2].clone()].concat());
            trace.extend(bytes(1, &[whole(8, at), whole(10, 1), event].concat()));
        }
        let (gathered, damage) = packets::read(&trace, MOST_UNPACKED_BYTES);
        let kept = gathered.lost;
        let written = text::write(gathered);
        assert_eq!(damage, None);
        assert!(kept.beyond > 1000 && written.beyond > 1000, "{} {}", kept.beyond, written.beyond);
        assert!(written.json.len() < 128 * trace.len(), "{}", written.json.len());
        assert!(written.json.ends_with(b"]}"));
    }

    #[test]
    fn packets_are_told_from_planes() {
        for (head, expected) in [
            // A packet with a time stamp, a sequence and an event of a track; one with clocks; a plane that is called `a`.
            (b"\x0a\x08\x40\x01\x50\x02\x5a\x02\x48\x01".as_slice(), true),
            (b"\x0a\x04\x32\x02\x08\x01", true),
            (b"\x0a\x05\x08\x01\x12\x01a", false),
            (b"\x0a\xff\xff\x03\x50\x01\x5a\xf0\xff\x03", true),
            (b"{\"traceEvents\": []}", false),
            (b"", false),
        ] {
            assert_eq!(looks_like_packets(head), expected, "{}", head.escape_ascii());
        }
    }
}
