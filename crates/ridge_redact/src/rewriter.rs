//! Messages without what is private: what is not text is copied, lengths follow what changed.
//!
//! Shapes say which fields are texts and messages; in fields that no shape names, texts and messages are told apart by trying.

use crate::encoded;
use crate::error::RedactError;
use crate::found::Replace;
use crate::keys::private_key;
use crate::needles::Needles;
use crate::removed::{Removed, What};
use crate::wire::{Field, Record, Records, Shape, is_message, push_record};
use crate::words::Words;
use crate::xstats::{MAP_VALUE, PrivateStats, STAT_BYTES, STAT_NAME, STAT_NAME_ENTRY, STAT_NUMBERS, STAT_TEXT, XSTAT};

/// Messages nested deeper are not looked into, and refused where they hold something private.
const MAX_DEPTH: usize = 64;

/// Rewrites messages.
#[derive(Debug)]
pub(crate) struct Rewriter<'a> {
    words: &'a Words,
    needles: Needles,
    replace: Replace,
    /// Which XStats of the plane at hand are private by their name.
    pub(crate) stats: PrivateStats,
    pub(crate) removed: Removed,
}

impl<'a> Rewriter<'a> {
    pub(crate) fn new(words: &'a Words, replace: Replace) -> Rewriter<'a> {
        Rewriter {
            words,
            needles: words.needles(),
            replace,
            stats: PrivateStats::default(),
            removed: Removed::default(),
        }
    }

    /// `message` rewritten, `None` where nothing changes.
    pub(crate) fn message(
        &mut self,
        message: &[u8],
        shape: &Shape,
        depth: usize,
    ) -> Result<Option<Vec<u8>>, RedactError> {
        if !self.needles.found_in(message) && !shape.has_gone(!self.stats.is_empty()) {
            return Ok(None);
        }
        if depth > MAX_DEPTH {
            return Err(RedactError::Damaged { expected: "messages in 64 levels", found: "more", offset: 0 });
        }
        if let Some(entry) = self.map_entry(message, shape) {
            return Ok(Some(entry));
        }
        let mut out = Vec::with_capacity(message.len());
        let mut is_changed = false;
        for record in Records::new(message) {
            is_changed |= self.record(record?, shape, depth, &mut out)?;
        }
        Ok(is_changed.then_some(out))
    }

    /// An entry of a map of texts, whose key says that its value is private; fields 1 and 2 of every map are these.
    fn map_entry(&mut self, message: &[u8], shape: &Shape) -> Option<Vec<u8>> {
        let mut records = Records::new(message);
        let (key, value) = (records.next()?.ok()?, records.next()?.ok()?);
        if !shape.0.is_empty() || records.next().is_some() || (key.number, value.number) != (1, 2) {
            return None;
        }
        let what = private_key(std::str::from_utf8(key.bytes?).ok()?)?;
        let text = std::str::from_utf8(value.bytes?).ok()?;
        let clean = self.gone(text, what)?;
        let mut out = key.raw.to_vec();
        push_record(value.number, clean.as_bytes(), &mut out);
        Some(out)
    }

    /// What stands for `text`, all of which is private; `None` where it does already.
    pub(crate) fn gone(&mut self, text: &str, what: What) -> Option<String> {
        let clean = match self.replace {
            Replace::Word => what.stand_in().to_owned(),
            Replace::Letters => "*".repeat(text.len()),
        };
        (!text.is_empty() && clean != text).then(|| {
            self.removed.add(what);
            clean
        })
    }

    /// Appends `record` rewritten; whether it changed.
    pub(crate) fn record(
        &mut self,
        record: Record<'_>,
        shape: &Shape,
        depth: usize,
        out: &mut Vec<u8>,
    ) -> Result<bool, RedactError> {
        let field = shape.field(record.number);
        if let Some(Field::Drop(what)) = field {
            self.removed.add(what);
            return Ok(true);
        }
        let rewritten = match record.bytes {
            Some(bytes) => self.value(bytes, field, depth)?,
            None => None,
        };
        match &rewritten {
            Some(bytes) => push_record(record.number, bytes, out),
            None => out.extend_from_slice(record.raw),
        }
        Ok(rewritten.is_some())
    }

    fn value(&mut self, bytes: &[u8], field: Option<Field>, depth: usize) -> Result<Option<Vec<u8>>, RedactError> {
        match field {
            Some(Field::Message(shape)) => self.message(bytes, shape, depth + 1),
            Some(Field::Text | Field::Drop(_)) => Ok(self.text(bytes)),
            Some(Field::Stat) => match self.stats.of_stat(bytes) {
                Some(what) => self.stat_gone(bytes, what),
                None => self.message(bytes, &XSTAT, depth + 1),
            },
            Some(Field::StatName) => match self.stats.of_name(bytes) {
                Some(what) => self.field_gone(bytes, &[MAP_VALUE, STAT_NAME], what),
                None => self.message(bytes, &STAT_NAME_ENTRY, depth + 1),
            },
            Some(Field::Gone(what)) => Ok(self.gone(&String::from_utf8_lossy(bytes), what).map(String::into_bytes)),
            None if !self.needles.found_in(bytes) => Ok(None),
            // A path or a name is hardly ever a message from end to end: letters are keys of wire types that do not exist.
            None if is_message(bytes) => self.message(bytes, &Shape(&[]), depth + 1),
            None => Ok(self.text(bytes)),
        }
    }

    /// An XStat without its text or bytes; of a secret without its number, too.
    fn stat_gone(&mut self, stat: &[u8], what: What) -> Result<Option<Vec<u8>>, RedactError> {
        let drops_numbers = self.stats.is_secret_number(stat);
        let (mut out, mut is_changed) = (Vec::with_capacity(stat.len()), false);
        for record in Records::new(stat) {
            let record = record?;
            let clean = match (record.number, record.bytes) {
                (STAT_TEXT | STAT_BYTES, Some(bytes)) => self.gone(&String::from_utf8_lossy(bytes), what),
                _ => None,
            };
            if drops_numbers && STAT_NUMBERS.contains(&record.number) {
                self.removed.add(what);
                is_changed = true;
            } else if let Some(clean) = clean {
                push_record(record.number, clean.as_bytes(), &mut out);
                is_changed = true;
            } else {
                out.extend_from_slice(record.raw);
            }
        }
        Ok(is_changed.then_some(out))
    }

    /// `message` with the text gone that the field at `path` is.
    fn field_gone(&mut self, message: &[u8], path: &[u32], what: What) -> Result<Option<Vec<u8>>, RedactError> {
        let Some((first, inner)) = path.split_first() else {
            return Ok(self.gone(&String::from_utf8_lossy(message), what).map(String::into_bytes));
        };
        let (mut out, mut is_changed) = (Vec::with_capacity(message.len()), false);
        for record in Records::new(message) {
            let record = record?;
            let clean = match record.bytes.filter(|_| record.number == *first) {
                Some(bytes) => self.field_gone(bytes, inner, what)?,
                None => None,
            };
            is_changed |= clean.is_some();
            match clean {
                Some(bytes) => push_record(record.number, &bytes, &mut out),
                None => out.extend_from_slice(record.raw),
            }
        }
        Ok(is_changed.then_some(out))
    }

    fn text(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        if !self.needles.found_in(bytes) {
            return None;
        }
        if encoded::unpacked(bytes).is_some() {
            let what = self.words.found_in_bytes(bytes)?;
            return self.gone(&"*".repeat(bytes.len()), what).map(String::into_bytes);
        }
        match self.replace {
            Replace::Word => self.words.clean_bytes(bytes, &mut self.removed).map(String::into_bytes),
            Replace::Letters => masked_bytes(bytes, self.words, &mut self.removed),
        }
    }
}

/// `bytes` with stars for what is private in the texts among them, as long as before; `None` where nothing is.
pub(crate) fn masked_bytes(bytes: &[u8], words: &Words, removed: &mut Removed) -> Option<Vec<u8>> {
    let mut clean = Vec::with_capacity(bytes.len());
    let mut is_changed = false;
    for chunk in bytes.utf8_chunks() {
        let masked = words.masked(chunk.valid(), removed);
        is_changed |= masked.is_some();
        clean.extend_from_slice(masked.as_deref().unwrap_or(chunk.valid()).as_bytes());
        clean.extend_from_slice(chunk.invalid());
    }
    is_changed.then_some(clean)
}
