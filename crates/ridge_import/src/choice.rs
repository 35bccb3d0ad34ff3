//! Which files of a folder are captures, and which of them are read: every format says what a file of it is there.

pub use crate::format::InFolder;

use crate::formats::{FORMATS, Format, sniff};
use std::collections::BTreeSet;

/// A file of a folder that a format claims.
#[derive(Clone, Copy)]
pub struct Claimed {
    format: &'static dyn Format,
    rank: Rank,
}

/// Files of a lower rank are read where there is none of a higher one, but for those beside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rank {
    Capture,
    Copy,
    Beside,
    Alone,
}

/// The claim to the file at `path`, with `/` between its parts, that begins with `head`, compressed or not.
pub fn claim(path: &str, head: &[u8]) -> Option<Claimed> {
    let named = |format: &dyn Format| rank_by_name(path, format.in_folder());
    let by_name = FORMATS.iter().find_map(|format| Some(Claimed { format: *format, rank: named(*format)? }));
    by_name.or_else(|| {
        let format = sniff(head)?;
        let rank = match format.in_folder() {
            InFolder::Copy => Rank::Copy,
            InFolder::Beside(folder, _) if is_in(path, folder) => Rank::Beside,
            _ => Rank::Alone,
        };
        Some(Claimed { format, rank })
    })
}

fn rank_by_name(path: &str, in_folder: InFolder) -> Option<Rank> {
    match in_folder {
        InFolder::Capture(endings) if ends_with_any(path, endings) => Some(Rank::Capture),
        InFolder::Beside(folder, endings) if is_in(path, folder) && ends_with_any(path, endings) => Some(Rank::Beside),
        _ => None,
    }
}

fn is_in(path: &str, folder: &str) -> bool {
    path.rsplit('/').nth(1) == Some(folder)
}

fn ends_with_any(path: &str, endings: &[&str]) -> bool {
    endings.iter().any(|ending| path.ends_with(ending))
}

/// Positions of those of `files`, paths with claims to them, that are read together.
pub fn choose(files: &[(&str, Claimed)]) -> Vec<usize> {
    let of = |rank: Rank| -> Vec<usize> { (0..files.len()).filter(|at| files[*at].1.rank == rank).collect() };
    let mut chosen = of(Rank::Capture);
    if chosen.is_empty() {
        chosen = of(Rank::Copy);
    }
    chosen.extend(of(Rank::Beside));
    if chosen.is_empty() {
        chosen = of(Rank::Alone);
        let is_called_so = |at: &usize| is_preferred(files[*at]);
        let have_one: BTreeSet<&str> =
            chosen.iter().filter(|at| is_called_so(at)).map(|at| files[*at].1.format.name()).collect();
        chosen.retain(|at| is_called_so(at) || !have_one.contains(files[*at].1.format.name()));
    }
    chosen
}

/// Whether a file is called as its format prefers.
fn is_preferred((path, Claimed { format, .. }): (&str, Claimed)) -> bool {
    matches!(format.in_folder(), InFolder::Alone(endings) if ends_with_any(path, endings))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is read of a folder with these files.
    fn chosen(files: &[(&str, &[u8])]) -> String {
        let claimed: Vec<(&str, Claimed)> =
            files.iter().filter_map(|(path, head)| Some((*path, claim(path, head)?))).collect();
        choose(&claimed).into_iter().map(|at| claimed[at].0).collect::<Vec<_>>().join(" ")
    }

    const JSON: &[u8] = br#"{"traceEvents": ["#;
    const LOG: &[u8] = b"timestamp, utilization.gpu [%]\n1, 2\n";
    const PICKLE: &[u8] = b"\x80\x04}(X\x08\x00\x00\x00segments";
    const HLO: &[u8] = b"HloModule jit_f\n";

    #[test]
    fn captures_come_before_their_copies_and_those_before_the_rest() {
        let capture: (&str, &[u8]) = ("a/host.xplane.pb", b"");
        let beside = ("memory/1.pickle", PICKLE);
        assert_eq!(chosen(&[capture, ("t.json", JSON), ("m.csv", LOG), beside]), "a/host.xplane.pb memory/1.pickle");
        assert_eq!(chosen(&[("t.json", JSON), ("m.csv", LOG), ("x.pickle", PICKLE)]), "t.json");
        assert_eq!(chosen(&[("m.csv", LOG), ("x.pickle", PICKLE), ("f.txt", HLO)]), "m.csv x.pickle f.txt");
        assert_eq!(chosen(&[("notes.txt", b"nothing"), ("manifest.json", b"{\"schema\": 1}")]), "");
    }

    #[test]
    fn a_file_alone_needs_no_name() {
        for head in [JSON, LOG, PICKLE, HLO, b"SQLite format 3\0"] {
            assert_eq!(chosen(&[("what.is.this", head)]), "what.is.this");
        }
    }

    #[test]
    fn of_a_module_dumped_twice_the_proto_is_read() {
        let proto = b"\x0a\x0a\x0a\x03jit\x12\x03jit";
        assert_eq!(chosen(&[("f.before.txt", HLO), ("f.hlo.pb", proto), ("f.txt", HLO)]), "f.hlo.pb");
        assert_eq!(chosen(&[("f.before_optimizations.txt", HLO), ("g.txt", HLO)]).split(' ').count(), 2);
    }
}
