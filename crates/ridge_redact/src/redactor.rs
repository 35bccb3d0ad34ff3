//! The ways in which captures are written, and what takes out of each what is private.
//!
//! Which format is written in which way is for the format to say; how a file is packed is for whoever opens it.

use crate::database;
use crate::error::RedactError;
use crate::json::{learn_json, redact_json};
use crate::learn::{Listener, neighbors};
use crate::nsys::Said;
use crate::pickle;
use crate::proto::{self, HLO_PROTO, PERFETTO, PPROF};
use crate::removed::Removed;
use crate::report;
use crate::table;
use crate::wire;
use crate::words::Words;
use crate::xplane;
use ridge_sqlite::Database;
use std::io::Write;

/// How a capture is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Redactor {
    /// JSON of any kind: Kineto and Chrome traces, memory timelines, manifests.
    Json,
    /// An XPlane capture.
    Xplane,
    /// An HLO module as a protobuf.
    HloProto,
    /// A pprof profile.
    Pprof,
    /// A trace of Perfetto.
    Perfetto,
    /// HLO, StableHLO, a jaxpr or anything else in lines of text.
    Text,
    /// Lines of cells between commas, under a line of names.
    Table,
    /// A SQLite export of Nsight Systems.
    Nsys,
    /// A report of Nsight Compute.
    NcuReport,
    /// A pickle of plain data.
    Pickle,
    /// A zip archive, whose files are captures or parts of one.
    Archive,
}

/// How texts begin that a recording keeps of a compiled module.
const TEXTS: [&str; 5] = ["module @", "{ lambda", "{lambda", "digraph", "#loc"];
/// What the documents of a recording say of themselves near their beginning.
const SCHEMA: &str = "\"ridgeline.";
/// Where that is, in bytes.
const NEAR: usize = 256;

impl Redactor {
    /// That of what a recording keeps beside its captures: its own documents, and texts of compiled modules.
    pub fn of_companion(bytes: &[u8]) -> Option<Redactor> {
        let text = bytes.trim_ascii_start();
        let near = String::from_utf8_lossy(&text[..text.len().min(NEAR)]);
        let is_jaxpr = near.starts_with("let ") && near.contains("= {");
        if is_jaxpr || TEXTS.iter().any(|start| near.starts_with(start)) {
            Some(Redactor::Text)
        } else if near.starts_with('{') && near.contains("\"schema\"") && near.contains(SCHEMA) {
            Some(Redactor::Json)
        } else {
            None
        }
    }

    /// Adds to `words` the names of machines and accounts that `bytes`, a whole file, says.
    ///
    /// # Errors
    /// [`RedactError`] where the content is damaged; what came before was learned.
    pub fn learn(self, bytes: &[u8], words: &mut Words) -> Result<(), RedactError> {
        match self {
            Redactor::Json => return learn_json(bytes, words),
            Redactor::Xplane => xplane::learn(bytes, words),
            Redactor::NcuReport => report::learn(bytes, words)?,
            Redactor::Table => table::learn(bytes, words),
            Redactor::Nsys => drop(Said::read(&Database::open(bytes)?, words)),
            Redactor::HloProto
            | Redactor::Pprof
            | Redactor::Perfetto
            | Redactor::Text
            | Redactor::Pickle
            | Redactor::Archive => {}
        }
        let mut listener = Listener::new(words);
        match self {
            Redactor::Xplane | Redactor::HloProto | Redactor::Pprof | Redactor::Perfetto => {
                wire::listen(bytes, &mut listener)
            }
            Redactor::NcuReport => report::listen(bytes, &mut listener)?,
            Redactor::Text | Redactor::Table => listener.lines(bytes),
            Redactor::Nsys => database::listen(bytes, &mut listener)?,
            Redactor::Pickle => pickle::listen(bytes, &mut listener)?,
            Redactor::Json | Redactor::Archive => {}
        }
        neighbors(words, &mut |piece| piece(bytes));
        Ok(())
    }

    /// Writes `bytes`, a whole file, to `out` without what is private, and says what was taken out.
    ///
    /// `words` are known before; more are learned from the capture, which says where it was made.
    ///
    /// # Errors
    /// [`RedactError`] where the content is damaged or an archive: what was written until then must not be shared.
    pub fn redact(self, bytes: &[u8], words: &Words, out: &mut dyn Write) -> Result<Removed, RedactError> {
        let given = words;
        let mut learned = words.clone();
        // JSON is learned from as it is read: it may be longer than memory.
        if self != Redactor::Json {
            self.learn(bytes, &mut learned)?;
        }
        let words = &learned;
        match self {
            Redactor::Json => redact_json(|| Ok(Box::new(bytes)), words, out),
            Redactor::Xplane => xplane::redact(bytes, words, out),
            Redactor::HloProto => proto::rewrite(bytes, &HLO_PROTO, words, out),
            Redactor::Pprof => proto::rewrite(bytes, &PPROF, words, out),
            Redactor::Perfetto => {
                proto::refuse_compressed(bytes)?;
                proto::rewrite(bytes, &PERFETTO, words, out)
            }
            Redactor::Text => table::redact_text(bytes, words, out),
            Redactor::Table => table::redact_table(bytes, words, out),
            Redactor::Nsys => database::redact(bytes, given, words, out),
            Redactor::NcuReport => report::redact(bytes, words, out),
            Redactor::Pickle => pickle::redact(bytes, words, out),
            Redactor::Archive => Err(RedactError::Unknown {
                found: "an archive instead of a single file",
                hint: "unpack it first, and redact the directory",
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn companions_are_told_by_content() {
        for (text, expected) in [
            ("{ lambda ; a:f32[] . let", Some(Redactor::Text)),
            ("let jaxpr = { lambda ; a:f32[] . let", Some(Redactor::Text)),
            ("let x = 1;", None),
            ("module @jit_f attributes {", Some(Redactor::Text)),
            ("{\"schema\": \"ridgeline.manifest.v1\"}", Some(Redactor::Json)),
            ("{\"schema\": \"other\"}", None),
            ("{\"secret\": 1}", None),
            ("hello", None),
            ("", None),
        ] {
            assert_eq!(Redactor::of_companion(text.as_bytes()), expected, "{text}");
        }
    }
}
