//! XPlane captures: machines are named in a field of their own, and stats say by their name what they hold.
//!
//! Field numbers are those of `xplane.proto` (openxla/xla).

use crate::error::RedactError;
use crate::found::Replace;
use crate::removed::{Removed, What};
use crate::rewriter::Rewriter;
use crate::wire::Field::{Drop, Message, Stat, StatName, Text};
use crate::wire::{Records, Shape};
use crate::words::Words;
use crate::xstats::{EVENT_METADATA, LINES, MAP_VALUE, PLANE_STATS, PrivateStats, STAT_METADATA};
use std::io::Write;

/// `XSpace.planes`, `XSpace.hostnames`.
const PLANES: u32 = 1;
const HOSTNAMES: u32 = 4;
const XEVENT: Shape = Shape(&[(4, Stat)]);
const XLINE: Shape = Shape(&[(2, Text), (4, Message(&XEVENT)), (11, Text)]);
const XEVENT_METADATA: Shape = Shape(&[(2, Text), (4, Text), (5, Stat)]);
const EVENT_METADATA_ENTRY: Shape = Shape(&[(MAP_VALUE, Message(&XEVENT_METADATA))]);
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
    let mut rewriter = Rewriter::new(words, Replace::Word);
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
        crate::Redactor::Xplane.redact(space, &Words::default(), &mut out).expect("a capture");
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
