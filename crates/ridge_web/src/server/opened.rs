//! Captures of one server: the one that was named, and what is opened beside it from the page.
//!
//! What is dropped on the page is written to a temporary folder, because captures are read from files; it goes when the
//! capture is closed, at the latest when the server ends. Nothing is written anywhere else, and what is opened by its place
//! in a list was found before the server began: no question names a path.

use crate::{Page, QueryProgram, Refusal};
use ridgeline::{OpenOptions, Session};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tempfile::TempDir;

/// Captures beside the first; the one that was opened longest ago goes first.
const MOST_BESIDE: usize = 3;
/// Bytes of a file that is dropped on the page.
pub(super) const MOST_BYTES: u64 = 4 << 30;
/// Letters of a file's name that are kept.
const MOST_LETTERS: usize = 120;

/// What may be opened beside the first capture.
#[derive(Debug, Default)]
pub struct Offer {
    /// Other sessions of a log folder, as they are named and where they are.
    pub sessions: Vec<PathBuf>,
    /// How captures are opened.
    pub options: OpenOptions,
}

/// The captures.
#[derive(Debug)]
pub(super) struct Opened {
    first: Arc<Page>,
    offer: Offer,
    beside: Mutex<Beside>,
}

#[derive(Debug, Default)]
struct Beside {
    captures: VecDeque<Capture>,
    last: u32,
}

/// A capture beside the first.
#[derive(Debug)]
struct Capture {
    id: u32,
    page: Arc<Page>,
    /// Where it is in the list of sessions.
    session: Option<usize>,
    /// Its file; removed with it.
    _folder: Option<TempDir>,
}

/// A file that is being received.
#[derive(Debug)]
pub(super) struct Arriving {
    folder: TempDir,
    path: PathBuf,
    file: File,
    bytes: u64,
}

impl Opened {
    pub(super) fn new(first: Page, offer: Offer) -> Opened {
        Opened { first: Arc::new(first), offer, beside: Mutex::default() }
    }

    fn beside(&self) -> MutexGuard<'_, Beside> {
        self.beside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The capture that an address is about, and the address in it: `at/2/timeline` of the second beside the first.
    pub(super) fn find<'a>(&self, address: &'a str) -> Result<(Arc<Page>, &'a str), Refusal> {
        let Some(rest) = address.strip_prefix("at/") else { return Ok((Arc::clone(&self.first), address)) };
        let (id, rest) = rest.split_once('/').unwrap_or((rest, ""));
        let found = self
            .beside()
            .captures
            .iter()
            .find(|capture| capture.id.to_string() == id)
            .map(|found| Arc::clone(&found.page));
        let absent = || Refusal::absent("this capture is closed").hint("Open it again.");
        Ok((found.ok_or_else(absent)?, rest))
    }

    /// `captures`: what is open, and what can be.
    pub(super) fn listed(&self) -> Value {
        let beside = self.beside();
        let of = |id: u32, page: &Page, session: Option<usize>| json!({ "id": id, "title": page.title(), "session": session });
        let names = session_names(&self.offer.sessions);
        // Of one log folder the latest session is shown, which is the last.
        let is_one = self.offer.sessions.windows(2).all(|two| two[0].parent() == two[1].parent());
        let own = self.offer.sessions.len().checked_sub(1).filter(|_| is_one);
        let captures = std::iter::once(of(0, &self.first, own))
            .chain(beside.captures.iter().map(|capture| of(capture.id, &capture.page, capture.session)));
        json!({
            "captures": captures.collect::<Vec<_>>(),
            "sessions": names,
            "most_bytes": MOST_BYTES,
        })
    }

    /// Opens a session of the list; its number.
    pub(super) fn session(&self, at: usize) -> Result<u32, Refusal> {
        if let Some(known) = self.beside().captures.iter().find(|capture| capture.session == Some(at)) {
            return Ok(known.id);
        }
        let absent = || Refusal::absent(format!("there is no session {at}"));
        let path = self.offer.sessions.get(at).ok_or_else(absent)?.clone();
        self.open(path, Some(at), None)
    }

    /// Opens what arrived; its number.
    pub(super) fn arrived(&self, arrived: Arriving) -> Result<u32, Refusal> {
        let Arriving { folder, path, file, .. } = arrived;
        drop(file);
        self.open(path, None, Some(folder))
    }

    fn open(&self, path: PathBuf, session: Option<usize>, folder: Option<TempDir>) -> Result<u32, Refusal> {
        let opened = Session::open(std::slice::from_ref(&path), &self.offer.options);
        let page = opened.map_err(|error| {
            // What is said of a dropped file is said of its name: where it was put is nobody's business.
            let refusal = Refusal::from(error);
            let place = path.parent().map(|folder| format!("{}/", folder.display())).unwrap_or_default();
            match folder.is_some() {
                true => Refusal { message: refusal.message.replace(&place, ""), ..refusal },
                false => refusal,
            }
        })?;
        let page = Arc::new(Page::new(page).querying(self.first.query.clone()).dropped(folder.is_some()));
        let mut beside = self.beside();
        beside.last += 1;
        let id = beside.last;
        beside.captures.push_back(Capture { id, page, session, _folder: folder });
        while beside.captures.len() > MOST_BESIDE {
            beside.captures.pop_front();
        }
        Ok(id)
    }

    /// Closes all but the first, removes their files, and ends what still answers.
    pub(super) fn close(&self) {
        self.first.query.iter().for_each(QueryProgram::end);
        self.beside().captures.clear();
    }
}

impl Arriving {
    /// Room for a file of this name.
    pub(super) fn new(name: &str) -> Result<Arriving, Refusal> {
        let failed = |error: std::io::Error| unwritten(&error);
        let folder = tempfile::Builder::new().prefix("ridgeline-open-").tempdir().map_err(failed)?;
        let path = folder.path().join(plain(name));
        let file = File::create_new(&path).map_err(failed)?;
        Ok(Arriving { folder, path, file, bytes: 0 })
    }

    /// Adds a part of it.
    pub(super) fn add(&mut self, part: &[u8]) -> Result<(), Refusal> {
        self.bytes += part.len() as u64;
        if self.bytes > MOST_BYTES {
            let gibibytes = MOST_BYTES >> 30;
            let message = format!("expected a file of at most {gibibytes} GiB");
            return Err(Refusal {
                status: 413,
                message,
                hints: vec!["`ridgeline view FILE` opens larger ones.".to_owned()],
            });
        }
        self.file.write_all(part).map_err(|error| unwritten(&error))
    }
}

fn unwritten(error: &std::io::Error) -> Refusal {
    Refusal { status: 507, message: format!("the file could not be kept for reading: {error}"), hints: Vec::new() }
}

/// What tells sessions apart: their paths without what all of them begin with, and without what every log folder has.
fn session_names(sessions: &[PathBuf]) -> Vec<String> {
    let parts = |path: &PathBuf| -> Vec<String> {
        let parts = path.components().map(|part| part.as_os_str().to_string_lossy().into_owned());
        parts.filter(|part| part != "plugins" && part != "profile").collect()
    };
    let all: Vec<Vec<String>> = sessions.iter().map(parts).collect();
    let Some(first) = all.first() else { return Vec::new() };
    let is_common = |at: usize| all.iter().all(|parts| at + 1 < parts.len() && parts[at] == first[at]);
    let common = (0..first.len()).take_while(|at| is_common(*at)).count();
    all.iter().map(|parts| parts[common..].join("/")).collect()
}

/// The last part of a name without what a file system or a terminal would take for something else.
fn plain(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let kept: String = last
        .chars()
        .filter(|letter| !letter.is_control() && !":*?\"<>|".contains(*letter))
        .take(MOST_LETTERS)
        .collect();
    let kept = kept.trim_start_matches('.').trim();
    if kept.is_empty() { "capture".to_owned() } else { kept.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_called_what_tells_them_apart() {
        let names = |paths: &[&str]| session_names(&paths.iter().map(PathBuf::from).collect::<Vec<_>>());
        let one = ["/logs/plugins/profile/2026_01", "/logs/plugins/profile/2026_02"];
        assert_eq!(names(&one), ["2026_01", "2026_02"]);
        let two = ["/logs/a/plugins/profile/x", "/logs/b/plugins/profile/x"];
        assert_eq!(names(&two), ["a/x", "b/x"]);
    }

    #[test]
    fn names_lead_nowhere() {
        for (name, expected) in [
            ("a.xplane.pb", "a.xplane.pb"),
            ("../../etc/passwd", "passwd"),
            ("C:\\runs\\b.json", "b.json"),
            ("..", "capture"),
            ("", "capture"),
            ("a\u{0}b\nc", "abc"),
            (".hidden", "hidden"),
        ] {
            assert_eq!(plain(name), expected);
        }
        assert_eq!(plain(&"ä".repeat(500)).chars().count(), MOST_LETTERS);
    }
}
