//! A copy of a source without what is private: recognized and unpacked as for reading, and packed again.
//!
//! Each format says what takes out of its files what is private ([`Format::redactor`]); here is what is common to them: gzip,
//! Zstandard and xz, and archives, whose members are copied one by one.
//! What is no capture and no part of one is refused, and left out of an archive: passing it on would be a promise that nobody keeps.
//!
//! [`Format::redactor`]: crate::Format::redactor

mod archive;
mod copy;
mod export;
mod table;

pub use copy::{Foreign, Redacted};
pub use export::RedactedFolder;

use crate::import::Source;
use crate::packed::{Packed, PackedReader, allowed_bytes};
use crate::parquet::Bound;
use crate::source::HEAD_BYTES;
use copy::{Pack, STEP, redactor, unknown, unpacked};
use ridge_redact::{RedactError, Redactor, Words, learn_json, redact_json};
use std::io::{self, BufRead, Read, Write};

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
