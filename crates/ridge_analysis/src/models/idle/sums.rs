//! Sums of parts: by cause, by cause and what the host did, and by the work that ended the gap.

use super::activity::DoingKey;
use super::attribute::{Attributor, Gap, Part, by_cause};
use super::before::BeforeBy;
use super::cause::Cause;
use super::context::Context;
use crate::Owners;
use ridge_trace::{NONE, Trace};
use rustc_hash::FxHashMap;

/// Parts of a gap that are compared with each other.
const FEW: usize = 3;

/// The sum of some parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sum {
    /// Their time, nanoseconds.
    pub ns: i64,
    /// Gaps that hold such parts; for what the host did, the parts themselves.
    pub count: u64,
    /// The longest, nanoseconds.
    pub longest_ns: i64,
}

impl Sum {
    fn add(&mut self, ns: i64) {
        self.merge(&Sum { ns, count: 1, longest_ns: ns });
    }

    /// Adds the parts of `other`.
    pub fn merge(&mut self, other: &Sum) {
        self.ns = self.ns.saturating_add(other.ns);
        self.count += other.count;
        self.longest_ns = self.longest_ns.max(other.longest_ns);
    }
}

/// What gaps are summed by beside their causes: what no table asks for is left out.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SumBy<'o> {
    /// By the next work itself.
    pub(crate) work: bool,
    /// By the range that caused the next work, which these know.
    pub(crate) ranges: Option<&'o Owners>,
}

/// Sums over gaps.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sums {
    /// By [`Cause`]; a gap counts once for each cause in it.
    pub(crate) causes: [Sum; Cause::ALL.len()],
    /// By cause and what the host did.
    pub(crate) doings: FxHashMap<(Cause, DoingKey), Sum>,
    /// By operation and name of the next work, where asked for.
    pub(crate) by_work: BeforeBy<(u32, u32)>,
    /// By the name of the range that caused the next work, [`NONE`] where none did; where asked for.
    pub(crate) by_range: BeforeBy<u32>,
}

impl Sums {
    /// Attributes `gaps` and sums their parts.
    pub(crate) fn of(
        trace: &Trace,
        context: &Context,
        device: u32,
        gaps: impl Iterator<Item = Gap>,
        by: SumBy<'_>,
    ) -> Sums {
        let mut sums = Sums::default();
        let mut attributor = Attributor::new(trace, context, device);
        let mut last: [Option<(DoingKey, Sum)>; Cause::ALL.len()] = Default::default();
        for gap in gaps {
            let parts = attributor.parts(&gap);
            sums.add_gap(parts);
            sums.add_before(trace, &gap, parts, by);
            for part in parts {
                let key = DoingKey::of(trace, context, part.doing);
                // Loops wait for the same reasons again and again.
                match &mut last[part.cause as usize] {
                    Some((known, sum)) if *known == key => sum.add(part.ns),
                    other => {
                        let sum = Sum { ns: part.ns, count: 1, longest_ns: part.ns };
                        let before = other.replace((key, sum));
                        sums.flush(part.cause, before);
                    }
                }
            }
        }
        for (cause, last) in Cause::ALL.into_iter().zip(last) {
            sums.flush(cause, last);
        }
        sums
    }

    fn add_gap(&mut self, parts: &[Part]) {
        if let [part] = parts {
            return self.causes[part.cause as usize].add(part.ns);
        }
        // Parts of different causes, as most gaps have, need no sums of their own.
        let is_once = |part: &Part| parts.iter().filter(|other| other.cause == part.cause).count() == 1;
        if parts.len() <= FEW && parts.iter().all(is_once) {
            return parts.iter().for_each(|part| self.causes[part.cause as usize].add(part.ns));
        }
        for (sum, ns) in self.causes.iter_mut().zip(by_cause(parts)).filter(|(_, ns)| *ns > 0) {
            sum.add(ns);
        }
    }

    fn add_before(&mut self, trace: &Trace, gap: &Gap, parts: &[Part], by: SumBy<'_>) {
        let (names, next) = (&trace.events.name, gap.next as usize);
        if by.work {
            self.by_work.add((trace.events.op[next], names[next]), gap.length(), parts);
        }
        if let Some(owners) = by.ranges {
            let range = owners.of(gap.next);
            let name = if range == NONE { NONE } else { names[range as usize] };
            self.by_range.add(name, gap.length(), parts);
        }
    }

    fn flush(&mut self, cause: Cause, pending: Option<(DoingKey, Sum)>) {
        if let Some((key, sum)) = pending {
            self.doings.entry((cause, key)).or_default().merge(&sum);
        }
    }

    /// Adds the sums of other gaps.
    pub(crate) fn merge(&mut self, other: Sums) {
        self.causes.iter_mut().zip(&other.causes).for_each(|(own, sum)| own.merge(sum));
        for (key, sum) in other.doings {
            self.doings.entry(key).or_default().merge(&sum);
        }
        self.by_work.merge(&other.by_work);
        self.by_range.merge(&other.by_range);
    }

    /// Time of one cause, nanoseconds.
    pub(crate) fn ns(&self, cause: Cause) -> i64 {
        self.causes[cause as usize].ns
    }
}
