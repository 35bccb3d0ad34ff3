//! What servers of JAX's profiler answered, kept and said.

use crate::ending::Ending;
use crate::failure::{FAILED, Failure};
use ridge_remote::{Answer, Ask, Limits, RemoteError, Target, ask, keep, place};
use ridge_report::escape_controls;
use ridgeline::escape::shell_word;
use ridgeline::units::Bytes;
use std::io::Write as _;
use std::path::Path;

/// Most servers that are asked at once.
const MOST_SERVERS: usize = 1024;

/// Asks `targets` for captures and keeps those that come in `out`; exit status 1 if one is missing.
pub(super) fn captured(
    targets: &[Target],
    question: Ask,
    limits: Limits,
    out: &Path,
    begun: impl FnOnce(),
) -> Result<Ending, Failure> {
    let several = targets.len() > 1;
    if let Some(there) = targets.iter().map(|target| place(out, target, several)).find(|path| path.exists()) {
        return Err(Failure::about("there is already a capture", Some(&there)).hint("name another directory with -o"));
    }
    let answers = asked(targets, question, limits, begun)?;
    let mut kept = 0;
    for Answer { target, xspace, note } in &answers {
        let path = place(out, target, several);
        let written = xspace.as_ref().map(|xspace| {
            let bytes = xspace.as_deref().unwrap_or_default();
            keep(&path, bytes).map(|()| bytes.len() as u64)
        });
        match written {
            Ok(Ok(bytes)) => {
                kept += 1;
                say_of(target, &format!("{} in {}", Bytes(bytes), path.display()));
            }
            Ok(Err(error)) => failed(target, &error),
            Err(error) => failed(target, error),
        }
        note.iter().for_each(|note| say_of(target, note));
    }
    if kept > 0 {
        say(&format!("next: ridgeline check {}", shell_word(&out.display().to_string())));
    }
    Ok(Ending::Code(if kept == answers.len() { 0 } else { FAILED }))
}

/// Asks `targets` for what leaves no capture; exit status 1 if one refuses.
pub(super) fn told(targets: &[Target], question: Ask, limits: Limits, done: &str) -> Result<Ending, Failure> {
    let answers = asked(targets, question, limits, || ())?;
    for Answer { target, xspace, .. } in &answers {
        match xspace {
            Ok(_) => say_of(target, done),
            Err(error) => failed(target, error),
        }
    }
    Ok(Ending::Code(if answers.iter().all(|answer| answer.xspace.is_ok()) { 0 } else { FAILED }))
}

fn asked(targets: &[Target], question: Ask, limits: Limits, begun: impl FnOnce()) -> Result<Vec<Answer>, Failure> {
    let mut named: Vec<&Target> = targets.iter().collect();
    named.sort_unstable();
    if let Some(twice) = named.windows(2).find(|pair| pair.first() == pair.last()).and_then(<[&Target]>::first) {
        return Err(Failure::usage(format!("{twice} is named twice")));
    }
    if targets.len() > MOST_SERVERS {
        return Err(Failure::usage(format!("at most {MOST_SERVERS} servers can be queried at once")));
    }
    ask(targets, question, limits, begun).map_err(|error| Failure::io("start the event loop", &error))
}

fn failed(target: &Target, error: &RemoteError) {
    say_of(target, &error.to_string());
    if let Some(hint) = hint(error) {
        say(&format!("  {hint}"));
    }
}

/// What would help.
fn hint(error: &RemoteError) -> Option<&'static str> {
    Some(match error {
        RemoteError::Unreachable(_) | RemoteError::Late(_) => {
            "the program opens its port with `jax.profiler.start_server(PORT)`"
        }
        RemoteError::NoProfiler(_) => "name the port of `jax.profiler.start_server`",
        RemoteError::Refused { .. } => {
            "only one profiler at a time can capture a program; try again, or stop the other one"
        }
        RemoteError::TooLarge(_) => "capture for a shorter time",
        _ => return None,
    })
}

fn say_of(target: &Target, words: &str) {
    say(&format!("{target}: {words}"));
}

/// Tells people, on the error output.
pub(super) fn say(words: &str) {
    let _ = writeln!(std::io::stderr(), "ridgeline: {}", escape_controls(words));
}
