//! Tracks: how long each stream, lane and thread was busy.

use crate::context::coverage::Union;
use crate::context::partition::part;
use crate::{Analysis, Shared};
use ridge_trace::{EventKind, Track, TrackKind, TrackRow};

/// A track and how long it was busy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BusyTrack {
    /// The track.
    pub track: TrackRow,
    /// Union of its intervals, nanoseconds: device work on devices; on threads every range but a pool worker's mere
    /// presence.
    pub busy_ns: i64,
    /// Its busy time as a part of the capture's wall time.
    pub share: f64,
}

impl BusyTrack {
    /// The track in the trace.
    pub fn of<'a>(&self, analysis: &Analysis<'a>) -> &'a Track {
        &analysis.trace.tracks[self.track.index()]
    }
}

/// Tracks that hold events, devices first, then most busy first; those that were derived from others are left out.
#[derive(Debug)]
pub struct BusyTracks(pub Vec<BusyTrack>);

impl Shared for BusyTracks {
    fn make(analysis: &Analysis<'_>) -> BusyTracks {
        let all = analysis.trace.tracks.iter().zip((0..).map(TrackRow));
        let shown = all.filter(|(track, _)| track.kind != TrackKind::Derived && !track.rows.is_empty());
        let wall_ns = analysis.trace.wall_ns();
        let busy = |(track, row)| {
            let busy_ns = busy_ns(analysis, track);
            BusyTrack { track: row, busy_ns, share: part(busy_ns, wall_ns) }
        };
        let mut rows: Vec<BusyTrack> = shown.map(busy).collect();
        rows.sort_by_key(|row| (row.of(analysis).kind == TrackKind::HostThread, std::cmp::Reverse(row.busy_ns)));
        BusyTracks(rows)
    }
}

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
