//! Lines of source files: as the capture or its run folder carries them, else where they can be read here.
//!
//! What was carried is what ran. A file that is read here may have been edited since, which is said.

use ridge_import::SourceFile;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

/// Source files larger than this are not read.
const MAX_BYTES: u64 = 16 << 20;

/// Where the recorder keeps source files in a run folder, each under its own path.
const KEPT: &str = "sources";

/// Kept files that are looked at; a program has fewer.
const MOST_KEPT: usize = 1 << 14;

/// Files in which a line is searched.
const MOST_SEARCHED: usize = 256;

/// How a file's text compares with the one that ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextOrigin {
    /// It is the one that ran.
    Ran,
    /// It is the one that ran, and the file here is another by now.
    Changed,
    /// It is the file here, and nothing tells whether that ran.
    Today,
}

impl TextOrigin {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            TextOrigin::Ran => "ran",
            TextOrigin::Changed => "changed",
            TextOrigin::Today => "today",
        }
    }
}

/// Reads each source file at most once.
#[derive(Debug, Default)]
pub(crate) struct SourceText {
    run_folder: Option<PathBuf>,
    files: HashMap<String, Option<(TextOrigin, Vec<String>)>>,
}

impl SourceText {
    /// With the files that a capture carries, and those in its run folder if it has one.
    pub(crate) fn new(carried: &[SourceFile], run_folder: Option<&Path>) -> SourceText {
        let files = carried.iter().map(|file| (file.path.clone(), Some((TextOrigin::Ran, lines(&file.text)))));
        SourceText { run_folder: run_folder.map(Path::to_owned), files: files.collect() }
    }

    /// Line `line`, counted from 1, without the space around it; `None` where the file cannot be read.
    pub(crate) fn line(&mut self, file: &str, line: u32) -> Option<String> {
        let text = self.file(file, None)?.1.get((line as usize).checked_sub(1)?)?.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// The lines of `file` and how they compare with what ran; `path` is where it is today, where that is known.
    pub(crate) fn file(&mut self, file: &str, path: Option<&Path>) -> Option<(TextOrigin, &[String])> {
        let run_folder = self.run_folder.as_deref();
        let found = self.files.entry(file.to_owned()).or_insert_with(|| find(file, path, run_folder)).as_ref();
        found.map(|(origin, lines)| (*origin, &**lines))
    }

    /// The files that the capture or its run folder has, by the names they had.
    pub(crate) fn known(&self) -> Vec<String> {
        let mut known: Vec<String> = self.files.keys().cloned().collect();
        let kept = self.run_folder.iter().flat_map(|folder| kept_files(folder));
        known.extend(kept.map(|inside| name_of_kept(&inside)));
        known
    }

    /// What a reader must know of the lines that were read: a sentence each.
    pub(crate) fn footnotes(&self) -> Vec<String> {
        let changed =
            self.named(TextOrigin::Changed).map(|files| format!("lines are shown as they ran; {files} changed since"));
        let unknown = self.named(TextOrigin::Today).map(|files| {
            format!("lines of {files} are from the current files: the capture doesn't show whether they ran like that")
        });
        changed.into_iter().chain(unknown).collect()
    }

    /// The files with such a text, in words.
    fn named(&self, text: TextOrigin) -> Option<String> {
        let has_it = |found: &Option<(TextOrigin, Vec<String>)>| found.as_ref().is_some_and(|(kind, _)| *kind == text);
        let mut files: Vec<&str> =
            self.files.iter().filter(|(_, found)| has_it(found)).map(|(file, _)| &**file).collect();
        files.sort_unstable();
        match files[..] {
            [] => None,
            [only] => Some(format!("`{only}`")),
            [first, ..] => Some(format!("{} files, such as `{first}`,", files.len())),
        }
    }
}

/// The first line that `wanted` takes among the copies of a run folder: its file and its number.
///
/// No line of them is shown for it, so no reader needs to know how they compare with the files here.
pub(crate) fn kept_line(run_folder: &Path, wanted: impl Fn(&str) -> bool) -> Option<(String, u32)> {
    let mut files = kept_files(run_folder);
    files.sort_unstable();
    files.into_iter().take(MOST_SEARCHED).find_map(|inside| {
        let at = read(&run_folder.join(KEPT).join(&inside))?.lines().position(&wanted)?;
        Some((name_of_kept(&inside), u32::try_from(at + 1).ok()?))
    })
}

/// The name that the copy at `inside` had.
fn name_of_kept(inside: &Path) -> String {
    format!("/{}", inside.display())
}

fn find(file: &str, path: Option<&Path>, run_folder: Option<&Path>) -> Option<(TextOrigin, Vec<String>)> {
    let kept = run_folder.and_then(|folder| kept_as(folder, file));
    // A name from where Python looks for modules is that of a file elsewhere, which the copy's own path tells.
    let elsewhere = kept.as_ref().filter(|_| Path::new(file).is_relative()).map(|kept| Path::new("/").join(kept));
    let here = || read(path.or(elsewhere.as_deref()).unwrap_or(Path::new(file)));
    match run_folder.zip(kept.as_ref()).and_then(|(folder, kept)| read(&folder.join(KEPT).join(kept))) {
        Some(kept) if here().is_some_and(|here| here != kept) => Some((TextOrigin::Changed, lines(&kept))),
        Some(kept) => Some((TextOrigin::Ran, lines(&kept))),
        None => here().map(|text| (TextOrigin::Today, lines(&text))),
    }
}

/// Where the copy of `file` is among those of a run folder: under its own path, or, where it is named from a folder in which
/// Python looks for modules as PyTorch's profiler does, the only one whose path ends so.
fn kept_as(run_folder: &Path, file: &str) -> Option<PathBuf> {
    let own = inside(file)?;
    if run_folder.join(KEPT).join(&own).is_file() || Path::new(file).is_absolute() {
        return Some(own);
    }
    let mut like = kept_files(run_folder).into_iter().filter(|kept| kept.ends_with(&own));
    like.next().filter(|_| like.next().is_none())
}

/// The copies of a run folder, below the folder that they are in.
fn kept_files(run_folder: &Path) -> Vec<PathBuf> {
    let kept = run_folder.join(KEPT);
    let (mut found, mut open) = (Vec::new(), vec![kept.clone()]);
    while let Some(folder) = open.pop().filter(|_| found.len() < MOST_KEPT) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => open.push(path),
                Ok(kind) if kind.is_file() => found.extend(path.strip_prefix(&kept).ok().map(Path::to_owned)),
                _ => {}
            }
        }
    }
    found
}

/// The path of a file below a folder of copies, where the recorder puts it; no path leads out of the folder.
fn inside(file: &str) -> Option<PathBuf> {
    let mut inside = PathBuf::new();
    for part in Path::new(file).components() {
        match part {
            Component::Normal(name) => inside.push(name),
            Component::RootDir | Component::CurDir => {}
            Component::ParentDir => {
                inside.pop();
            }
            Component::Prefix(_) => return None,
        }
    }
    Some(inside)
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

fn read(path: &Path) -> Option<String> {
    let metadata = std::fs::metadata(path).ok()?;
    if !metadata.is_file() || metadata.len() > MAX_BYTES {
        return None;
    }
    std::fs::read(path).ok().map(|text| String::from_utf8_lossy(&text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_that_ran_goes_before_the_one_that_is_here() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let (run, program) = (dir.path().join("run"), dir.path().join("program.py"));
        let kept = run.join(KEPT).join(inside(&program.to_string_lossy()).expect("no way out"));
        std::fs::create_dir_all(kept.parent().expect("it has one")).expect("a directory");
        std::fs::write(&kept, "ran = 1\n").expect("a file");
        let told = || {
            let mut texts = SourceText::new(&[], Some(&run));
            let line = texts.line(&program.to_string_lossy(), 1);
            (line, texts.footnotes().join("; ").replace(&*dir.path().to_string_lossy(), ""))
        };
        let ran = Some("ran = 1".to_owned());
        assert_eq!(told(), (ran.clone(), String::new()), "the file is gone");
        std::fs::write(&program, "ran = 1\n").expect("a file");
        assert_eq!(told(), (ran.clone(), String::new()));
        std::fs::write(&program, "edited = 2\n").expect("a file");
        assert_eq!(told(), (ran, "lines are shown as they ran; `/program.py` changed since".to_owned()));
        std::fs::remove_file(&kept).expect("it was there");
        let today =
            "lines of `/program.py` are from the current files: the capture doesn't show whether they ran like that";
        assert_eq!(told(), (Some("edited = 2".to_owned()), today.to_owned()));
    }

    #[test]
    fn a_kept_line_is_found_and_not_told_as_shown() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let program = dir.path().join("program.py");
        let kept = dir.path().join(KEPT).join(inside(&program.to_string_lossy()).expect("a path"));
        std::fs::create_dir_all(kept.parent().expect("a folder")).expect("a folder");
        std::fs::write(&kept, "import jax\nwanted = 1\n").expect("a file");
        std::fs::write(&program, "edited = 2\n").expect("a file");
        let found = |word: &str| kept_line(dir.path(), |line| line.contains(word));
        assert_eq!(found("wanted"), Some((program.display().to_string(), 2)));
        assert_eq!(found("edited"), None);
        assert_eq!(SourceText::new(&[], Some(dir.path())).footnotes(), Vec::<String>::new());
    }

    /// PyTorch's profiler takes the folder off in which Python found a file.
    #[test]
    fn a_name_without_its_folder_is_that_of_the_only_copy() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let program = dir.path().join("model").join("train.py");
        let run = dir.path().join("run");
        let keep = |path: &Path, text: &str| {
            let kept = run.join(KEPT).join(inside(&path.to_string_lossy()).expect("no way out"));
            std::fs::create_dir_all(kept.parent().expect("it has one")).expect("a directory");
            std::fs::write(kept, text).expect("a file");
        };
        let told = |file: &str| {
            let mut texts = SourceText::new(&[], Some(&run));
            (texts.line(file, 1), texts.footnotes().len())
        };
        keep(&program, "ran = 1\n");
        assert_eq!(told("model/train.py"), (Some("ran = 1".to_owned()), 0), "the file is gone");
        std::fs::create_dir_all(program.parent().expect("it has one")).expect("a directory");
        std::fs::write(&program, "new = 0\nran = 1\n").expect("a file");
        assert_eq!(told("train.py"), (Some("ran = 1".to_owned()), 1), "it says that the file changed");
        assert_eq!(told("rain.py"), (None, 0));
        keep(&dir.path().join("other").join("train.py"), "other = 1\n");
        assert_eq!(told("train.py"), (None, 0), "it may be either");
        assert_eq!(told("model/train.py").0, Some("ran = 1".to_owned()));
    }

    #[test]
    fn no_path_leads_out_of_the_copies() {
        assert_eq!(inside("/a/./b.py"), Some(PathBuf::from("a/b.py")));
        assert_eq!(inside("/a/../../etc/passwd"), Some(PathBuf::from("etc/passwd")));
        assert_eq!(inside("../../etc/../b.py"), Some(PathBuf::from("b.py")));
    }
}
