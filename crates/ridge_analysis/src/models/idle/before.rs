//! Gaps summed by what is known of the work that ended them.

use super::attribute::{ByCause, Part};
use super::cause::Cause;

use crate::context::places::Places;
use std::hash::Hash;

/// Gaps before like work.
#[derive(Debug, Clone, Copy, Default)]
pub struct Before {
    causes: ByCause,
    /// How many gaps there are.
    pub gaps: u64,
    /// The longest, nanoseconds.
    pub longest_ns: i64,
}

impl Before {
    /// Their time, nanoseconds.
    pub fn idle_ns(&self) -> i64 {
        self.causes.iter().fold(0, |sum, ns| sum.saturating_add(*ns))
    }

    /// Time of some causes, nanoseconds.
    pub fn ns(&self, causes: &[Cause]) -> i64 {
        causes.iter().fold(0, |sum, cause| sum.saturating_add(self.causes[*cause as usize]))
    }

    fn add(&mut self, length_ns: i64, parts: &[Part]) {
        for part in parts {
            let sum = &mut self.causes[part.cause as usize];
            *sum = sum.saturating_add(part.ns);
        }
        self.gaps += 1;
        self.longest_ns = self.longest_ns.max(length_ns);
    }

    /// Adds the sums of other gaps.
    pub(crate) fn merge(&mut self, other: &Before) {
        self.causes.iter_mut().zip(&other.causes).for_each(|(own, ns)| *own = own.saturating_add(*ns));
        self.gaps += other.gaps;
        self.longest_ns = self.longest_ns.max(other.longest_ns);
    }
}

/// Gaps by a key of the next work.
#[derive(Debug, Clone)]
pub(crate) struct BeforeBy<K> {
    places: Places<K>,
    rows: Vec<(K, Before)>,
}

impl<K> Default for BeforeBy<K> {
    fn default() -> BeforeBy<K> {
        BeforeBy { places: Places::default(), rows: Vec::new() }
    }
}

impl<K: Hash + Eq + Copy> BeforeBy<K> {
    /// Adds a gap of `length_ns` with its parts.
    pub(crate) fn add(&mut self, key: K, length_ns: i64, parts: &[Part]) {
        self.row(key).add(length_ns, parts);
    }

    /// Adds the sums of other gaps.
    pub(crate) fn merge(&mut self, other: &BeforeBy<K>) {
        other.rows.iter().for_each(|(key, before)| self.row(*key).merge(before));
    }

    /// Every key that came, with its sums.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &(K, Before)> {
        self.rows.iter()
    }

    fn row(&mut self, key: K) -> &mut Before {
        let place = self.places.of(key);
        if place == self.rows.len() {
            self.rows.push((key, Before::default()));
        }
        &mut self.rows[place].1
    }
}
