//! Copies of captures without what is private: files, and folders of them.
//!
//! What is private in a file is decided by its format and `ridge_redact`; here files are found, read and written, and named.

use crate::error::{Details, OpenError};
use crate::file_map::FileBytes;
use crate::find::{find, walk};
use ridge_files::NewFolder;
use ridge_import::{Folder, Foreign, RedactedFolder, Source};
use ridge_redact::{RedactError, Removed, What, Words};
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// How the names of captures end that their tools name for a machine.
const NAMED_FOR_HOSTS: [&str; 3] = [".xplane.pb", ".pt.trace.json", ".pt.trace.json.gz"];

/// What a copy became.
#[derive(Debug, Clone, Default)]
pub struct Redacted {
    /// Files copied.
    pub files: usize,
    /// What was taken out of all of them.
    pub removed: Removed,
    /// Files of a folder, and members of archives, that were not copied, and why.
    pub left_out: Vec<(String, String)>,
}

/// Why there is no copy of a file.
enum Failed {
    /// The file is none to copy: another may be.
    Refused(OpenError),
    /// Nothing can be written: no other will be either.
    Unwritten(io::Error),
}

/// Copies the capture `input`, a file or a folder, to `output` without what is private.
///
/// What is private of this machine and user is taken out too, as `HOME`, `USER` and the system say it.
///
/// # Errors
/// [`OpenError`] where `output` exists or cannot be written, nothing can be copied, or the file is of no format that can be redacted;
/// nothing is left at `output` then.
pub fn redact(input: &Path, output: &Path) -> Result<Redacted, OpenError> {
    if output.symlink_metadata().is_ok() {
        let details = Details::new("expected a path for the copy, found something there").at(output);
        return Err(OpenError::BadInput(details));
    }
    let metadata = fs::metadata(input).map_err(|error| OpenError::io("open", input, &error))?;
    let mut words = words_of_this_machine();
    let mut redacted = Redacted::default();
    if !metadata.is_dir() {
        words.add_file_name(&file_name(input));
        return match file(input, output, Foreign::JsonTaken, &words, &mut redacted) {
            Ok(()) => Ok(redacted),
            Err(Failed::Refused(error)) => Err(error),
            Err(Failed::Unwritten(error)) => Err(OpenError::io("write the copy", output, &error)),
        };
    }
    let unwritten = |error: io::Error| OpenError::io("write the copy", output, &error);
    let parents = Made::above(output).map_err(unwritten)?;
    // Half a copy would look like a whole one, so it has its name when all of it is there.
    let new = NewFolder::beside(output).map_err(unwritten)?;
    match folder(input, new.path(), &words, &mut redacted) {
        Ok(()) => {}
        Err(Failed::Refused(error)) => return Err(error),
        Err(Failed::Unwritten(error)) => return Err(unwritten(error)),
    }
    new.keep().map_err(unwritten)?;
    parents.keep();
    Ok(redacted)
}

/// The names that are private in the captures at `paths`: those that they and their files' names say, and those of this machine and
/// its user.
pub fn private_words(paths: &[PathBuf]) -> Words {
    let mut words = words_of_this_machine();
    let found = find(paths).unwrap_or_default();
    let in_folders = found.folders.iter().flat_map(|folder| folder.files.iter().map(|name| folder.path.join(name)));
    // What a recording keeps beside its captures says names, too.
    let beside =
        paths.iter().filter(|path| path.is_dir()).filter_map(|path| walk(path).ok()).flat_map(|below| below.files);
    let all: BTreeSet<PathBuf> = found.files.iter().cloned().chain(in_folders).chain(beside).collect();
    learn_from(all.iter(), &mut words);
    words
}

/// Adds to `words` the names that the files at `paths` say, and that they are named for.
fn learn_from<'a>(paths: impl Iterator<Item = &'a PathBuf>, words: &mut Words) {
    for path in paths {
        words.add_file_name(&file_name(path));
        if let Ok(bytes) = FileBytes::open(path) {
            ridge_import::learn(Source { name: "", bytes: bytes.bytes() }, words);
        }
    }
}

/// How the system calls this machine; `None` where it does not say.
pub fn host_name() -> Option<String> {
    fs::read_to_string("/proc/sys/kernel/hostname").ok()
}

fn words_of_this_machine() -> Words {
    let said = |name: &str| std::env::var(name).unwrap_or_default();
    let host = host_name().unwrap_or_else(|| said("HOSTNAME"));
    let user = std::env::var("USER").unwrap_or_else(|_| said("LOGNAME"));
    Words::of(&said("HOME"), &user, host.trim())
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn folder(input: &Path, output: &Path, words: &Words, redacted: &mut Redacted) -> Result<(), Failed> {
    let below = walk(input).map_err(Failed::Refused)?;
    redacted.left_out.extend(below.notes.into_iter().map(|note| (note.file.unwrap_or_default(), note.message)));
    // A link may lead to what nobody meant to share.
    let name = |path: &Path| path.strip_prefix(input).unwrap_or(path).display().to_string();
    let why = |path: &PathBuf| match path.exists() {
        true => "a link that leads out of the directory",
        false => "a link that leads to nothing that can be opened",
    };
    let link = |path: &PathBuf| (name(path), why(path).to_owned());
    redacted.left_out.extend(below.links.iter().map(link));
    redacted.left_out.extend(below.others.iter().map(|(path, what)| (name(path), format!("a {what}"))));
    let mut words = words.clone();
    // What one file says of the machine, another repeats.
    learn_from(below.files.iter(), &mut words);
    let mut hosts = 0;
    let whole = export_in(input, &below.files, &words).map_err(Failed::Refused)?;
    for path in below.files {
        let inside = path.strip_prefix(input).unwrap_or(&path);
        let copy = output.join(shareable(inside, &words, &mut hosts, &mut redacted.removed));
        let name = inside.to_string_lossy();
        let made = match whole.as_ref().filter(|whole| whole.holds(&name)) {
            Some(whole) => {
                write_copy(&path, &copy, redacted, |bytes, out| whole.redact(Source { name: &name, bytes }, out))
            }
            None => file(&path, &copy, Foreign::Refused, &words, redacted),
        };
        match made {
            Ok(()) => {}
            Err(Failed::Refused(error)) => {
                redacted.left_out.push((inside.display().to_string(), error.to_string()));
            }
            Err(unwritten) => return Err(unwritten),
        }
    }
    if redacted.files == 0 {
        let details = Details::new("expected a capture that can be redacted, found none").at(input);
        return Err(Failed::Refused(OpenError::NotACapture(details)));
    }
    Ok(())
}

/// The tables in `files`, where they are an export of Nsight Systems that is a folder.
fn export_in(input: &Path, files: &[PathBuf], words: &Words) -> Result<Option<RedactedFolder>, OpenError> {
    let name = |path: &PathBuf| path.strip_prefix(input).unwrap_or(path).to_string_lossy().into_owned();
    let names: Vec<String> = files.iter().map(name).collect();
    if ridge_import::sniff_folder(&names.iter().map(String::as_str).collect::<Vec<_>>()).is_none() {
        return Ok(None);
    }
    let opened = files.iter().map(|path| FileBytes::open(path)).collect::<Result<Vec<FileBytes>, OpenError>>()?;
    let sources = names.iter().zip(&opened).map(|(name, bytes)| Source { name, bytes: bytes.bytes() });
    let sources: Vec<Source<'_>> = sources.collect();
    Ok(RedactedFolder::of(Folder { name: "", files: &sources }, words))
}

/// The path of a copy inside its folder: captures that are named for a machine are numbered instead.
fn shareable(inside: &Path, words: &Words, hosts: &mut usize, removed: &mut Removed) -> PathBuf {
    let clean: PathBuf = inside.iter().map(|part| words.clean(&part.to_string_lossy(), removed).into_owned()).collect();
    let name = file_name(&clean);
    let is_ours = ["host", "own"]
        .iter()
        .any(|start| name.strip_prefix(start).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())));
    match NAMED_FOR_HOSTS.iter().find(|suffix| name.ends_with(**suffix)) {
        Some(suffix) if !is_ours => {
            *hosts += 1;
            removed.add(What::HostName);
            clean.with_file_name(format!("host{}.copy{suffix}", *hosts - 1))
        }
        _ => clean,
    }
}

/// Copies one file.
fn file(input: &Path, output: &Path, foreign: Foreign, words: &Words, redacted: &mut Redacted) -> Result<(), Failed> {
    let name = input.display().to_string();
    write_copy(input, output, redacted, |bytes, out| {
        ridge_import::redact(Source { name: &name, bytes }, foreign, words, out)
    })
}

/// Copies one file as `redact` writes it; on failure nothing is left of the copy.
fn write_copy(
    input: &Path,
    output: &Path,
    redacted: &mut Redacted,
    redact: impl FnOnce(&[u8], &mut dyn Write) -> Result<ridge_import::Redacted, RedactError>,
) -> Result<(), Failed> {
    let bytes = FileBytes::open(input).map_err(Failed::Refused)?;
    let parents = Made::above(output).map_err(Failed::Unwritten)?;
    let made = ridge_files::replace(output, |file| {
        let mut buffered = BufWriter::new(file);
        let made = redact(bytes.bytes(), &mut buffered);
        let made = made.and_then(|made| buffered.flush().map(|()| made).map_err(RedactError::Io));
        // What a failure left in the buffer is not wanted.
        drop(buffered.into_parts());
        made
    });
    match made {
        Ok(made) => {
            parents.keep();
            redacted.files += 1;
            redacted.removed.merge(&made.removed);
            let shown = input.file_name().unwrap_or_default().to_string_lossy();
            let inside = made.left_out.into_iter().map(|(member, why)| (format!("{shown}/{member}"), why));
            redacted.left_out.extend(inside);
            Ok(())
        }
        Err(RedactError::Io(error)) => Err(Failed::Unwritten(error)),
        Err(error) => Err(Failed::Refused(refused(input, &error))),
    }
}

/// Folders that were made for a file; they go again where the file is not made: what is refused leaves nothing behind.
struct Made(Vec<PathBuf>);

impl Made {
    /// Makes the folders above `path` that are missing.
    fn above(path: &Path) -> io::Result<Made> {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let missing = parent.into_iter().flat_map(Path::ancestors).take_while(|folder| !folder.exists());
        let made = Made(missing.map(Path::to_owned).collect());
        parent.map_or(Ok(()), fs::create_dir_all)?;
        Ok(made)
    }

    fn keep(mut self) {
        self.0.clear();
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        // The innermost is first; one that has something in it stays.
        self.0.iter().for_each(|folder| drop(fs::remove_dir(folder)));
    }
}

fn refused(path: &Path, error: &RedactError) -> OpenError {
    let refused = OpenError::NotACapture(Details::new(error.to_string()).at(path));
    match error.hint() {
        Some(hint) => refused.hint(hint),
        None => refused,
    }
}
