//! A copy of a source without what is private: recognized and unpacked as for reading, and packed again.
//!
//! Each format says what takes out of its files what is private ([`Format::redactor`]); here is what is common to them: gzip,
//! Zstandard and xz, and archives, whose members are copied one by one.
//! What is no capture and no part of one is refused, and left out of an archive: passing it on would be a promise that nobody keeps.
//!
//! [`Format::redactor`]: crate::Format::redactor

mod archive;
mod export;
mod table;

pub use export::RedactedFolder;

use crate::import::{HEAD_BYTES, Source, sniff_plain};
use crate::packed::{Packed, PackedReader, Packing, allowed_bytes};
use crate::parquet::Bound;
use flate2::Compression;
use flate2::write::GzEncoder;
use lzma_rust2::{XzOptions, XzWriter};
use ridge_redact::{RedactError, Redactor, Removed, Words, learn_json, redact_json};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::io::{self, BufRead, Read, Write};

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
const STEP: usize = 1 << 16;

/// Writes `source` to `out` without what is private.
///
/// # Errors
/// [`RedactError`] where the source is no capture or damaged, or nothing can be written: what was written until then must not be
/// shared.
pub fn redact(
    source: Source<'_>,
    foreign: Foreign,
    words: &Words,
    out: &mut dyn Write,
) -> Result<Redacted, RedactError> {
    if let Some(redactor) = redactor(source.bytes, foreign) {
        return match redactor {
            Redactor::Archive => archive::redact(source, words, out),
            other => other.redact(source.bytes, words, out).map(Redacted::of),
        };
    }
    let packed = Packed::of(source, None).ok_or_else(|| unknown(source.bytes))?;
    let redactor = redactor(&packed.head(HEAD_BYTES), foreign).ok_or_else(|| unknown(&packed.head(HEAD_BYTES)))?;
    let mut pack = Pack::new(packed.packing(), out)?;
    let removed = if redactor == Redactor::Json {
        redact_json(|| Ok(Box::new(Unpacking::new(&packed))), words, &mut pack).map_err(of_unpacking)?
    } else {
        let bound = Bound::new(allowed_bytes(source.bytes.len(), None));
        redactor.redact(&unpacked(&packed, &bound)?, words, &mut pack)?
    };
    pack.finish()?;
    Ok(Redacted::of(removed))
}

/// Adds to `words` the names of machines and accounts that `source` says, as far as it can be read.
pub fn learn(source: Source<'_>, words: &mut Words) {
    // What is damaged was learned from as far as it goes, and nothing else is asked here.
    let _ = match (redactor(source.bytes, Foreign::Refused), Packed::of(source, None)) {
        (Some(Redactor::Archive), _) => {
            archive::learn(source, words);
            Ok(())
        }
        (Some(redactor), _) => redactor.learn(source.bytes, words),
        (None, Some(packed)) => match redactor(&packed.head(HEAD_BYTES), Foreign::Refused) {
            Some(Redactor::Json) => learn_json(Unpacking::new(&packed), words),
            Some(redactor) => unpacked(&packed, &Bound::new(allowed_bytes(source.bytes.len(), None)))
                .and_then(|bytes| redactor.learn(&bytes, words)),
            None => Ok(()),
        },
        (None, None) => Ok(()),
    };
}

impl Redacted {
    fn of(removed: Removed) -> Redacted {
        Redacted { removed, left_out: Vec::new() }
    }
}

/// What takes out of `bytes`, unpacked, what is private.
fn redactor(bytes: &[u8], foreign: Foreign) -> Option<Redactor> {
    let head = &bytes[..bytes.len().min(HEAD_BYTES)];
    let is_json = || foreign == Foreign::JsonTaken && matches!(head.trim_ascii_start().first(), Some(b'{' | b'['));
    let format = sniff_plain(head).map(|format| format.redactor(head));
    format.or_else(|| Redactor::of_companion(head)).or_else(|| is_json().then_some(Redactor::Json))
}

fn unknown(bytes: &[u8]) -> RedactError {
    let found = if bytes.is_empty() { "an empty file" } else { "something else" };
    RedactError::Unknown { found, hint: "captures of the formats that are read can be redacted; leave other files out" }
}

/// All of `packed`.
fn unpacked(packed: &Packed<'_>, bound: &Bound) -> Result<Vec<u8>, RedactError> {
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

/// A packed source, read while it is unpacked.
struct Unpacking<'a> {
    reader: PackedReader<'a>,
    bytes: Vec<u8>,
    at: usize,
}

impl<'a> Unpacking<'a> {
    fn new(packed: &Packed<'a>) -> Unpacking<'a> {
        Unpacking { reader: packed.reader(), bytes: Vec::new(), at: 0 }
    }
}

impl Read for Unpacking<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

impl BufRead for Unpacking<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.bytes.len() {
            self.bytes.clear();
            self.at = 0;
            if self.reader.fill(&mut self.bytes, STEP) == 0
                && let Some(damage) = self.reader.damage()
            {
                return Err(io::Error::new(io::ErrorKind::InvalidData, damage.to_owned()));
            }
        }
        Ok(&self.bytes[self.at..])
    }

    fn consume(&mut self, bytes: usize) {
        self.at += bytes;
    }
}

/// Damage of a packed source is no failure to write.
fn of_unpacking(error: RedactError) -> RedactError {
    match error {
        RedactError::Io(error) if error.kind() == io::ErrorKind::InvalidData => RedactError::Packed(error.to_string()),
        other => other,
    }
}

/// Packs what is written as the source was packed.
enum Pack<'a> {
    Gzip(GzEncoder<&'a mut dyn Write>),
    Xz(Box<XzWriter<&'a mut dyn Write>>),
    /// Its packer reads, so that it gets all at once.
    Zstd(Vec<u8>, &'a mut dyn Write),
    /// Text of another encoding stays as UTF-8.
    Plain(&'a mut dyn Write),
}

impl<'a> Pack<'a> {
    fn new(packing: Packing, out: &'a mut dyn Write) -> io::Result<Pack<'a>> {
        const XZ_PRESET: u32 = 3;
        Ok(match packing {
            Packing::Gzip => Pack::Gzip(GzEncoder::new(out, Compression::default())),
            Packing::Xz => Pack::Xz(Box::new(XzWriter::new(out, XzOptions::with_preset(XZ_PRESET))?)),
            Packing::Zstd => Pack::Zstd(Vec::new(), out),
            Packing::Utf16(_) => Pack::Plain(out),
        })
    }

    fn finish(self) -> io::Result<()> {
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
