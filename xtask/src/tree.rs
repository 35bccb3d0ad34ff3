//! The project's files in memory, so that a guard can be shown a made-up project as well as this one.
//!
//! What git ignores is not of the project; where git is absent the known build folders are left out instead.

use anyhow::Context as _;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Folders that builds and runs leave behind.
const NOT_OURS: &[&str] =
    &["target", ".git", ".venv", ".venv-bench", "demo-run", "bench-out", "runs", "__pycache__", ".pytest_cache"];

/// Every file by its path from the root, with `/` between folders.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    /// Contents by path.
    pub(crate) files: BTreeMap<String, Vec<u8>>,
}

impl Tree {
    /// This project.
    pub(crate) fn of_project() -> anyhow::Result<Tree> {
        let root = root();
        let mut files = BTreeMap::new();
        for path in listed_by_git(&root).map_or_else(|| walk(&root), Ok)? {
            // A file may vanish between listing and reading.
            if let Ok(bytes) = std::fs::read(root.join(&path)) {
                files.insert(path, bytes);
            }
        }
        Ok(Tree { files })
    }

    /// A made-up project.
    #[cfg(test)]
    pub(crate) fn made_up(files: &[(&str, &str)]) -> Tree {
        Tree { files: files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect() }
    }

    /// The files whose path begins and ends so, as text; those that are not text are left out.
    pub(crate) fn texts<'a>(&'a self, begin: &'a str, end: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let wanted = move |path: &str| path.starts_with(begin) && path.ends_with(end);
        self.files
            .iter()
            .filter(move |(path, _)| wanted(path))
            .filter_map(|(path, bytes)| Some((path.as_str(), std::str::from_utf8(bytes).ok()?)))
    }

    /// One file as text.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        std::str::from_utf8(self.files.get(path)?).ok()
    }
}

/// The project's root.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask/ lies in the root").to_owned()
}

fn listed_by_git(root: &Path) -> Option<Vec<String>> {
    // A copy inside another checkout is not what that checkout lists.
    if !root.join(".git").exists() {
        return None;
    }
    let listing = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let output = Command::new("git").current_dir(root).args(listing).output().ok()?;
    if !output.status.success() {
        return None;
    }
    let listed = String::from_utf8(output.stdout).ok()?;
    Some(listed.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect())
}

fn walk(root: &Path) -> anyhow::Result<Vec<String>> {
    let (mut paths, mut folders) = (Vec::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
            let path = entry?.path();
            let is_ours = !path.file_name().is_some_and(|name| NOT_OURS.iter().any(|other| name == *other));
            if is_ours && path.is_dir() {
                folders.push(path);
            } else if is_ours {
                let inside = path.strip_prefix(root).expect("it was found below the root");
                paths.push(inside.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    Ok(paths)
}
