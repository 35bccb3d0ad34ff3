//! The capture folder: choosing it, claiming it, and putting the recording in its place.
//!
//! A recording that replaces an earlier one is written beside it and takes its place at the end, in one step; until then the earlier
//! one is whole. It has a name that no other ever had, so that the program of a recorder that was killed, which may still run,
//! never writes into it.
//! A lock keeps two recordings apart, which the program inherits: whoever cannot have the folder takes one of its own beside it,
//! because nothing keeps a program from running. Only what a recording made is ever removed.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ridge_files::remove;
use rustix::io::FdFlags;

use crate::error::RecordError;
use crate::folder_content::{Content, WORK, content, has_trace};

/// Added to a folder's name for the recording that will replace it, before what makes the name its own.
const BESIDE: &str = ".recording-";

/// Added to a folder's name for the recording of a process that cannot have the folder, before its number.
const OF_PROCESS: &str = ".process-";

/// Bytes set aside so that the manifest can be written on a disk that the program filled.
const RESERVE_BYTES: usize = 256 * 1024;

/// The folder a recording takes if none is named: `ridgeline-<script>-<n>`, or `ridgeline-run-<n>` if `command` names no script.
///
/// `<n>` is the first number, from 1, that no folder in the current one has.
pub fn default_out_dir(command: &[OsString]) -> PathBuf {
    let stem = script_stem(command).unwrap_or_else(|| "run".to_owned());
    (1_u32..)
        .map(|n| PathBuf::from(format!("ridgeline-{stem}-{n}")))
        .find(|path| !path.exists())
        .expect("one of four billion names is free")
}

/// Removes the folder at `path` where it is a recording that nobody writes, and nothing else; whether it did.
///
/// # Errors
/// Whatever the system says of what cannot be listed or removed.
pub fn remove_if_recording(path: &Path) -> io::Result<bool> {
    if is_locked(path) || !matches!(content(path)?, Content::Recording) {
        return Ok(false);
    }
    remove(path).map(|()| true)
}

/// `solver` for `python solver.py --n 384`, `pkg.train` for `python -m pkg.train`.
fn script_stem(command: &[OsString]) -> Option<String> {
    let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
    let script = words.iter().find(|word| word.ends_with(".py"));
    let module = words.iter().position(|word| word == "-m").and_then(|at| words.get(at + 1));
    let stem = match (script, module) {
        (Some(script), _) => Path::new(script.as_ref()).file_stem()?.to_string_lossy().into_owned(),
        (None, Some(module)) => module.to_string(),
        (None, None) => return None,
    };
    let plain: String = stem.chars().filter(|c| c.is_alphanumeric() || "_.-".contains(*c)).take(60).collect();
    let plain = plain.trim_start_matches(['.', '-']).to_owned();
    (!plain.is_empty()).then_some(plain)
}

/// A claimed capture folder; all paths are absolute.
#[derive(Debug)]
pub(crate) struct CaptureFolder {
    /// Where the recording is written.
    pub(crate) path: PathBuf,
    /// The earlier recording whose place it takes at the end.
    replaces: Option<PathBuf>,
    /// False for an empty folder of the user's own.
    is_new: bool,
    /// Who is being recorded in the folder that was asked for, which this one is not.
    is_busy: Option<PathBuf>,
    /// Held for as long as this and the program live.
    _lock: File,
}

impl CaptureFolder {
    /// Claim the folder that was asked for, else a new one named for `command`.
    ///
    /// # Errors
    /// [`RecordError::FolderInUse`] if it holds files that no recording made, [`RecordError::Folder`] if it cannot be written.
    pub(crate) fn claim(asked: Option<&Path>, command: &[OsString]) -> Result<CaptureFolder, RecordError> {
        match asked {
            Some(path) => CaptureFolder::claim_named(path),
            None => CaptureFolder::claim_new(command),
        }
    }

    /// A folder that nobody else made meanwhile.
    fn claim_new(command: &[OsString]) -> Result<CaptureFolder, RecordError> {
        loop {
            let path = default_out_dir(command);
            match fs::create_dir(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => {
                    made.map_err(failed(&path))?;
                    return Ok(CaptureFolder { is_new: true, ..CaptureFolder::claim_named(&path)? });
                }
            }
        }
    }

    fn claim_named(path: &Path) -> Result<CaptureFolder, RecordError> {
        // Until it has its lock, others cannot tell that it is there.
        let _turn = turn(path);
        let claimed = match content(path).map_err(failed(path))? {
            Content::Others(found) => return Err(RecordError::FolderInUse { found }),
            Content::Nothing => CaptureFolder::begin(std::path::absolute(path).map_err(failed(path))?, None),
            Content::Recording => CaptureFolder::replace(path.canonicalize().map_err(failed(path))?),
        };
        match claimed {
            Err(RecordError::FolderBusy { path: busy }) => {
                let place = std::path::absolute(path).map_err(failed(path))?;
                let own = with_added(&place, &format!("{OF_PROCESS}{}", std::process::id()));
                // A process of that number may have been here before.
                let replaces = matches!(content(&own).map_err(failed(&own))?, Content::Recording);
                let claimed = if replaces { CaptureFolder::replace(own) } else { CaptureFolder::begin(own, None) };
                Ok(CaptureFolder { is_busy: Some(busy), ..claimed? })
            }
            claimed => claimed,
        }
    }

    /// A new folder beside the recording at `place`, which it will replace.
    fn replace(place: PathBuf) -> Result<CaptureFolder, RecordError> {
        refuse_while_locked(&place)?;
        let path = new_beside(&place).map_err(failed(&place))?;
        let folder = CaptureFolder { is_new: true, ..CaptureFolder::begin(path, Some(place.clone()))? };
        // Whoever records for the same place is seen only now: each has its lock.
        let mut others = recorded_beside(&place);
        others.retain(|other| *other != folder.path);
        match others.iter().find(|other| is_locked(other)) {
            Some(other) => {
                let busy = RecordError::FolderBusy { path: other.clone() };
                folder.give_up();
                Err(busy)
            }
            None => {
                // Of recorders that were killed, and whose programs have ended.
                let is_ours = |other: &&PathBuf| !matches!(content(other), Ok(Content::Others(_)) | Err(_));
                others.iter().filter(is_ours).for_each(|other| drop(remove(other)));
                Ok(folder)
            }
        }
    }

    /// Lock `path` and clear what a recording that was killed left in it.
    fn begin(path: PathBuf, replaces: Option<PathBuf>) -> Result<CaptureFolder, RecordError> {
        let failed = failed(&path);
        if path.to_str().is_none() {
            // The harness is told of it in JSON.
            return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, "expected a path in UTF-8")));
        }
        let is_new = !path.exists();
        fs::create_dir_all(path.join(WORK)).map_err(&failed)?;
        let lock = File::create(lock_file(&path)).map_err(&failed)?;
        if is_busy(&lock.try_lock()) {
            return Err(RecordError::FolderBusy { path: path.clone() });
        }
        // The program inherits it: where the recorder is killed, the folder is taken for as long as the program writes into it.
        // Where it cannot be inherited, names that nobody else ever had still keep recordings apart.
        let _ = rustix::io::fcntl_setfd(&lock, FdFlags::empty());
        for entry in fs::read_dir(&path).map_err(&failed)? {
            let entry = entry.map_err(&failed)?;
            if entry.file_name() != WORK {
                remove(&entry.path()).map_err(&failed)?;
            }
        }
        let folder = CaptureFolder { path: path.clone(), replaces, is_new, is_busy: None, _lock: lock };
        remove(&folder.pieces()).map_err(&failed)?;
        fs::create_dir_all(folder.pieces()).map_err(&failed)?;
        fs::write(folder.reserve(), vec![b' '; RESERVE_BYTES]).map_err(&failed)?;
        Ok(folder)
    }

    /// Where the recording will be found.
    pub(crate) fn place(&self) -> &Path {
        self.replaces.as_deref().unwrap_or(&self.path)
    }

    /// Who is being recorded in the folder that was asked for, if this is another one.
    pub(crate) fn busy(&self) -> Option<&Path> {
        self.is_busy.as_deref()
    }

    /// Where the harness's Python files go.
    pub(crate) fn harness(&self) -> PathBuf {
        self.path.join(WORK).join("harness")
    }

    /// Where each process writes its piece of the manifest.
    pub(crate) fn pieces(&self) -> PathBuf {
        self.path.join(WORK).join("pieces")
    }

    /// Where it is written how a program ended that another tool runs.
    pub(crate) fn told(&self) -> PathBuf {
        self.path.join(WORK).join("told")
    }

    /// What the harness is told.
    pub(crate) fn config(&self) -> PathBuf {
        self.path.join(WORK).join("config.json")
    }

    /// The result.
    pub(crate) fn manifest(&self) -> PathBuf {
        self.path.join("manifest.json")
    }

    fn reserve(&self) -> PathBuf {
        self.path.join(WORK).join("reserve")
    }

    /// Give back the bytes set aside for the manifest.
    pub(crate) fn release_reserve(&self) {
        // If it cannot be removed, writing the manifest says whether that mattered.
        let _ = fs::remove_file(self.reserve());
    }

    /// Remove what only a running recording needs.
    pub(crate) fn remove_work(&self) -> io::Result<()> {
        remove(&self.path.join(WORK))
    }

    /// Remove the folder of a recording that did not begin; the earlier one stays.
    pub(crate) fn give_up(self) {
        // The folder of traces is made before the program runs where a profiler around it writes there.
        let _ = fs::remove_dir(self.path.join("trace"));
        // It fails where somebody else put something there, which is then theirs.
        let _ = self.remove_work().and_then(|()| remove(&self.manifest())).and_then(|()| match self.is_new {
            true => fs::remove_dir(&self.path),
            false => Ok(()),
        });
    }

    /// Take the place of the earlier recording, if there is one; where the recording is, and why it is elsewhere if it is.
    pub(crate) fn settle(self) -> (PathBuf, Option<String>) {
        let Some(place) = self.replaces.clone() else { return (self.path, None) };
        match self.take(&place) {
            Ok(()) => (place, None),
            Err(why) => (self.path, Some(why)),
        }
    }

    fn take(&self, place: &Path) -> Result<(), String> {
        if has_trace(place) && !has_trace(&self.path) {
            return Err(format!("{} keeps the earlier recording, because this one has no trace", place.display()));
        }
        let kept = |why: String| format!("{} keeps the earlier recording: {why}", place.display());
        if is_locked(place) {
            return Err(kept("another program is being recorded there".to_owned()));
        }
        if let Content::Others(found) = content(place).map_err(|error| kept(error.to_string()))? {
            return Err(kept(format!("the program wrote {} there", found.display())));
        }
        ridge_files::exchange(&self.path, place).map_err(|error| kept(error.to_string()))?;
        // What stays of the earlier one is cleared by the next recording.
        let _ = remove(&self.path);
        Ok(())
    }
}

fn failed(path: &Path) -> impl Fn(io::Error) -> RecordError {
    let path = path.to_owned();
    move |source| RecordError::Folder { path: path.clone(), source }
}

/// Has those who claim a folder below the same one do so one after the other.
///
/// Whoever holds that lock for long, such as a shell that runs all of this under it, is not waited for: then the locks of the
/// folders themselves are what there is.
fn turn(path: &Path) -> Option<File> {
    const TRIES: u32 = 100;
    const PAUSE: Duration = Duration::from_millis(10);
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let parent = File::open(parent).ok()?;
    for _ in 0..TRIES {
        if !is_busy(&parent.try_lock()) {
            break;
        }
        std::thread::sleep(PAUSE);
    }
    Some(parent)
}

fn with_added(place: &Path, what: &str) -> PathBuf {
    let mut name = place.file_name().unwrap_or(OsStr::new("run")).to_owned();
    name.push(what);
    place.with_file_name(name)
}

/// A new folder beside `place`, with a name that none had: by the process and the moment.
fn new_beside(place: &Path) -> io::Result<PathBuf> {
    loop {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let path = with_added(place, &format!("{BESIDE}{}-{now:x}", std::process::id()));
        match fs::create_dir(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|()| path),
        }
    }
}

/// Folders that were made beside `place` for recordings that will replace it.
fn recorded_beside(place: &Path) -> Vec<PathBuf> {
    let beginning = with_added(place, BESIDE);
    let beginning = beginning.file_name().unwrap_or_default().as_encoded_bytes().to_owned();
    let entries = fs::read_dir(place.parent().unwrap_or(place)).into_iter().flatten().filter_map(Result::ok);
    let named = entries.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(&beginning));
    named.map(|entry| entry.path()).collect()
}

fn lock_file(path: &Path) -> PathBuf {
    path.join(WORK).join("lock")
}

/// An error if another recording is being written at `path`.
fn refuse_while_locked(path: &Path) -> Result<(), RecordError> {
    if is_locked(path) { Err(RecordError::FolderBusy { path: path.to_owned() }) } else { Ok(()) }
}

fn is_locked(path: &Path) -> bool {
    File::open(lock_file(path)).is_ok_and(|lock| is_busy(&lock.try_lock_shared()))
}

/// Whether another holds the lock. A file system without locks says something else, and keeps nobody from recording.
fn is_busy(locked: &Result<(), TryLockError>) -> bool {
    matches!(locked, Err(TryLockError::WouldBlock))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use ridge_documents::{Document as _, Manifest};

    #[test]
    fn a_folder_is_named_for_the_script() {
        let stems =
            ["python solver.py --n 384", "python -m pkg.train", "uv run python a/b/.py", "train", "python ../x/y z.py"];
        let lines: String = stems
            .iter()
            .map(|command| {
                let words: Vec<OsString> = command.split(' ').map(OsString::from).collect();
                format!("{command} -> {:?}\n", script_stem(&words))
            })
            .collect();
        expect![[r#"
            python solver.py --n 384 -> Some("solver")
            python -m pkg.train -> Some("pkg.train")
            uv run python a/b/.py -> Some("py")
            train -> None
            python ../x/y z.py -> Some("z")
        "#]]
        .assert_eq(&lines);
    }

    struct Place(tempfile::TempDir);

    impl Place {
        /// A folder `run`, with these files.
        fn new(files: &[(&str, &str)]) -> Place {
            let place = Place(tempfile::tempdir().expect("a temporary folder"));
            files.iter().for_each(|(name, text)| write(&place.run().join(name), text));
            place
        }

        fn run(&self) -> PathBuf {
            self.0.path().join("run")
        }

        fn claim(&self) -> Result<CaptureFolder, RecordError> {
            CaptureFolder::claim(Some(&self.run()), &[])
        }

        /// What is beside and in the folder, but for its work.
        fn listing(&self) -> String {
            let mut names = Vec::new();
            for folder in [self.0.path().to_owned(), self.run(), self.run().join("trace")] {
                let entries = fs::read_dir(&folder).into_iter().flatten().filter_map(Result::ok);
                names.extend(entries.map(|entry| plain(&entry.file_name().to_string_lossy())));
            }
            names.sort();
            names.join(" ")
        }
    }

    /// A name without the numbers of a process and a moment.
    fn plain(name: &str) -> String {
        let number = |kind: &str| name.split_once(kind).map(|(name, _)| format!("{name}{kind}N"));
        number(BESIDE).or_else(|| number(OF_PROCESS)).unwrap_or_else(|| name.to_owned())
    }

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().expect("it has one")).expect("a directory");
        fs::write(path, text).expect("a file");
    }

    const EARLIER: [(&str, &str); 2] = [("manifest.json", Manifest::SCHEMA), ("trace/old.xplane.pb", "x")];

    #[test]
    fn files_of_others_are_left_alone() {
        let place = Place::new(&[("thesis.tex", "x")]);
        assert!(matches!(place.claim(), Err(RecordError::FolderInUse { .. })));
        assert!(place.run().join("thesis.tex").exists());
    }

    #[test]
    fn an_earlier_recording_stays_whole_until_the_end() {
        let place = Place::new(&EARLIER);
        let folder = place.claim().expect("ours");
        write(&folder.path.join("trace/new.xplane.pb"), "y");
        assert_eq!(place.listing(), "manifest.json old.xplane.pb run run.recording-N trace");
        folder.remove_work().expect("its work");
        assert_eq!(folder.settle().1, None);
        assert_eq!(place.listing(), "new.xplane.pb run trace");
    }

    #[test]
    fn a_recording_without_a_trace_replaces_none_that_has_one() {
        let place = Place::new(&EARLIER);
        let (at, why) = place.claim().expect("ours").settle();
        assert!(at.to_string_lossy().contains("run.recording-") && why.is_some_and(|why| why.contains("has no trace")));
        assert!(place.run().join("trace/old.xplane.pb").exists());
    }

    #[test]
    fn what_the_program_wrote_into_the_earlier_one_is_kept() {
        let place = Place::new(&EARLIER);
        let folder = place.claim().expect("ours");
        write(&folder.path.join("trace/new.xplane.pb"), "y");
        write(&place.run().join("weights.npz"), "theirs");
        assert!(folder.settle().1.is_some_and(|why| why.contains("weights.npz")));
        assert!(place.run().join("weights.npz").exists());
    }

    #[test]
    fn a_recording_that_did_not_begin_leaves_no_trace_of_itself() {
        let place = Place::new(&EARLIER);
        place.claim().expect("ours").give_up();
        assert_eq!(place.listing(), "manifest.json old.xplane.pb run trace");
        let place = Place::new(&[]);
        let folder = place.claim().expect("nothing is there");
        write(&folder.manifest(), Manifest::SCHEMA);
        folder.give_up();
        assert_eq!(place.listing(), "");
    }

    #[test]
    fn a_recording_that_did_not_begin_takes_nothing_of_others_with_it() {
        let place = Place::new(&[]);
        let folder = place.claim().expect("nothing is there");
        write(&place.run().join("weights.npz"), "theirs");
        folder.give_up();
        assert_eq!(place.listing(), "run weights.npz");
    }

    #[test]
    fn a_file_system_without_locks_is_not_busy() {
        assert!(is_busy(&Err(TryLockError::WouldBlock)));
        assert!(!is_busy(&Err(TryLockError::Error(io::ErrorKind::Unsupported.into()))));
    }

    #[test]
    fn two_recordings_do_not_share_a_folder() {
        for files in [&EARLIER[..], &[]] {
            let place = Place::new(files);
            let first = place.claim().expect("ours");
            let second = place.claim().expect("nothing keeps a program from running");
            assert!(second.busy().is_some() && first.busy().is_none());
            assert!(plain(&second.place().to_string_lossy()).ends_with("run.process-N"));
            drop((first, second));
            let third = place.claim().expect("ours");
            assert_eq!(third.busy(), None, "a recording that was killed holds nothing once its program has ended");
        }
    }

    /// The worst that can be: the recorder is killed, its program runs on, and the next recording is of another program.
    #[test]
    fn the_program_of_a_recorder_that_was_killed_keeps_its_folder_to_itself() {
        for files in [&EARLIER[..], &[]] {
            let place = Place::new(files);
            let killed = place.claim().expect("ours");
            let (old, pieces) = (killed.path.clone(), killed.pieces());
            let mut program =
                std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().expect("cat");
            drop(killed);
            let next = place.claim().expect("ours");
            write(&pieces.join("old.json"), "{}");
            write(&old.join("trace/old.xplane.pb"), "old");
            write(&next.path.join("trace/new.xplane.pb"), "new");
            assert!(!next.pieces().join("old.json").exists() && next.busy().is_some());
            let (at, why) = next.settle();
            assert_eq!(why, None);
            let names: Vec<_> = fs::read_dir(at.join("trace"))
                .expect("a folder")
                .map(|entry| entry.expect("one").file_name())
                .collect();
            assert_eq!(names, ["new.xplane.pb"]);
            drop(program.stdin.take());
            program.wait().expect("it ends");
            assert_eq!(place.claim().expect("ours").busy(), None);
        }
    }
}
