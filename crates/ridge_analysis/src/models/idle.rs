//! Why each device was idle: every gap of the union of its streams, with its causes.
//!
//! A device's *capture window* is the time of its process, first event to last; its *active window* is from its first
//! work to the end of its last. The capture window is the sum of a head, the active window's busy time and gaps, and a
//! tail; each gap is the sum of its parts. All of it is whole nanoseconds, so the sums are exact.
//!
//! [`IdleGaps`] sweeps each device once and keeps its gaps as pairs of rows; what a gap's parts are is worked out for
//! whoever visits it. [`Idle`] visits them all once and has the sums that tables show.

pub(crate) mod activity;
pub(crate) mod attribute;
pub(crate) mod before;
pub(crate) mod cause;
pub(crate) mod context;
pub(crate) mod gaps;
mod latency;
mod longest;
mod queue;
mod rows;
pub(crate) mod sums;
mod sweep;
#[cfg(test)]
mod tests;
mod threads;

pub use activity::Activity;
pub use attribute::Gap;
pub use before::Before;
pub use cause::Cause;
pub use gaps::{DeviceGaps, IdleGaps, IdlePart};
pub use latency::Latency;
pub use longest::GapRow;
pub use queue::{Queue, SmallKernels};
pub use rows::{CauseRow, HostRow, NextRow};
pub use sums::Sum;

use crate::{Analysis, Need, Owners, Shared};
use context::Context;
use rayon::prelude::*;
use ridge_trace::{DeviceRow, StringId};
use std::ops::Deref;
use std::sync::Arc;
use sums::{SumBy, Sums};

/// The idle time of devices, attributed and summed.
#[derive(Debug)]
pub struct Idle {
    pub(crate) context: Arc<Context>,
    /// The devices that worked, in the order of the devices table.
    pub devices: Vec<Arc<DeviceIdle>>,
    /// Devices that did no work.
    pub unused: Vec<DeviceRow>,
}

/// The idle time of one device: its gaps, and what they add up to.
#[derive(Debug)]
pub struct DeviceIdle {
    gaps: Arc<DeviceGaps>,
    pub(crate) sums: Sums,
}

impl Shared for Idle {
    const NEEDS: &'static [Need] = &[Need::of::<Owners>(), Need::of::<IdleGaps>()];

    fn make(analysis: &Analysis<'_>) -> Idle {
        let gaps = analysis.get::<IdleGaps>();
        let by = SumBy { work: true, ranges: Some(analysis.owners()) };
        let of_device = |device: &Arc<DeviceGaps>| {
            let sums = device.attribute(analysis.trace, &gaps.context, by);
            Arc::new(DeviceIdle { gaps: Arc::clone(device), sums })
        };
        let devices = gaps.devices.par_iter().map(of_device).collect();
        Idle { devices, context: Arc::clone(&gaps.context), unused: gaps.unused.clone() }
    }
}

impl Deref for DeviceIdle {
    type Target = DeviceGaps;

    fn deref(&self) -> &DeviceGaps {
        &self.gaps
    }
}

impl Idle {
    /// The idle time of `devices` alone.
    pub(crate) fn only(&self, devices: &[DeviceRow]) -> Idle {
        let (context, mut chosen, mut unused) = (Arc::clone(&self.context), self.devices.clone(), self.unused.clone());
        chosen.retain(|device| devices.contains(&DeviceRow(device.device)));
        unused.retain(|device| devices.contains(device));
        Idle { context, devices: chosen, unused }
    }

    /// How many gaps there are, over all devices, without heads and tails.
    pub fn gap_count(&self) -> usize {
        self.devices.iter().map(|device| device.gaps.gaps.len()).sum()
    }

    /// Calls `visit` with the position of each device and of each of its stretches of gaps, in parallel.
    pub(crate) fn map_stretches<T: Send>(&self, visit: impl Fn(usize, usize) -> T + Sync) -> Vec<T> {
        let devices = self.devices.iter().enumerate();
        let tasks: Vec<(usize, usize)> =
            devices.flat_map(|(index, device)| (0..device.gaps.gaps.stretches()).map(move |at| (index, at))).collect();
        tasks.into_par_iter().map(|(index, stretch)| visit(index, stretch)).collect()
    }
}

impl DeviceIdle {
    /// Idle time of one cause, head and tail included, nanoseconds.
    pub fn cause_ns(&self, cause: Cause) -> i64 {
        self.sums.ns(cause)
    }

    /// The cause with the most idle time of the active window.
    pub fn greatest_cause(&self) -> Option<Cause> {
        let inner = Cause::ALL.into_iter().filter(|cause| !matches!(cause, Cause::BeforeFirst | Cause::AfterLast));
        inner.filter(|cause| self.cause_ns(*cause) > 0).max_by_key(|cause| self.cause_ns(*cause))
    }

    /// How many gaps there are between its work.
    pub fn gap_count(&self) -> u64 {
        self.gaps.gaps.len() as u64
    }

    /// Time in which the device was idle and the host was launching, nanoseconds.
    pub fn launch_bound_ns(&self, analysis: &Analysis<'_>) -> i64 {
        let launching = self.sums.doings.iter().filter(|((cause, key), _)| {
            *cause == Cause::HostLate && key.activity(analysis.text(StringId(key.name))) == Activity::Launching
        });
        let launching = launching.fold(0_i64, |sum, (_, part)| sum.saturating_add(part.ns));
        let own = self.sums.ns(Cause::LaunchCall).saturating_add(self.sums.ns(Cause::LaunchLatency));
        launching.saturating_add(own)
    }
}
