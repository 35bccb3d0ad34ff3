//! Where both sides run: in the user's folder where the change is no file, else each in its own copy of the tree.
//!
//! A copy has what git tracks and does not ignore, as it is now, or the files of a revision; ignored files are not copied, and
//! linked where that is asked for. Nothing is written to the user's tree or its repository, and nothing through a link: what git
//! lists may be behind one by now.

use super::{Side, Source, TrialError, TrialOptions, TrialRun};
use crate::options::RecordOptions;
use ridge_files::{Copied, Tree};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// What is copied at most of a folder that is no repository.
const MOST_FILES: usize = 50_000;
const MOST_BYTES: u64 = 1 << 30;
const LIMIT: &str = "50 000 files or 1 GiB";

/// Where both sides run.
pub(super) struct Workplace {
    /// Where the user runs the program.
    here: PathBuf,
    copies: Option<Copies>,
}

/// Copies of the user's tree.
struct Copies {
    /// The user's tree.
    tree: PathBuf,
    /// Holds `a` and `b`, whose names are of one length: programs are known to run otherwise in longer ones.
    temporary: TempDir,
    /// Files that the candidate changes, below the tree.
    changed: Vec<PathBuf>,
    /// Whether git knows what is ignored.
    is_repository: bool,
    /// What of the tree is not in the copies though it was listed, a sentence each.
    left_out: Vec<String>,
}

impl Workplace {
    pub(super) fn prepare(options: &TrialOptions) -> Result<Workplace, TrialError> {
        let here = std::env::current_dir().and_then(fs::canonicalize).map_err(system("find the working directory"))?;
        if options.candidate.source == Source::Same && options.baseline.is_none() {
            return Ok(Workplace { here, copies: None });
        }
        let top = git(&here, &["rev-parse", "--show-toplevel"]).ok().map(|out| path_of(out.trim_ascii_end()));
        let is_repository = top.is_some();
        let tree = top.unwrap_or_else(|| here.clone());
        let temporary = tempfile::Builder::new()
            .prefix("ridgeline-try-")
            .tempdir()
            .map_err(system("create a directory for copies"))?;
        let mut copies = Copies { tree, temporary, changed: Vec::new(), is_repository, left_out: Vec::new() };
        for side in [Side::Before, Side::After] {
            fs::create_dir_all(copies.root(side)).map_err(system("create a directory for copies"))?;
            match (side, &options.baseline, &options.candidate.source) {
                (Side::Before, Some(revision), _) | (Side::After, _, Source::Revision(revision)) => {
                    copies.check_out(side, revision)?;
                }
                _ => copies.fill(side)?,
            }
        }
        if let Source::Patch(patch) = &options.candidate.source {
            copies.patch(patch, &here)?;
        }
        copies.changed = copies.differing()?;
        for link in &options.links {
            copies.link(&here.join(link))?;
        }
        let place = Workplace { here, copies: Some(copies) };
        for side in [Side::Before, Side::After] {
            // The folder in which the user is may hold nothing that is copied.
            fs::create_dir_all(place.folder(side)).map_err(system("create a directory for copies"))?;
        }
        Ok(place)
    }

    /// The folder in which a side runs.
    pub(super) fn folder(&self, side: Side) -> PathBuf {
        match &self.copies {
            None => self.here.clone(),
            Some(copies) => moved(&self.here, &copies.tree, &copies.root(side)),
        }
    }

    /// Where `path`, as the user names it, is for a side.
    pub(super) fn path(&self, path: &Path, side: Side) -> PathBuf {
        let whole = self.here.join(path);
        self.copies.as_ref().map_or(whole.clone(), |copies| moved(&whole, &copies.tree, &copies.root(side)))
    }

    /// How a run of `side` is recorded into `out`.
    pub(super) fn options(&self, options: &TrialOptions, side: Side, out: &Path) -> RecordOptions {
        let candidate = &options.candidate;
        let of_candidate = candidate.command.as_ref().filter(|_| side == Side::After);
        let command = of_candidate.unwrap_or(&options.record.command).iter();
        let moved_argument = |argument: &OsString| match &self.copies {
            Some(copies) => moved(Path::new(argument), &copies.tree, &copies.root(side)).into_os_string(),
            None => argument.clone(),
        };
        let mut environment = options.record.environment.clone();
        if side == Side::After {
            environment.extend(candidate.environment.iter().cloned());
        }
        RecordOptions {
            command: command.map(moved_argument).collect(),
            out: Some(out.to_owned()),
            folder: self.copies.as_ref().map(|_| self.folder(side)),
            environment,
            ..options.record.clone()
        }
    }

    /// What may help where the program fails as it is.
    pub(super) fn hints(&self) -> Vec<String> {
        let Some(copies) = &self.copies else { return Vec::new() };
        let ignored = copies.ignored();
        if ignored.is_empty() {
            return Vec::new();
        }
        let names = ignored.join(", ");
        vec![format!(
            "it ran in a copy of the tree without ignored files ({names}): `--link PATH` links those that it needs"
        )]
    }

    /// What a reader must know of `runs`.
    pub(super) fn notes(&self, runs: &[TrialRun]) -> Vec<String> {
        let Some(copies) = &self.copies else { return Vec::new() };
        let mut notes = copies.left_out.clone();
        if copies.changed.is_empty() {
            notes.push("both sides have the same files: nothing was changed".to_owned());
        } else {
            notes.extend(copies.ran_users(runs));
        }
        notes
    }
}

impl Copies {
    fn root(&self, side: Side) -> PathBuf {
        self.temporary.path().join(match side {
            Side::Before => "a",
            Side::After => "b",
        })
    }

    /// Whether a candidate ran the user's files instead of its own, in words.
    fn ran_users(&self, runs: &[TrialRun]) -> Option<String> {
        let run = runs.iter().rev().find(|run| run.side == Side::After && run.has_trace)?;
        let kept = |file: PathBuf| run.out.join("sources").join(file.strip_prefix("/").unwrap_or(&file)).is_file();
        if self.changed.iter().any(|file| kept(self.root(Side::After).join(file))) {
            return None;
        }
        let file = self.changed.iter().find(|file| kept(self.tree.join(file)))?;
        Some(format!(
            "the candidate ran `{}` of your tree and not the changed one: it is found by an absolute path, such as that of an \
             installation in place",
            file.display()
        ))
    }

    /// The files to copy, below the tree.
    fn files(&self) -> Result<Vec<PathBuf>, TrialError> {
        if self.is_repository {
            let listed = git(&self.tree, &["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
            let listed = listed.map_err(|why| TrialError::System {
                doing: "list the files of the tree",
                source: io::Error::other(why),
            })?;
            return Ok(listed.split(|byte| *byte == 0).filter(|name| !name.is_empty()).map(path_of).collect());
        }
        let (mut found, mut bytes, mut open) = (Vec::new(), 0_u64, vec![PathBuf::new()]);
        while let Some(folder) = open.pop() {
            let entries = fs::read_dir(self.tree.join(&folder)).map_err(system("read the program's directory"))?;
            for entry in entries.filter_map(Result::ok) {
                let (name, Ok(metadata)) = (entry.file_name(), entry.metadata()) else { continue };
                let path = folder.join(&name);
                if metadata.is_dir() {
                    open.extend((name != "__pycache__").then_some(path));
                } else if metadata.is_file() || metadata.is_symlink() {
                    bytes += metadata.len();
                    found.push(path);
                }
                if found.len() > MOST_FILES || bytes > MOST_BYTES {
                    return Err(TrialError::TooLarge { path: self.tree.clone(), limit: LIMIT });
                }
            }
        }
        Ok(found)
    }

    /// Copies the files of the tree, as they are now.
    fn fill(&mut self, side: Side) -> Result<(), TrialError> {
        let mut files = self.files()?;
        // Where a merge is not done, git lists a file several times.
        files.sort();
        files.dedup();
        let from = Tree::open(&self.tree).map_err(system("read the tree"))?;
        let to = Tree::open(&self.root(side)).map_err(system("read a copy"))?;
        let mut left_out = Vec::new();
        for file in files {
            let copied = from.copy(&file, &to).map_err(|error| {
                let named = io::Error::new(error.kind(), format!("{}: {error}", file.display()));
                TrialError::System { doing: "copy the tree", source: named }
            })?;
            match copied {
                // What was deleted and not committed is not there; submodules are folders.
                Copied::Whole | Copied::Absent | Copied::NoFile => {}
                // The link is copied, and leads where it leads in the tree.
                Copied::BehindLink => {}
                Copied::Taken => left_out.push(format!(
                    "`{}` is not in the copies: their file system has another file of that name in other case",
                    file.display()
                )),
            }
        }
        self.left_out = left_out;
        Ok(())
    }

    /// Writes the files of a revision into the copy of a side, through an index of its own.
    fn check_out(&self, side: Side, revision: &str) -> Result<(), TrialError> {
        let fails = |why: String| TrialError::Revision { revision: revision.to_owned(), why };
        if !self.is_repository {
            return Err(fails("the directory is not in a git repository".to_owned()));
        }
        let root = self.root(side);
        let index = self.temporary.path().join(format!("index-{}", side.name()));
        let commit = format!("{revision}^{{commit}}");
        let commit = git(&self.tree, &["rev-parse", "--verify", "--quiet", "--end-of-options", &commit])
            .map_err(|_| fails("git knows none of that name".to_owned()))?;
        let commit = String::from_utf8_lossy(commit.trim_ascii_end()).into_owned();
        let prefix = format!("--prefix={}/", root.display());
        for arguments in [&["read-tree", &commit][..], &["checkout-index", "-a", "-f", &prefix][..]] {
            let mut command = git_command(&self.tree, arguments);
            command.env("GIT_INDEX_FILE", &index);
            said(command.output()).map_err(fails)?;
        }
        Ok(())
    }

    /// Applies a patch to the candidate's copy, from the root of the tree, else from where the user is.
    fn patch(&self, patch: &Path, here: &Path) -> Result<(), TrialError> {
        let whole = fs::canonicalize(patch).map_err(|error| fails(patch, error.to_string()))?;
        let root = self.root(Side::After);
        let apply = |folder: &Path| {
            let mut command = git_command(folder, &["apply", "--whitespace=nowarn"]);
            // The copy is no repository, whatever is above it.
            command.arg(&whole).env("GIT_CEILING_DIRECTORIES", self.temporary.path());
            said(command.output())
        };
        let applied = apply(&root).or_else(|why| apply(&moved(here, &self.tree, &root)).map_err(|_| why));
        applied.map(|_| ()).map_err(|why| fails(patch, why))
    }

    /// Files that are not alike on both sides: those of the candidate, and then those that it lacks.
    fn differing(&self) -> Result<Vec<PathBuf>, TrialError> {
        let opened = |side: Side| Tree::open(&self.root(side)).map_err(system("read a copy"));
        let (before, after) = (opened(Side::Before)?, opened(Side::After)?);
        let mut found = Vec::new();
        for (side, one, other) in [(Side::After, &after, &before), (Side::Before, &before, &after)] {
            let root = self.root(side);
            let mut open = vec![PathBuf::new()];
            while let Some(folder) = open.pop() {
                for entry in fs::read_dir(root.join(&folder)).map_err(system("read a copy"))?.filter_map(Result::ok) {
                    let path = folder.join(entry.file_name());
                    match entry.file_type() {
                        Ok(kind) if kind.is_dir() => open.push(path),
                        Ok(kind) if kind.is_file() && !found.contains(&path) && !one.is_alike(&path, other) => {
                            found.push(path);
                        }
                        _ => {}
                    }
                }
            }
        }
        Ok(found)
    }

    /// Links a path of the tree into both copies.
    fn link(&self, path: &Path) -> Result<(), TrialError> {
        let path = fs::canonicalize(path).map_err(system("find what is to be linked"))?;
        let Ok(inside) = path.strip_prefix(&self.tree) else { return Ok(()) };
        for side in [Side::Before, Side::After] {
            // What the copy has already stays; it is that of the tree.
            Tree::open(&self.root(side))
                .and_then(|root| root.link(inside, &path))
                .map_err(system("link into a copy"))?;
        }
        Ok(())
    }

    /// Some of what git ignores.
    fn ignored(&self) -> Vec<String> {
        const NAMED: usize = 4;
        let listed = git(&self.tree, &["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"]);
        let listed = listed.unwrap_or_default();
        let names = listed.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        let names = names.map(|name| String::from_utf8_lossy(name).into_owned());
        names.filter(|name| !name.contains("__pycache__")).take(NAMED).collect()
    }
}

fn fails(patch: &Path, why: String) -> TrialError {
    TrialError::Patch { path: patch.to_owned(), why }
}

fn system(doing: &'static str) -> impl Fn(io::Error) -> TrialError {
    move |source| TrialError::System { doing, source }
}

/// `path` below `root` where it is below `tree`, else as it is.
fn moved(path: &Path, tree: &Path, root: &Path) -> PathBuf {
    match path.strip_prefix(tree) {
        Ok(inside) if path.is_absolute() => root.join(inside),
        _ => path.to_owned(),
    }
}

fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

/// Programs that a repository's own configuration names and that nothing here needs; filters of files stay, as in any checkout.
const NAMES_NO_PROGRAM: [&str; 4] = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"];

fn git_command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    command.args(NAMES_NO_PROGRAM).arg("-C").arg(folder).args(arguments);
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
        command.env_remove(name);
    }
    command
}

/// What git writes; what it says where it fails.
fn git(folder: &Path, arguments: &[&str]) -> Result<Vec<u8>, String> {
    said(git_command(folder, arguments).output())
}

fn said(output: io::Result<Output>) -> Result<Vec<u8>, String> {
    let output = output.map_err(|error| format!("git cannot be run: {error}"))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let words = String::from_utf8_lossy(&output.stderr);
    Err(words.lines().next().unwrap_or("git failed").trim_start_matches("error: ").to_owned())
}
