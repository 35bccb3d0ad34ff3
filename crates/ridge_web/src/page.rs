//! One capture with all that the page may ask of it, and what is kept between its questions.

use crate::answer::Refusal;
use crate::known_tables::KnownTables;
use crate::privacy::Cleaner;
use crate::query_program::QueryProgram;
use crate::timeline::Timeline;
use ridge_redact::Words;
use ridgeline::{Check, OpenOptions, PathPart, Retimed, Session, WhatIf};
use serde_json::Value;
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Captures with more events are judged only where that is asked for.
pub(crate) const MOST_JUDGED_UNASKED: usize = 1 << 20;

/// A capture replayed with a change.
#[derive(Debug)]
pub(crate) struct Replayed {
    /// When everything would have run, or why nothing may be shown.
    pub(crate) retimed: Result<Retimed, String>,
    /// What a change that somebody typed would save; a finding says that itself.
    pub(crate) answer: Option<WhatIf>,
}

/// An opened capture that answers addresses.
#[derive(Debug)]
pub struct Page {
    pub(crate) session: Session,
    /// What was opened.
    pub(crate) paths: Vec<PathBuf>,
    /// What it is compared with: the side before.
    pub(crate) against: Vec<PathBuf>,
    pub(crate) capture: OnceLock<Value>,
    pub(crate) compared: OnceLock<Result<Value, Refusal>>,
    pub(crate) offload: OnceLock<Result<Value, Refusal>>,
    pub(crate) scaling: OnceLock<Result<Value, Refusal>>,
    /// The critical path, or why there is none.
    pub(crate) critical: OnceLock<Result<Vec<PathPart>, String>>,
    timeline: OnceLock<Timeline>,
    check: OnceLock<Check>,
    other: OnceLock<Result<Box<Page>, Refusal>>,
    /// What was replayed last, and with which change: a look closer asks for it again.
    replayed: Mutex<Option<(String, Arc<Replayed>)>>,
    pub(crate) tables: KnownTables,
    /// What answers SQL; `None` where nothing does.
    pub(crate) query: Option<QueryProgram>,
    pub(crate) cleaner: Option<Cleaner>,
    is_dropped: bool,
}

impl Page {
    /// The page of `session`; nothing is computed before it is asked for.
    pub fn new(session: Session) -> Page {
        let paths = vec![session.root().to_owned()];
        Page {
            session,
            paths,
            against: Vec::new(),
            capture: OnceLock::new(),
            compared: OnceLock::new(),
            offload: OnceLock::new(),
            scaling: OnceLock::new(),
            critical: OnceLock::new(),
            timeline: OnceLock::new(),
            check: OnceLock::new(),
            other: OnceLock::new(),
            replayed: Mutex::default(),
            tables: KnownTables::default(),
            query: None,
            cleaner: None,
            is_dropped: false,
        }
    }

    /// The same of a capture that `paths` were opened as.
    #[must_use]
    pub fn of(self, paths: &[PathBuf]) -> Page {
        Page { paths: paths.to_vec(), ..self }
    }

    /// The same of a file that came from the page, whose place says nothing.
    #[must_use]
    pub(crate) fn dropped(self, is_dropped: bool) -> Page {
        Page { is_dropped, ..self }
    }

    /// What it is called: the name of what was opened.
    pub(crate) fn title(&self) -> String {
        let root = self.session.root();
        root.file_name().map_or_else(|| root.display().to_string(), |name| name.to_string_lossy().into_owned())
    }

    /// Whether names of folders are left out: they are private, or of a temporary one.
    pub(crate) fn hides_folders(&self) -> bool {
        self.is_redacted() || self.is_dropped
    }

    /// The same beside another capture, which came before it.
    #[must_use]
    pub fn against(self, before: &[PathBuf]) -> Page {
        Page { against: before.to_vec(), other: OnceLock::new(), ..self }
    }

    /// The same with SQL, where there is a program for it.
    #[must_use]
    pub fn querying(self, query: Option<QueryProgram>) -> Page {
        Page { query, ..self }
    }

    /// The same without what is private: `words`, and what is private by its shape.
    #[must_use]
    pub fn redacted(self, words: Words) -> Page {
        Page { cleaner: Some(Cleaner::new(words)), ..self }
    }

    /// Whether what is private is taken out of answers.
    pub(crate) fn is_redacted(&self) -> bool {
        self.cleaner.is_some()
    }

    /// `text` as answers may have it.
    pub(crate) fn clean<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.cleaner.as_ref().map_or(Cow::Borrowed(text), |cleaner| Cow::Owned(cleaner.text(text)))
    }

    /// The capture.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Whether there is work that other hardware might do.
    pub(crate) fn has_offload(&self) -> bool {
        self.session.trace().device_tracks().any(|track| !track.rows.is_empty())
    }

    /// Whether the rules are asked without that being wished: on large captures a replay takes longer than reading them.
    pub(crate) fn judges_unasked(&self) -> bool {
        self.session.trace().events.len() <= MOST_JUDGED_UNASKED
    }

    /// What tiles are cut from, made when the first is asked for.
    pub(crate) fn timeline(&self) -> &Timeline {
        self.timeline.get_or_init(|| Timeline::new(&self.session))
    }

    /// What the rules find, asked once.
    pub(crate) fn check(&self) -> &Check {
        self.check.get_or_init(|| self.session.check(&ridgeline::Selection::default()))
    }

    /// The capture that this one is compared with, opened when it is first drawn.
    pub(crate) fn other(&self) -> Result<&Page, Refusal> {
        let open = || {
            if self.against.is_empty() {
                return Err(Refusal::absent("no other capture was named to compare with")
                    .hint("`ridgeline view AFTER --against BEFORE`"));
            }
            let session = Session::open(&self.against, &OpenOptions::default()).map_err(Refusal::from)?;
            Ok(Box::new(Page::new(session).of(&self.against)))
        };
        self.other.get_or_init(open).as_deref().map_err(Clone::clone)
    }

    /// The capture replayed with `change`, by `make` unless it is what was replayed last.
    pub(crate) fn replayed(&self, change: &str, make: impl FnOnce() -> Replayed) -> Arc<Replayed> {
        let mut kept = self.replayed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, replayed)) = kept.as_ref().filter(|(known, _)| known == change) {
            return Arc::clone(replayed);
        }
        let replayed = Arc::new(make());
        *kept = Some((change.to_owned(), Arc::clone(&replayed)));
        replayed
    }
}
