//! Time by track: each stream, lane and thread with how long it was busy.

use crate::Analysis;
use crate::context::coverage::Union;
use crate::context::labels::{device_label, process_labels};
use crate::tables::time::table as build;
use crate::view::{Shown, Topic, View, has_events};
use ridge_table::{Basis, Column, Rank, Table, Unit};
use ridge_trace::{EventKind, Track, TrackKind};

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

/// Tracks, devices first, then most busy first.
pub(crate) fn table(analysis: &Analysis<'_>) -> Table {
    let trace = analysis.trace;
    let shown = trace.tracks.iter().filter(|track| track.kind != TrackKind::Derived && !track.rows.is_empty());
    let mut rows: Vec<(&Track, i64)> = shown.map(|track| (track, busy_ns(analysis, track))).collect();
    rows.sort_by_key(|(track, busy)| (track.kind == TrackKind::HostThread, std::cmp::Reverse(*busy)));
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
    build(
        "track",
        "Tracks",
        vec![
            Column::text(
                "track",
                "Track",
                "stream, lane or thread",
                rows.iter().map(|(track, _)| analysis.text(track.name).to_owned()),
            )
            .ranked(Rank::Key),
            Column::text("device", "Device", "device of a stream or lane", rows.iter().map(|(track, _)| device(track))),
            Column::text("kind", "Kind", "what the track is", rows.iter().map(|(track, _)| kind(track).to_owned())),
            Column::nanos(
                "busy_ns",
                "Busy",
                "union of the track's intervals, measured",
                rows.iter().map(|(_, busy)| *busy),
            )
            .basis(Basis::Measured)
            .ranked(Rank::Key),
            Column::real(
                "busy_share",
                "Share",
                "busy time as a part of the capture's wall time",
                Unit::Share,
                rows.iter().map(|(_, busy)| if wall > 0 { *busy as f64 / wall as f64 } else { 0.0 }),
            )
            .basis(Basis::Measured)
            .ranked(Rank::Key),
            Column::whole(
                "events",
                "Events",
                "events on the track",
                Unit::Count,
                rows.iter().map(|(track, _)| track.rows.len() as u64),
            )
            .basis(Basis::Counted),
            Column::nanos(
                "first_ns",
                "First",
                "start of its first event on the trace clock",
                rows.iter().map(|(track, _)| first(track)),
            )
            .basis(Basis::Measured)
            .ranked(Rank::Detail),
        ],
    )
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
