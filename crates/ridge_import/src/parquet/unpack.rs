//! The compressions of pages: Snappy, gzip and Zstandard, each to the length that the page's header says and no further.

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::StreamingDecoder;
use std::io::Read;

/// Unpacks a page to exactly `length` bytes; the error says what is wrong.
pub(super) fn unpack(codec: i64, packed: &[u8], length: usize) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let short = || format!("expected a page of {length} bytes, found its data damaged or cut short");
    match codec {
        0 => bytes.extend_from_slice(packed),
        1 => snappy(packed, length, &mut bytes).ok_or_else(short)?,
        2 => take(MultiGzDecoder::new(packed), length, &mut bytes).ok_or_else(short)?,
        6 => {
            let frame = StreamingDecoder::new(packed).map_err(|_| short())?;
            take(frame, length, &mut bytes).ok_or_else(short)?;
        }
        other => {
            let name = ["", "", "", "LZO", "Brotli", "LZ4", "", "LZ4"].get(other as usize).copied().unwrap_or("");
            let name = if name.is_empty() { format!("number {other}") } else { name.to_owned() };
            return Err(format!("expected pages in Snappy, gzip, Zstandard or plain, found compression {name}"));
        }
    }
    if bytes.len() == length { Ok(bytes) } else { Err(short()) }
}

fn take(reader: impl Read, length: usize, bytes: &mut Vec<u8>) -> Option<()> {
    reader.take(length as u64).read_to_end(bytes).ok().map(drop)
}

/// Snappy's raw format: <https://github.com/google/snappy/blob/main/format_description.txt>.
fn snappy(packed: &[u8], length: usize, out: &mut Vec<u8>) -> Option<()> {
    let mut at = 0;
    // The length in front is said again by the page's header, which is the one that counts.
    while *packed.get(at)? >= 0x80 {
        at += 1;
    }
    at += 1;
    while at < packed.len() && out.len() <= length {
        let tag = packed[at];
        at += 1;
        let number = |at: usize, bytes: usize| {
            let little = packed.get(at..at + bytes)?.iter().rev();
            Some(little.fold(0_usize, |value, byte| value << 8 | usize::from(*byte)))
        };
        let (count, offset) = match tag & 3 {
            0 => {
                let short = usize::from(tag >> 2);
                let more = short.saturating_sub(59);
                let count = if more == 0 { short + 1 } else { number(at, more)?.checked_add(1)? };
                at += more;
                out.extend_from_slice(packed.get(at..at.checked_add(count)?)?);
                at += count;
                continue;
            }
            1 => {
                let low = usize::from(*packed.get(at)?);
                at += 1;
                (usize::from(tag >> 2 & 7) + 4, usize::from(tag >> 5) << 8 | low)
            }
            kind => {
                let wide = if kind == 2 { 2 } else { 4 };
                let offset = number(at, wide)?;
                at += wide;
                (usize::from(tag >> 2) + 1, offset)
            }
        };
        let from = out.len().checked_sub(offset).filter(|_| offset > 0)?;
        // The copied stretch may reach into what it writes.
        for step in 0..count {
            out.push(out[from + step]);
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snappy_copies_from_what_it_wrote() {
        // "Wikipedia is a free..." is not needed: a literal of 2, then a copy of 6 from 2 back.
        let packed = [8, 0b0000_0100, b'a', b'b', 0b0000_1001, 2];
        assert_eq!(unpack(1, &packed, 8), Ok(b"abababab".to_vec()));
        for broken in [&packed[..5], &[8, 1, 9][..], &[0x80], &[], &[8, 0xf4, 0xff, 0xff]] {
            assert!(unpack(1, broken, 8).is_err(), "{broken:?}");
        }
        assert!(unpack(5, &[], 0).expect_err("not read").contains("LZ4"));
    }
}
