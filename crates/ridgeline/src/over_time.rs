//! Queues of streams and rates of copies over time, for whoever draws them.

use crate::session::Session;
use ridge_analysis::models::over_time::{CopyRates, Line, StreamQueue, StreamQueues};
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

/// A line over time.
#[derive(Debug, Clone, Copy)]
pub struct OverTimeLine<'s> {
    /// What it is of.
    pub of: OverTime,
    /// The device.
    pub device: DeviceRow,
    /// Its changes.
    pub line: &'s Line,
}

impl Session {
    /// How much work waits on each device's busiest streams, and how fast copies of each kind go, by device.
    pub fn over_time(&self) -> Vec<OverTimeLine<'_>> {
        let analysis = self.analysis();
        let (StreamQueues(queues), CopyRates(rates)) = (analysis.get(), analysis.get());
        let mut busiest: Vec<&StreamQueue> = queues.iter().filter(|queue| queue.length.changes() > 0).collect();
        busiest.sort_by_key(|queue| (queue.device, Reverse(queue.launched), queue.track));
        let of_device = busiest.chunk_by(|one, other| one.device == other.device);
        let queues = of_device.flat_map(|streams| streams.iter().take(MOST_STREAMS)).map(|queue| OverTimeLine {
            of: OverTime::Queue(queue.track.0),
            device: queue.device,
            line: &queue.length,
        });
        let rates = rates.iter().map(|rate| OverTimeLine {
            of: OverTime::Rate(rate.kind),
            device: rate.device,
            line: &rate.rate,
        });
        queues.chain(rates).collect()
    }
}
