//! What Ballista tells of its work, line by line on standard error.

use log::{LevelFilter, Log, Metadata, Record};
use ridgeline::escape::escape_controls_in_text;

struct Lines;

impl Log for Lines {
    fn enabled(&self, _of: &Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &Record<'_>) {
        let text = record.args().to_string();
        eprintln!("{}: {}", record.level().as_str().to_lowercase(), escape_controls_in_text(&text));
    }

    fn flush(&self) {}
}

/// Prints from now on what is as grave as `least`, and if `verbose` everything that happens.
pub(super) fn tell(verbose: bool, least: LevelFilter) {
    // It fails where it was called before.
    let _ = log::set_logger(&Lines);
    log::set_max_level(if verbose { LevelFilter::Info } else { least });
}
