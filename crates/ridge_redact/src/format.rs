//! Recognize a capture by its content, and rewrite it in its own form.

use crate::database;
use crate::error::RedactError;
use crate::json::redact_json;
use crate::nsys;
use crate::proto::{self, HLO_PROTO, PPROF, XSPACE};
use crate::removed::Removed;
use crate::wire::Records;
use crate::words::Words;
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use ridge_sqlite::{Database, is_database};
use std::io::{BufReader, Read, Write};

/// Formats that can be redacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JSON of any kind: Kineto and Chrome traces, manifests.
    Json,
    /// An XPlane capture.
    Xplane,
    /// An HLO module as a protobuf.
    HloProto,
    /// A pprof profile.
    Pprof,
    /// HLO, StableHLO or a jaxpr as text.
    Text,
    /// A SQLite export of Nsight Systems.
    Nsys,
    /// Any of them, packed with gzip.
    Gzip,
}

/// How a gzip file begins.
const GZIP: &[u8] = &[0x1f, 0x8b];
/// How texts begin that a recording keeps of a compiled module.
const TEXTS: [&str; 5] = ["HloModule", "module @", "{ lambda", "digraph", "#loc"];
/// Largest protobuf inside a gzip file: it must be in memory as a whole.
const MAX_UNPACKED: u64 = 1 << 30;
/// Enough of the beginning to recognize JSON and texts.
const HEAD: usize = 64 << 10;

/// What `bytes` are.
///
/// # Errors
/// [`RedactError::Unknown`] for what cannot be redacted, with a hint.
pub fn recognize(bytes: &[u8]) -> Result<Format, RedactError> {
    if bytes.starts_with(GZIP) {
        return Ok(Format::Gzip);
    }
    if is_database(bytes) {
        return recognize_database(bytes);
    }
    let text = bytes.trim_ascii_start();
    if TEXTS.iter().any(|start| text.starts_with(start.as_bytes())) {
        return Ok(Format::Text);
    }
    if matches!(text.first(), Some(b'{' | b'[')) {
        return Ok(Format::Json);
    }
    protobuf(bytes).ok_or_else(|| {
        unknown("something else", "JSON traces, XPlane, HLO and pprof can be redacted; leave other files out")
    })
}

fn recognize_database(bytes: &[u8]) -> Result<Format, RedactError> {
    if nsys::is_export(Database::open(bytes)?.table_names()) {
        return Ok(Format::Nsys);
    }
    let hint = "of SQLite databases, exports of Nsight Systems can be redacted; leave this one out";
    Err(unknown("a SQLite database of no known tool", hint))
}

fn unknown(found: &'static str, hint: &'static str) -> RedactError {
    RedactError::Unknown { found, hint }
}

/// Which protobuf, by the numbers of its fields.
fn protobuf(bytes: &[u8]) -> Option<Format> {
    let mut numbers = 0_u32;
    let mut first = None;
    for record in Records::new(bytes) {
        let record = record.ok()?;
        numbers |= 1_u32.checked_shl(record.number).unwrap_or(1 << 31);
        first = first.or(record.bytes.filter(|_| record.number == 1));
    }
    let only =
        |allowed: &[u32]| numbers != 0 && numbers & !allowed.iter().fold(0, |all, number| all | 1 << number) == 0;
    // An HLO module begins with its name, field 1; a plane with its id, field 1 as a number, or its name, field 2.
    let begins_with_name = first
        .and_then(|inner| Records::new(inner).next()?.ok())
        .is_some_and(|field| field.number == 1 && field.bytes.is_some());
    if only(&[1, 3]) && begins_with_name {
        Some(Format::HloProto)
    } else if only(&[1, 2, 3, 4]) {
        Some(Format::Xplane)
    } else if only(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]) && numbers & 1 << 6 != 0 {
        Some(Format::Pprof)
    } else {
        None
    }
}

/// Writes `bytes`, a whole capture, to `out` without what is private, and says what was taken out.
///
/// `words` are known before; more are learned from the capture, which says where it was made.
///
/// # Errors
/// [`RedactError`] where the format is not known or the content is damaged: what was written until then must not be shared.
pub fn redact(bytes: &[u8], words: &Words, out: &mut dyn Write) -> Result<Removed, RedactError> {
    match recognize(bytes)? {
        Format::Gzip => unpack_and_redact(bytes, words, out),
        Format::Json => redact_json(|| Ok(Box::new(bytes)), words, out),
        other => in_memory(bytes, other, words, out),
    }
}

fn in_memory(bytes: &[u8], format: Format, words: &Words, out: &mut dyn Write) -> Result<Removed, RedactError> {
    match format {
        Format::HloProto => proto::rewrite(bytes, &HLO_PROTO, words, out),
        Format::Pprof => proto::rewrite(bytes, &PPROF, words, out),
        Format::Nsys => database::redact(bytes, words, out),
        Format::Text => text(bytes, words, out),
        _ => {
            let mut words = words.clone();
            proto::host_names(bytes).for_each(|host| words.add_host(host));
            proto::rewrite(bytes, &XSPACE, &words, out)
        }
    }
}

fn text(bytes: &[u8], words: &Words, out: &mut dyn Write) -> Result<Removed, RedactError> {
    let mut removed = Removed::default();
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        let clean = words.clean_bytes(line, &mut removed);
        out.write_all(clean.as_deref().map_or(line, str::as_bytes))?;
    }
    Ok(removed)
}

fn unpack_and_redact(bytes: &[u8], words: &Words, out: &mut dyn Write) -> Result<Removed, RedactError> {
    let mut head = Vec::new();
    MultiGzDecoder::new(bytes).take(HEAD as u64).read_to_end(&mut head)?;
    let is_json = matches!(head.trim_ascii_start().first(), Some(b'{' | b'['));
    let mut packed = GzEncoder::new(out, Compression::default());
    let removed = if is_json {
        redact_json(|| Ok(Box::new(BufReader::with_capacity(HEAD, MultiGzDecoder::new(bytes)))), words, &mut packed)?
    } else {
        let mut unpacked = Vec::new();
        let read = MultiGzDecoder::new(bytes).take(MAX_UNPACKED + 1).read_to_end(&mut unpacked)?;
        if read as u64 > MAX_UNPACKED {
            return Err(unknown("over 1 GiB of packed data", "unpack it first with `gzip -d`"));
        }
        match recognize(&unpacked)? {
            Format::Gzip => return Err(unknown("a gzip file inside a gzip file", "unpack it first with `gzip -d`")),
            format => in_memory(&unpacked, format, words, &mut packed)?,
        }
    };
    packed.finish()?;
    Ok(removed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_by_content() {
        assert_eq!(recognize(b" {\"a\": 1}").ok(), Some(Format::Json));
        assert_eq!(recognize(b"{ lambda ; a:f32[] . let").ok(), Some(Format::Text));
        assert_eq!(recognize(&[0x0a, 4, 0x0a, 2, b'j', b'f']).ok(), Some(Format::HloProto));
        assert_eq!(recognize(&[0x0a, 4, 0x12, 2, b'j', b'f']).ok(), Some(Format::Xplane));
        assert_eq!(recognize(&[0x0a, 2, 8, 1, 0x32, 0]).ok(), Some(Format::Pprof));
        let of_sqlite = include_bytes!("../../ridge_sqlite/databases/small_pages.sqlite");
        for broken in [&of_sqlite[..], &of_sqlite[..600], b"SQLite format 3\0...."] {
            assert!(recognize(broken).is_err_and(|error| error.hint().is_some()));
        }
        for other in [&b""[..], b"\x80\x04pickle", b"hello"] {
            assert!(recognize(other).is_err());
        }
    }

    #[test]
    fn gzip_stays_gzip() {
        let packed = |text: &[u8]| {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(text).expect("memory");
            encoder.finish().expect("memory")
        };
        let mut out = Vec::new();
        redact(&packed(b"{\"a\": \"/root/x\"}"), &Words::default(), &mut out).expect("JSON");
        let mut text = String::new();
        MultiGzDecoder::new(&out[..]).read_to_string(&mut text).expect("gzip");
        assert_eq!(text, "{\"a\": \"~/x\"}");
    }
}
