//! The captures that were opened, by the short names under which an agent asks again.

use crate::reply::Refusal;
use ridgeline::{OpenOptions, Session};
use std::path::PathBuf;
use std::rc::Rc;

/// Captures that stay in memory; one that was asked for longest ago is opened again when it is asked for.
const MOST_OPEN: usize = 4;
/// Captures that have a name; an agent that opens more than this opens the same ones again and again.
const MOST_KNOWN: usize = 1_000;

/// The captures that were opened.
#[derive(Debug, Default)]
pub(crate) struct Captures {
    /// By number: `c1` is the first.
    known: Vec<Vec<PathBuf>>,
    /// Those in memory, the last that was asked for at the end.
    open: Vec<(usize, Rc<Session>)>,
}

impl Captures {
    /// Opens the capture that `paths` name; its id, which is the old one where it was opened before.
    pub(crate) fn open(&mut self, paths: Vec<PathBuf>) -> Result<(String, Rc<Session>), Refusal> {
        if let Some(number) = self.known.iter().position(|known| *known == paths) {
            // What is there may have changed since.
            self.open.retain(|(other, _)| *other != number);
            return Ok((id(number), self.session(number)?));
        }
        if self.known.len() == MOST_KNOWN {
            return Err(Refusal::new(format!("expected at most {MOST_KNOWN} captures, found one more"))
                .hint("use captures that have an id, or restart the server"));
        }
        let session = Rc::new(Session::open(&paths, &OpenOptions::default())?);
        self.known.push(paths);
        let number = self.known.len() - 1;
        self.keep(number, &session);
        Ok((id(number), session))
    }

    /// The capture called `id`.
    pub(crate) fn get(&mut self, id: &str) -> Result<Rc<Session>, Refusal> {
        let number = self.number(id)?;
        self.session(number)
    }

    /// The paths of the capture called `id`.
    pub(crate) fn paths(&self, id: &str) -> Result<&[PathBuf], Refusal> {
        Ok(&self.known[self.number(id)?])
    }

    fn number(&self, id: &str) -> Result<usize, Refusal> {
        let number = id.strip_prefix('c').and_then(|number| number.parse::<usize>().ok());
        number.and_then(|number| number.checked_sub(1)).filter(|number| *number < self.known.len()).ok_or_else(|| {
            let known = match self.known.len() {
                0 => "none is open".to_owned(),
                1 => "c1 is open".to_owned(),
                count => format!("c1 to c{count} are open"),
            };
            Refusal::new(format!("unknown capture id `{id}`; {known}"))
                .hint("`open` opens a capture and returns its id")
        })
    }

    fn session(&mut self, number: usize) -> Result<Rc<Session>, Refusal> {
        let at = self.open.iter().position(|(other, _)| *other == number);
        let session = match at {
            Some(at) => self.open.remove(at).1,
            None => Rc::new(Session::open(&self.known[number], &OpenOptions::default())?),
        };
        self.keep(number, &session);
        Ok(session)
    }

    fn keep(&mut self, number: usize, session: &Rc<Session>) {
        if self.open.len() == MOST_OPEN {
            self.open.remove(0);
        }
        self.open.push((number, Rc::clone(session)));
    }
}

fn id(number: usize) -> String {
    format!("c{}", number + 1)
}
