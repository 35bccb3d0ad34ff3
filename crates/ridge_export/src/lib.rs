//! A capture in the formats of other tools.
//!
//! [`export`] writes a trace as one of [`Form`]s, event by event: memory does not grow with the capture beyond a few bytes per
//! event of its longest track and one copy of its distinct names.
//! Times are the trace's own, to the nanosecond; nothing is summed, dropped or renamed, but lines that a viewer derived stay out
//! and names lose what is private unless it is asked for.
//!
//! [`tables`] has everything that a capture holds as tables, for Parquet and for SQL.
//!
//! One decision and why: where events of one track overlap without one holding the other, as on streams that run kernels side by
//! side, they go to several lanes of that track, because the formats know only nested ranges.
//!
//! ```
//! use ridge_export::{Form, Privacy, export};
//! let trace = ridge_test::trace("stream 7 on gpu\n 1500 +250 gemm");
//! let mut out = Vec::new();
//! export(&trace, &|_| None, Form::Csv, Privacy::Removed, &mut out, &mut |_rows| {})?;
//! assert!(String::from_utf8_lossy(&out).contains("gemm,1500,250"));
//! # Ok::<(), std::io::Error>(())
//! ```

mod args;
mod chrome;
mod event_rows;
mod events_csv;
mod lanes;
mod names;
mod perfetto;
mod speedscope;
pub mod tables;
mod tracks;
mod wire;

pub use chrome::Programs;
pub use names::Privacy;

use names::Names;
use ridgeline::Trace;
use std::io::{self, BufWriter, Write};
use tracks::Progress;

/// A format to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Trace event JSON, for chrome://tracing and whatever reads it.
    Chrome,
    /// Perfetto's own protobuf, for ui.perfetto.dev and its trace processor.
    Perfetto,
    /// An evented speedscope profile per track, for speedscope.app.
    Speedscope,
    /// One line per event.
    Csv,
}

impl Form {
    /// How names of its files end.
    pub fn suffix(self) -> &'static str {
        match self {
            Form::Chrome => ".trace.json",
            Form::Perfetto => ".pftrace",
            Form::Speedscope => ".speedscope.json",
            Form::Csv => ".csv",
        }
    }
}

/// Writes `trace` to `out`; `progress` hears now and then how many of its events have been passed.
///
/// A Chrome trace brings the `programs` along, so that read back it has its categories, costs and lines.
///
/// # Errors
/// Whatever `out` says.
pub fn export(
    trace: &Trace,
    programs: &Programs<'_>,
    form: Form,
    privacy: Privacy<'_>,
    out: &mut dyn Write,
    progress: &mut dyn FnMut(u64),
) -> io::Result<()> {
    let names = Names::new(trace, privacy);
    let progress = &mut Progress::new(progress);
    let mut out = BufWriter::with_capacity(1 << 18, out);
    match form {
        Form::Chrome => chrome::write(trace, programs, &names, &mut out, progress)?,
        Form::Perfetto => perfetto::write(trace, &names, &mut out, progress)?,
        Form::Speedscope => speedscope::write(trace, &names, &mut out, progress)?,
        Form::Csv => events_csv::write(trace, &names, &mut out, progress)?,
    }
    out.flush()
}
