//! One line per event: for spreadsheets and scripts.

use crate::event_rows::{COLUMNS, EventRow, place};
use crate::names::Names;
use crate::tracks::{Progress, Tracks};
use ridgeline::Trace;
use ridgeline::trace::StringId;
use std::io::{self, Write};

/// Writes `trace` to `out`.
pub(crate) fn write(
    trace: &Trace,
    names: &Names<'_>,
    out: &mut impl Write,
    progress: &mut Progress<'_>,
) -> io::Result<()> {
    let tracks = Tracks::new(trace);
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(COLUMNS)?;
    for (_, track) in &tracks.all {
        let place = place(trace, &tracks, track, names);
        for row in Tracks::rows(track) {
            csv.write_field(row.to_string())?;
            place.iter().try_for_each(|text| csv.write_field(text))?;
            event(&EventRow::new(trace, row), names, &mut csv)?;
            progress.row();
        }
    }
    csv.flush()
}

fn event(event: &EventRow, names: &Names<'_>, csv: &mut csv::Writer<impl Write>) -> csv::Result<()> {
    let text = |id: Option<StringId>| id.map_or("", |id| names.get(id));
    csv.write_field(event.kind.name())?;
    csv.write_field(names.get(event.name))?;
    csv.write_field(event.start_ns.to_string())?;
    csv.write_field(event.dur_ns.to_string())?;
    csv.write_field(event.caused_by.map_or_else(String::new, |row| row.to_string()))?;
    csv.write_field(text(event.operation))?;
    csv.write_field(text(event.module))?;
    csv.write_field(text(event.scope))?;
    csv.write_field(event.bytes.map_or_else(String::new, |bytes| bytes.to_string()))?;
    csv.write_record(None::<&[u8]>)
}
