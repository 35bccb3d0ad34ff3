//! Compressed sources: gzip (of several members, too), Zstandard and xz, unpacked within bounds; and text in UTF-16.
//!
//! Any format may come packed. What is inside is recognized by its own first bytes; formats that read from front to
//! back take a [`PackedReader`], the others get all bytes at once.
//! A packed source that is damaged gives what came before the damage. One that grows beyond all measure gives what
//! came before the bound: a bomb costs no more memory than the bound says.

use crate::import::Source;
use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;
use ridge_units::Bytes;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};
use std::io::Read;

/// What one source may grow to, in bytes, unless the caller says otherwise.
const MAX_UNPACKED_BYTES: u64 = 16 << 30;

/// Growth that needs no explanation, in bytes.
const FREE_BYTES: u64 = 32 << 20;

/// The most that captures shrink: real JSON traces reach 40, and DEFLATE ends at 1032.
const MAX_RATIO: u64 = 250;

/// How a source is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packing {
    Gzip,
    Zstd,
    Xz,
    /// Text in units of 16 bits behind a byte order mark, as PowerShell writes what programs print.
    Utf16(ByteOrder),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ByteOrder {
    LittleEndian,
    BigEndian,
}

impl Packing {
    fn name(self) -> &'static str {
        match self {
            Packing::Gzip => "gzip",
            Packing::Zstd => "Zstandard",
            Packing::Xz => "xz",
            Packing::Utf16(_) => "UTF-16",
        }
    }
}

/// What a source of `packed_bytes` bytes may grow to: `max_bytes`, or as much as captures do.
pub(crate) fn allowed_bytes(packed_bytes: usize, max_bytes: Option<u64>) -> u64 {
    let plausible = (packed_bytes as u64).saturating_mul(MAX_RATIO).max(FREE_BYTES);
    max_bytes.unwrap_or(plausible.min(MAX_UNPACKED_BYTES))
}

/// A source that is compressed.
#[derive(Debug, Clone, Copy)]
pub struct Packed<'a> {
    /// The source, compressed.
    pub source: Source<'a>,
    packing: Packing,
    allowed: u64,
}

impl<'a> Packed<'a> {
    /// `source` as a packed one, if its first bytes say so.
    ///
    /// It may grow to `max_bytes`; where nobody said how far, to 250 times its size and 16 GiB.
    pub fn of(source: Source<'a>, max_bytes: Option<u64>) -> Option<Packed<'a>> {
        let packing = match source.bytes {
            [0x1f, 0x8b, 0x08, ..] => Packing::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Packing::Zstd,
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Packing::Xz,
            [0xff, 0xfe, ..] => Packing::Utf16(ByteOrder::LittleEndian),
            [0xfe, 0xff, ..] => Packing::Utf16(ByteOrder::BigEndian),
            _ => return None,
        };
        Some(Packed { source, packing, allowed: allowed_bytes(source.bytes.len(), max_bytes) })
    }

    /// How it is compressed.
    pub(crate) fn packing(&self) -> Packing {
        self.packing
    }

    /// Its first `bytes` bytes, or fewer where it is shorter or damaged.
    pub fn head(&self, bytes: usize) -> Vec<u8> {
        let mut head = Vec::with_capacity(bytes);
        self.reader().fill(&mut head, bytes);
        head
    }

    /// Reads it from front to back.
    pub fn reader(&self) -> PackedReader<'a> {
        let inner: Box<dyn Read + Send + 'a> = match self.packing {
            Packing::Gzip => Box::new(MultiGzDecoder::new(self.source.bytes)),
            Packing::Zstd => Box::new(ZstdFrames { rest: self.source.bytes, frame: None }),
            Packing::Xz => Box::new(XzReader::new_mem_limit(self.source.bytes, true, MAX_XZ_KIB)),
            Packing::Utf16(order) => {
                Box::new(Utf16 { order, rest: &self.source.bytes[2..], text: Vec::new(), given: 0 })
            }
        };
        PackedReader { inner, left: self.allowed, allowed: self.allowed, packing: self.packing, damage: None }
    }
}

/// Unpacks from front to back.
pub struct PackedReader<'a> {
    inner: Box<dyn Read + Send + 'a>,
    left: u64,
    allowed: u64,
    packing: Packing,
    damage: Option<String>,
}

impl PackedReader<'_> {
    /// Appends up to `bytes` bytes to `buffer` and returns how many; fewer only at the end.
    pub fn fill(&mut self, buffer: &mut Vec<u8>, bytes: usize) -> usize {
        if self.damage.is_some() {
            return 0;
        }
        let before = buffer.len();
        let wanted = (bytes as u64).min(self.left);
        let result = self.inner.by_ref().take(wanted).read_to_end(buffer);
        let found = buffer.len() - before;
        self.left -= (found as u64).min(self.left);
        if let Err(error) = result {
            let name = self.packing.name();
            self.damage =
                Some(format!("the {name} data is damaged or cut short ({error}); everything before that was read"));
        } else if self.left == 0 && self.inner.read(&mut [0]).is_ok_and(|more| more > 0) {
            let bound = Bytes(self.allowed);
            self.damage = Some(format!("the file unpacks to more than the limit of {bound}; the rest was not read"));
        }
        found
    }

    /// What cut it short, once it has ended.
    pub fn damage(&self) -> Option<&str> {
        self.damage.as_deref()
    }
}

/// The frames of a Zstandard file, one after another.
struct ZstdFrames<'a> {
    rest: &'a [u8],
    frame: Option<Box<StreamingDecoder<&'a [u8], FrameDecoder>>>,
}

/// Windows above this are refused, as `zstd` itself does without being asked: a decoder holds the whole window.
const MAX_WINDOW_BYTES: u64 = 128 << 20;

/// The same for xz, whose highest preset has a dictionary of 64 MiB, and what goes with it, in KiB.
const MAX_XZ_KIB: u32 = 65 << 10;

impl Read for ZstdFrames<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        loop {
            let Some(frame) = &mut self.frame else {
                if self.rest.is_empty() {
                    return Ok(0);
                }
                let opened = StreamingDecoder::new_with_max_window_size(self.rest, MAX_WINDOW_BYTES)
                    .map_err(std::io::Error::other)?;
                self.frame = Some(Box::new(opened));
                continue;
            };
            let found = frame.read(buffer)?;
            if found > 0 || buffer.is_empty() {
                return Ok(found);
            }
            self.rest = self.frame.take().map_or(&[][..], |frame| frame.into_inner());
        }
    }
}

/// Text as UTF-8; what is no text becomes the replacement character.
struct Utf16<'a> {
    order: ByteOrder,
    rest: &'a [u8],
    /// A part of the text, and how much of it was given.
    text: Vec<u8>,
    given: usize,
}

impl Utf16<'_> {
    /// Takes the next part of the text.
    fn decode(&mut self) -> std::io::Result<()> {
        const UNITS: usize = 1 << 12;
        let unit = |pair: &[u8]| match self.order {
            ByteOrder::LittleEndian => u16::from_le_bytes([pair[0], pair[1]]),
            ByteOrder::BigEndian => u16::from_be_bytes([pair[0], pair[1]]),
        };
        let mut units: Vec<u16> = self.rest.chunks_exact(2).take(UNITS).map(unit).collect();
        if units.is_empty() && !self.rest.is_empty() {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        // The second half of a pair is in the next part.
        let is_first_half = |unit: &u16| (0xd800..0xdc00).contains(unit);
        if units.len() == UNITS && units.last().is_some_and(is_first_half) {
            units.pop();
        }
        self.rest = &self.rest[2 * units.len()..];
        let symbols = char::decode_utf16(units).map(|symbol| symbol.unwrap_or(char::REPLACEMENT_CHARACTER));
        (self.text, self.given) = (symbols.collect::<String>().into_bytes(), 0);
        Ok(())
    }
}

impl Read for Utf16<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.given == self.text.len() {
            self.decode()?;
        }
        let found = (&self.text[self.given..]).read(buffer)?;
        self.given += found;
        Ok(found)
    }
}
