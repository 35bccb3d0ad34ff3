//! The work of many events, added up.

use super::light::Bound;
use super::workload::{EventWork, Known};
use crate::device::Limit;

/// Work and time of a row: of an operation, a module, a step.
///
/// Times at the roof add up operation by operation, as if each ran alone at its own roof.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WorkSums {
    /// Floating-point operations, and those of integer matrix products.
    pub flops: f64,
    /// Compulsory traffic, bytes.
    pub bytes: f64,
    /// Bytes accessed as XLA counts them.
    pub xla_bytes: f64,
    /// Time at the roof, seconds, of the events whose roof is known.
    pub light_secs: f64,
    /// The least time of the same events, seconds: at the roof, or starting them where that takes longer.
    pub least_secs: f64,
    /// Measured self time of the same events, nanoseconds.
    pub roofed_ns: f64,
    /// Measured self time of all events whose work is known, nanoseconds.
    pub known_ns: f64,
    /// Measured self time of events whose work is not known, nanoseconds.
    pub unknown_ns: f64,
    /// Measured self time by what bounds it, in the order of [`Bound::ALL`], nanoseconds.
    pub bound_ns: [f64; 4],
    roof: Option<(Limit, f64)>,
}

impl WorkSums {
    /// Adds `events` events of `work` that took `self_ns` together.
    pub(crate) fn add(&mut self, work: &EventWork, events: f64, self_ns: f64) {
        let Known::Counted(light) = &work.known else {
            self.unknown_ns += self_ns;
            self.bound_ns[Bound::Unknown as usize] += self_ns;
            return;
        };
        self.flops += work.flops * events;
        self.bytes += work.bytes * events;
        self.xla_bytes += work.xla_bytes * events;
        self.known_ns += self_ns;
        let Some(light) = light else { return };
        self.light_secs += light.secs() * events;
        self.least_secs += light.least_secs(self_ns * 1e-9 / events.max(1.0)) * events;
        self.roofed_ns += self_ns;
        if let Some(bound) = light.bound() {
            self.bound_ns[bound as usize] += self_ns;
        }
        let compute = light.compute_secs * events;
        if let Some(limit) = light.roof.filter(|_| self.roof.is_none_or(|(_, longest)| compute > longest)) {
            self.roof = Some((limit, compute));
        }
    }

    /// Adds work that cannot be known, of `self_ns`.
    pub(crate) fn add_unknown(&mut self, self_ns: f64) {
        self.unknown_ns += self_ns;
        self.bound_ns[Bound::Unknown as usize] += self_ns;
    }

    /// The sum of `parts`.
    pub(crate) fn all(parts: &[WorkSums]) -> WorkSums {
        let mut all = WorkSums::default();
        parts.iter().for_each(|part| all.join(part));
        all
    }

    /// Adds all of `other`.
    fn join(&mut self, other: &WorkSums) {
        self.flops += other.flops;
        self.bytes += other.bytes;
        self.xla_bytes += other.xla_bytes;
        self.light_secs += other.light_secs;
        self.least_secs += other.least_secs;
        self.roofed_ns += other.roofed_ns;
        self.known_ns += other.known_ns;
        self.unknown_ns += other.unknown_ns;
        self.bound_ns.iter_mut().zip(other.bound_ns).for_each(|(sum, ns)| *sum += ns);
        let compute = |sums: &WorkSums| sums.roof.map_or(0.0, |(_, secs)| secs);
        if compute(other) > compute(self) {
            self.roof = other.roof;
        }
    }

    /// Measured self time, nanoseconds.
    pub fn self_ns(&self) -> f64 {
        self.known_ns + self.unknown_ns
    }

    /// Operations per second over all measured time; a lower bound if some work is unknown.
    pub fn flops_per_sec(&self) -> Option<f64> {
        self.per_sec(self.flops)
    }

    /// Compulsory bytes per second over all measured time; a lower bound if some work is unknown.
    pub fn bytes_per_sec(&self) -> Option<f64> {
        self.per_sec(self.bytes)
    }

    fn per_sec(&self, amount: f64) -> Option<f64> {
        let secs = self.self_ns() * 1e-9;
        (self.known_ns > 0.0 && secs > 0.0).then(|| amount / secs)
    }

    /// Operations per byte of compulsory traffic.
    pub fn intensity(&self) -> Option<f64> {
        (self.bytes > 0.0).then(|| self.flops / self.bytes)
    }

    /// Operations per byte as XLA counts bytes.
    pub fn xla_intensity(&self) -> Option<f64> {
        (self.xla_bytes > 0.0).then(|| self.flops / self.xla_bytes)
    }

    /// Measured time over the least time, of the events whose roof is known.
    pub fn headroom(&self) -> Option<f64> {
        (self.least_secs > 0.0).then(|| self.roofed_ns * 1e-9 / self.least_secs)
    }

    /// The rate at the roof: operations over time at the roof.
    pub fn roof_flops_per_sec(&self) -> Option<f64> {
        (self.light_secs > 0.0 && self.flops > 0.0).then(|| self.flops / self.light_secs)
    }

    /// The rate ceiling that most compute time at the roof runs at.
    pub fn roof(&self) -> Option<Limit> {
        self.roof.map(|(limit, _)| limit)
    }

    /// What bounds most of the measured time; `None` where there is no work or no roof.
    pub fn bound(&self) -> Option<Bound> {
        let most = Bound::ALL.into_iter().max_by(|one, other| self.of(*one).total_cmp(&self.of(*other)))?;
        (self.of(most) > 0.0).then_some(most)
    }

    fn of(&self, bound: Bound) -> f64 {
        self.bound_ns[bound as usize]
    }

    /// The part of the measured time whose work is not known.
    pub fn unknown_share(&self) -> Option<f64> {
        let all = self.self_ns();
        (all > 0.0).then(|| self.unknown_ns / all)
    }
}
