//! XPlane captures: machines are named in a field of their own, and stats say by their name what they hold.
//!
//! Field numbers are those of `xplane.proto` (openxla/xla).

use crate::error::RedactError;
use crate::found::Replace;
use crate::keys::{private_key, private_whole};
use crate::removed::{Removed, What};
use crate::wire::Field::{Drop, Message, Stat, StatName, Text};
use crate::wire::{Records, Rewriter, Shape};
use crate::words::Words;
use std::collections::{HashMap, HashSet};
use std::io::Write;

/// `XSpace.planes`, `XSpace.hostnames`.
const PLANES: u32 = 1;
const HOSTNAMES: u32 = 4;
/// `XPlane.lines`, `.event_metadata`, `.stat_metadata`, `.stats`.
const LINES: u32 = 3;
const EVENT_METADATA: u32 = 4;
const STAT_METADATA: u32 = 5;
const PLANE_STATS: u32 = 6;
/// `XStat.metadata_id`, `.double_value`, `.uint64_value`, `.int64_value`, `.str_value`, `.bytes_value`, `.ref_value`.
const STAT_ID: u32 = 1;
pub(crate) const STAT_NUMBERS: [u32; 3] = [2, 3, 4];
pub(crate) const STAT_TEXT: u32 = 5;
pub(crate) const STAT_BYTES: u32 = 6;
const STAT_REFERENCE: u32 = 7;
/// `XStatMetadata.name`.
pub(crate) const STAT_NAME: u32 = 2;
/// Of an entry of a map.
const MAP_KEY: u32 = 1;
pub(crate) const MAP_VALUE: u32 = 2;

pub(crate) const XSTAT: Shape = Shape(&[(STAT_TEXT, Text)]);
const XEVENT: Shape = Shape(&[(4, Stat)]);
const XLINE: Shape = Shape(&[(2, Text), (4, Message(&XEVENT)), (11, Text)]);
const XEVENT_METADATA: Shape = Shape(&[(2, Text), (4, Text), (5, Stat)]);
const EVENT_METADATA_ENTRY: Shape = Shape(&[(MAP_VALUE, Message(&XEVENT_METADATA))]);
const XSTAT_METADATA: Shape = Shape(&[(STAT_NAME, Text), (3, Text)]);
pub(crate) const STAT_NAME_ENTRY: Shape = Shape(&[(MAP_VALUE, Message(&XSTAT_METADATA))]);
const XPLANE: Shape = Shape(&[
    (2, Text),
    (LINES, Message(&XLINE)),
    (EVENT_METADATA, Message(&EVENT_METADATA_ENTRY)),
    (STAT_METADATA, StatName),
    (PLANE_STATS, Stat),
]);
const XSPACE: Shape = Shape(&[(PLANES, Message(&XPLANE)), (2, Text), (3, Text), (HOSTNAMES, Drop(What::HostName))]);

/// Writes `space`, a whole capture, to `out` without what is private.
pub(crate) fn redact(space: &[u8], words: &Words, out: &mut dyn Write) -> Result<Removed, RedactError> {
    let mut words = words.clone();
    learn(space, &mut words);
    let mut rewriter = Rewriter::new(&words, Replace::Word);
    let mut rewritten = Vec::new();
    for record in Records::new(space) {
        let record = record?;
        if let (PLANES, Some(plane)) = (record.number, record.bytes) {
            rewriter.stats = PrivateStats::of_plane(plane, &mut |_, _| {});
        }
        rewritten.clear();
        rewriter.record(record, &XSPACE, 0, &mut rewritten)?;
        out.write_all(&rewritten)?;
    }
    Ok(rewriter.removed)
}

/// Adds to `words` the names of machines and accounts that `space` says.
pub(crate) fn learn(space: &[u8], words: &mut Words) {
    for record in Records::new(space).map_while(Result::ok) {
        match (record.number, record.bytes) {
            (HOSTNAMES, Some(host)) => words.add_host(&String::from_utf8_lossy(host)),
            (PLANES, Some(plane)) => drop(PrivateStats::of_plane(plane, &mut |what, name| words.learn(what, name))),
            _ => {}
        }
    }
}

/// The stats of a plane whose texts are private, by ids.
#[derive(Debug, Default)]
pub(crate) struct PrivateStats {
    stats: HashMap<u64, What>,
    /// Those of them whose numbers are secrets, too.
    numbers: HashSet<u64>,
    /// Names of stats that are in truth texts which private stats refer to.
    names: HashMap<u64, What>,
}

impl PrivateStats {
    /// Those of `plane`; `said` hears each text that a private stat holds.
    fn of_plane(plane: &[u8], said: &mut dyn FnMut(What, &str)) -> PrivateStats {
        let mut names: HashMap<u64, &str> = HashMap::new();
        for (_, entry) in messages(plane).filter(|(number, _)| *number == STAT_METADATA) {
            let name = bytes_of(entry, MAP_VALUE).and_then(|metadata| bytes_of(metadata, STAT_NAME));
            let name = name.and_then(|name| std::str::from_utf8(name).ok());
            names.extend(number_of(entry, MAP_KEY).zip(name));
        }
        let stats = names.iter().filter_map(|(id, name)| Some((*id, private_key(name)?))).collect();
        let is_secret = |name: &str| private_whole(name) == Some(What::Secret);
        let numbers = names.iter().filter(|(_, name)| is_secret(name)).map(|(id, _)| *id).collect();
        let mut private = PrivateStats { stats, numbers, names: HashMap::new() };
        if !private.stats.is_empty() {
            each_stat(plane, &mut |stat| private.follow(stat, &names, said));
        }
        private
    }

    fn follow(&mut self, stat: &[u8], names: &HashMap<u64, &str>, said: &mut dyn FnMut(What, &str)) {
        let Some(what) = self.of_stat(stat) else { return };
        if let Some(text) = bytes_of(stat, STAT_TEXT).and_then(|text| std::str::from_utf8(text).ok()) {
            said(what, text);
        }
        if let Some(reference) = number_of(stat, STAT_REFERENCE) {
            said(what, names.get(&reference).copied().unwrap_or_default());
            self.names.insert(reference, what);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.stats.is_empty()
    }

    /// What the text of an XStat is, by its name.
    pub(crate) fn of_stat(&self, stat: &[u8]) -> Option<What> {
        if self.stats.is_empty() { None } else { self.stats.get(&number_of(stat, STAT_ID)?).copied() }
    }

    /// Whether the number of an XStat is a secret.
    pub(crate) fn is_secret_number(&self, stat: &[u8]) -> bool {
        !self.numbers.is_empty() && number_of(stat, STAT_ID).is_some_and(|id| self.numbers.contains(&id))
    }

    /// What an entry of the names of stats is, where private stats refer to it.
    pub(crate) fn of_name(&self, entry: &[u8]) -> Option<What> {
        if self.names.is_empty() { None } else { self.names.get(&number_of(entry, MAP_KEY)?).copied() }
    }
}

/// Calls `visit` with every XStat of `plane`.
fn each_stat(plane: &[u8], visit: &mut dyn FnMut(&[u8])) {
    for (number, message) in messages(plane) {
        match number {
            PLANE_STATS => visit(message),
            EVENT_METADATA => {
                let metadata = bytes_of(message, MAP_VALUE).unwrap_or_default();
                messages(metadata).filter(|(number, _)| *number == 5).for_each(|(_, stat)| visit(stat));
            }
            LINES => {
                let events = messages(message).filter(|(number, _)| *number == 4);
                let stats = events.flat_map(|(_, event)| messages(event).filter(|(number, _)| *number == 4));
                stats.for_each(|(_, stat)| visit(stat));
            }
            _ => {}
        }
    }
}

/// The length-delimited fields of `message`, as far as it is sound.
fn messages(message: &[u8]) -> impl Iterator<Item = (u32, &[u8])> {
    Records::new(message).map_while(Result::ok).filter_map(|record| Some((record.number, record.bytes?)))
}

fn bytes_of(message: &[u8], number: u32) -> Option<&[u8]> {
    messages(message).find(|(found, _)| *found == number).map(|(_, bytes)| bytes)
}

fn number_of(message: &[u8], number: u32) -> Option<u64> {
    Records::new(message).map_while(Result::ok).find(|record| record.number == number)?.varint()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::push_record;

    /// Nested records: `message(&[(1, text), (2, &inner)])`.
    fn message(fields: &[(u32, &[u8])]) -> Vec<u8> {
        let mut out = Vec::new();
        fields.iter().for_each(|(number, bytes)| push_record(*number, bytes, &mut out));
        out
    }

    fn rewritten(space: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        redact(space, &Words::default(), &mut out).expect("a capture");
        out
    }

    #[test]
    fn lengths_follow_and_numbers_stay() {
        let stat = |text: &[u8]| [&[8, 3][..], &message(&[(5, text)])].concat();
        let capture = |text: &[u8], hosts: &[(u32, &[u8])]| {
            let line = message(&[(4, &message(&[(4, &stat(text))]))]);
            let plane = [&message(&[(2, b"/host:CPU")])[..], &message(&[(3, &line)]), &[0x48, 0x96, 1]].concat();
            [message(&[(1, &plane)]), message(hosts)].concat()
        };
        let given = capture(b"/home/someone-with-a-long-name/x.py:3", &[(4, b"vm7")]);
        assert_eq!(rewritten(&given), capture(b"~/x.py:3", &[]));
    }

    #[test]
    fn a_module_inside_a_value_is_rewritten() {
        let hlo = |file: &[u8]| message(&[(1, &message(&[(1, b"jit_f"), (17, &message(&[(1, file)]))]))]);
        let capture = |file: &[u8]| {
            let metadata = message(&[(5, &message(&[(6, &hlo(file))]))]);
            message(&[(1, &message(&[(4, &message(&[(2, &metadata)]))]))])
        };
        assert_eq!(rewritten(&capture(b"/root/a/b.py")), capture(b"~/a/b.py"));
    }

    #[test]
    fn secrets_go_in_whatever_way_a_stat_holds_them() {
        let named = |id: u8, name: &[u8]| [&[8, id][..], &message(&[(2, &message(&[(2, name)]))])].concat();
        let pin = 0x7777_1234_u64;
        let varint: Vec<u8> = (0..5).map(|at| (pin >> (7 * at)) as u8 & 0x7f | if at < 4 { 0x80 } else { 0 }).collect();
        let stats = [
            [&[8, 1][..], &message(&[(5, b"text-hunter2")])].concat(),
            [&[8, 1][..], &message(&[(6, b"bytes-hunter2")])].concat(),
            [&[8, 1, 0x18][..], &varint].concat(),
            // A number that is none, by its name: it stays.
            [&[8, 2, 0x18][..], &varint].concat(),
        ];
        let event = |stats: &[Vec<u8>]| message(&stats.iter().map(|stat| (4, &stat[..])).collect::<Vec<_>>());
        let plane = [
            message(&[(5, &named(1, b"API_KEY")), (5, &named(2, b"num_tokens"))]),
            message(&[(3, &message(&[(4, &event(&stats))]))]),
        ];
        let clean = rewritten(&message(&[(1, &plane.concat())]));
        let count = |needle: &[u8]| clean.windows(needle.len()).filter(|window| *window == needle).count();
        assert_eq!((count(b"hunter2"), count(&varint), count(b"<redacted>")), (0, 1, 2));
    }

    #[test]
    fn stats_go_by_their_name_and_tell_the_machine() {
        let capture = |host: &[u8], password: &[u8], name: &[u8]| {
            let named = |id: u8, name: &[u8]| [&[8, id][..], &message(&[(2, &message(&[(2, name)]))])].concat();
            let plane = [
                message(&[(5, &named(1, b"hostname")), (5, &named(2, b"dbPassword")), (5, &named(3, password))]),
                message(&[(6, &[&[8, 1][..], &message(&[(5, host)])].concat()), (6, &[8, 2, 0x38, 3])]),
                message(&[(4, &message(&[(2, &message(&[(2, name)]))]))]),
            ];
            message(&[(1, &plane.concat())])
        };
        assert_eq!(
            rewritten(&capture(b"vm7", b"hunter2", b"f on vm7")),
            capture(b"<host>", b"<redacted>", b"f on <host>")
        );
    }
}
