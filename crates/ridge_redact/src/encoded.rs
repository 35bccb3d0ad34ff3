//! Texts in other clothes: escapes of JSON, URLs and HTML, base64, hexadecimal digits, UTF-16, gzip and zlib.
//!
//! Escapes are undone with a note of where each letter came from, so that the private part alone goes. What was encoded as a whole
//! goes as a whole, because nothing else fits its lengths and sums.

use crate::removed::What;
use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use flate2::read::{MultiGzDecoder, ZlibDecoder};
use regex::Regex;
use std::io::Read;
use std::ops::Range;
use std::sync::LazyLock;

/// Escapes inside escapes, as of JSON in a text of JSON.
const MOST_LAYERS: usize = 4;
/// Shorter stretches of letters are words.
const LEAST_RUN: usize = 12;
/// What is encoded may unpack to as much; what is longer is looked at as far as that.
const MOST_UNPACKED: u64 = 16 << 20;
/// Names of fewer letters have too few of their own in base64.
const LEAST_CORE: usize = 6;
/// How gzip begins in base64, and zlib in each of its strengths.
pub(crate) const PACKED: &str = r"H4sI|(?-u:\b)e(?:A[E-H]|F[4-7]|J[w-z]|N[o-r])[0-9A-Za-z+/_-]{9}";
/// What every home folder and most secrets have in them.
const COMMON: [&str; 8] = ["/home/", "/Users/", "/root/", "/scratch/", "\\Users\\", "password", "hostname", "secret"];

/// A text and where each of its bytes came from.
pub(crate) struct Unescaped {
    pub(crate) text: String,
    /// One more than bytes: where the text ends, too.
    places: Vec<usize>,
}

impl Unescaped {
    /// Where `place` stands in the text that was unescaped.
    pub(crate) fn origin(&self, place: &Range<usize>) -> Range<usize> {
        self.places[place.start]..self.places[place.end]
    }
}

/// `text` without escapes; `None` where there are none.
pub(crate) fn unescaped(text: &str) -> Option<Unescaped> {
    let mut made: Option<Unescaped> = None;
    for _ in 0..MOST_LAYERS {
        let now = made.as_ref().map_or(text, |made| &made.text);
        let Some(mut next) = one_layer(now) else { break };
        if let Some(before) = &made {
            next.places.iter_mut().for_each(|place| *place = before.places[*place]);
        }
        made = Some(next);
    }
    made
}

fn one_layer(text: &str) -> Option<Unescaped> {
    memchr::memchr3(b'\\', b'%', b'&', text.as_bytes())?;
    let (mut out, mut places) = (String::with_capacity(text.len()), Vec::with_capacity(text.len() + 1));
    let (mut at, mut is_changed) = (0, false);
    while let Some(first) = text[at..].chars().next() {
        let (letter, length) = escape(&text[at..]).unwrap_or((first, first.len_utf8()));
        is_changed |= length != first.len_utf8();
        out.push(letter);
        places.extend(std::iter::repeat_n(at, letter.len_utf8()));
        at += length;
    }
    places.push(text.len());
    is_changed.then_some(Unescaped { text: out, places })
}

/// The letter that an escape at the beginning of `rest` stands for, and the escape's length.
fn escape(rest: &str) -> Option<(char, usize)> {
    let number = |digits: &str, radix: u32| u32::from_str_radix(digits, radix).ok().and_then(char::from_u32);
    let hexadecimal = |from: usize, length: usize| Some((number(rest.get(from..from + length)?, 16)?, from + length));
    match rest.as_bytes().first()? {
        // Only letters that can be seen, and spaces between words: others are parts of longer codes, or no code at all.
        b'%' => hexadecimal(1, 2).filter(|(letter, _)| letter.is_ascii_graphic() || *letter == ' '),
        b'\\' => match rest.as_bytes().get(1)? {
            b'u' => hexadecimal(2, 4),
            b'x' => hexadecimal(2, 2),
            letter @ (b'/' | b'"' | b'\'' | b'\\') => Some((char::from(*letter), 2)),
            _ => None,
        },
        b'&' => {
            let end = rest.bytes().take(10).position(|byte| byte == b';')?;
            let letter = match &rest[1..end] {
                "amp" => '&',
                "quot" => '"',
                "apos" => '\'',
                "sol" => '/',
                "commat" => '@',
                code if code.starts_with("#x") => number(&code[2..], 16)?,
                code if code.starts_with('#') => number(&code[1..], 10)?,
                _ => return None,
            };
            Some((letter, end + 1))
        }
        _ => None,
    }
}

/// What `text` looks like in base64 at any place, in either alphabet, and in hexadecimal digits.
pub(crate) fn cores(text: &str) -> Vec<String> {
    let mut cores = Vec::new();
    let wide: Vec<u8> = text.bytes().flat_map(|byte| [byte, 0]).collect();
    for (bytes, shift) in [text.as_bytes(), &wide].into_iter().flat_map(|bytes| [0, 1, 2].map(|shift| (bytes, shift))) {
        let whole = base64::prelude::BASE64_STANDARD_NO_PAD.encode([&[0; 2][..shift], bytes].concat());
        // Letters that bits of a neighbor are part of say nothing.
        let (start, end) = ([0, 2, 3][shift], (shift + bytes.len()) * 8 / 6);
        cores.extend(whole.get(start..end).filter(|core| core.len() >= LEAST_CORE).map(str::to_owned));
    }
    let other = |core: &String| core.replace('+', "-").replace('/', "_");
    cores.extend(cores.iter().filter(|core| core.contains(['+', '/'])).map(other).collect::<Vec<_>>());
    if text.len() * 2 >= LEAST_CORE {
        let hexadecimal: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
        cores.extend([hexadecimal.to_ascii_uppercase(), hexadecimal]);
    }
    cores
}

/// The cores of what is private wherever it is.
pub(crate) fn common_cores() -> impl Iterator<Item = String> {
    COMMON.into_iter().flat_map(cores)
}

/// Whether `text` may hold something packed and encoded, by how that begins.
pub(crate) fn may_be_in(text: &str) -> bool {
    static BEGINS: LazyLock<Regex> = LazyLock::new(|| Regex::new(PACKED).expect("a sound pattern"));
    BEGINS.is_match(text)
}

/// The stretches of `text` that may be something encoded, and of what kind `private` says that is which they hold.
pub(crate) fn find(text: &str, private: &dyn Fn(&str) -> Option<What>) -> Vec<(Range<usize>, What)> {
    let is_of_run = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/_-".contains(byte);
    let (bytes, mut at, mut found) = (text.as_bytes(), 0, Vec::new());
    while at < bytes.len() {
        let length = bytes[at..].iter().take_while(|byte| is_of_run(byte)).count();
        if length < LEAST_RUN {
            at += length + 1;
            continue;
        }
        let padding = bytes[at + length..].iter().take(2).take_while(|byte| **byte == b'=').count();
        let run = &text[at..at + length];
        if let Some(what) = readings(run).iter().find_map(|reading| private(reading)) {
            found.push((at..at + length + padding, what));
        }
        at += length + padding + 1;
    }
    found
}

/// The texts that `run` may be.
fn readings(run: &str) -> Vec<String> {
    let mut readings = Vec::new();
    if run.len().is_multiple_of(2) && run.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        let pairs = (0..run.len()).step_by(2);
        let bytes: Vec<u8> = pairs.filter_map(|at| u8::from_str_radix(&run[at..at + 2], 16).ok()).collect();
        readings.extend(texts_in(&bytes));
    }
    const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    let is_other = run.contains(['-', '_']);
    let alphabet = if is_other { &alphabet::URL_SAFE } else { &alphabet::STANDARD };
    let engine = GeneralPurpose::new(alphabet, LENIENT);
    // What stands before it without a mark shifts it.
    for shift in 0..4 {
        let rest = &run[shift.min(run.len())..];
        let whole = &rest[..rest.len() - usize::from(rest.len() % 4 == 1)];
        if let Ok(bytes) = engine.decode(whole) {
            readings.extend(texts_in(&bytes));
        }
    }
    readings
}

/// The texts in `bytes`: as they are, unpacked, and without the zeros that UTF-16 has.
fn texts_in(bytes: &[u8]) -> Vec<String> {
    if let Some(unpacked) = unpacked(bytes) {
        return vec![String::from_utf8_lossy(&unpacked).into_owned()];
    }
    let mut texts = vec![String::from_utf8_lossy(bytes).into_owned()];
    texts.extend(narrowed(bytes));
    texts
}

/// The text in `bytes` without zeros, where every other one is zero, as in UTF-16.
pub(crate) fn narrowed(bytes: &[u8]) -> Option<String> {
    let zeros = memchr::memchr_iter(0, bytes).count();
    (zeros * 3 >= bytes.len() && zeros * 3 <= bytes.len() * 2 && !bytes.is_empty())
        .then(|| bytes.iter().filter(|byte| **byte != 0).map(|byte| char::from(*byte)).collect())
}

/// What `bytes` unpack to, as far as they can be and are not too long: gzip, or zlib.
pub(crate) fn unpacked(bytes: &[u8]) -> Option<Vec<u8>> {
    let reader: Box<dyn Read + '_> = match bytes {
        [0x1f, 0x8b, 8, ..] => Box::new(MultiGzDecoder::new(bytes)),
        [0x78, 0x01 | 0x5e | 0x9c | 0xda, ..] => Box::new(ZlibDecoder::new(bytes)),
        _ => return None,
    };
    let mut out = Vec::new();
    // What is damaged counts as far as it was unpacked.
    let _ = reader.take(MOST_UNPACKED).read_to_end(&mut out);
    (!out.is_empty()).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::removed::Removed;
    use crate::words::Words;
    use flate2::Compression;
    use flate2::write::{GzEncoder, ZlibEncoder};
    use std::io::Write as _;

    fn base64_of(bytes: &[u8]) -> String {
        base64::prelude::BASE64_STANDARD.encode(bytes)
    }

    fn clean(text: &str) -> String {
        Words::of("", "grace", "node17").clean(text, &mut Removed::default()).into_owned()
    }

    #[test]
    fn escapes_hide_nothing_and_only_what_is_private_goes() {
        for (text, expected) in [
            (r"a%2Fb by gr%61ce on \u006eode17", "a%2Fb by <user> on <host>"),
            (r#"{\\\"n\\\": \\\"on \\u006eode17\\\"} x"#, r#"{\\\"n\\\": \\\"on <host>\\\"} x"#),
            ("run by g&#114;ace &amp; co", "run by <user> &amp; co"),
            (r"%252Fhome%252Fada%252Fx", "~%252Fx"),
            (r"100% of \d+ %add.5 = f32[] %fusion", r"100% of \d+ %add.5 = f32[] %fusion"),
        ] {
            assert_eq!(clean(text), expected);
        }
    }

    #[test]
    fn what_was_encoded_goes_whole() {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(b"made in /home/ada").expect("memory");
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
        zlib.write_all(b"made on node17").expect("memory");
        let wide: Vec<u8> = b"/home/ada/x".iter().flat_map(|byte| [*byte, 0]).collect();
        for (bytes, expected) in [
            (b"/home/ada/x.py".to_vec(), "a=~ b"),
            (b"run by grace".to_vec(), "a=<user> b"),
            (b"..run by grace".to_vec(), "a=<user> b"),
            (gzip.finish().expect("memory"), "a=~ b"),
            (zlib.finish().expect("memory"), "a=<host> b"),
            (wide, "a=~ b"),
        ] {
            assert_eq!(clean(&format!("a={} b", base64_of(&bytes))), expected);
        }
        assert_eq!(clean("x 2f686f6d652f6164612f78 y"), "x ~ y");
        let kept = format!(
            "{} _ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEE",
            base64_of(b"nothing to see")
        );
        assert_eq!(clean(&kept), kept);
    }
}
