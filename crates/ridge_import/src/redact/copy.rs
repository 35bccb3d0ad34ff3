//! What becomes of a copy: what takes out of it what is private, and how it is packed again.

use crate::formats::sniff_plain;
use crate::packed::{Packed, Packing};
use crate::parquet::Bound;
use crate::source::HEAD_BYTES;
use flate2::Compression;
use flate2::write::GzEncoder;
use lzma_rust2::{XzOptions, XzWriter};
use ridge_redact::{RedactError, Redactor, Removed};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::io::{self, Write};

/// What became of a source.
#[derive(Debug, Clone, Default)]
pub struct Redacted {
    /// What was taken out.
    pub removed: Removed,
    /// Parts of an archive that were not copied, and why.
    pub left_out: Vec<(String, String)>,
}

/// What is done with what is no capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Foreign {
    /// It is refused, unless a recording keeps it beside its captures.
    Refused,
    /// JSON is taken all the same: somebody named the file.
    JsonTaken,
}

/// Unpacked bytes that are passed on at a time.
pub(super) const STEP: usize = 1 << 16;

impl Redacted {
    pub(super) fn of(removed: Removed) -> Redacted {
        Redacted { removed, left_out: Vec::new() }
    }
}

/// What takes out of `bytes`, unpacked, what is private.
pub(super) fn redactor(bytes: &[u8], foreign: Foreign) -> Option<Redactor> {
    let head = &bytes[..bytes.len().min(HEAD_BYTES)];
    let is_json = || foreign == Foreign::JsonTaken && matches!(head.trim_ascii_start().first(), Some(b'{' | b'['));
    let format = sniff_plain(head).map(|format| format.redactor(head));
    format.or_else(|| Redactor::of_companion(head)).or_else(|| is_json().then_some(Redactor::Json))
}

pub(super) fn unknown(bytes: &[u8]) -> RedactError {
    let found = if bytes.is_empty() { "an empty file" } else { "something else" };
    RedactError::Unknown { found, hint: "only captures in a supported format can be redacted; leave out other files" }
}

/// All of `packed`.
pub(super) fn unpacked(packed: &Packed<'_>, bound: &Bound) -> Result<Vec<u8>, RedactError> {
    let (mut bytes, mut reader) = (Vec::new(), packed.reader());
    loop {
        let found = reader.fill(&mut bytes, STEP);
        if !bound.take(found as u64) {
            return Err(RedactError::Packed(bound.reached()));
        }
        if found == 0 {
            return reader.damage().map_or(Ok(bytes), |damage| Err(RedactError::Packed(damage.to_owned())));
        }
    }
}

/// Packs what is written as the source was packed.
pub(super) enum Pack<'a> {
    Gzip(GzEncoder<&'a mut dyn Write>),
    Xz(Box<XzWriter<&'a mut dyn Write>>),
    /// Its packer reads, so that it gets all at once.
    Zstd(Vec<u8>, &'a mut dyn Write),
    /// Text of another encoding stays as UTF-8.
    Plain(&'a mut dyn Write),
}

impl<'a> Pack<'a> {
    pub(super) fn new(packing: Packing, out: &'a mut dyn Write) -> io::Result<Pack<'a>> {
        const XZ_PRESET: u32 = 3;
        Ok(match packing {
            Packing::Gzip => Pack::Gzip(GzEncoder::new(out, Compression::default())),
            Packing::Xz => Pack::Xz(Box::new(XzWriter::new(out, XzOptions::with_preset(XZ_PRESET))?)),
            Packing::Zstd => Pack::Zstd(Vec::new(), out),
            Packing::Utf16(_) => Pack::Plain(out),
        })
    }

    pub(super) fn finish(self) -> io::Result<()> {
        match self {
            Pack::Gzip(encoder) => encoder.finish().map(drop),
            Pack::Xz(writer) => writer.finish().map(drop),
            Pack::Zstd(bytes, out) => out.write_all(&compress_to_vec(&bytes[..], CompressionLevel::Fastest)),
            Pack::Plain(_) => Ok(()),
        }
    }
}

impl Write for Pack<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Pack::Gzip(encoder) => encoder.write(bytes),
            Pack::Xz(writer) => writer.write(bytes),
            Pack::Zstd(all, _) => all.write(bytes),
            Pack::Plain(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
