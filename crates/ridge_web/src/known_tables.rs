//! The tables that were asked for before, so that sorting and turning pages makes none again.

use crate::answer::Refusal;
use ridgeline::{Answer, Question, Session, Topic, View};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// Rows of a table that are made: where making more would cost, those that matter most.
pub(crate) const MOST_ROWS: usize = 20_000;

/// The tables that were asked for before, by topic and view.
#[derive(Debug, Default)]
pub(crate) struct KnownTables(Mutex<HashMap<(Topic, &'static str), Arc<Answer>>>);

impl KnownTables {
    pub(crate) fn of(&self, session: &Session, view: &'static View) -> Result<Arc<Answer>, Refusal> {
        let known = || self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(found) = known().get(&(view.topic, view.id)) {
            return Ok(Arc::clone(found));
        }
        let question = Question { rows: Some(MOST_ROWS), ..Question::default() };
        let made = Arc::new(session.answer(view.topic, &[view], question)?);
        known().insert((view.topic, view.id), Arc::clone(&made));
        Ok(made)
    }
}
