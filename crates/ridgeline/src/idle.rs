//! Idle time of devices part by part, for whoever draws it on a timeline.

use crate::session::Session;
use ridge_analysis::models::idle::{DeviceIdle, IdlePart};
use ridge_analysis::{Cause, Idle, IdleGaps};
use ridge_trace::EventRow;
use std::ops::Range;

impl Session {
    /// Why the device was idle between the end of `prev` and the start of `next`, in order of time; nothing where they are
    /// not work of one device with time between.
    pub fn gap(&self, prev: EventRow, next: EventRow) -> Vec<IdlePart> {
        self.analysis().get::<IdleGaps>().between(self.trace(), prev, next)
    }

    /// Idle time of each device that worked by cause: its row, the length of its capture, and nanoseconds of each cause.
    pub fn idle_causes(&self) -> Vec<(u32, i64, Vec<(Cause, i64)>)> {
        let analysis = self.analysis();
        let devices = analysis.get::<Idle>().devices.iter();
        let causes = |device: &DeviceIdle| Cause::ALL.map(|cause| (cause, device.cause_ns(cause))).to_vec();
        devices.map(|device| (device.device, device.capture_ns(), causes(device))).collect()
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
