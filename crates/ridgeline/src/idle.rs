//! Idle time of devices part by part, for whoever draws it on a timeline.

use crate::session::Session;
use ridge_analysis::models::idle::{DeviceIdle, IdlePart};
use ridge_analysis::{Cause, Idle, IdleGaps};
use ridge_trace::EventRow;
use std::ops::Range;

/// Idle time of one device by cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdleCauses {
    /// Row of the devices table.
    pub device: u32,
    /// Length of its capture, nanoseconds.
    pub capture_ns: i64,
    /// Nanoseconds of each cause, head and tail included.
    pub causes: Vec<(Cause, i64)>,
}

impl Session {
    /// Why the device was idle between the end of `prev` and the start of `next`, in order of time; nothing where they are
    /// not work of one device with time between.
    pub fn gap(&self, prev: EventRow, next: EventRow) -> Vec<IdlePart> {
        self.analysis().get::<IdleGaps>().between(self.trace(), prev, next)
    }

    /// Idle time of each device that worked, by cause.
    pub fn idle_causes(&self) -> Vec<IdleCauses> {
        let analysis = self.analysis();
        let devices = analysis.get::<Idle>().devices.iter();
        let causes = |device: &DeviceIdle| Cause::ALL.map(|cause| (cause, device.cause_ns(cause))).to_vec();
        let of = |device: &DeviceIdle| IdleCauses {
            device: device.device,
            capture_ns: device.capture_ns(),
            causes: causes(device),
        };
        devices.map(|device| of(device)).collect()
    }

    /// The parts of the gaps of the device at row `device` that are at least `least_ns` long and have a part in `window`, in
    /// order of time.
    pub fn idle_parts(&self, device: u32, window: &Range<i64>, least_ns: i64) -> Vec<IdlePart> {
        let gaps = self.analysis().get::<IdleGaps>();
        let Some(position) = gaps.devices.iter().position(|found| found.device == device) else { return Vec::new() };
        let is_inside = |part: &&IdlePart| part.start_ns < window.end && part.end_ns() > window.start;
        let keep = |kept: &mut Vec<IdlePart>, parts: &[IdlePart]| kept.extend(parts.iter().filter(is_inside));
        gaps.visit(self.trace(), position, least_ns, Vec::new, keep).concat()
    }
}
