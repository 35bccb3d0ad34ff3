//! One line per event: for spreadsheets and scripts.

use crate::event_rows::{COLUMNS, EventRow, place};
use crate::names::Names;
use crate::tracks::{Progress, Tracks};
use ridgeline::Trace;
use ridgeline::escape::csv_cell;
use ridgeline::trace::StringId;
use std::io::{self, Write};

/// Writes `trace` to `out`.
pub(crate) fn write(
    trace: &Trace,
    names: &Names<'_>,
    out: &mut impl Write,
    progress: &mut Progress<'_>,
) -> io::Result<()> {
    rows(trace, names, &mut csv::Writer::from_writer(out), progress).map_err(|error| match error.into_kind() {
        // A reader that went away has to be recognized as one.
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    })
}

fn rows(
    trace: &Trace,
    names: &Names<'_>,
    csv: &mut csv::Writer<impl Write>,
    progress: &mut Progress<'_>,
) -> csv::Result<()> {
    let tracks = Tracks::new(trace);
    csv.write_record(COLUMNS)?;
    for (_, track) in &tracks.all {
        let place = place(trace, &tracks, track, names);
        for row in Tracks::rows(track) {
            csv.write_field(row.to_string())?;
            place.iter().try_for_each(|text| csv.write_field(csv_cell(text).as_ref()))?;
            event(&EventRow::new(trace, row), names, csv)?;
            progress.row();
        }
    }
    Ok(csv.flush()?)
}

fn event(event: &EventRow, names: &Names<'_>, csv: &mut csv::Writer<impl Write>) -> csv::Result<()> {
    let text = |id: Option<StringId>| csv_cell(id.map_or("", |id| names.get(id)));
    csv.write_field(event.kind.name())?;
    csv.write_field(text(Some(event.name)).as_ref())?;
    csv.write_field(event.start_ns.to_string())?;
    csv.write_field(event.dur_ns.to_string())?;
    csv.write_field(event.caused_by.map_or_else(String::new, |row| row.to_string()))?;
    csv.write_field(text(event.operation).as_ref())?;
    csv.write_field(text(event.module).as_ref())?;
    csv.write_field(text(event.scope).as_ref())?;
    csv.write_field(event.bytes.map_or_else(String::new, |bytes| bytes.to_string()))?;
    csv.write_record(None::<&[u8]>)
}
