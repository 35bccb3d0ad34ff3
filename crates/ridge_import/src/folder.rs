//! Captures of several files: a folder that was opened, or the members of an archive, found by name.

use crate::archive::Archive;
use crate::import::{ImportError, Source};
use crate::packed::{Packed, allowed_bytes};
use crate::parquet::Bound;
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// The files of a folder that together are one capture.
#[derive(Debug, Clone, Copy)]
pub struct Folder<'a> {
    /// Name for messages, as the user would write it.
    pub name: &'a str,
    /// Its files, each called by its path inside the folder, with `/` between parts.
    pub files: &'a [Source<'a>],
}

impl Folder<'_> {
    /// Bytes of all its files.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes.len() as u64).sum()
    }
}

/// The files of one capture, wherever they are; unpacking any of them counts against one bound.
#[derive(Debug)]
pub(crate) struct Files<'a> {
    /// Name of the archive or folder.
    pub(crate) name: &'a str,
    held: Held<'a>,
    /// Places of the files by name, of several of one name the first.
    places: FxHashMap<String, usize>,
    pub(crate) bound: Bound,
    /// Bytes of all of it as it was given.
    pub(crate) bytes: u64,
}

#[derive(Debug)]
enum Held<'a> {
    Archive(Archive<'a>),
    Folder(Folder<'a>),
}

/// A file's bytes, and what is wrong with them.
pub(crate) struct Content<'a> {
    pub(crate) bytes: Cow<'a, [u8]>,
    pub(crate) damage: Option<String>,
}

impl<'a> Files<'a> {
    /// The members of an archive.
    pub(crate) fn of_archive(source: Source<'a>, max_bytes: Option<u64>) -> Files<'a> {
        let bound = Bound::new(allowed_bytes(source.bytes.len(), max_bytes));
        let held = Held::Archive(Archive::open(source.bytes));
        Files { name: source.name, held, places: FxHashMap::default(), bound, bytes: source.bytes.len() as u64 }
            .placed()
    }

    /// The files of a folder.
    pub(crate) fn of_folder(folder: Folder<'a>, max_bytes: Option<u64>) -> Files<'a> {
        let bytes = folder.bytes();
        let bound = Bound::new(allowed_bytes(usize::try_from(bytes).unwrap_or(usize::MAX), max_bytes));
        Files { name: folder.name, held: Held::Folder(folder), places: FxHashMap::default(), bound, bytes }.placed()
    }

    fn placed(mut self) -> Files<'a> {
        let names: Vec<String> = self.names().into_iter().map(str::to_owned).collect();
        for (place, name) in names.into_iter().enumerate() {
            self.places.entry(name).or_insert(place);
        }
        self
    }

    /// Whether there is a file called `name`.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.places.contains_key(name)
    }

    /// Whether files may be missing because the archive lost its directory.
    pub(crate) fn is_damaged(&self) -> bool {
        matches!(&self.held, Held::Archive(archive) if archive.is_damaged)
    }

    /// Names of all files.
    pub(crate) fn names(&self) -> Vec<&str> {
        match &self.held {
            Held::Archive(archive) => archive.members.iter().map(|member| member.name.as_str()).collect(),
            Held::Folder(folder) => folder.files.iter().map(|file| file.name).collect(),
        }
    }

    /// The file called `name`, unpacked if it is compressed; `None` where there is none.
    ///
    /// # Errors
    /// The file and what was expected and found, where nothing of it can be had.
    pub(crate) fn read(&self, name: &str) -> Option<Result<Content<'a>, String>> {
        let place = *self.places.get(name)?;
        let outer = match &self.held {
            Held::Archive(archive) => archive.read(&archive.members[place], &self.bound),
            Held::Folder(folder) => Ok((Cow::Borrowed(folder.files[place].bytes), None)),
        };
        let content = outer.map(|(bytes, damage)| self.unpacked(name, Content { bytes, damage }));
        Some(content.map_err(|what| format!("{name}: {what}")))
    }

    /// What is inside a file that is itself compressed.
    fn unpacked(&self, name: &str, outer: Content<'a>) -> Content<'a> {
        const STEP: usize = 1 << 16;
        let source = Source { name, bytes: &outer.bytes };
        let Some(packed) = Packed::of(source, Some(self.bound.left())) else { return outer };
        let (mut bytes, mut reader) = (Vec::new(), packed.reader());
        while reader.fill(&mut bytes, STEP) > 0 {}
        // What the reader allowed was what is left, so this cannot fail.
        self.bound.take(bytes.len() as u64);
        let damage = outer.damage.or_else(|| reader.damage().map(str::to_owned));
        Content { bytes: Cow::Owned(bytes), damage }
    }

    /// The error that nothing of the capture can be read, for `what` was expected and found.
    pub(crate) fn broken(&self, what: String) -> ImportError {
        ImportError::Broken { source_name: self.name.to_owned(), offset: 0, what }
    }
}
