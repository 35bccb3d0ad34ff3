//! Files as memory: the one place that maps them.

use crate::error::{Details, OpenError};
use memmap2::Mmap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Files below this are read, in bytes: what happens to the file later does not matter then.
const SMALL_FILE: u64 = 32 << 20;

/// A file's bytes, read or mapped.
#[derive(Debug)]
pub(crate) enum FileBytes {
    Read(Vec<u8>),
    Mapped(Mmap),
}

impl FileBytes {
    /// Opens `path`.
    pub(crate) fn open(path: &Path) -> Result<FileBytes, OpenError> {
        let failed = |error: std::io::Error| OpenError::io("read the file", path, &error);
        let mut file = open_at_once(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_dir() {
            return Err(OpenError::BadInput(Details::new("expected a file, found a directory").at(path)));
        }
        if is_device(&metadata) {
            return Err(OpenError::BadInput(Details::new("expected a file, found a device").at(path)));
        }
        if metadata.is_file() && metadata.len() >= SMALL_FILE {
            return map(&file).map(FileBytes::Mapped).map_err(failed);
        }
        let mut bytes = Vec::new();
        if is_pipe(&metadata) {
            bytes = begin_of_pipe(&mut file).map_err(failed)?.ok_or_else(|| {
                let found = Details::new("expected a file, found a pipe that nothing writes to");
                OpenError::BadInput(found.at(path).hint("start what writes first, or name a file"))
            })?;
        }
        file.read_to_end(&mut bytes).map_err(failed)?;
        Ok(FileBytes::Read(bytes))
    }

    /// The bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            FileBytes::Read(bytes) => bytes,
            FileBytes::Mapped(map) => map,
        }
    }
}

impl FileBytes {
    /// Gives back the memory of `part`, where that is a part of this file and mapped; it can be read as before.
    pub(crate) fn release(&self, part: &[u8]) {
        let FileBytes::Mapped(map) = self else { return };
        let Some(offset) = (part.as_ptr() as usize).checked_sub(map.as_ptr() as usize) else { return };
        if offset.checked_add(part.len()).is_some_and(|end| end <= map.len()) && !part.is_empty() {
            drop_pages(map, offset, part.len());
        }
    }
}

/// Whether it is a terminal, a disk or the like, which may have no end.
#[cfg(unix)]
fn is_device(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    metadata.file_type().is_char_device() || metadata.file_type().is_block_device()
}

#[cfg(not(unix))]
fn is_device(_: &std::fs::Metadata) -> bool {
    false
}

#[cfg(unix)]
fn is_pipe(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    metadata.file_type().is_fifo()
}

#[cfg(not(unix))]
fn is_pipe(_: &std::fs::Metadata) -> bool {
    false
}

/// Opens `path` without waiting for somebody to write to it.
#[cfg(unix)]
fn open_at_once(path: &Path) -> std::io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path)
}

#[cfg(not(unix))]
fn open_at_once(path: &Path) -> std::io::Result<File> {
    File::open(path)
}

/// The first bytes of a pipe that was opened at once, which waits from here on; `None` where nobody writes to it.
#[cfg(unix)]
#[allow(unsafe_code)]
fn begin_of_pipe(pipe: &mut File) -> std::io::Result<Option<Vec<u8>>> {
    use std::os::fd::AsRawFd as _;
    let mut first = [0];
    // Without a writer the end is there at once; with one that has written nothing yet, reading would have to wait.
    let begin = match pipe.read(&mut first) {
        Ok(0) => return Ok(None),
        Ok(_) => first.to_vec(),
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => Vec::new(),
        Err(error) => return Err(error),
    };
    // SAFETY: the descriptor is open as long as `pipe` is, and the call touches nothing but its flags.
    match unsafe { libc::fcntl(pipe.as_raw_fd(), libc::F_SETFL, 0) } {
        -1 => Err(std::io::Error::last_os_error()),
        _ => Ok(Some(begin)),
    }
}

#[cfg(not(unix))]
fn begin_of_pipe(_: &mut File) -> std::io::Result<Option<Vec<u8>>> {
    Ok(Some(Vec::new()))
}

/// Makes the loss of a file that is being read, which the system answers by a bus error, end the process with a message
/// and status 1.
///
/// For programs, once: it takes the place of the process's handler of that signal.
#[cfg(unix)]
#[allow(unsafe_code)]
pub fn explain_lost_files() {
    extern "C" fn explain(_: libc::c_int) {
        const MESSAGE: &[u8] = b"error: a capture was cut short, or its disk failed, while it was read\n\
                                 hint: wait until it is written, or read a copy\n";
        // SAFETY: both calls may be made inside a handler (POSIX.1-2024, 2.4.3), and the message is constant.
        unsafe {
            libc::write(2, MESSAGE.as_ptr().cast(), MESSAGE.len());
            libc::_exit(1);
        }
    }
    // SAFETY: the handler neither returns nor touches anything of the process.
    unsafe { libc::signal(libc::SIGBUS, explain as extern "C" fn(libc::c_int) as libc::sighandler_t) };
}

/// Elsewhere a file in use cannot be cut short.
#[cfg(not(unix))]
pub fn explain_lost_files() {}

/// Lets the system take the pages back; the next read fetches them again from its cache of the file.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
fn drop_pages(map: &Mmap, offset: usize, length: usize) {
    // SAFETY: the map is of a file and is only read, so a dropped page comes back with what the file holds. That the
    // range is inside the map is checked by the caller.
    let _ = unsafe { map.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, offset, length) };
}

#[cfg(not(target_os = "linux"))]
fn drop_pages(_: &Mmap, _: usize, _: usize) {}

#[allow(unsafe_code)]
fn map(file: &File) -> std::io::Result<Mmap> {
    // SAFETY: nobody keeps the promise that the file does not change while it is mapped. What is done about it: a file
    // that is cut short ends the process by a bus error, which `explain_lost_files` turns into a message. Bytes that
    // another process changes may be seen as both before and after; importers copy what they keep, and what they read
    // twice they check twice, so a value may be wrong but no index is out of bounds without a panic.
    let map = unsafe { Mmap::map(file)? };
    #[cfg(unix)]
    let _ = map.advise(memmap2::Advice::Sequential);
    Ok(map)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn what_was_given_back_can_be_read_again() {
        let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
        let text: Vec<u8> = (0..SMALL_FILE + 9).map(|at| (at % 251) as u8).collect();
        file.write_all(&text).expect("a written file");
        let mapped = FileBytes::open(file.path()).expect("a file");
        assert!(matches!(mapped, FileBytes::Mapped(_)));
        // All of it, a part that begins inside a page, and memory of somebody else.
        mapped.release(mapped.bytes());
        mapped.release(&mapped.bytes()[5000..9000]);
        mapped.release(&text);
        assert!(mapped.bytes() == text);
        let small = FileBytes::Read(text.clone());
        small.release(small.bytes());
        assert!(small.bytes() == text);
    }

    /// Run by the test below in a process of its own.
    #[test]
    #[cfg(unix)]
    fn a_file_that_shrinks_while_it_is_read() {
        let Some(path) = std::env::var_os("RIDGELINE_SHRINKING_FILE") else { return };
        explain_lost_files();
        let mapped = FileBytes::open(Path::new(&path)).expect("a file");
        File::options().write(true).open(&path).and_then(|file| file.set_len(0)).expect("it can be cut");
        println!("{}", mapped.bytes().iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte)));
    }

    #[test]
    #[cfg(unix)]
    fn the_loss_of_a_file_is_said() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        file.as_file().set_len(SMALL_FILE).expect("a sparse file");
        let run = std::process::Command::new(std::env::current_exe().expect("this test"))
            .args(["--exact", "--nocapture", "file_map::tests::a_file_that_shrinks_while_it_is_read"])
            .env("RIDGELINE_SHRINKING_FILE", file.path())
            .output()
            .expect("it starts");
        let said = String::from_utf8_lossy(&run.stderr);
        assert_eq!(run.status.code(), Some(1), "{said}");
        assert!(said.contains("error: a capture was cut short"), "{said}");
    }

    #[test]
    #[cfg(unix)]
    fn devices_are_not_read() {
        let error = FileBytes::open(Path::new("/dev/zero")).expect_err("it has no end");
        assert_eq!(error.message(), "expected a file, found a device");
    }

    #[test]
    #[cfg(unix)]
    fn a_pipe_is_read_where_somebody_writes() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("it runs");
        assert!(made.success());
        let error = FileBytes::open(&pipe).expect_err("it does not wait");
        assert_eq!(error.message(), "expected a file, found a pipe that nothing writes to");
        // Open for both, so that opening does not wait for a reader.
        let mut writer = File::options().read(true).write(true).open(&pipe).expect("a writer");
        writer.write_all(b"a capture").expect("room in the pipe");
        let mut file = open_at_once(&pipe).expect("it is there");
        assert_eq!(begin_of_pipe(&mut file).expect("a byte"), Some(b"a".to_vec()));
        drop(writer);
        let mut rest = String::new();
        file.read_to_string(&mut rest).expect("up to the end");
        assert_eq!(rest, " capture");
    }
}
