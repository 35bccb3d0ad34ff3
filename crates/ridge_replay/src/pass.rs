//! One pass over the graph: when everything would happen.
//!
//! An instant comes when the last of what it waits for has come and its delay has passed.
//! With *class* delays every latency is the usual one of its kind, which tests whether the edges explain the capture.
//! With *own* delays the wait that bound an instant in the capture keeps the delay it had, and the others may not exceed
//! theirs: without edits that gives the capture back exactly.

use crate::edges::{Family, LEFT_OUT};
use crate::graph::Graph;
use crate::overlay::{Freed, Overlay};
use ridge_trace::NONE;

/// Which delays a pass uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delays {
    Class,
    Own,
}

/// No wait: earlier than anything.
const NEVER: i64 = i64::MIN / 4;

impl Graph {
    /// The time of every instant under `edits`, nanoseconds on the trace clock.
    pub(crate) fn pass(&self, delays: Delays, edits: &Overlay) -> Vec<i64> {
        let mut times = vec![0; 2 * self.nodes.len()];
        for stretch in &self.order.stretches {
            for instant in stretch.clone() {
                times[instant as usize] = self.time(delays, edits, instant, &times);
            }
        }
        times
    }

    #[inline]
    fn time(&self, delays: Delays, edits: &Overlay, instant: u32, times: &[i64]) -> i64 {
        let bound = self.bound[instant as usize];
        let (before, delay) = self.before(instant);
        let mut latest = NEVER;
        if before != NONE {
            let delay = self.delay(delays, bound == 0, before, instant, delay);
            latest = times[before as usize].saturating_add(edits.lane_delay(instant, delay));
        }
        let freed = edits.freed(instant);
        for (at, edge) in self.edges.to(instant).enumerate() {
            let from = self.edges.from[edge];
            if from == LEFT_OUT {
                continue;
            }
            let delay = || {
                let is_bound = usize::from(bound) == at + 1;
                self.delay(delays, is_bound, from, instant, self.edges.delay[edge])
            };
            let delay = match freed {
                Freed::No => delay(),
                // What the call does before it runs the work is the call's.
                Freed::Yes if self.edges.family[edge] == Family::Inline && !edits.is_dropped(from) => delay(),
                // Of a dropped event that begins its lane, its launch alone says when that was.
                Freed::Yes if before == NONE => delay().min(0),
                Freed::Yes => continue,
            };
            latest = latest.max(times[from as usize].saturating_add(delay));
        }
        if latest == NEVER { self.nodes.time(instant) } else { latest }
    }

    #[inline]
    fn delay(&self, delays: Delays, is_bound: bool, from: u32, to: u32, class: i64) -> i64 {
        if delays == Delays::Class {
            return class;
        }
        let measured = self.nodes.time(to) - self.nodes.time(from);
        if is_bound { measured } else { class.min(measured) }
    }
}
