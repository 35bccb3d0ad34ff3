//! Queues of streams and rates of copies over time, for whoever draws them.

use crate::session::Session;
use ridge_analysis::models::over_time::{CopyRates, Line, QueuedStream, StreamQueues, copied_kinds, queued_streams};
use ridge_trace::{DeviceRow, EventKind};
use std::cmp::Reverse;

/// Streams of a device whose queues are drawn, those with most work: a device may have hundreds, most of them unused.
const MOST_STREAMS: usize = 4;

/// What a line over time is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverTime {
    /// The work that waits on the stream of this track.
    Queue(u32),
    /// Copies of one kind.
    Rate(EventKind),
}

/// A line over time that can be drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OverTimeLine {
    /// What it is of.
    pub of: OverTime,
    /// The device.
    pub device: DeviceRow,
    /// About how often it changes: at most so many times.
    pub changes: u64,
}

impl Session {
    /// Which lines there are, by device: the queues of each device's busiest streams, and copies of each kind. The lines
    /// themselves are not counted, which takes longer.
    pub fn over_time(&self) -> Vec<OverTimeLine> {
        let trace = self.trace();
        let mut busiest: Vec<QueuedStream> = queued_streams(trace);
        busiest.sort_by_key(|queue| (queue.device, Reverse(queue.launched), queue.track));
        let of_device = busiest.chunk_by(|one, other| one.device == other.device);
        let queues = of_device.flat_map(|streams| streams.iter().take(MOST_STREAMS)).map(|queue| OverTimeLine {
            of: OverTime::Queue(queue.track.0),
            device: queue.device,
            changes: 2 * queue.launched,
        });
        let rates = copied_kinds(trace).into_iter().map(|((device, kind), copies)| OverTimeLine {
            of: OverTime::Rate(kind),
            device,
            changes: 2 * copies,
        });
        queues.chain(rates).collect()
    }

    /// The changes of one line, counted when the first is asked for; `device` counts for rates.
    pub fn line_over_time(&self, of: OverTime, device: DeviceRow) -> Option<&Line> {
        let analysis = self.analysis();
        match of {
            OverTime::Queue(track) => {
                let StreamQueues(queues) = analysis.get();
                queues.iter().find(|queue| queue.track.0 == track).map(|queue| &queue.length)
            }
            OverTime::Rate(kind) => {
                let CopyRates(rates) = analysis.get();
                rates.iter().find(|rate| rate.kind == kind && rate.device == device).map(|rate| &rate.rate)
            }
        }
    }
}
