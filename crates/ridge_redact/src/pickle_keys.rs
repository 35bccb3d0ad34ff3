//! Which texts of a pickle are private by their keys: the machine of `pickle` played through, with places instead of values.
//!
//! Keys are joined to their values at the end of a dictionary, and a text may be fetched from the memo that was written long before.

use crate::error::RedactError;
use crate::keys::{private_inside, private_key};
use crate::pickle_steps::steps;
use crate::removed::What;
use std::collections::HashMap;
use std::ops::Range;

/// A value on the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Item {
    Mark,
    /// By where it begins and ends.
    Text(usize, usize),
    /// A dictionary, list or tuple, by the number it got.
    Box(u32),
    Other,
}

/// Texts of a dictionary or a list that may be names of what the whole stands under: its key, if any, and its text.
type Names = Vec<(Option<Range<usize>>, Range<usize>)>;

/// So many texts of one are kept: what a machine or an account is called is said in few.
const MOST_NAMES: usize = 64;

struct Machine<'a> {
    bytes: &'a [u8],
    stack: Vec<Item>,
    memo: HashMap<u64, Item>,
    /// Of dictionaries and lists that were not put into another yet.
    open: HashMap<u32, Names>,
    boxes: u32,
    kinds: HashMap<&'a [u8], Option<What>>,
    told: HashMap<usize, What>,
}

/// The kinds of texts of `bytes`, a pickle, whose keys say that they are private, by where they begin.
pub(crate) fn told(bytes: &[u8]) -> Result<HashMap<usize, What>, RedactError> {
    let mut machine = Machine {
        bytes,
        stack: Vec::new(),
        memo: HashMap::new(),
        open: HashMap::new(),
        boxes: 0,
        kinds: HashMap::new(),
        told: HashMap::new(),
    };
    for step in steps(bytes) {
        let (opcode, text, argument) = step?;
        machine.step(opcode, text, argument);
    }
    Ok(machine.told)
}

impl<'a> Machine<'a> {
    fn step(&mut self, opcode: u8, text: Range<usize>, argument: u64) {
        match opcode {
            0x80 | 0x95 | b'.' => {}
            b'q' | b'r' => self.keep(argument),
            0x94 => self.keep(self.memo.len() as u64),
            b'h' | b'j' => self.stack.push(self.memo.get(&argument).copied().unwrap_or(Item::Other)),
            b'(' => self.stack.push(Item::Mark),
            b']' | b'}' => self.push_box(Vec::new()),
            b'a' => {
                let value = self.stack.pop();
                self.put(None, value);
            }
            b's' => {
                let value = self.stack.pop();
                let key = self.stack.pop();
                self.put(key, value);
            }
            b'e' => self.until_mark().into_iter().for_each(|value| self.put(None, Some(value))),
            b'u' => self.until_mark().chunks(2).for_each(|pair| self.put(pair.first().copied(), pair.get(1).copied())),
            b't' => {
                let members = self.until_mark();
                self.push_tuple(&members);
            }
            0x85..=0x87 => {
                let members = self.stack.split_off(self.stack.len().saturating_sub(usize::from(opcode - 0x84)));
                self.push_tuple(&members);
            }
            _ if !text.is_empty() => self.stack.push(Item::Text(text.start, text.end)),
            _ => self.stack.push(Item::Other),
        }
    }

    fn keep(&mut self, number: u64) {
        self.memo.insert(number, self.stack.last().copied().unwrap_or(Item::Other));
    }

    fn push_box(&mut self, names: Names) {
        self.open.insert(self.boxes, names);
        self.stack.push(Item::Box(self.boxes));
        self.boxes += 1;
    }

    fn push_tuple(&mut self, members: &[Item]) {
        let texts = members.iter().filter_map(|member| match member {
            Item::Text(start, end) => Some((None, *start..*end)),
            _ => None,
        });
        let texts = texts.take(MOST_NAMES).collect();
        self.push_box(texts);
    }

    fn until_mark(&mut self) -> Vec<Item> {
        let at = self.stack.iter().rposition(|item| *item == Item::Mark).unwrap_or(0);
        let members = self.stack.split_off(at);
        members.into_iter().filter(|item| *item != Item::Mark).collect()
    }

    /// What `key` says of its value; the same few keys come again and again.
    fn kind(&mut self, key: &Range<usize>) -> Option<What> {
        let bytes = &self.bytes[key.clone()];
        *self.kinds.entry(bytes).or_insert_with(|| private_key(core::str::from_utf8(bytes).ok()?))
    }

    /// Puts `value` under `key` into what is on top of the stack.
    fn put(&mut self, key: Option<Item>, value: Option<Item>) {
        let key = match key {
            Some(Item::Text(start, end)) => Some(start..end),
            _ => None,
        };
        let kind = key.as_ref().and_then(|key| self.kind(key));
        match (value, kind) {
            (Some(Item::Text(start, _)), Some(what)) => {
                self.told.insert(start, what);
            }
            (Some(Item::Text(start, end)), None) => {
                if let Some(Item::Box(number)) = self.stack.last()
                    && let Some(names) = self.open.get_mut(number).filter(|names| names.len() < MOST_NAMES)
                {
                    names.push((key, start..end));
                }
            }
            (Some(Item::Box(number)), kind) => {
                let names = self.open.remove(&number).unwrap_or_default();
                let parent = key.filter(|_| kind.is_some()).unwrap_or_default();
                let text = |place: &Range<usize>| core::str::from_utf8(&self.bytes[place.clone()]).unwrap_or_default();
                for (inner, place) in names.iter().filter(|_| kind.is_some()) {
                    let what = match inner {
                        Some(inner) => private_inside(text(&parent), text(inner)),
                        None => kind,
                    };
                    self.told.extend(what.map(|what| (place.start, what)));
                }
            }
            _ => {}
        }
    }
}
