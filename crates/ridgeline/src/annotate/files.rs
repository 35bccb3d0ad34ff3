//! Which files are shown, and which of the capture's files a path means.

use super::AnnotatedFile;
use crate::error::{Details, OpenError};
use crate::source_text::SourceText;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The part of all time that makes a file worth showing where none is named.
const WORTH_SHOWING: f64 = 0.02;
/// Files that are named in an error.
const IN_ERROR: usize = 5;

/// The names of files that are known from their root on.
pub(super) struct Names {
    whole: Vec<String>,
}

impl Names {
    /// Those of `names` that begin at a root and are no installed packages'.
    pub(super) fn of<'n>(names: impl Iterator<Item = &'n str>) -> Names {
        let mut whole: Vec<String> =
            names.filter(|name| name.starts_with('/') && !name.contains("-packages/")).map(str::to_owned).collect();
        whole.sort_unstable();
        whole.dedup();
        Names { whole }
    }

    /// The file that `name` means: the only known one that ends so, else `name` itself.
    pub(super) fn full<'n>(&'n self, name: &'n str) -> &'n str {
        if name.starts_with('/') {
            return name;
        }
        let mut ending = self.whole.iter().filter(|whole| Path::new(whole).ends_with(name));
        match (ending.next(), ending.next()) {
            (Some(only), None) => only,
            _ => name,
        }
    }
}

/// A file of the capture, and where it is today, where that is known.
pub(super) type Shown = (String, Option<PathBuf>);

/// The files that `paths` name.
///
/// # Errors
/// [`OpenError`] where a path names none.
pub(super) fn named(files: &BTreeMap<String, AnnotatedFile>, paths: &[PathBuf]) -> Result<Vec<Shown>, OpenError> {
    let mut shown: Vec<Shown> = Vec::new();
    for path in paths {
        let whole = std::fs::canonicalize(path).unwrap_or_else(|_| path.clone());
        let alike = files.keys().map(|name| (likeness(name, path, &whole), name));
        let alike: Vec<(usize, &String)> = alike.filter(|(likeness, _)| *likeness > 0).collect();
        let most = alike.iter().map(|(likeness, _)| *likeness).max().ok_or_else(|| unknown_file(files, path))?;
        let here = whole.is_file().then_some(whole);
        for (_, name) in alike.into_iter().filter(|(likeness, _)| *likeness == most) {
            if !shown.iter().any(|(known, _)| known == name) {
                shown.push((name.clone(), here.clone()));
            }
        }
    }
    Ok(shown)
}

/// How surely the capture's `name` is the file at `path`, whose whole path is `whole`: parts of the path that agree from the
/// end on; 0 where they are not the same. A capture may be of another machine, so folders of whole paths may differ.
fn likeness(name: &str, path: &Path, whole: &Path) -> usize {
    let name = Path::new(name);
    let parts = |path: &Path| path.components().count();
    if name == whole {
        return usize::MAX;
    }
    if whole.ends_with(name) {
        return parts(name);
    }
    if path.is_absolute() {
        let ends = name.components().rev().zip(path.components().rev());
        return ends.take_while(|(one, other)| one == other).count();
    }
    if name.ends_with(path) { parts(path) } else { 0 }
}

fn unknown_file(files: &BTreeMap<String, AnnotatedFile>, path: &Path) -> OpenError {
    let mut known: Vec<&AnnotatedFile> = files.values().collect();
    known.sort_by_key(|file| std::cmp::Reverse(file.sums.held_ns().saturating_add(file.idle_ns)));
    let names: Vec<String> = known.iter().take(IN_ERROR).map(|file| format!("`{}`", file.name)).collect();
    let details = Details::new("nothing in the capture came from a line of this file").at(path);
    OpenError::NotRecorded(details.hint(format!("files with most time: {}", names.join(", "))))
}

/// The files with the most time whose text can be read, at least one.
pub(super) fn chosen(
    files: &BTreeMap<String, AnnotatedFile>,
    most: usize,
    whole_ns: i64,
    texts: &mut SourceText,
) -> Vec<Shown> {
    let weight = |file: &AnnotatedFile| file.sums.held_ns().saturating_add(file.idle_ns);
    let is_worth = |file: &&AnnotatedFile| weight(file) > 0 && weight(file) as f64 >= WORTH_SHOWING * whole_ns as f64;
    let mut all: Vec<&AnnotatedFile> = files.values().filter(is_worth).collect();
    if all.is_empty() {
        all = files.values().collect();
    }
    all.sort_by_key(|file| std::cmp::Reverse(weight(file)));
    let readable = all.iter().filter(|file| texts.file(&file.name, None).is_some());
    let mut shown: Vec<&AnnotatedFile> = readable.copied().take(most.max(1)).collect();
    // Without any text the numbers are still an answer.
    if shown.is_empty() {
        shown = all.into_iter().take(most.max(1)).collect();
    }
    shown.into_iter().map(|file| (file.name.clone(), None)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_means_the_file_that_ends_like_it() {
        for (name, path, whole, expected) in [
            ("/home/me/a.py", "a.py", "/home/me/a.py", usize::MAX),
            ("/home/me/a.py", "a.py", "/elsewhere/a.py", 1),
            ("/home/me/x/a.py", "x/a.py", "/elsewhere/x/a.py", 2),
            ("x/a.py", "a.py", "/home/me/x/a.py", 2),
            ("a.py", "x/a.py", "/home/me/x/a.py", 1),
            ("/home/me/ba.py", "a.py", "/home/me/a.py", 0),
            ("/home/me/y/a.py", "x/a.py", "/home/me/x/a.py", 0),
            ("/home/me/y/a.py", "/home/me/x/a.py", "/home/me/x/a.py", 1),
        ] {
            assert_eq!(likeness(name, Path::new(path), Path::new(whole)), expected, "{name} {path}");
        }
    }

    #[test]
    fn a_name_without_folder_is_the_only_file_that_ends_so() {
        let names = Names::of(["/a/train.py", "/b/model.py", "/c/model.py", "relative.py"].into_iter());
        let full = ["train.py", "model.py", "ain.py", "relative.py", "/a/train.py"].map(|name| names.full(name));
        assert_eq!(full, ["/a/train.py", "model.py", "ain.py", "relative.py", "/a/train.py"]);
    }
}
