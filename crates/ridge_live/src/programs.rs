//! The files that the harness keeps, one for each running program (`python/ridgeline/live.py`).
//!
//! Only plain files of this user are read, and of each no more than it can need: the folder may be one that others write.

use rustix::fs::{Mode, OFlags, open};
use serde::Deserialize;
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// What a program says of itself.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Program {
    /// Its process id.
    pub pid: u32,
    /// When it said so, Unix time in seconds.
    pub written_unix_s: f64,
    /// Its name: that of its script.
    #[serde(default)]
    pub program: String,
    /// Steps done so far, where it marks them.
    pub steps: Option<u64>,
    /// Steps a second, over the last second or so.
    pub steps_per_s: Option<f64>,
    /// Live arrays of JAX.
    pub live_arrays: Option<u64>,
    /// Their bytes.
    pub live_bytes: Option<u64>,
    /// Its devices.
    #[serde(default)]
    pub devices: Vec<DeviceMemory>,
}

/// Memory of one device, as the program's allocator counts it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct DeviceMemory {
    /// Number of the device in its library.
    pub id: u32,
    /// What it is, as the library names it.
    #[serde(default)]
    pub kind: String,
    /// Bytes in use, where the platform counts them.
    pub bytes_in_use: Option<u64>,
    /// Most bytes in use so far.
    pub peak_bytes: Option<u64>,
    /// Bytes that the allocator may use.
    pub limit_bytes: Option<u64>,
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Programs {
    /// Programs that run, by process id.
    pub running: Vec<Program>,
    /// Files that could not be read as such.
    pub damaged: u64,
}

/// Bytes of a file that are read; a hundred devices need a tenth of it.
const MOST_BYTES: u64 = 256 << 10;
/// Files that are looked at.
const MOST_FILES: usize = 4096;
/// Devices of one program that are kept.
const MOST_DEVICES: usize = 1024;

/// Where the harness keeps its files: `$XDG_RUNTIME_DIR/ridgeline`, else `/tmp/ridgeline-UID`.
pub fn folder(runtime: Option<&Path>, temporary: &Path) -> PathBuf {
    let of_user = || temporary.join(format!("ridgeline-{}", rustix::process::getuid().as_raw()));
    runtime.map_or_else(of_user, |runtime| runtime.join("ridgeline"))
}

/// The programs in `folder` of which `is_running` says that they run.
pub fn programs(folder: &Path, is_running: impl Fn(u32) -> bool) -> Programs {
    let mut found = Programs::default();
    let Ok(entries) = fs::read_dir(folder) else { return found };
    for path in entries.filter_map(Result::ok).map(|entry| entry.path()).take(MOST_FILES) {
        let Some(pid) = pid_of(&path) else { continue };
        if !is_running(pid) {
            continue;
        }
        match read(&path).filter(|program| program.pid == pid) {
            Some(program) => found.running.push(program),
            // One that ended while it was looked at is none that is damaged.
            None if path.exists() => found.damaged += 1,
            None => {}
        }
    }
    found.running.sort_by_key(|program| program.pid);
    found
}

fn pid_of(path: &Path) -> Option<u32> {
    let is_state = path.extension().is_some_and(|extension| extension == "json");
    is_state.then(|| path.file_stem()?.to_str()?.parse().ok()).flatten()
}

fn read(path: &Path) -> Option<Program> {
    // A link leads elsewhere, and a pipe would never end.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(open(path, flags, Mode::empty()).ok()?);
    let found = file.metadata().ok()?;
    if !found.is_file() || found.uid() != rustix::process::getuid().as_raw() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).ok()?;
    if bytes.len() as u64 > MOST_BYTES {
        return None;
    }
    let mut program: Program = serde_json::from_slice(&bytes).ok()?;
    program.devices.truncate(MOST_DEVICES);
    program.program = plain(&program.program);
    program.devices.iter_mut().for_each(|device| device.kind = plain(&device.kind));
    Some(program)
}

/// Words that cannot move the cursor or change colors.
pub(crate) fn plain(words: &str) -> String {
    words.chars().filter(|letter| !letter.is_control()).take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    const WHOLE: &str = r#"{"schema":"ridgeline.live.v1","pid":7,"written_unix_s":10.5,"program":"train.py","steps":12,
        "steps_per_s":3.5,"live_arrays":4,"live_bytes":4096,
        "devices":[{"id":0,"platform":"gpu","kind":"H100","bytes_in_use":10,"peak_bytes":20,"limit_bytes":30}]}"#;

    #[test]
    fn a_file_says_how_its_program_is() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("7.json"), WHOLE).expect("a file");
        let found = programs(folder.path(), |_| true);
        let [program] = &found.running[..] else { panic!("{found:?}") };
        assert_eq!((program.steps, program.devices[0].peak_bytes, found.damaged), (Some(12), Some(20), 0));
        assert_eq!(programs(folder.path(), |_| false), Programs::default());
    }

    #[test]
    fn damaged_and_hostile_files_are_counted_and_nothing_more() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        for (pid, text) in [
            (1, String::new()),
            (2, "[".repeat(100_000)),
            (3, WHOLE.replace("\"pid\":7", "\"pid\":8")),
            (4, WHOLE.replace("7,", "4,").replace("12", "-12")),
            (5, format!("{}{}", WHOLE.replace("\"pid\":7", "\"pid\":5"), " ".repeat(300 << 10))),
        ] {
            fs::write(at(&format!("{pid}.json")), text).expect("a file");
        }
        fs::write(at("elsewhere"), WHOLE.replace("\"pid\":7", "\"pid\":9")).expect("a file");
        symlink(at("elsewhere"), at("9.json")).expect("a link");
        fs::create_dir(at("10.json")).expect("a folder");
        fs::write(at("11.json"), WHOLE.replace("\"pid\":7", "\"pid\":11").replace("train", "\\u001b[31mtr"))
            .expect("a file");
        fs::write(at("notes.txt"), "no state").expect("a file");
        let found = programs(folder.path(), |_| true);
        let names: Vec<&str> = found.running.iter().map(|program| program.program.as_str()).collect();
        assert_eq!((names, found.damaged), (vec!["[31mtr.py"], 7));
        for end in 0..WHOLE.len() {
            fs::write(at("7.json"), &WHOLE[..end]).expect("a file");
            assert_eq!(programs(folder.path(), |pid| pid == 7).running.len(), 0, "cut at {end}");
        }
    }
}
