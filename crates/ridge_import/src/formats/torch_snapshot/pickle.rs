//! Pickles of plain data, protocols 2 to 5: numbers, text, lists, tuples and dictionaries.
//!
//! Opcodes are those of Python's `pickle.py`. Those that name, build or call anything are refused.
//! Containers live in one arena and refer to each other by number, so shared parts are stored once, a pickle that
//! contains itself is harmless, and nothing recurses. Nothing is allocated by a length in the file.

use rustc_hash::FxHashMap;

/// A value; containers by their number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Value<'a> {
    /// `None`, and what is skipped.
    Nothing,
    /// True or false.
    Flag(bool),
    /// A whole number; what does not fit is the nearest that does.
    Int(i64),
    /// A real number.
    Real(f64),
    /// Text as it is in the file.
    Text(&'a [u8]),
    /// A list or tuple.
    List(u32),
    /// A dictionary.
    Dict(u32),
}

/// All containers of a pickle, and the value that it is.
#[derive(Debug, Default)]
pub(super) struct Pickle<'a> {
    lists: Vec<Vec<Value<'a>>>,
    dicts: Vec<Vec<(Value<'a>, Value<'a>)>>,
    /// What the pickle holds.
    pub(super) root: Option<Value<'a>>,
    /// Where it ended before it should have.
    pub(super) cut_at: Option<usize>,
}

/// Why a pickle is not read: the byte and what was found there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) offset: usize,
    pub(super) what: String,
}

/// Entries of a dictionary that are looked at to find a key; records have a dozen.
const MOST_KEYS: usize = 64;

impl<'a> Pickle<'a> {
    /// Reads the pickle in `bytes`.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Pickle<'a>, Refused> {
        let mut machine = Machine { bytes, ..Machine::default() };
        while !machine.stopped {
            let offset = machine.at;
            match machine.step() {
                Some(Ok(())) => {}
                Some(Err(what)) => return Err(Refused { offset, what }),
                None => {
                    machine.close_open();
                    machine.pickle.cut_at = Some(offset);
                    break;
                }
            }
        }
        machine.pickle.root = machine.stack.first().copied();
        Ok(machine.pickle)
    }

    /// The items of a list or tuple; none of anything else.
    pub(super) fn items(&self, value: Value<'a>) -> &[Value<'a>] {
        match value {
            Value::List(number) => self.lists.get(number as usize).map_or(&[], Vec::as_slice),
            _ => &[],
        }
    }

    /// What dictionary `value` holds under `key`; nothing where it has none, or is no dictionary.
    pub(super) fn get(&self, value: Value<'a>, key: &str) -> Value<'a> {
        let Value::Dict(number) = value else { return Value::Nothing };
        let entries = self.dicts.get(number as usize).map_or(&[][..], Vec::as_slice);
        let found = entries.iter().take(MOST_KEYS).find(|(own, _)| *own == Value::Text(key.as_bytes()));
        found.map_or(Value::Nothing, |(_, value)| *value)
    }
}

impl<'a> Value<'a> {
    /// A whole number, if it is one.
    pub(super) fn int(self) -> Option<i64> {
        match self {
            Value::Int(number) => Some(number),
            Value::Flag(flag) => Some(i64::from(flag)),
            Value::Real(number) => Some(number as i64),
            _ => None,
        }
    }

    /// Text, if it is that.
    pub(super) fn text(self) -> Option<&'a [u8]> {
        if let Value::Text(text) = self { Some(text) } else { None }
    }
}

/// The stack machine that a pickle is a program of.
#[derive(Debug, Default)]
struct Machine<'a> {
    bytes: &'a [u8],
    at: usize,
    stack: Vec<Value<'a>>,
    marks: Vec<usize>,
    memo: Vec<Value<'a>>,
    /// Entries of the memo whose number is not the next one.
    far_memo: FxHashMap<u64, Value<'a>>,
    pickle: Pickle<'a>,
    stopped: bool,
}

type Step = Option<Result<(), String>>;

impl<'a> Machine<'a> {
    /// Runs one opcode; `None` at the end of the bytes.
    fn step(&mut self) -> Step {
        let opcode = self.byte()?;
        match opcode {
            0x80 => self.protocol(),
            b'.' => {
                self.stopped = true;
                DONE
            }
            // FRAME: how long a stretch is, which a reader of bytes in memory need not know.
            0x95 => self.take(8).map(|_| Ok(())),
            b'(' => {
                self.marks.push(self.stack.len());
                DONE
            }
            b'N' => self.push(Value::Nothing),
            0x88 => self.push(Value::Flag(true)),
            0x89 => self.push(Value::Flag(false)),
            b'K' => self.number(1).and_then(|number| self.push(Value::Int(number as i64))),
            b'M' => self.number(2).and_then(|number| self.push(Value::Int(number as i64))),
            b'J' => self.number(4).and_then(|number| self.push(Value::Int(i64::from(number as u32 as i32)))),
            0x8a => self.number(1).and_then(|length| self.long(length)),
            0x8b => self.number(4).and_then(|length| self.long(length)),
            b'G' => self.take(8).and_then(|bytes| {
                let bits = u64::from_be_bytes(bytes.try_into().expect("eight bytes were taken"));
                self.push(Value::Real(f64::from_bits(bits)))
            }),
            // Text and bytes with a length of one, four or eight bytes.
            0x8c | b'C' => self.number(1).and_then(|length| self.text(length)),
            b'X' | b'B' => self.number(4).and_then(|length| self.text(length)),
            0x8d | 0x8e => self.number(8).and_then(|length| self.text(length)),
            b']' => self.new_list(Vec::new()),
            b')' => self.new_list(Vec::new()),
            b'}' => {
                self.pickle.dicts.push(Vec::new());
                self.push(Value::Dict(self.pickle.dicts.len() as u32 - 1))
            }
            0x85..=0x87 => self.tuple_of(usize::from(opcode) - 0x84),
            b't' => self.tuple_from_mark(),
            b'a' => self.append(1),
            b'e' => self.take_mark().map_or_else(|| fail("expected a mark before APPENDS"), |count| self.append(count)),
            b's' => self.set_items(2),
            b'u' => {
                self.take_mark().map_or_else(|| fail("expected a mark before SETITEMS"), |count| self.set_items(count))
            }
            0x94 => self.remember(self.memo.len() as u64),
            b'q' => self.number(1).and_then(|number| self.remember(number)),
            b'r' => self.number(4).and_then(|number| self.remember(number)),
            b'h' => self.number(1).and_then(|number| self.recall(number)),
            b'j' => self.number(4).and_then(|number| self.recall(number)),
            other => fail(&refusal(other)),
        }
    }

    fn protocol(&mut self) -> Step {
        match self.byte()? {
            2..=5 => DONE,
            other => fail(&format!("expected a pickle of protocol 2 to 5, found {other}")),
        }
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn take(&mut self, length: u64) -> Option<&'a [u8]> {
        let end = self.at.checked_add(usize::try_from(length).ok()?)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }

    /// A little-endian number of `length` bytes, at most eight.
    fn number(&mut self, length: u64) -> Option<u64> {
        Some(self.take(length)?.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// A signed little-endian number of any length; one that does not fit is the nearest that does.
    fn long(&mut self, length: u64) -> Step {
        let bytes = self.take(length)?;
        let negative = bytes.last().is_some_and(|byte| byte & 0x80 != 0);
        let fill = if negative { 0xff } else { 0 };
        let fits = bytes.iter().skip(8).all(|byte| *byte == fill);
        let mut low = [fill; 8];
        bytes.iter().take(8).zip(&mut low).for_each(|(byte, low)| *low = *byte);
        let number = i64::from_le_bytes(low);
        let nearest = if negative { i64::MIN } else { i64::MAX };
        self.push(Value::Int(if fits && (number < 0) == negative { number } else { nearest }))
    }

    fn text(&mut self, length: u64) -> Step {
        let text = self.take(length)?;
        self.push(Value::Text(text))
    }

    fn push(&mut self, value: Value<'a>) -> Step {
        self.stack.push(value);
        DONE
    }

    fn new_list(&mut self, items: Vec<Value<'a>>) -> Step {
        self.pickle.lists.push(items);
        self.push(Value::List(self.pickle.lists.len() as u32 - 1))
    }

    /// How many values stand above the last mark, which is taken off; values below it are safe from what follows.
    fn take_mark(&mut self) -> Option<usize> {
        let mark = self.marks.pop()?;
        self.stack.len().checked_sub(mark)
    }

    fn tuple_of(&mut self, count: usize) -> Step {
        let Some(first) = self.stack.len().checked_sub(count) else { return fail("expected values for a tuple") };
        let items = self.stack.split_off(first);
        self.new_list(items)
    }

    fn tuple_from_mark(&mut self) -> Step {
        match self.take_mark() {
            Some(count) => self.tuple_of(count),
            None => fail("expected a mark before TUPLE"),
        }
    }

    /// Appends the `count` topmost values to the list below them.
    fn append(&mut self, count: usize) -> Step {
        let Some((first, target)) = self.below(count) else { return fail("expected a list below its items") };
        let Value::List(number) = target else { return fail("expected a list below its items, found another value") };
        let items = self.stack.drain(first..);
        self.pickle.lists[number as usize].extend(items);
        DONE
    }

    /// Enters the `count` topmost values, keys and values in turn, into the dictionary below them.
    fn set_items(&mut self, count: usize) -> Step {
        let Some((first, target)) = self.below(count) else { return fail("expected a dictionary below its items") };
        let Value::Dict(number) = target else {
            return fail("expected a dictionary below its items, found another value");
        };
        let entries = &mut self.pickle.dicts[number as usize];
        entries.extend(self.stack[first..].chunks_exact(2).map(|pair| (pair[0], pair[1])));
        self.stack.truncate(first);
        DONE
    }

    /// Where the `count` topmost values begin, and the value below them.
    fn below(&self, count: usize) -> Option<(usize, Value<'a>)> {
        let first = self.stack.len().checked_sub(count)?;
        Some((first, *self.stack.get(first.checked_sub(1)?)?))
    }

    fn remember(&mut self, number: u64) -> Step {
        let Some(&value) = self.stack.last() else { return fail("expected a value to remember") };
        let known = self.memo.len() as u64;
        match usize::try_from(number) {
            Ok(place) if number < known => self.memo[place] = value,
            _ if number == known => self.memo.push(value),
            _ => {
                self.far_memo.insert(number, value);
            }
        }
        DONE
    }

    fn recall(&mut self, number: u64) -> Step {
        let near = usize::try_from(number).ok().and_then(|number| self.memo.get(number));
        match near.or_else(|| self.far_memo.get(&number)).copied() {
            Some(value) => self.push(value),
            None => fail(&format!("expected a value remembered as {number}, found none")),
        }
    }

    /// Puts what was being built into what it was for, so that a pickle that is cut short gives what came before.
    fn close_open(&mut self) {
        while let Some(count) = self.take_mark() {
            match self.below(count).map(|(_, target)| target) {
                Some(Value::List(_)) => drop(self.append(count)),
                Some(Value::Dict(_)) => drop(self.set_items(count)),
                _ => self.stack.truncate(self.stack.len() - count),
            }
        }
    }
}

/// An opcode that did what it should.
const DONE: Step = Some(Ok(()));

fn fail(what: &str) -> Step {
    Some(Err(what.to_owned()))
}

/// Why an opcode is refused, by its name in `pickle.py`.
fn refusal(opcode: u8) -> String {
    let name = match opcode {
        b'c' => "GLOBAL",
        0x93 => "STACK_GLOBAL",
        b'R' => "REDUCE",
        b'b' => "BUILD",
        b'i' => "INST",
        b'o' => "OBJ",
        0x81 => "NEWOBJ",
        0x92 => "NEWOBJ_EX",
        0x82..=0x84 => "EXT",
        b'P' | b'Q' => "PERSID",
        other => return format!("expected an opcode of plain data, found 0x{other:02x}"),
    };
    format!("expected plain data, found the opcode {name}, which could run code and is refused")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value as Python would print it, to a depth.
    fn print(pickle: &Pickle<'_>, value: Value<'_>, depth: usize) -> String {
        match value {
            _ if depth == 0 => "…".to_owned(),
            Value::Nothing => "None".to_owned(),
            Value::Flag(flag) => flag.to_string(),
            Value::Int(number) => number.to_string(),
            Value::Real(number) => number.to_string(),
            Value::Text(text) => format!("'{}'", String::from_utf8_lossy(text)),
            Value::List(number) => {
                let items = &pickle.lists[number as usize];
                let items: Vec<String> = items.iter().map(|item| print(pickle, *item, depth - 1)).collect();
                format!("[{}]", items.join(", "))
            }
            Value::Dict(number) => {
                let entry = |(key, value): &(Value<'_>, Value<'_>)| {
                    format!("{}: {}", print(pickle, *key, depth - 1), print(pickle, *value, depth - 1))
                };
                let entries: Vec<String> = pickle.dicts[number as usize].iter().map(entry).collect();
                format!("{{{}}}", entries.join(", "))
            }
        }
    }

    #[track_caller]
    fn check(bytes: &[u8], expected: &str) {
        let text = match Pickle::read(bytes) {
            Ok(pickle) => {
                let end = pickle.cut_at.map_or(String::new(), |at| format!(" cut at {at}"));
                pickle.root.map_or("nothing".to_owned(), |root| print(&pickle, root, 6)) + &end
            }
            Err(refused) => format!("{} at byte {}", refused.what, refused.offset),
        };
        assert_eq!(text, expected);
    }

    #[test]
    fn plain_data() {
        // pickle.dumps({'a': [1, -2, 300, 2**40, 1.5, None, True], 'b': (1, 'x')}, protocol=4)
        let whole = b"\x80\x04\x95.\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x01a\x94]\x94(K\x01J\xfe\xff\xff\xffM,\x01\
            \x8a\x06\x00\x00\x00\x00\x00\x01G?\xf8\x00\x00\x00\x00\x00\x00N\x88e\x8c\x01b\x94K\x01\x8c\x01x\x94\x86\
            \x94u.";
        check(whole, "{'a': [1, -2, 300, 1099511627776, 1.5, None, true], 'b': [1, 'x']}");
        // pickle.dumps({'a': [7]}, protocol=2) and what is left of it.
        let old = b"\x80\x02}q\x00X\x01\x00\x00\x00aq\x01]q\x02K\x07as.";
        check(old, "{'a': [7]}");
        check(&whole[..whole.len() - 12], "{'a': [1, -2, 300, 1099511627776, 1.5, None, true]} cut at 51");
        check(&whole[..30], "{'a': [1, -2]} cut at 28");
        check(b"\x80\x04\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x00.", "9223372036854775807");
    }

    #[test]
    fn what_could_run_code_is_refused() {
        // What `pickle.dumps` makes of an object whose `__reduce__` gives (os.system, ('true',)).
        let hostile = b"\x80\x04\x95\x1f\x00\x00\x00\x00\x00\x00\x00\x8c\x05posix\x94\x8c\x06system\x94\x93\x94\x8c\x04true\x94\x85\x94R\x94.";
        check(
            hostile,
            "expected plain data, found the opcode STACK_GLOBAL, which could run code and is refused at byte 28",
        );
        check(
            b"\x80\x02cposix\nsystem\n.",
            "expected plain data, found the opcode GLOBAL, which could run code and is refused at byte 2",
        );
        check(b"\x80\x04\xfe", "expected an opcode of plain data, found 0xfe at byte 2");
        check(b"\x80\x09.", "expected a pickle of protocol 2 to 5, found 9 at byte 0");
    }

    #[test]
    fn nonsense_is_refused_or_harmless() {
        for (bytes, expected) in [
            (&b"\x80\x04e."[..], "expected a mark before APPENDS at byte 2"),
            (b"\x80\x04(u.", "expected a dictionary below its items at byte 3"),
            (b"\x80\x04K\x01(K\x02e.", "expected a list below its items, found another value at byte 7"),
            (b"\x80\x04\x87.", "expected values for a tuple at byte 2"),
            (b"\x80\x04h\x05.", "expected a value remembered as 5, found none at byte 2"),
            (b"\x80\x04\x94.", "expected a value to remember at byte 2"),
            (b"\x80\x04X\xff\xff\xff\xffabc", "nothing cut at 2"),
            // A list that holds itself.
            (b"\x80\x04]\x94h\x00a.", "[[[[[[…]]]]]]"),
            (b"\x80\x04]r\xff\xff\xff\x7f]j\xff\xff\xff\x7fa.", "[]"),
        ] {
            check(bytes, expected);
        }
        // Marks without end cost eight bytes each and nothing else.
        let mut marks = b"\x80\x04".to_vec();
        marks.resize(100_000, b'(');
        check(&marks, "nothing cut at 100000");
    }
}
