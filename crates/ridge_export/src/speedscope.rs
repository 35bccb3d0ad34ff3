//! speedscope's file format: an evented profile for each lane of each track.
//!
//! The form is that of speedscope's published JSON schema. Values are JavaScript numbers, exact to 2^53, so times count from the
//! beginning of the trace.

use crate::lanes::{Edge, assign, walk};
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
    out.write_all(b"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"ridgeline\",\"shared\":{\"frames\":[")?;
    let frames = frames(trace, names, &tracks, out)?;
    out.write_all(b"]},\"profiles\":[")?;
    let origin = trace.span_ns().map_or(0, |(first, _)| first);
    let mut separator = "\n";
    for (_, track) in &tracks.all {
        for (lane, rows) in assign(trace, Tracks::rows(track)).into_iter().enumerate() {
            let lane_name = if lane == 0 { String::new() } else { format!(", overlapping {lane}") };
            let place = track.device.map_or_else(
                || names.process(trace, track.process as usize),
                |device| Names::device(trace, device as usize),
            );
            let name = serde_json::Value::from(format!("{place}: {}{lane_name}", tracks.name(track, names)));
            let first = rows.iter().map(|row| trace.events.start_ns[*row] - origin).min().unwrap_or(0);
            let last = rows.iter().map(|row| trace.events.end_ns(*row) - origin).max().unwrap_or(0);
            write!(
                out,
                "{separator}{{\"type\":\"evented\",\"name\":{name},\"unit\":\"nanoseconds\",\"startValue\":{first},\"endValue\":{last},\"events\":["
            )?;
            separator = ",\n";
            let mut comma = "";
            walk(trace, &rows, |edge| {
                let (kind, row, at) = match edge {
                    Edge::Begin(row) => ("O", row, trace.events.start_ns[row]),
                    Edge::End(row) => ("C", row, trace.events.end_ns(row)),
                };
                if kind == "O" {
                    progress.row();
                }
                let frame = frames[trace.events.name[row] as usize];
                write!(out, "{comma}{{\"type\":\"{kind}\",\"frame\":{frame},\"at\":{}}}", at - origin)?;
                comma = ",";
                Ok::<(), io::Error>(())
            })?;
            out.write_all(b"]}")?;
        }
    }
    out.write_all(b"\n]}\n")
}

/// Writes the names that events have; the position among them of each id.
fn frames(trace: &Trace, names: &Names<'_>, tracks: &Tracks<'_>, out: &mut impl Write) -> io::Result<Vec<u32>> {
    const UNUSED: u32 = u32::MAX;
    let mut positions = vec![UNUSED; names.len()];
    let mut count = 0;
    for (_, track) in &tracks.all {
        for row in Tracks::rows(track) {
            let id = trace.events.name[row];
            let Some(position) = positions.get_mut(id as usize).filter(|position| **position == UNUSED) else {
                continue;
            };
            *position = count;
            let name = serde_json::Value::from(names.get(StringId(id)));
            write!(out, "{}{{\"name\":{name}}}", if count == 0 { "" } else { "," })?;
            count += 1;
        }
    }
    Ok(positions)
}
