//! Which captures become parts of a dataset, and what their hosts and ranks are called.

use crate::session::Session;
use ridge_documents::rank_of_folder;
use std::path::{Component, Path, PathBuf};

/// A capture as a part of a dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapturePart {
    /// Its file or folder.
    pub capture: PathBuf,
    /// The name of its host.
    pub host: String,
    /// Its rank, where the path tells it.
    pub rank: Option<u32>,
}

impl Session {
    /// The rank of a capture of one process that says it.
    pub fn only_rank(&self) -> Option<u32> {
        match &self.trace().processes[..] {
            [only] => only.rank,
            _ => None,
        }
    }
}

/// What becomes a part: the captures, and of recordings of several ranks each of them. Without a name for `host`, hosts are
/// called by the part of the path in which the captures differ.
pub fn capture_parts(paths: &[PathBuf], host: Option<&str>) -> Vec<CapturePart> {
    let names = match host {
        Some(host) => vec![host.to_owned(); paths.len()],
        None => host_names(paths),
    };
    let part = |(path, host): (&PathBuf, String)| {
        let ranks = ranks_in(path);
        if ranks.is_empty() {
            return vec![CapturePart { capture: path.clone(), host, rank: rank_of(path) }];
        }
        let of_rank = |(rank, capture)| CapturePart { capture, host: host.clone(), rank: Some(rank) };
        ranks.into_iter().map(of_rank).collect()
    };
    paths.iter().zip(names).flat_map(part).collect()
}

/// The folders of ranks in a recording, in order.
fn ranks_in(path: &Path) -> Vec<(u32, PathBuf)> {
    let folders = path.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
    let mut ranks: Vec<_> =
        folders.filter(|path| path.is_dir()).filter_map(|path| Some((rank_of(&path)?, path))).collect();
    ranks.sort();
    ranks
}

fn rank_of(path: &Path) -> Option<u32> {
    rank_of_folder(path.file_name()?.to_str()?)
}

/// The parts in which paths differ, as names: `a/node0/run` and `a/node1/run` are `node0` and `node1`.
fn host_names(paths: &[PathBuf]) -> Vec<String> {
    let words: Vec<Vec<String>> = paths.iter().map(|path| words_of(path)).collect();
    let common = |of: &dyn Fn(&[String], usize) -> Option<String>| {
        let shortest = words.iter().map(Vec::len).min().unwrap_or(0);
        (0..shortest).take_while(|at| words.windows(2).all(|two| of(&two[0], *at) == of(&two[1], *at))).count()
    };
    let first = common(&|words, at| words.get(at).cloned());
    let last = common(&|words, at| words.len().checked_sub(at + 1).and_then(|at| words.get(at).cloned()));
    let name = |words: &Vec<String>| {
        let end = words.len().saturating_sub(last).max(first);
        let differing = words.get(first..end).filter(|words| !words.is_empty());
        // One capture, or the same twice.
        let named = differing.map(|words| words.join("-")).or_else(|| words.last().cloned());
        let stem = named.unwrap_or_default();
        name_in_dataset(stem.split(".json").next().unwrap_or(&stem))
    };
    words.iter().map(name).collect()
}

fn words_of(path: &Path) -> Vec<String> {
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let normal = |part: Component<'_>| match part {
        Component::Normal(part) => Some(part.to_string_lossy().into_owned()),
        _ => None,
    };
    whole.components().filter_map(normal).collect()
}

/// `text` as the name of a folder that every reader of datasets takes.
pub fn name_in_dataset(text: &str) -> String {
    let letter = |letter: char| if letter.is_ascii_alphanumeric() || "._-".contains(letter) { letter } else { '_' };
    let name: String = text.chars().map(letter).collect();
    if name.trim_matches('.').is_empty() { "host".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_named_by_what_differs() {
        let names = |paths: &[&str]| host_names(&paths.iter().map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(names(&["/a/node0/run", "/a/node1/run"]), ["node0", "node1"]);
        assert_eq!(names(&["/a/x/0/run", "/a/y/1/run"]), ["x-0", "y-1"]);
        assert_eq!(names(&["/a/r0.pt.trace.json.gz", "/a/r1.pt.trace.json.gz"]), ["r0.pt.trace", "r1.pt.trace"]);
        assert_eq!(names(&["/a/run"]), ["run"]);
        assert_eq!(names(&["/a/run", "/a/run"]), ["run", "run"]);
        assert_eq!(names(&["/a", "/a/b"]), ["a", "b"]);
        assert_eq!((name_in_dataset("n 1/é"), name_in_dataset("..")), ("n_1__".to_owned(), "host".to_owned()));
    }
}
