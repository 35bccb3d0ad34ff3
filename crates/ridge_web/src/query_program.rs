//! The program `ridgeline-query`, as the page runs it: with what was opened and a query that can't become an option, within
//! bounds, and until nobody waits for it.

mod groups;
mod running;

use crate::answer::Refusal;
use crate::interest::Interest;
use groups::Groups;
use running::{Bounds, End, Ran, run};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

/// Time for one query, or for a list of tables.
const TIME: Duration = Duration::from_secs(30);
/// Rows of an answer.
pub(crate) const MOST_ROWS: usize = 10_000;
/// Bytes of an answer.
const MOST_BYTES: usize = 8 << 20;
/// Lines of the document around its rows, at most.
const LINES_AROUND: usize = 8;

/// The program, and how it opens captures.
#[derive(Debug, Clone)]
pub struct QueryProgram {
    path: PathBuf,
    read_as: Option<String>,
    max_unpacked: Option<u64>,
    time: Duration,
    /// Those that answer now, of all pages.
    running: Arc<Groups>,
}

/// What the program wrote.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) text: String,
    /// Whether it is only the beginning.
    pub(crate) is_cut: bool,
}

impl QueryProgram {
    /// The program at `path`, which detects formats and has half a minute.
    pub fn new(path: PathBuf) -> QueryProgram {
        QueryProgram { path, read_as: None, max_unpacked: None, time: TIME, running: Arc::default() }
    }

    /// It with the format that captures are read as, and the bytes that a compressed one may unpack to.
    #[must_use]
    pub fn reading(self, format: Option<String>, max_unpacked: Option<u64>) -> QueryProgram {
        QueryProgram { read_as: format, max_unpacked, ..self }
    }

    /// It with another time for each query.
    #[must_use]
    pub fn within(self, time: Duration) -> QueryProgram {
        QueryProgram { time, ..self }
    }

    /// Ends what answers now.
    pub(crate) fn end(&self) {
        self.running.end();
    }

    /// What the program writes with `options` about `captures`; a refusal in its own words where it fails.
    pub(crate) fn ask(
        &self,
        options: &[&str],
        captures: &[PathBuf],
        sql: Option<&str>,
        interest: &Interest,
    ) -> Result<Written, Refusal> {
        let bounds = Bounds { time: self.time, bytes: MOST_BYTES, lines: MOST_ROWS + LINES_AROUND };
        let failed = |error: std::io::Error| Refusal {
            status: 500,
            message: format!("`ridgeline-query` could not be run: {error}"),
            hints: Vec::new(),
        };
        let ran = run(self.command(options, captures, sql), &bounds, &self.running, interest).map_err(failed)?;
        let Ran { output, complaint, end } = ran;
        match end {
            End::Exited(status) if !status.success() => {
                Err(told(&complaint, format!("`ridgeline-query` ended with {status}")))
            }
            End::Late => Err(Refusal {
                status: 504,
                message: format!("the query took longer than {} s and was ended", self.time.as_secs_f64()),
                hints: vec!["Narrow it, or run it with `ridgeline query`, which has no limit.".to_owned()],
            }),
            End::Unwanted => Err(Refusal::bad("nobody waits for the answer")),
            End::Exited(_) | End::Cut => {
                Ok(Written { text: String::from_utf8_lossy(&output).into_owned(), is_cut: end == End::Cut })
            }
        }
    }

    /// Behind `--` nothing is an option.
    fn command(&self, options: &[&str], captures: &[PathBuf], sql: Option<&str>) -> Command {
        let mut command = Command::new(&self.path);
        command.args(options);
        if let Some(format) = &self.read_as {
            command.arg(format!("--read-as={format}"));
        }
        if let Some(bytes) = self.max_unpacked {
            command.arg(format!("--max-unpacked={bytes}"));
        }
        command.arg("--").args(captures).args(sql);
        command
    }
}

/// `error: MESSAGE`, with lines of `  hint: HINT` behind it; `otherwise` where nothing of that form is there.
fn told(complaint: &str, otherwise: String) -> Refusal {
    let later = complaint.rfind("\nerror: ").map(|at| at + 1);
    let found = later.unwrap_or_default();
    let Some(found) = complaint[found..].strip_prefix("error: ") else { return Refusal::bad(otherwise) };
    let mut parts = found.trim_end().split("\n  hint: ");
    let message = parts.next().unwrap_or_default().to_owned();
    Refusal { hints: parts.map(str::to_owned).collect(), ..Refusal::bad(message) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_are_taken_apart() {
        let refusal = told("warning: a note\nerror: unknown column `x`\n  hint: y\n  hint: z\n", String::new());
        assert_eq!((refusal.message.as_str(), refusal.hints.len()), ("unknown column `x`", 2));
        assert_eq!(told("error: a\nb\n", String::new()).message, "a\nb");
        assert_eq!(told("terminate called\n", "it ended".to_owned()).message, "it ended");
    }
}
