//! Archives without what is private: every member that is a capture or a part of one, the others left out.

use super::copy::{Foreign, Pack, Redacted, redactor, unknown, unpacked};
use super::table;
use crate::archive::{Archive, Member};
use crate::import::Source;
use crate::packed::{Packed, allowed_bytes};
use crate::parquet::Bound;
use crate::source::HEAD_BYTES;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use ridge_redact::{RedactError, Redactor, Removed, Words};
use std::io::{self, Write};

/// Members by which `torch.load` knows how an archive is written; other texts that no format claims are somebody's.
const MARKS: [&str; 5] = ["version", "byteorder", ".format_version", ".storage_alignment", "serialization_id"];
/// Longer ones are none.
const MAX_MARK: usize = 256;

/// Writes `source`, an archive, to `out` without what is private; members keep their order.
pub(super) fn redact(source: Source<'_>, words: &Words, out: &mut dyn Write) -> Result<Redacted, RedactError> {
    let archive = Archive::open(source.bytes);
    if archive.is_damaged {
        return Err(RedactError::Packed("the archive's directory is lost".to_owned()));
    }
    let bound = Bound::new(allowed_bytes(source.bytes.len(), None));
    let mut words = words.clone();
    learn_from(&archive, &mut words, &bound);
    let words = &words;
    let (mut redacted, mut copied, mut zip) = (Redacted::default(), 0, Zip::new(out));
    for member in archive.members.iter().filter(|member| !member.name.ends_with('/')) {
        let mut copy = Vec::new();
        match content(&archive, member, &bound).and_then(|bytes| one(member, &bytes, words, &bound, &mut copy)) {
            Ok(removed) => {
                redacted.removed.merge(&removed);
                let name = words.clean(&member.name, &mut redacted.removed).into_owned();
                zip.add(&name, &copy, member.is_stored())?;
                copied += 1;
            }
            Err(error) => redacted.left_out.push((member.name.clone(), error.to_string())),
        }
    }
    zip.finish()?;
    if copied == 0 {
        return Err(unknown(b"an archive"));
    }
    Ok(redacted)
}

/// Adds to `words` the names that the members of the archive in `source` say.
pub(super) fn learn(source: Source<'_>, words: &mut Words) {
    learn_from(&Archive::open(source.bytes), words, &Bound::new(allowed_bytes(source.bytes.len(), None)));
}

fn learn_from(archive: &Archive<'_>, words: &mut Words, bound: &Bound) {
    for member in archive.members.iter().filter(|member| !member.name.ends_with('/')) {
        let Ok(bytes) = content(archive, member, bound) else { continue };
        let source = Source { name: &member.name, bytes: &bytes };
        match Packed::of(source, Some(bound.left())).map(|packed| unpacked(&packed, bound)) {
            Some(Ok(bytes)) => learn_from_member(&member.name, &bytes, words, bound),
            Some(Err(_)) => {}
            None => learn_from_member(&member.name, &bytes, words, bound),
        }
    }
}

fn learn_from_member(name: &str, bytes: &[u8], words: &mut Words, bound: &Bound) {
    if table::is_table(bytes) {
        return table::learn(name, bytes, words, bound);
    }
    let known = redactor(&bytes[..bytes.len().min(HEAD_BYTES)], Foreign::Refused);
    let is_inner = known == Some(Redactor::Archive);
    if let Some(redactor) = known.filter(|_| !is_inner).or_else(|| name.contains(".csv").then_some(Redactor::Table)) {
        // What is damaged is refused when it is copied.
        let _ = redactor.learn(bytes, words);
    }
}

fn content(archive: &Archive<'_>, member: &Member, bound: &Bound) -> Result<Vec<u8>, RedactError> {
    match archive.read(member, bound) {
        Ok((bytes, None)) => Ok(bytes.into_owned()),
        Ok((_, Some(damage))) | Err(damage) => Err(RedactError::Packed(damage)),
    }
}

/// Writes one member to `copy`, packed as it was.
fn one(
    member: &Member,
    bytes: &[u8],
    words: &Words,
    bound: &Bound,
    copy: &mut Vec<u8>,
) -> Result<Removed, RedactError> {
    let source = Source { name: &member.name, bytes };
    let Some(packed) = Packed::of(source, Some(bound.left())) else {
        return plain(&member.name, bytes, words, bound, copy);
    };
    let mut pack = Pack::new(packed.packing(), copy)?;
    let removed = plain(&member.name, &unpacked(&packed, bound)?, words, bound, &mut pack)?;
    pack.finish()?;
    Ok(removed)
}

fn plain(name: &str, bytes: &[u8], words: &Words, bound: &Bound, out: &mut dyn Write) -> Result<Removed, RedactError> {
    let is_called_mark = name.rsplit('/').next().is_some_and(|last| MARKS.contains(&last));
    let is_mark = is_called_mark && bytes.len() <= MAX_MARK && bytes.is_ascii();
    if table::is_table(bytes) {
        table::redact(name, bytes, words, bound, out)
    } else if let Some(redactor) = redactor(&bytes[..bytes.len().min(HEAD_BYTES)], Foreign::Refused) {
        redactor.redact(bytes, words, out)
    } else if name.contains(".csv") {
        Redactor::Table.redact(bytes, words, out)
    } else if is_mark {
        Redactor::Text.redact(bytes, words, out)
    } else {
        Err(unknown(bytes))
    }
}

/// Writes an archive (PKWARE's APPNOTE, whose sections the comments name), of less than 4 GiB.
struct Zip<'a> {
    out: &'a mut dyn Write,
    written: u64,
    directory: Vec<u8>,
    members: u16,
}

const STORED: u16 = 0;
const DEFLATED: u16 = 8;
/// The version that is needed to unpack, 2.0, and the flag that says that names are UTF-8 (4.4.3, 4.4.4).
const VERSION: u16 = 20;
const UTF_8: u16 = 1 << 11;
/// 1980-01-01 as MS-DOS writes it: when the original was written says something of its maker.
const DATE: u16 = 1 << 5 | 1;

impl<'a> Zip<'a> {
    fn new(out: &'a mut dyn Write) -> Zip<'a> {
        Zip { out, written: 0, directory: Vec::new(), members: 0 }
    }

    fn add(&mut self, name: &str, bytes: &[u8], is_stored: bool) -> Result<(), RedactError> {
        let packed = if is_stored { None } else { Some(deflated(bytes)?) };
        let data = packed.as_deref().unwrap_or(bytes);
        let too_large =
            || RedactError::Unknown { found: "an archive over 4 GiB", hint: "unpack it, and redact the directory" };
        let fits = |size: u64| u32::try_from(size).map_err(|_| too_large());
        let mut crc = flate2::Crc::new();
        crc.update(bytes);
        // What the member's own header and its entry of the directory have in common (4.3.7, 4.3.12).
        let mut common = Vec::new();
        for short in [VERSION, UTF_8, if is_stored { STORED } else { DEFLATED }, 0, DATE] {
            common.extend_from_slice(&short.to_le_bytes());
        }
        for long in [crc.sum(), fits(data.len() as u64)?, fits(bytes.len() as u64)?] {
            common.extend_from_slice(&long.to_le_bytes());
        }
        let length = u16::try_from(name.len()).map_err(|_| too_large())?;
        common.extend_from_slice(&length.to_le_bytes());
        common.extend_from_slice(&[0, 0]);
        let place = fits(self.written)?;
        self.put(&[b"PK\x03\x04", &common[..], name.as_bytes(), data].concat())?;
        self.directory.extend_from_slice(&[&b"PK\x01\x02"[..], &VERSION.to_le_bytes(), &common].concat());
        // Comment, volume, attributes of two kinds.
        self.directory.extend_from_slice(&[0; 10]);
        self.directory.extend_from_slice(&place.to_le_bytes());
        self.directory.extend_from_slice(name.as_bytes());
        self.members = self.members.checked_add(1).ok_or_else(too_large)?;
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.written += bytes.len() as u64;
        self.out.write_all(bytes)
    }

    /// The directory and its end (4.3.16).
    fn finish(mut self) -> Result<(), RedactError> {
        let place = self.written as u32;
        let directory = std::mem::take(&mut self.directory);
        self.put(&directory)?;
        let counts = [0_u16, 0, self.members, self.members].map(u16::to_le_bytes).concat();
        let sizes = [directory.len() as u32, place].map(u32::to_le_bytes).concat();
        self.put(&[b"PK\x05\x06", &counts[..], &sizes, &[0, 0]].concat())?;
        Ok(())
    }
}

fn deflated(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes)?;
    encoder.finish()
}
