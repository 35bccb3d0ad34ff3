//! Time by track: each stream, lane and thread with how long it was busy.

use crate::context::Need;
use crate::models::tracks::{BusyTrack, BusyTracks};
use crate::view::{Sheet, Shown, Topic, View, columns};
use ridge_table::Subject;
use ridge_trace::TrackKind;

/// The view.
pub(crate) static VIEW: View = View {
    id: "track",
    about: "stream, thread or lane",
    shown: Shown::InReport,
    needs: &[Need::of::<BusyTracks>()],
    make: |analysis, _| {
        let BusyTracks(rows) = analysis.get();
        Sheet::over(analysis, rows).about(|_, row| Some(Subject::Track(row.track))).show(COLUMNS).table("Tracks")
    },
    ..View::of(Topic::Time)
};

fn kind(kind: TrackKind) -> &'static str {
    match kind {
        TrackKind::HostThread => "thread",
        TrackKind::Stream => "stream",
        TrackKind::OperationLane => "lane",
        TrackKind::Derived => "derived",
    }
}

columns! {
    COLUMNS: BusyTrack {
        track: text Key "Track", "stream, lane or thread", |at, row| at.text(row.of(at).name);
        device: text "Device", "device of a stream or lane",
            |at, row| row.of(at).device.map(|device| at.device_label(device));
        kind: text "Kind", "the kind of track", |at, row| kind(row.of(at).kind);
        busy_ns: nanos Key Measured "Busy", "union of the track's intervals, measured", |_, row| row.busy_ns;
        busy_share: share Key Measured "Share",
            "busy time as a part of the capture's wall time", |_, row| row.share;
        events: count Counted "Events", "events on the track", |at, row| row.of(at).rows.len() as u64;
        first_ns: nanos Detail Measured "First", "start of its first event on the trace clock",
            |at, row| at.trace.events.start_ns[row.of(at).rows.start as usize];
    }
}
