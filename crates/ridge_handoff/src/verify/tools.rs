//! Tools of the machine: whether they are there, which version, and running them within bounds.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Time for one command.
const PATIENCE: Duration = Duration::from_secs(300);

/// Bytes that are kept of what a command says.
const MOST_SAID: usize = 4096;

/// How a command ended.
pub(crate) struct Ran {
    pub(crate) is_success: bool,
    /// Whether it was ended because it took too long.
    pub(crate) is_late: bool,
    /// Its last words.
    pub(crate) said: String,
    pub(crate) wall_s: f64,
}

/// The first line that a tool says of its version; `None` where it is not there.
pub(crate) fn version(tool: &str, flag: &str) -> Option<String> {
    let output = Command::new(tool).arg(flag).stdin(Stdio::null()).output().ok()?;
    let text = if output.stdout.is_empty() { output.stderr } else { output.stdout };
    let line = String::from_utf8_lossy(&text).lines().next().unwrap_or("").trim().to_owned();
    Some(line.chars().take(120).collect())
}

/// Runs a command in `folder`, and ends it where it takes too long.
pub(crate) fn run(folder: &Path, words: &[&str]) -> Ran {
    run_within(folder, words, PATIENCE)
}

/// The same, with as much time as is said.
pub(crate) fn run_within(folder: &Path, words: &[&str], patience: Duration) -> Ran {
    let began = Instant::now();
    let said =
        |text: String| Ran { is_success: false, is_late: false, said: text, wall_s: began.elapsed().as_secs_f64() };
    let Some((tool, arguments)) = words.split_first() else { return said("no command".to_owned()) };
    // A file of its own, because commands run side by side in one folder.
    let Ok(out) = tempfile::NamedTempFile::new_in(folder) else { return said("no file can be made".to_owned()) };
    let Ok(file) = out.reopen() else { return said("no file can be made".to_owned()) };
    let Ok(copy) = file.try_clone() else { return said("no file can be made".to_owned()) };
    let child =
        Command::new(tool).args(arguments).current_dir(folder).stdin(Stdio::null()).stdout(file).stderr(copy).spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => return said(error.to_string()),
    };
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Some(status),
            Ok(None) if began.elapsed() > patience => {
                let _ = child.kill();
                let _ = child.wait();
                break None;
            }
            Ok(None) => std::thread::sleep(Duration::from_millis(5)),
            Err(_) => break None,
        }
    };
    let text = std::fs::read(out.path()).unwrap_or_default();
    let text = String::from_utf8_lossy(&text[text.len().saturating_sub(MOST_SAID)..]).trim().to_owned();
    let text = if status.is_none() { format!("it took longer than {} s", patience.as_secs()) } else { text };
    let is_success = status.is_some_and(|status| status.success());
    Ran { is_success, is_late: status.is_none(), said: text, wall_s: began.elapsed().as_secs_f64() }
}
