//! Trees of every kind of entry, made at random, and what a copy does to what lies outside of it: nothing.

use super::*;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

/// Numbers that look random and are the same in each run (Marsaglia's xorshift).
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).expect("it is below a usize")
    }
}

/// Every path below `root` with what it is: the bytes of a file, the target of a link, nothing for the rest.
fn listing(root: &Path) -> BTreeMap<PathBuf, String> {
    let (mut found, mut open) = (BTreeMap::new(), vec![root.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry")) {
            let (path, kind) = (entry.path(), entry.file_type().expect("a type"));
            let what = if kind.is_symlink() {
                format!("-> {}", fs::read_link(&path).expect("a link").display())
            } else if kind.is_dir() {
                open.push(path.clone());
                String::new()
            } else if kind.is_file() {
                fs::read_to_string(&path).expect("a text")
            } else {
                "special".to_owned()
            };
            found.insert(path.strip_prefix(root).expect("below").to_owned(), what);
        }
    }
    found
}

const NAMES: [&str; 6] = ["data", "Data", "src", "x.npy", "sub", "é"];

fn any_path(dice: &mut Dice) -> PathBuf {
    (0..=dice.below(3)).map(|_| NAMES[dice.below(NAMES.len())]).collect()
}

/// Files, folders, links of every kind, hard links, a pipe: whatever a place for it is free for.
fn grow(tree: &Path, outside: &Path, dice: &mut Dice) {
    for at in 0..12 {
        let path = tree.join(any_path(dice));
        // Some of these lead through a link and out of the tree, as a user's own work may.
        let parent = path.parent().expect("it has one");
        if fs::create_dir_all(parent).is_err() || path.symlink_metadata().is_ok() {
            continue;
        }
        if !parent.canonicalize().expect("it was made").starts_with(tree) {
            continue;
        }
        let made = match dice.below(8) {
            0 => symlink(outside, &path),
            1 => symlink(outside.join("weights.npy"), &path),
            2 => symlink("..", &path),
            3 => symlink(NAMES[dice.below(NAMES.len())], &path),
            4 => fs::hard_link(outside.join("weights.npy"), &path),
            5 => fs::create_dir(&path).and_then(|()| fs::write(path.join(".git"), "gitdir: ../.git/modules/m\n")),
            6 if at == 0 => {
                rustix::fs::mknodat(rustix::fs::CWD, &path, FileType::Fifo, Mode::RUSR, 0).map_err(io::Error::from)
            }
            _ => fs::write(&path, format!("file {at}")),
        };
        made.expect("the place is free");
    }
}

#[test]
fn no_copy_of_any_tree_touches_what_is_outside_of_it() {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    for round in 0..100 {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().canonicalize().expect("a folder");
        let (tree, outside, copy) = (place.join("tree"), place.join("outside"), place.join("copy"));
        for made in [&tree, &outside, &copy] {
            fs::create_dir(made).expect("a folder");
        }
        for (name, text) in [("weights.npy", "14 bytes of it"), ("data", "more"), ("x.npy", "arrays")] {
            fs::write(outside.join(name), text).expect("a file");
        }
        grow(&tree, &outside, &mut dice);
        // What git lists may be behind a link by now, may be gone, and may be there more than once.
        let mut listed: Vec<PathBuf> = listing(&tree).into_keys().collect();
        listed.extend((0..30).map(|_| any_path(&mut dice)));
        listed.push("../outside/weights.npy".into());
        for at in 0..listed.len() {
            let other = dice.below(listed.len());
            listed.swap(at, other);
        }
        let (tree_before, outside_before) = (listing(&tree), listing(&outside));
        let (from, to) = (Tree::open(&tree).expect("a folder"), Tree::open(&copy).expect("a folder"));
        let done: Vec<(PathBuf, Copied)> =
            listed.iter().map(|path| (path.clone(), from.copy(path, &to).expect("it can be copied"))).collect();
        assert_eq!(listing(&tree), tree_before, "round {round}: the tree is as it was");
        assert_eq!(listing(&outside), outside_before, "round {round}: so is what links lead to");
        let copied = listing(&copy);
        for (path, what) in &copied {
            assert_eq!(tree_before.get(path), Some(what), "round {round}: {}", path.display());
        }
        for (path, what) in tree_before.iter().filter(|(_, what)| !what.is_empty() && *what != "special") {
            let said: Vec<Copied> = done.iter().filter(|(one, _)| one == path).map(|(_, said)| *said).collect();
            assert_eq!(copied.get(path), Some(what), "round {round}: {} {said:?}", path.display());
        }
        assert!(
            done.iter()
                .all(|(path, said)| *said == Copied::Whole || !path.starts_with("..") || *said == Copied::NoFile)
        );
    }
}

#[test]
fn a_link_in_the_copy_is_not_written_through_either() {
    let folder = tempfile::tempdir().expect("a folder");
    let [tree, outside, copy] = ["tree", "outside", "copy"].map(|name| folder.path().join(name));
    fs::create_dir_all(tree.join("data")).expect("a folder");
    fs::create_dir_all(&outside).expect("a folder");
    fs::create_dir_all(&copy).expect("a folder");
    fs::write(tree.join("data/weights.npy"), "the tree's").expect("a file");
    fs::write(tree.join("weights.npy"), "the tree's").expect("a file");
    fs::write(outside.join("weights.npy"), "the user's").expect("a file");
    symlink(&outside, copy.join("data")).expect("a link");
    symlink(outside.join("weights.npy"), copy.join("weights.npy")).expect("a link");
    let (from, to) = (Tree::open(&tree).expect("a folder"), Tree::open(&copy).expect("a folder"));
    assert_eq!(from.copy(Path::new("data/weights.npy"), &to).expect("no error"), Copied::BehindLink);
    assert_eq!(from.copy(Path::new("weights.npy"), &to).expect("no error"), Copied::Taken);
    assert_eq!(to.link(Path::new("data/more"), &tree).expect("no error"), Copied::BehindLink);
    assert_eq!(fs::read_to_string(outside.join("weights.npy")).expect("a file"), "the user's");
    assert!(!from.is_alike(Path::new("weights.npy"), &to), "what a link leads to is no file of the tree");
    fs::remove_file(copy.join("weights.npy")).expect("a file");
    assert_eq!(from.copy(Path::new("weights.npy"), &to).expect("no error"), Copied::Whole);
    assert!(from.is_alike(Path::new("weights.npy"), &to));
}
