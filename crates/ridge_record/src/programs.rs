//! Programs of this machine by their names, as a shell finds them.

use std::env;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// The folders of the variable `PATH`, in its order.
pub fn search_path() -> Vec<PathBuf> {
    env::var_os("PATH").map(|path| env::split_paths(&path).collect()).unwrap_or_default()
}

/// The first file called `name` in one of `folders` that may be run.
pub fn find_program(name: &Path, folders: impl IntoIterator<Item = PathBuf>) -> Option<PathBuf> {
    folders.into_iter().map(|folder| folder.join(name)).find(|path| is_program(path))
}

/// Whether this is a file that somebody may run.
pub(crate) fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_first_file_that_may_be_run_is_taken() {
        let (first, second) = (tempfile::tempdir().expect("room"), tempfile::tempdir().expect("room"));
        // Neither a directory nor a file that nobody may run is a program.
        fs::create_dir(first.path().join("tool")).expect("room");
        let program = second.path().join("tool");
        fs::write(&program, "#!/bin/sh\n").expect("room");
        let found = || find_program(Path::new("tool"), [first.path().to_owned(), second.path().to_owned()]);
        assert_eq!(found(), None);
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("its owner");
        assert_eq!(found(), Some(program));
    }
}
