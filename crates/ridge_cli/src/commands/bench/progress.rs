//! A benchmark's progress on standard error: a bar on a terminal, a line per finished operation elsewhere.

use indicatif::{ProgressBar, ProgressStyle};
use ridge_record::bench::{BenchEvent, BenchStatus};
use ridge_report::escape_controls;
use ridgeline::units::Nanos;
use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

/// How often a bar moves while an operation runs.
const TICK: Duration = Duration::from_millis(200);

/// What the user sees while a benchmark runs.
pub(super) struct Progress {
    bar: Option<ProgressBar>,
    verbose: bool,
}

impl Progress {
    /// Nothing drawn yet.
    pub(super) fn new(verbose: bool) -> Progress {
        Progress { bar: None, verbose }
    }

    /// Shows `event`.
    pub(super) fn tell(&mut self, event: &BenchEvent) {
        match event {
            BenchEvent::Planned { suite, sizes, operations } => {
                self.begin(suite, (sizes.len() * operations.len()) as u64);
            }
            BenchEvent::OperationStarted { size, operation } => self.now(&format!("{operation} at {size}")),
            BenchEvent::Phase { size, operation, phase } => self.now(&format!("{operation} at {size}: {phase}")),
            BenchEvent::OperationDone { size, operation, status } => self.done(*size, operation, status),
            BenchEvent::Interrupted => self.line("interrupted: waiting for the worker to end"),
            _ => {}
        }
    }

    /// Removes the bar.
    pub(super) fn end(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    fn begin(&mut self, suite: &str, rows: u64) {
        if !std::io::stderr().is_terminal() {
            self.line(&format!("{suite}: {rows} measurements"));
            return;
        }
        let bar = ProgressBar::new(rows).with_prefix(suite.to_owned());
        let style = ProgressStyle::with_template("{prefix} {wide_bar:.cyan} {pos}/{len} {elapsed} {msg:44!}");
        if let Ok(style) = style {
            bar.set_style(style.progress_chars("█▉▊▋▌▍▎▏ "));
        }
        bar.enable_steady_tick(TICK);
        self.bar = Some(bar);
    }

    fn now(&self, what: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(escape_controls(what).into_owned());
        }
    }

    fn done(&self, size: u32, operation: &str, status: &BenchStatus) {
        let on_terminal = self.bar.is_some();
        if let Some(bar) = &self.bar {
            bar.inc(1);
        }
        let failed = matches!(status, BenchStatus::Failed { .. });
        // On a terminal the bar counts what went well; failures are worth a line at once.
        if failed || self.verbose || !on_terminal {
            self.line(&format!("{operation} at {size}: {}", ended(status)));
        }
    }

    fn line(&self, text: &str) {
        let text = escape_controls(text);
        match &self.bar {
            Some(bar) => bar.println(text),
            // Progress is a courtesy: a closed standard error is no reason to stop measuring.
            None => drop(anstream::stderr().write_all(format!("{text}\n").as_bytes())),
        }
    }
}

fn ended(status: &BenchStatus) -> String {
    match status {
        BenchStatus::Ok { median_s, spread_s, runs, recompiles, .. } => {
            let runs = if *runs == 1 { "1 run".to_owned() } else { format!("{runs} runs") };
            let cold = recompiles.as_ref().map(|found| format!("; {found}")).unwrap_or_default();
            format!("{} ± {} ({runs}){cold}", nanos(*median_s), nanos(*spread_s))
        }
        BenchStatus::Failed { reason } => format!("failed: {reason}"),
        BenchStatus::NotRun { reason } => not_run(reason),
    }
}

/// A reason that says what it is the reason for; the runner's own do already.
pub(super) fn not_run(reason: &str) -> String {
    let why = reason.strip_prefix("not run: ").unwrap_or(reason);
    format!("not run: {why}")
}

/// Seconds as whole nanoseconds.
pub(super) fn nanos(secs: f64) -> Nanos {
    Nanos((secs * 1e9).round() as i64)
}
