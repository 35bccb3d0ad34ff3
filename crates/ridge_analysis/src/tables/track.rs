//! Time by track: each stream, lane and thread with how long it was busy.

use crate::Analysis;
use crate::context::coverage::Union;
use crate::context::labels::{device_label, process_labels};
use crate::view::{Shown, Topic, View, has_events};
use ridge_table::{Basis, Columns, Subject, Table};
use ridge_trace::{EventKind, Track, TrackKind, TrackRow};

/// The view.
pub(crate) static VIEW: View = View {
    topic: Topic::Time,
    id: "track",
    about: "stream, thread or lane",
    aliases: &[],
    shown: Shown::InReport,
    needs: &[],
    answers: has_events,
    charts: None,
    make: |analysis, _| table(analysis),
};

/// A track and how long it was busy.
struct Row<'a> {
    row: TrackRow,
    track: &'a Track,
    busy_ns: i64,
}

/// Tracks, devices first, then most busy first.
pub(crate) fn table(analysis: &Analysis<'_>) -> Table {
    let trace = analysis.trace;
    let all = trace.tracks.iter().zip((0..).map(TrackRow));
    let shown = all.filter(|(track, _)| track.kind != TrackKind::Derived && !track.rows.is_empty());
    let mut rows: Vec<Row<'_>> =
        shown.map(|(track, row)| Row { row, track, busy_ns: busy_ns(analysis, track) }).collect();
    rows.sort_by_key(|row| (row.track.kind == TrackKind::HostThread, std::cmp::Reverse(row.busy_ns)));
    let wall = trace.wall_ns();
    let labels = process_labels(trace);
    let device = |track: &Track| track.device.map(|device| device_label(trace, &labels, device));
    let kind = |track: &Track| match track.kind {
        TrackKind::HostThread => "thread",
        TrackKind::Stream => "stream",
        TrackKind::OperationLane => "lane",
        TrackKind::Derived => "derived",
    };
    let first = |track: &Track| trace.events.start_ns[track.rows.start as usize];
    Columns::over(&rows)
        .about(|row| Some(Subject::Track(row.row)))
        .text("track", "Track", "stream, lane or thread", |row| analysis.text(row.track.name).to_owned())
        .key()
        .text("device", "Device", "device of a stream or lane", |row| device(row.track))
        .text("kind", "Kind", "what the track is", |row| kind(row.track).to_owned())
        .nanos("busy_ns", "Busy", "union of the track's intervals, measured", Basis::Measured, |row| row.busy_ns)
        .key()
        .share("busy_share", "Share", "busy time as a part of the capture's wall time", Basis::Measured, |row| {
            if wall > 0 { row.busy_ns as f64 / wall as f64 } else { 0.0 }
        })
        .key()
        .count("events", "Events", "events on the track", Basis::Counted, |row| row.track.rows.len() as u64)
        .nanos("first_ns", "First", "start of its first event on the trace clock", Basis::Measured, |row| {
            first(row.track)
        })
        .detail()
        .table("track", "Tracks")
}

/// How long a track was busy: device work on devices; on threads every range but a pool worker's mere presence.
fn busy_ns(analysis: &Analysis<'_>, track: &Track) -> i64 {
    let events = &analysis.trace.events;
    let counts = |kind: EventKind| match track.kind {
        TrackKind::HostThread => !matches!(kind, EventKind::Instant | EventKind::PoolRegion),
        _ => kind.is_device_work(),
    };
    let counted: Vec<bool> = (0..=u8::MAX).map(|byte| counts(EventKind::from_byte(byte))).collect();
    let mut union = Union::default();
    for row in track.rows.start as usize..track.rows.end as usize {
        if counted[events.kind[row] as usize] {
            union.add(events.start_ns[row], events.end_ns(row));
        }
    }
    union.total_ns()
}
