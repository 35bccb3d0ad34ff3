//! What an address is answered with, or why it is not.

use ridgeline::OpenError;
use serde_json::Value;

/// What the bytes of an answer are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// JSON.
    Json,
    /// Tiles, as docs/web-api.md has them.
    Bytes,
    /// A file for another tool.
    File,
}

impl Kind {
    /// The media type.
    pub fn media_type(self) -> &'static str {
        match self {
            Kind::Json => "application/json",
            Kind::Bytes | Kind::File => "application/octet-stream",
        }
    }
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// What it is.
    pub kind: Kind,
    /// Its bytes.
    pub body: Vec<u8>,
}

impl Answer {
    /// `value` as JSON without white space.
    pub(crate) fn json(value: &Value) -> Answer {
        Answer { kind: Kind::Json, body: value.to_string().into_bytes() }
    }

    pub(crate) fn bytes(body: Vec<u8>) -> Answer {
        Answer { kind: Kind::Bytes, body }
    }

    pub(crate) fn file(body: Vec<u8>) -> Answer {
        Answer { kind: Kind::File, body }
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// The status code of HTTP: 400 where the question makes no sense, 404 where nothing is there.
    pub status: u16,
    /// What was expected and found: lower case, no period.
    pub message: String,
    /// What can be done, a sentence each.
    pub hints: Vec<String>,
}

impl Refusal {
    /// A question that makes no sense.
    pub(crate) fn bad(message: impl Into<String>) -> Refusal {
        Refusal { status: 400, message: message.into(), hints: Vec::new() }
    }

    /// A question about something that is not there.
    pub(crate) fn absent(message: impl Into<String>) -> Refusal {
        Refusal { status: 404, ..Refusal::bad(message) }
    }

    /// It with one thing more that can be done.
    pub(crate) fn hint(mut self, hint: &str) -> Refusal {
        self.hints.push(hint.to_owned());
        self
    }

    /// It as JSON.
    pub fn body(&self) -> Vec<u8> {
        serde_json::json!({ "error": self.message, "hint": self.hints.first(), "hints": self.hints })
            .to_string()
            .into_bytes()
    }
}

impl From<OpenError> for Refusal {
    fn from(error: OpenError) -> Refusal {
        let status = if matches!(error, OpenError::BadInput(_)) { 400 } else { 404 };
        Refusal { status, message: error.message().to_owned(), hints: error.hints().to_vec() }
    }
}
