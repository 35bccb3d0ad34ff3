//! Why a command did not do its work, and how that is told.
//!
//! The form is the same everywhere: `error:`, the path below it, then `hint:` lines.

use anstyle::{AnsiColor, Style};
use ridge_report::{escape_controls, escape_controls_in_text};
use ridgeline::OpenError;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Exit code where the command was understood and could not be done.
pub(crate) const FAILED: i32 = 1;
/// Exit code where the command makes no sense.
pub(crate) const USAGE: i32 = 2;

/// A failed command.
#[derive(Debug)]
pub(crate) struct Failure {
    /// What was expected and what was found; lower case, no period.
    message: String,
    /// The file or directory it is about.
    path: Option<PathBuf>,
    /// What the user can do, a sentence each.
    hints: Vec<String>,
    /// The process's exit code.
    pub(crate) code: i32,
    /// Kind of the system's error below it.
    io: Option<io::ErrorKind>,
}

impl Failure {
    /// A command that makes no sense.
    pub(crate) fn usage(message: impl Into<String>) -> Failure {
        Failure { message: message.into(), path: None, hints: Vec::new(), code: USAGE, io: None }
    }

    /// A command that could not be done.
    pub(crate) fn failed(message: impl Into<String>) -> Failure {
        Failure { code: FAILED, ..Failure::usage(message) }
    }

    /// `doing` was not possible because of `error`.
    pub(crate) fn io(doing: &str, error: &io::Error) -> Failure {
        let failure = Failure { io: Some(error.kind()), ..Failure::failed(format!("{doing}: {error}")) };
        match error.kind() {
            io::ErrorKind::FileTooLarge => failure.hint("`ulimit -f` shows the largest file size allowed here"),
            _ => failure,
        }
    }

    /// A command that could not be done; a `path` at the end of `message` moves to a line of its own.
    pub(crate) fn about(message: &str, path: Option<&Path>) -> Failure {
        let Some(path) = path else { return Failure::failed(message) };
        let message = message.strip_suffix(&format!(": {}", path.display())).unwrap_or(message);
        Failure::failed(message).at(path)
    }

    /// The same, with another exit code.
    pub(crate) fn ending(self, code: i32) -> Failure {
        Failure { code, ..self }
    }

    /// The same, about `path`.
    pub(crate) fn at(mut self, path: &Path) -> Failure {
        self.path = Some(path.to_path_buf());
        self
    }

    /// The same, with advice.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.hints.push(hint.into());
        self
    }

    /// The same, with all of `hints`.
    pub(crate) fn hints(mut self, hints: impl IntoIterator<Item = String>) -> Failure {
        self.hints.extend(hints);
        self
    }

    /// The same, ending with `code`.
    pub(crate) fn code(mut self, code: i32) -> Failure {
        self.code = code;
        self
    }

    /// Whether the reader of our output went away, which is no failure of ours.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        self.io == Some(io::ErrorKind::BrokenPipe)
    }

    /// Writes the failure to standard error.
    pub(crate) fn print(&self) {
        let error = AnsiColor::Red.on_default().bold();
        let place = AnsiColor::Blue.on_default().bold();
        let hint = AnsiColor::Cyan.on_default().bold();
        let mut text = labeled(error, "error", &escape_controls_in_text(&self.message));
        if let Some(path) = &self.path {
            let path = path.display().to_string();
            text.push_str(&format!("  {place}-->{place:#} {}\n", escape_controls(&path)));
        }
        for advice in &self.hints {
            text.push_str(&labeled(hint, "hint", &escape_controls_in_text(advice)));
        }
        // Nothing is left to tell it to where standard error is closed.
        let _ = anstream::stderr().write_all(text.as_bytes());
    }
}

fn labeled(style: Style, label: &str, text: &str) -> String {
    format!("{style}{label}:{style:#} {text}\n")
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Failure {
        Failure::about(error.message(), error.path()).hints(error.hints().to_vec())
    }
}
