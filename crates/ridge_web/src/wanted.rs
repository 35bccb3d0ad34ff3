//! Which events somebody wants: `dur>1ms name~flash.*fwd -kind=copy`, as a test of each row.
//!
//! A term is a text, or a key, a comparison and a value; all must hold, and `-` turns one round. A text without any such
//! term is one text, spaces included, as names of kernels have them.

use crate::answer::Refusal;
use crate::page::Page;
use regex::bytes::{Regex, RegexBuilder};
use ridgeline::trace::{EventKind, NONE};

/// Bytes that a pattern may take once it is made ready.
const MOST_PATTERN: usize = 1 << 20;

/// What a text is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    Name,
    Op,
    Track,
    Category,
    Kind,
    Range,
}

/// What a number is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Amount {
    Duration,
    Start,
    Bytes,
    Registers,
    Occupancy,
}

/// A comparison of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    Above,
    Least,
    Below,
    Most,
    Same,
}

#[derive(Debug)]
enum Test {
    /// Part of the name or of the operation's, in lower case.
    Text(String),
    Like(Of, Regex),
    Number(Amount, How, f64),
}

#[derive(Debug)]
struct Term {
    is_not: bool,
    test: Test,
}

/// Parsed terms.
#[derive(Debug)]
pub(crate) struct Wanted(Vec<Term>);

impl Wanted {
    /// Reads `text`.
    pub(crate) fn parse(text: &str) -> Result<Wanted, Refusal> {
        let words = words(text);
        let terms = words.iter().map(|word| term(word)).collect::<Result<Vec<_>, _>>()?;
        let has_keys = terms.iter().any(|term| !matches!(term.test, Test::Text(_)));
        if has_keys || text.contains('"') {
            return Ok(Wanted(terms));
        }
        Ok(Wanted(vec![Term { is_not: false, test: Test::Text(text.trim().to_lowercase()) }]))
    }

    /// The test of each row of the capture, with what each text means decided once.
    pub(crate) fn on<'p>(&self, page: &'p Page) -> Matching<'p> {
        Matching { page, tests: self.0.iter().map(|term| (term.is_not, ready(&term.test, page))).collect() }
    }
}

/// Words between spaces; quotes keep spaces, and are dropped.
fn words(text: &str) -> Vec<String> {
    let (mut words, mut word, mut is_quoted) = (Vec::new(), String::new(), false);
    for letter in text.chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            ' ' | '\t' if !is_quoted => words.push(std::mem::take(&mut word)),
            _ => word.push(letter),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

fn term(word: &str) -> Result<Term, Refusal> {
    let plain = || Term { is_not: false, test: Test::Text(word.to_lowercase()) };
    let (is_not, body) = word.strip_prefix('-').map_or((false, word), |rest| (true, rest));
    let Some(at) = body.find(['~', '=', '<', '>']) else { return Ok(plain()) };
    let (key, rest) = body.split_at(at);
    let test = match (text_key(key), number_key(key)) {
        (Some(of), _) if rest.starts_with(['~', '=']) => Test::Like(of, pattern(rest)?),
        (_, Some(amount)) if !rest.starts_with('~') => {
            let (how, value) = comparison(rest);
            Test::Number(amount, how, quantity(key, amount, value)?)
        }
        _ => return Ok(plain()),
    };
    Ok(Term { is_not, test })
}

fn text_key(key: &str) -> Option<Of> {
    let known = [
        ("name", Of::Name),
        ("op", Of::Op),
        ("track", Of::Track),
        ("category", Of::Category),
        ("kind", Of::Kind),
        ("range", Of::Range),
    ];
    known.into_iter().find(|(name, _)| *name == key).map(|(_, of)| of)
}

fn number_key(key: &str) -> Option<Amount> {
    let known = [
        ("dur", Amount::Duration),
        ("start", Amount::Start),
        ("bytes", Amount::Bytes),
        ("registers", Amount::Registers),
        ("occupancy", Amount::Occupancy),
    ];
    known.into_iter().find(|(name, _)| *name == key).map(|(_, amount)| amount)
}

/// `~REGEX`, or `=TEXT` for the whole of it; letters may be of either case.
fn pattern(rest: &str) -> Result<Regex, Refusal> {
    let text = &rest[1..];
    let pattern = if rest.starts_with('=') { format!("^(?:{})$", regex::escape(text)) } else { text.to_owned() };
    let mut builder = RegexBuilder::new(&pattern);
    builder.unicode(false).case_insensitive(true).size_limit(MOST_PATTERN);
    builder.build().map_err(|_| Refusal::bad(format!("expected a regular expression, found `{text}`")))
}

fn comparison(rest: &str) -> (How, &str) {
    let known = [(">=", How::Least), ("<=", How::Most), (">", How::Above), ("<", How::Below), ("=", How::Same)];
    known.into_iter().find_map(|(sign, how)| Some((how, rest.strip_prefix(sign)?))).unwrap_or((How::Same, rest))
}

/// A number with its unit: `1ms`, `3MiB`, `64`.
fn quantity(key: &str, amount: Amount, text: &str) -> Result<f64, Refusal> {
    let end = text.find(|letter: char| letter.is_ascii_alphabetic() || letter == 'µ' || letter == '%');
    let (digits, unit) = text.split_at(end.unwrap_or(text.len()));
    let wrong = || {
        Refusal::bad(format!(
            "expected a number with a unit for `{key}`, such as `{key}>1{}`, found `{text}`",
            usual(amount)
        ))
    };
    let value = digits.trim().parse::<f64>().map_err(|_| wrong())?;
    let known: &[(&str, f64)] = match amount {
        Amount::Duration | Amount::Start => {
            &[("", 1.0), ("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)]
        }
        Amount::Bytes => &[
            ("", 1.0),
            ("b", 1.0),
            ("kb", 1e3),
            ("mb", 1e6),
            ("gb", 1e9),
            ("kib", 1024.0),
            ("mib", 1_048_576.0),
            ("gib", 1_073_741_824.0),
        ],
        Amount::Registers | Amount::Occupancy => &[("", 1.0), ("%", 1.0)],
    };
    let scale = known.iter().find(|(name, _)| *name == unit.to_lowercase()).ok_or_else(wrong)?;
    Ok(value * scale.1)
}

fn usual(amount: Amount) -> &'static str {
    match amount {
        Amount::Duration | Amount::Start => "ms",
        Amount::Bytes => "MiB",
        Amount::Registers | Amount::Occupancy => "",
    }
}

/// A test whose texts are decided.
enum Ready {
    /// By string, of the name; by row of the operations.
    Named(Vec<bool>, Vec<bool>),
    Ops(Vec<bool>),
    Tracks(Vec<bool>),
    Categories(Vec<bool>),
    Kinds(Vec<bool>),
    /// By string, of the innermost range that caused it.
    Ranges(Vec<bool>),
    Number(Amount, How, f64),
}

/// Says of each row whether it is wanted.
pub(crate) struct Matching<'p> {
    page: &'p Page,
    tests: Vec<(bool, Ready)>,
}

fn ready(test: &Test, page: &Page) -> Ready {
    let (session, trace) = (page.session(), page.session().trace());
    let strings = |holds: &(dyn Fn(&str) -> bool + Sync)| -> Vec<bool> { trace.strings.iter().map(holds).collect() };
    let ops = |names: &[bool]| -> Vec<bool> {
        trace.operations.iter().map(|op| names.get(op.name.0 as usize) == Some(&true)).collect()
    };
    match test {
        Test::Text(text) => {
            let names = strings(&|name| name.to_lowercase().contains(text));
            let ops = ops(&names);
            Ready::Named(names, ops)
        }
        Test::Number(amount, how, value) => Ready::Number(*amount, *how, *value),
        Test::Like(of, like) => {
            let holds = |text: &str| like.is_match(text.as_bytes());
            match of {
                Of::Name => Ready::Named(strings(&holds), Vec::new()),
                Of::Op => Ready::Ops(ops(&strings(&holds))),
                Of::Range => Ready::Ranges(strings(&holds)),
                Of::Track => {
                    Ready::Tracks(trace.tracks.iter().map(|track| holds(trace.strings.get(track.name))).collect())
                }
                Of::Category => {
                    Ready::Categories(session.event_categories().names.iter().map(|name| holds(name)).collect())
                }
                Of::Kind => Ready::Kinds((0..=u8::MAX).map(|byte| holds(EventKind::from_byte(byte).name())).collect()),
            }
        }
    }
}

impl Matching<'_> {
    /// Whether `row` is wanted.
    pub(crate) fn holds(&self, row: u32) -> bool {
        self.tests.iter().all(|(is_not, test)| self.passes(test, row) != *is_not)
    }

    fn passes(&self, test: &Ready, row: u32) -> bool {
        let (session, at) = (self.page.session(), row as usize);
        let (trace, events) = (session.trace(), &session.trace().events);
        let in_list = |list: &[bool], at: u32| list.get(at as usize) == Some(&true);
        match test {
            Ready::Named(names, ops) => {
                in_list(names, events.name[at]) || (events.op[at] != NONE && in_list(ops, events.op[at]))
            }
            Ready::Ops(ops) => events.op[at] != NONE && in_list(ops, events.op[at]),
            Ready::Tracks(tracks) => in_list(tracks, self.page.timeline().track_of(row) as u32),
            Ready::Categories(categories) => in_list(categories, u32::from(session.event_categories().of(events, at))),
            Ready::Kinds(kinds) => in_list(kinds, u32::from(events.kind[at])),
            Ready::Ranges(names) => {
                let range = session.owners().of(row);
                range != NONE && in_list(names, events.name[range as usize])
            }
            Ready::Number(amount, how, value) => {
                let shape = || trace.launch_shape(at);
                let found = match amount {
                    Amount::Duration => Some(events.dur_ns[at] as f64),
                    Amount::Start => Some(self.page.timeline().relative(events.start_ns[at]) as f64),
                    Amount::Bytes => trace.transfer(at).map(|moved| moved.bytes as f64),
                    Amount::Registers => shape().and_then(|shape| shape.registers).map(f64::from),
                    Amount::Occupancy => shape().and_then(|shape| shape.occupancy_pct).map(f64::from),
                };
                found.is_some_and(|found| compares(found, *how, *value))
            }
        }
    }
}

fn compares(found: f64, how: How, value: f64) -> bool {
    match how {
        How::Above => found > value,
        How::Least => found >= value,
        How::Below => found < value,
        How::Most => found <= value,
        How::Same => (found - value).abs() < f64::EPSILON * value.abs().max(1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The terms of `text` in a line each.
    fn read(text: &str) -> String {
        let one = |term: &Term| match &term.test {
            Test::Text(text) => format!("{}text {text}", if term.is_not { "not " } else { "" }),
            Test::Like(of, like) => format!("{}{of:?} like {like}", if term.is_not { "not " } else { "" }),
            Test::Number(amount, how, value) => format!("{amount:?} {how:?} {value}"),
        };
        match Wanted::parse(text) {
            Ok(Wanted(terms)) => terms.iter().map(one).collect::<Vec<_>>().join("; "),
            Err(refusal) => refusal.message,
        }
    }

    #[test]
    fn terms_are_told_from_texts() {
        for (text, expected) in [
            ("Softmax_Kernel<float, 4>", "text softmax_kernel<float, 4>"),
            ("dur>1ms name~flash.*fwd", "Duration Above 1000000; Name like flash.*fwd"),
            ("dur<=2.5us -kind=copy", "Duration Most 2500; not Kind like ^(?:copy)$"),
            ("bytes>=1MiB gemm", "Bytes Least 1048576; text gemm"),
            ("name~\"a b\" occupancy<50%", "Name like a b; Occupancy Below 50"),
            ("-x", "text -x"),
            ("name~(", "expected a regular expression, found `(`"),
            ("dur>fast", "expected a number with a unit for `dur`, such as `dur>1ms`, found `fast`"),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }
}
