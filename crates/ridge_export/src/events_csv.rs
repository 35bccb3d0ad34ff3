//! One line per event: for spreadsheets and scripts.

use crate::names::Names;
use crate::tracks::{Progress, Tracks};
use ridgeline::Trace;
use ridgeline::trace::{NONE, StringId};
use std::io::{self, Write};

const HEADER: [&str; 13] = [
    "row",
    "process",
    "device",
    "track",
    "kind",
    "name",
    "start_ns",
    "dur_ns",
    "caused_by",
    "operation",
    "module",
    "scope",
    "bytes",
];

/// Writes `trace` to `out`.
pub(crate) fn write(
    trace: &Trace,
    names: &Names<'_>,
    out: &mut impl Write,
    progress: &mut dyn FnMut(u64),
) -> io::Result<()> {
    let tracks = Tracks::new(trace);
    let mut progress = Progress::new(progress);
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(HEADER)?;
    for (_, track) in &tracks.all {
        let place = [
            names.process(trace, track.process as usize),
            track.device.map(|device| Names::device(trace, device as usize)).unwrap_or_default(),
            tracks.name(track, names),
        ];
        for row in Tracks::rows(track) {
            csv.write_field(row.to_string())?;
            place.iter().try_for_each(|text| csv.write_field(text))?;
            event(trace, names, row, &mut csv)?;
            progress.row();
        }
    }
    csv.flush()
}

fn event(trace: &Trace, names: &Names<'_>, row: usize, csv: &mut csv::Writer<impl Write>) -> csv::Result<()> {
    let events = &trace.events;
    let operation = trace.operation(row);
    let of_operation =
        |id: fn(&ridgeline::trace::Operation) -> StringId| operation.map_or("", |found| names.get(id(found)));
    let module = operation.and_then(|operation| trace.modules.get(operation.module as usize));
    csv.write_field(events.kind(row).name())?;
    csv.write_field(names.get(StringId(events.name[row])))?;
    csv.write_field(events.start_ns[row].to_string())?;
    csv.write_field(events.dur_ns[row].to_string())?;
    csv.write_field(if events.link[row] == NONE { String::new() } else { events.link[row].to_string() })?;
    csv.write_field(of_operation(|operation| operation.name))?;
    csv.write_field(module.map_or("", |module| names.get(module.name)))?;
    csv.write_field(of_operation(|operation| operation.scope))?;
    csv.write_field(trace.transfer(row).map_or_else(String::new, |transfer| transfer.bytes.to_string()))?;
    csv.write_record(None::<&[u8]>)
}
