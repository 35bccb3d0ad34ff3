//! The header: a dictionary of Python with three known keys, read word by word, so that nothing in it can nest.

use crate::NoArray;

/// What a header says.
pub(super) struct Header {
    pub(super) descr: String,
    pub(super) is_fortran: bool,
    pub(super) shape: Vec<u64>,
}

/// Letters of a header that an error repeats.
const REPEATED: usize = 24;

/// Dimensions of an array; NumPy itself holds 64.
const MOST_DIMENSIONS: usize = 64;

const ALL: &str = "descr, fortran_order and shape";

/// Reads the literal that NumPy writes: keys in any order, each once, spaces and a last comma as Python has them.
pub(super) fn read(text: &[u8]) -> Result<Header, NoArray> {
    let mut words = Words { text, at: 0 };
    let (mut descr, mut is_fortran, mut shape) = (None, None, None);
    words.expect(b"{", "a dictionary")?;
    while !words.takes(b"}") {
        let start = words.at;
        let key = words.quoted("a key")?;
        words.expect(b":", "a colon")?;
        words.skip();
        let value = words.at;
        let is_new = match key {
            b"descr" => descr.replace(words.descr()?).is_none(),
            b"fortran_order" => is_fortran.replace(words.truth()?).is_none(),
            b"shape" => shape.replace(words.shape()?).is_none(),
            _ => return Err(words.wrong("descr, fortran_order or shape", start)),
        };
        if !is_new {
            return Err(words.wrong("each of descr, fortran_order and shape once", value));
        }
        if !words.takes(b",") {
            words.expect(b"}", "a comma")?;
            break;
        }
    }
    match (descr, is_fortran, shape) {
        (Some(descr), Some(is_fortran), Some(shape)) => Ok(Header { descr, is_fortran, shape }),
        _ => Err(words.wrong(ALL, words.at.saturating_sub(1))),
    }
}

struct Words<'t> {
    text: &'t [u8],
    at: usize,
}

impl<'t> Words<'t> {
    fn rest(&self) -> &'t [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn skip(&mut self) {
        self.at += self.rest().iter().take_while(|letter| letter.is_ascii_whitespace()).count();
    }

    fn takes(&mut self, word: &[u8]) -> bool {
        self.skip();
        let is_there = self.rest().starts_with(word);
        self.at += if is_there { word.len() } else { 0 };
        is_there
    }

    fn expect(&mut self, word: &[u8], expected: &'static str) -> Result<(), NoArray> {
        if self.takes(word) { Ok(()) } else { Err(self.wrong(expected, self.at)) }
    }

    fn wrong(&self, expected: &'static str, at: usize) -> NoArray {
        let found = String::from_utf8_lossy(self.text.get(at..).unwrap_or_default());
        let found = found.trim().chars().filter(|letter| !letter.is_control()).take(REPEATED).collect();
        NoArray::Header { expected, found, at }
    }

    fn quoted(&mut self, expected: &'static str) -> Result<&'t [u8], NoArray> {
        self.skip();
        let start = self.at;
        let quote = self.rest().first().copied().filter(|letter| matches!(letter, b'\'' | b'"'));
        let inside = self.rest().get(1..).unwrap_or_default();
        let end = quote.and_then(|quote| inside.iter().position(|letter| *letter == quote));
        let Some(end) = end else { return Err(self.wrong(expected, start)) };
        self.at += end + 2;
        Ok(&inside[..end])
    }

    fn descr(&mut self) -> Result<String, NoArray> {
        if self.rest().starts_with(b"[") {
            return Err(NoArray::Elements("records".to_owned()));
        }
        let name = String::from_utf8_lossy(self.quoted("the name of its elements")?);
        Ok(name.chars().filter(|letter| !letter.is_control()).take(REPEATED).collect())
    }

    fn truth(&mut self) -> Result<bool, NoArray> {
        if self.takes(b"True") {
            return Ok(true);
        }
        self.expect(b"False", "True or False").map(|()| false)
    }

    fn shape(&mut self) -> Result<Vec<u64>, NoArray> {
        self.expect(b"(", "a shape")?;
        let mut extents = Vec::new();
        while !self.takes(b")") {
            let digits = self.rest().iter().take_while(|letter| letter.is_ascii_digit()).count();
            let extent = std::str::from_utf8(&self.rest()[..digits]).ok().and_then(|digits| digits.parse().ok());
            let Some(extent) = extent.filter(|_| extents.len() < MOST_DIMENSIONS) else {
                return Err(self.wrong("an extent", self.at));
            };
            extents.push(extent);
            self.at += digits;
            if !self.takes(b",") {
                self.expect(b")", "a comma")?;
                break;
            }
        }
        Ok(extents)
    }
}
