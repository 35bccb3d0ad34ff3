//! Zip archives, read in place: the directory at the end, and members that are stored or deflated.
//!
//! Nothing is extracted: names are only compared, never used as paths, so a name that climbs out of its folder finds
//! nothing. Sizes are those of the bytes that are there; what the directory claims is not trusted.
//! Where the directory is lost, as in an archive that was cut short, members are found one by one from the front.
//!
//! The format is PKWARE's APPNOTE (<https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT>), whose section
//! numbers the comments name. No encryption, no volumes, no other compression.

use crate::parquet::Bound;
use flate2::bufread::DeflateDecoder;
use std::borrow::Cow;
use std::io::Read;

/// The first bytes of a member, and so of an archive that has one (4.3.7).
const MEMBER: &[u8; 4] = b"PK\x03\x04";
/// Of an entry of the directory (4.3.12), and of the directory's end (4.3.16).
const ENTRY: &[u8; 4] = b"PK\x01\x02";
const END: &[u8; 4] = b"PK\x05\x06";
/// The same of archives over 4 GiB (4.3.14).
const END_64: &[u8; 4] = b"PK\x06\x06";

/// Members after which no more are looked at; an archive of a large program has thousands.
const MAX_MEMBERS: usize = 1 << 20;

const STORED: u16 = 0;
const DEFLATED: u16 = 8;

/// Whether a file that begins with `head` is a zip archive.
pub(crate) fn is_archive(head: &[u8]) -> bool {
    head.starts_with(MEMBER)
}

/// A file in an archive.
#[derive(Debug)]
pub(crate) struct Member {
    /// Its name, folders and all, as written.
    pub(crate) name: String,
    method: u16,
    is_encrypted: bool,
    checksum: u32,
    /// Where its own header begins.
    header: usize,
    packed_bytes: usize,
}

impl Member {
    /// Whether its bytes are in the archive as they are.
    pub(crate) fn is_stored(&self) -> bool {
        self.method == STORED
    }
}

/// An open archive.
#[derive(Debug)]
pub(crate) struct Archive<'a> {
    bytes: &'a [u8],
    pub(crate) members: Vec<Member>,
    /// Whether the directory was lost.
    pub(crate) is_damaged: bool,
}

impl<'a> Archive<'a> {
    /// Finds the members.
    pub(crate) fn open(bytes: &'a [u8]) -> Archive<'a> {
        match directory(bytes) {
            Some(members) => Archive { bytes, members, is_damaged: false },
            None => Archive { bytes, members: from_the_front(bytes), is_damaged: true },
        }
    }

    /// The bytes of `member`, and what is wrong with them; `bound` is what may be unpacked, in bytes.
    ///
    /// # Errors
    /// What was expected and found, where there is nothing to be had.
    pub(crate) fn read(&self, member: &Member, bound: &Bound) -> Result<(Cow<'a, [u8]>, Option<String>), String> {
        if member.is_encrypted {
            return Err("expected a plain file, found an encrypted one".to_owned());
        }
        let header = Local::at(self.bytes, member.header).ok_or("expected a file's header, found damage")?;
        let end = header.data.saturating_add(member.packed_bytes).min(self.bytes.len());
        let packed = &self.bytes[header.data..end];
        let (bytes, mut damage) = match member.method {
            // It takes no memory, but time: entries may share their bytes.
            STORED if bound.take(packed.len() as u64) => (Cow::Borrowed(packed), None),
            STORED => return Err(bound.reached()),
            DEFLATED => inflated(packed, bound),
            other => return Err(format!("expected a stored or deflated file, found method {other}")),
        };
        if damage.is_none() && checksum(&bytes) != member.checksum {
            damage = Some("its checksum does not match its content: it is damaged".to_owned());
        }
        Ok((bytes, damage))
    }
}

fn checksum(bytes: &[u8]) -> u32 {
    let mut checksum = flate2::Crc::new();
    checksum.update(bytes);
    checksum.sum()
}

fn inflated(packed: &[u8], bound: &Bound) -> (Cow<'static, [u8]>, Option<String>) {
    const STEP: usize = 1 << 16;
    let (mut reader, mut bytes) = (DeflateDecoder::new(packed), Vec::new());
    loop {
        let before = bytes.len();
        let result = reader.by_ref().take(STEP as u64).read_to_end(&mut bytes);
        let found = bytes.len() - before;
        if !bound.take(found as u64) {
            bytes.truncate(before);
            return (bytes.into(), Some(bound.reached()));
        }
        match result {
            Err(error) => return (bytes.into(), Some(format!("its data is damaged or cut short ({error})"))),
            Ok(_) if found < STEP => return (bytes.into(), None),
            Ok(_) => {}
        }
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..)?.first_chunk().copied()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..)?.first_chunk().copied()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<usize> {
    usize::try_from(u64::from_le_bytes(bytes.get(at..)?.first_chunk().copied()?)).ok()
}

/// The members that the directory lists; `None` where there is none or it is damaged.
fn directory(bytes: &[u8]) -> Option<Vec<Member>> {
    // A comment of up to 65535 bytes may stand behind the end's 22.
    let tail = bytes.len().saturating_sub(22 + 65535);
    let end = tail + memchr::memmem::rfind(&bytes[tail..], END)?;
    let (mut count, mut at) = (usize::from(u16_at(bytes, end + 10)?), u32_at(bytes, end + 16)? as usize);
    // The locator of the larger end stands in front of the end and names its place (4.3.15).
    let larger = end.checked_sub(20).and_then(|locator| u64_at(bytes, locator + 8));
    if (count == 0xffff || at == 0xffff_ffff)
        && let Some(larger) = larger.filter(|larger| bytes.get(*larger..).is_some_and(|end| end.starts_with(END_64)))
    {
        (count, at) = (u64_at(bytes, larger.checked_add(32)?)?, u64_at(bytes, larger.checked_add(48)?)?);
    }
    let mut members = Vec::new();
    for _ in 0..count.min(MAX_MEMBERS) {
        let entry = bytes.get(at..).filter(|entry| entry.starts_with(ENTRY))?;
        let (name, extra, comment) = (u16_at(entry, 28)?, u16_at(entry, 30)?, u16_at(entry, 32)?);
        let (name, extra, comment) = (usize::from(name), usize::from(extra), usize::from(comment));
        let text = entry.get(46..46 + name)?;
        let sizes = Sizes { packed: u32_at(entry, 20)?, unpacked: u32_at(entry, 24)?, header: u32_at(entry, 42)? };
        let (packed_bytes, header) = sizes.with(entry.get(46 + name..46 + name + extra)?)?;
        members.push(Member {
            name: String::from_utf8_lossy(text).into_owned(),
            method: u16_at(entry, 10)?,
            is_encrypted: u16_at(entry, 8)? & 1 == 1,
            checksum: u32_at(entry, 16)?,
            header,
            packed_bytes,
        });
        at += 46 + name + extra + comment;
    }
    Some(members)
}

/// Sizes and the place of an entry, 32 bits each; those that do not fit are in an extra field (4.5.3).
struct Sizes {
    packed: u32,
    unpacked: u32,
    header: u32,
}

impl Sizes {
    fn with(&self, extra: &[u8]) -> Option<(usize, usize)> {
        const LARGER: u16 = 1;
        let (mut packed, mut header) = (self.packed as usize, self.header as usize);
        let mut at = 0;
        while let (Some(kind), Some(length)) = (u16_at(extra, at), u16_at(extra, at + 2)) {
            if kind == LARGER {
                // Only what does not fit is there, in this order.
                let mut place = at + 4 + if self.unpacked == u32::MAX { 8 } else { 0 };
                if self.packed == u32::MAX {
                    packed = u64_at(extra, place)?;
                    place += 8;
                }
                if self.header == u32::MAX {
                    header = u64_at(extra, place)?;
                }
            }
            at += 4 + usize::from(length);
        }
        Some((packed, header))
    }
}

/// A member's own header.
struct Local<'a> {
    name: &'a [u8],
    /// Where its data begins.
    data: usize,
}

impl Local<'_> {
    fn at(bytes: &[u8], at: usize) -> Option<Local<'_>> {
        let header = bytes.get(at..).filter(|header| header.starts_with(MEMBER))?;
        let (name, extra) = (usize::from(u16_at(header, 26)?), usize::from(u16_at(header, 28)?));
        let data = at + 30 + name + extra;
        (data <= bytes.len()).then_some(Local { name: header.get(30..30 + name)?, data })
    }
}

/// Members in a row from the front, as far as their headers say how long they are (4.4.4: they may leave it open).
fn from_the_front(bytes: &[u8]) -> Vec<Member> {
    let (mut members, mut at) = (Vec::new(), 0);
    while members.len() < MAX_MEMBERS
        && let Some(local) = Local::at(bytes, at)
    {
        let header = &bytes[at..];
        let (flags, method) = (u16_at(header, 6).unwrap_or(0), u16_at(header, 8).unwrap_or(0));
        let packed_bytes = u32_at(header, 18).unwrap_or(0) as usize;
        let name = String::from_utf8_lossy(local.name).into_owned();
        let checksum = u32_at(header, 14).unwrap_or(0);
        members.push(Member { name, method, is_encrypted: flags & 1 == 1, checksum, header: at, packed_bytes });
        if flags & 8 != 0 || packed_bytes == u32::MAX as usize {
            break;
        }
        at = local.data.saturating_add(packed_bytes);
    }
    members
}
