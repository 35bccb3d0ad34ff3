//! Profilers that run around a program: which there are, where they are found, and how the program itself ended.
//!
//! A profiler has an exit status of its own, and not every version passes the program's on.
//! So a line of shell stands between the two and writes down how the program ended.

pub(crate) mod ncu;
pub(crate) mod nsys;
pub(crate) mod rocprof;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::RecordError;
use crate::outcome::ProgramStatus;
use crate::profiler::Profiler;
use crate::programs::{find_program, is_program, search_path};

impl Profiler {
    /// Its executable: on the path, else where its installers put it.
    ///
    /// # Errors
    /// [`RecordError::NoProfiler`] where it is in none of these places.
    pub fn find(self) -> Result<PathBuf, RecordError> {
        let usual = ["/usr/local/cuda/bin", "/opt/cuda/bin", "/opt/rocm/bin"].map(PathBuf::from);
        let found = find_program(Path::new(self.name()), search_path().into_iter().chain(usual))
            .or_else(|| self.installed().into_iter().find(|path| is_program(path)));
        found.ok_or(RecordError::NoProfiler { profiler: self })
    }

    /// Versions that the vendor's own installers put side by side, the latest first.
    fn installed(self) -> Vec<PathBuf> {
        let (root, inside) = match self {
            Profiler::Nsys => ("/opt/nvidia/nsight-systems", "bin/nsys"),
            Profiler::Ncu => ("/opt/nvidia/nsight-compute", "ncu"),
            Profiler::Rocprof => ("/opt", "bin/rocprofv3"),
        };
        let versions = fs::read_dir(root).into_iter().flatten().filter_map(Result::ok);
        let mut paths: Vec<PathBuf> = versions.map(|version| version.path().join(inside)).collect();
        paths.sort();
        paths.reverse();
        paths
    }
}

/// Whether a shell would find the program, so that its absence is not taken for a failure of the profiler.
pub(crate) fn is_there(program: &OsString) -> bool {
    let path = Path::new(program);
    if path.components().count() > 1 {
        return path.exists();
    }
    find_program(path, search_path()).is_some()
}

/// Runs a program and writes its exit status to a file, and its own process id to another. Signals that reach the whole group are
/// the program's: the shell outlives them, so that the status is written.
const TELLING: &str = r#"told=$1; shift; echo $$ >"$told.shell"; trap : HUP INT QUIT TERM; "$@"; status=$?; echo "$status" >"$told"; exit "$status""#;

/// `command`, so that how it ends is written to `file`.
fn telling(file: &Path, command: &[OsString]) -> Vec<OsString> {
    let shell = ["/bin/sh", "-c", TELLING, "sh"].map(OsString::from);
    shell.into_iter().chain([file.as_os_str().to_owned()]).chain(command.iter().cloned()).collect()
}

/// How the program ended, as [`telling`] wrote it; `None` where it was never started, or killed with everything around it.
///
/// A shell tells a signal as 128 and its number.
pub(crate) fn told(file: &Path) -> Option<ProgramStatus> {
    let code: i32 = fs::read_to_string(file).ok()?.trim().parse().ok()?;
    Some(if (129..160).contains(&code) { ProgramStatus::Signaled(code - 128) } else { ProgramStatus::Exited(code) })
}

/// The process id of the shell that [`telling`] runs.
fn teller(file: &Path) -> Option<u32> {
    let mut name = file.as_os_str().to_owned();
    name.push(".shell");
    fs::read_to_string(name).ok()?.trim().parse().ok()
}

/// A path as both profilers of NVIDIA take it: they put host names and the like where a percent sign stands.
fn output_argument(option: &str, path: &Path) -> OsString {
    use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
    let mut bytes = option.as_bytes().to_vec();
    for byte in path.as_os_str().as_bytes() {
        bytes.extend(std::iter::repeat_n(*byte, if *byte == b'%' { 2 } else { 1 }));
    }
    OsString::from_vec(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_program_is_told_past_whatever_runs_it() {
        let folder = tempfile::tempdir().expect("a folder");
        for (script, expected) in [
            ("exit 0", ProgramStatus::Exited(0)),
            ("exit 3", ProgramStatus::Exited(3)),
            ("kill -TERM $$", ProgramStatus::Signaled(15)),
            ("kill -KILL $$", ProgramStatus::Signaled(9)),
        ] {
            let file = folder.path().join("told");
            let words = telling(&file, &["/bin/sh".into(), "-c".into(), script.into()]);
            std::process::Command::new(&words[0]).args(&words[1..]).status().expect("a shell");
            assert_eq!(told(&file), Some(expected), "{script}");
        }
        assert_eq!(told(&folder.path().join("absent")), None);
    }

    #[test]
    fn a_percent_sign_in_a_path_is_itself() {
        assert_eq!(output_argument("--output=", Path::new("/a/50%h/x")), OsString::from("--output=/a/50%%h/x"));
    }
}
