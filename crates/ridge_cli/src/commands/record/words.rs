//! What is said once a program was recorded: what was captured, what it cost, what is missing, what to do next.

use crate::arguments::Globals;
use crate::commands::judged_unasked;
use crate::output::layout_of_notes;
use anstyle::{AnsiColor, Style};
use ridge_record::{ProgramStatus, RecordOutcome};
use ridge_report::check::text;
use ridge_report::escape_controls;
use ridgeline::escape::shell_word;
use ridgeline::units::{Bytes, Nanos, Share};
use ridgeline::{OpenOptions, Session};
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

/// Share of the program's time from which a way to save it is named.
const WORTH_SAVING: f64 = 0.02;

/// Traces that take longer to judge than anybody waits for.
const MOST_JUDGED_BYTES: u64 = 64 << 20;

/// What holds the program back, where its trace is read in no time; nothing where it cannot be opened, which `stats`
/// says.
pub(super) fn causes(outcome: &RecordOutcome, globals: &Globals) -> String {
    let bytes: u64 = outcome.traces.iter().map(|(_, bytes)| bytes).sum();
    if outcome.traces.is_empty() || bytes > MOST_JUDGED_BYTES {
        return String::new();
    }
    ridgeline::start_threads();
    let Ok(session) = Session::open(&[from_here(&outcome.out).to_path_buf()], &OpenOptions::default()) else {
        return String::new();
    };
    judged_unasked(&session).map_or(String::new(), |check| text::brief(&check, &layout_of_notes(globals)))
}

/// One run of several, in a line.
pub(super) fn of_one_run(outcome: &RecordOutcome, number: u32, count: u32) -> String {
    let folder = from_here(&outcome.out).display().to_string();
    let folder = escape_controls(&folder);
    let (what, ended) = (captured(outcome), ended(outcome.status));
    format!("ridgeline: run {number} of {count}: {what} in {folder}; {ended}, {}\n", nanos(outcome.wall))
}

/// What was captured, what it cost, what is missing, what to do next.
pub(super) fn summary(outcome: &RecordOutcome) -> String {
    let bold = Style::new().bold();
    let missing = AnsiColor::Yellow.on_default().bold();
    let folder = from_here(&outcome.out).display().to_string();
    let mut text = format!("\n{bold}ridgeline:{bold:#} {} in {}\n", captured(outcome), escape_controls(&folder));
    text.push_str(&format!("  program   {}, {}\n", ended(outcome.status), nanos(outcome.wall)));
    if !outcome.overhead.harness.is_zero() {
        text.push_str(&format!("  overhead  {}\n", overhead(outcome)));
    }
    if let Some(saving) = saving(outcome) {
        text.push_str(&format!("            {saving}\n"));
    }
    if let Some(plain) = outcome.overhead.unrecorded_wall {
        text.push_str(&format!("  compared  {}\n", compared(outcome.wall, plain)));
    }
    for absent in &outcome.missing {
        let line = format!("{}: {}", absent.what, absent.why);
        text.push_str(&format!("  {missing}missing{missing:#}   {}\n", escape_controls(&line)));
    }
    if !outcome.traces.is_empty() {
        text.push_str(&format!("  next      ridgeline stats {}\n", shell_word(&folder)));
    }
    text
}

fn captured(outcome: &RecordOutcome) -> String {
    let bytes: u64 = outcome.traces.iter().map(|(_, bytes)| bytes).sum();
    let traces = match outcome.traces.len() {
        0 => "no trace".to_owned(),
        1 => format!("1 trace ({})", Bytes(bytes)),
        many => format!("{many} traces ({})", Bytes(bytes)),
    };
    let modules = match outcome.modules {
        1 => "1 module".to_owned(),
        many => format!("{many} modules"),
    };
    format!("{traces}, {modules}")
}

fn ended(status: ProgramStatus) -> String {
    match status {
        ProgramStatus::Exited(code) => format!("exit status {code}"),
        ProgramStatus::Signaled(signal) => format!("ended by signal {signal}"),
    }
}

fn overhead(outcome: &RecordOutcome) -> String {
    let cost = &outcome.overhead;
    let wall = outcome.wall + cost.packing;
    let share = Share::of(cost.harness.as_secs_f64(), wall.as_secs_f64());
    let parts = [
        ("attaching", cost.attach),
        ("starting", cost.start_trace),
        ("draining", cost.drain),
        ("writing the trace", cost.stop_trace),
        ("packing it", cost.packing),
        ("events", cost.events),
        ("modules", cost.modules),
        ("memory profiles", cost.memory),
        ("samples", cost.samples),
        ("watching", cost.watching),
    ];
    let longest = parts.iter().max_by_key(|(_, took)| *took).filter(|(_, took)| !took.is_zero());
    let mostly = longest.map(|(name, took)| format!(", most of it {name}: {}", nanos(*took))).unwrap_or_default();
    let basis = if cost.events.is_zero() { "measured" } else { "measured, events estimated" };
    format!("{} of {} ({share}, {basis}){mostly}", nanos(cost.harness), nanos(wall))
}

/// What `--hlo none` would have saved, where that is worth a line.
fn saving(outcome: &RecordOutcome) -> Option<String> {
    let share = Share::of(outcome.overhead.module_forms.as_secs_f64(), outcome.wall.as_secs_f64());
    let forms = nanos(outcome.overhead.module_forms);
    (share.0 >= WORTH_SAVING).then(|| format!("{forms} of it was spent on writing modules: `--hlo none` avoids it"))
}

/// Wall times with and without the recorder, and what lies between.
fn compared(wall: Duration, plain: Duration) -> String {
    let (more, word) = if wall >= plain { (wall - plain, "more") } else { (plain - wall, "less") };
    let share = Share::of(more.as_secs_f64(), plain.as_secs_f64());
    format!("{} recorded, {} not recorded: {} {word} ({share}), one run each", nanos(wall), nanos(plain), nanos(more))
}

pub(super) fn nanos(time: Duration) -> Nanos {
    Nanos(i64::try_from(time.as_nanos()).unwrap_or(i64::MAX))
}

/// `path` as seen from the working directory, which is how the user would type it.
pub(super) fn from_here(path: &Path) -> &Path {
    let here = std::env::current_dir().ok();
    here.and_then(|here| path.strip_prefix(here).ok()).filter(|path| !path.as_os_str().is_empty()).unwrap_or(path)
}

pub(super) fn print_stderr(text: &str) {
    // The program's status counts, not whether somebody reads this.
    let _ = anstream::stderr().write_all(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use ridge_record::{Missing, Overhead};
    use std::path::PathBuf;

    #[test]
    fn the_summary_says_what_where_and_next() {
        let outcome = RecordOutcome {
            out: PathBuf::from("my run"),
            status: ProgramStatus::Exited(3),
            wall: Duration::from_millis(12_400),
            overhead: Overhead {
                harness: Duration::from_millis(812),
                stop_trace: Duration::from_millis(600),
                module_forms: Duration::from_millis(250),
                unrecorded_wall: Some(Duration::from_secs(11)),
                ..Overhead::default()
            },
            traces: vec![(PathBuf::from("my run/trace/host.xplane.pb"), 35_700_000)],
            modules: 12,
            missing: vec![Missing { what: "memory profiles".to_owned(), why: "the device\x1b has none".to_owned() }],
        };
        let text = anstream::adapter::strip_str(&summary(&outcome)).to_string();
        expect![[r#"

            ridgeline: 1 trace (34 MiB), 12 modules in my run
              program   exit status 3, 12.4 s
              overhead  812 ms of 12.4 s (6.5%, measured), most of it writing the trace: 600 ms
                        250 ms of it was spent on writing modules: `--hlo none` avoids it
              compared  12.4 s recorded, 11 s not recorded: 1.4 s more (12.7%), one run each
              missing   memory profiles: the device\x1b has none
              next      ridgeline stats 'my run'
        "#]]
        .assert_eq(&text);
    }
}
