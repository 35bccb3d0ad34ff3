//! A folder whose files are opened relative to its handle: no link in it, and none that appears meanwhile, leads out of it.

use rustix::fs::{AtFlags, FileType, Mode, OFlags, fchmod, fstat, mkdirat, openat, readlinkat, statat, symlinkat};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path};

/// Opened without following a link that stands there, and without waiting for whoever writes to a pipe.
const IN_PLACE: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK);

/// A folder, by its handle.
#[derive(Debug)]
pub struct Tree {
    root: OwnedFd,
}

/// What became of a file that was to be copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Copied {
    /// It was copied: a file with its content, a link as a link.
    Whole,
    /// Nothing is there.
    Absent,
    /// It is a folder, a pipe, a socket or a device.
    NoFile,
    /// It lies behind a link, or behind something else that is no folder: it is no file of this tree.
    BehindLink,
    /// Something of that name is in the copy already; on some file systems names differ by more than case.
    Taken,
}

impl Tree {
    /// Opens the folder that `path` leads to.
    ///
    /// # Errors
    /// What the system says where there is none.
    pub fn open(path: &Path) -> io::Result<Tree> {
        let root = rustix::fs::open(path, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Tree { root })
    }

    /// Copies the file at `inside`, which is relative to both, into `to`; folders on the way are made there.
    ///
    /// # Errors
    /// What the system says of a file that cannot be read, or of a copy that cannot be written.
    pub fn copy(&self, inside: &Path, to: &Tree) -> io::Result<Copied> {
        let Some((above, name)) = parts(inside) else { return Ok(Copied::NoFile) };
        let folder = match self.folder(&above, Missing::Absent)? {
            Ok(folder) => folder,
            Err(why) => return Ok(why),
        };
        let kind = match statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => FileType::from_raw_mode(found.st_mode),
            Err(Errno::NOENT) => return Ok(Copied::Absent),
            Err(error) => return Err(error.into()),
        };
        match kind {
            FileType::Symlink => {
                let target = readlinkat(&folder, name, Vec::new())?;
                let made = to.made(&above, |into| symlinkat(target.as_c_str(), into, name))?;
                Ok(made.map_or_else(|why| why, |()| Copied::Whole))
            }
            FileType::RegularFile => {
                // It may have become something else meanwhile.
                let mut source = match openat(&folder, name, OFlags::RDONLY | IN_PLACE, Mode::empty()) {
                    Ok(source) => File::from(source),
                    Err(Errno::NOENT) => return Ok(Copied::Absent),
                    Err(Errno::LOOP) => return Ok(Copied::NoFile),
                    Err(error) => return Err(error.into()),
                };
                let found = fstat(&source)?;
                if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
                    return Ok(Copied::NoFile);
                }
                let mode = Mode::from_raw_mode(found.st_mode) & (Mode::RWXU | Mode::RWXG | Mode::RWXO);
                match to.create(&above, name)? {
                    Ok(mut copy) => {
                        io::copy(&mut source, &mut copy)?;
                        fchmod(&copy, mode)?;
                        Ok(Copied::Whole)
                    }
                    Err(why) => Ok(why),
                }
            }
            _ => Ok(Copied::NoFile),
        }
    }

    /// Makes a link at `inside` to `target`, with the folders on the way.
    ///
    /// # Errors
    /// What the system says where it cannot be made.
    pub fn link(&self, inside: &Path, target: &Path) -> io::Result<Copied> {
        let Some((above, name)) = parts(inside) else { return Ok(Copied::NoFile) };
        let made = self.made(&above, |into| symlinkat(target, into, name))?;
        Ok(made.map_or_else(|why| why, |()| Copied::Whole))
    }

    /// Whether `inside` is a file of both trees, neither behind a link, with the same bytes.
    pub fn is_alike(&self, inside: &Path, other: &Tree) -> bool {
        let opened = |tree: &Tree| -> Option<(File, i64)> {
            let (above, name) = parts(inside)?;
            let folder = tree.folder(&above, Missing::Absent).ok()?.ok()?;
            let file = openat(&folder, name, OFlags::RDONLY | IN_PLACE, Mode::empty()).ok()?;
            let found = fstat(&file).ok()?;
            let is_file = FileType::from_raw_mode(found.st_mode) == FileType::RegularFile;
            is_file.then(|| (File::from(file), found.st_size))
        };
        let (Some((one, length)), Some((two, other_length))) = (opened(self), opened(other)) else { return false };
        length == other_length && has_same_bytes(one, two).unwrap_or(false)
    }

    /// A new file at `inside`; what is there already is never opened.
    fn create(&self, above: &[&OsStr], name: &OsStr) -> io::Result<Result<File, Copied>> {
        let new = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | IN_PLACE;
        let made = self.made(above, |into| openat(into, name, new, Mode::RUSR | Mode::WUSR))?;
        Ok(made.map(File::from))
    }

    /// Has `make` make something in the folder `above`.
    fn made<T>(
        &self,
        above: &[&OsStr],
        make: impl FnOnce(BorrowedFd<'_>) -> Result<T, Errno>,
    ) -> io::Result<Result<T, Copied>> {
        let folder = match self.folder(above, Missing::Made)? {
            Ok(folder) => folder,
            Err(why) => return Ok(Err(why)),
        };
        match make(folder.as_fd()) {
            Ok(made) => Ok(Ok(made)),
            Err(Errno::EXIST | Errno::LOOP) => Ok(Err(Copied::Taken)),
            Err(error) => Err(error.into()),
        }
    }

    /// The folder that `above` leads to from the root, each part of which is a folder and no link.
    fn folder(&self, above: &[&OsStr], missing: Missing) -> io::Result<Result<OwnedFd, Copied>> {
        let mut folder = self.root.try_clone()?;
        for part in above {
            if missing == Missing::Made {
                match mkdirat(&folder, *part, Mode::RWXU | Mode::RWXG | Mode::RWXO) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            folder = match openat(&folder, *part, OFlags::DIRECTORY | IN_PLACE, Mode::empty()) {
                Ok(inner) => inner,
                Err(Errno::NOENT) => return Ok(Err(Copied::Absent)),
                // Linux says that a link is no folder, other systems that it is a link.
                Err(Errno::NOTDIR | Errno::LOOP) => return Ok(Err(Copied::BehindLink)),
                Err(error) => return Err(error.into()),
            };
        }
        Ok(Ok(folder))
    }
}

/// What to do with folders on the way that are not there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    Absent,
    Made,
}

/// The folders on the way, and the name; `None` for what is no path below a root.
fn parts(inside: &Path) -> Option<(Vec<&OsStr>, &OsStr)> {
    let parts = inside.components().map(|part| match part {
        Component::Normal(name) => Some(name),
        _ => None,
    });
    let mut parts: Vec<&OsStr> = parts.collect::<Option<_>>()?;
    let name = parts.pop()?;
    Some((parts, name))
}

fn has_same_bytes(one: impl Read, two: impl Read) -> io::Result<bool> {
    const CHUNK: u64 = 1 << 16;
    let (mut one, mut two) = (io::BufReader::new(one), io::BufReader::new(two));
    loop {
        let (mut left, mut right) = (Vec::new(), Vec::new());
        (&mut one).take(CHUNK).read_to_end(&mut left)?;
        (&mut two).take(CHUNK).read_to_end(&mut right)?;
        if left != right || left.is_empty() {
            return Ok(left == right);
        }
    }
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;
