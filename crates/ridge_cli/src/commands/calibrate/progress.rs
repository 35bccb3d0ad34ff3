//! A calibration's progress on standard error: a bar on a terminal, lines where they were asked for.

use indicatif::{ProgressBar, ProgressStyle};
use ridge_record::calibrate::CalibrateEvent;
use ridge_report::escape_controls;
use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

/// How often the bar moves while a figure is measured.
const TICK: Duration = Duration::from_millis(200);

/// What the user sees while figures are measured.
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
    pub(super) fn tell(&mut self, event: &CalibrateEvent) {
        match event {
            CalibrateEvent::Planned { figures } => self.plan(*figures as u64),
            CalibrateEvent::Started { what } => self.now(what),
            CalibrateEvent::Done { what, missing } => self.done(what, missing.as_deref()),
            CalibrateEvent::NoDevice { reason } => self.line(&format!("devices: {reason}")),
            CalibrateEvent::Interrupted => self.line("interrupted: waiting for the measurement to end"),
            _ => {}
        }
    }

    /// Removes the bar.
    pub(super) fn end(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    fn plan(&mut self, figures: u64) {
        if !std::io::stderr().is_terminal() {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::new(figures);
            if let Ok(style) = ProgressStyle::with_template("{wide_bar:.cyan} {pos}/{len} {elapsed} {msg:28!}") {
                bar.set_style(style.progress_chars("█▉▊▋▌▍▎▏ "));
            }
            bar.enable_steady_tick(TICK);
            bar
        });
        bar.set_length(figures);
    }

    fn now(&self, what: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(escape_controls(what).into_owned());
        }
    }

    fn done(&self, what: &str, missing: Option<&str>) {
        if let Some(bar) = &self.bar {
            bar.inc(1);
        }
        match missing {
            Some(why) if self.verbose => self.line(&format!("{what}: not measured: {why}")),
            None if self.verbose => self.line(&format!("{what}: measured")),
            _ => {}
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
