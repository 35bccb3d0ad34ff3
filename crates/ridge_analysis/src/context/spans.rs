//! Stretches of time that neither overlap nor touch, in order.

/// A set of moments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spans(Vec<(i64, i64)>);

impl Spans {
    /// The union of `spans`, starts and ends in nanoseconds; empty ones hold nothing.
    pub fn of(spans: impl IntoIterator<Item = (i64, i64)>) -> Spans {
        let mut all: Vec<(i64, i64)> = spans.into_iter().filter(|(start, end)| start < end).collect();
        all.sort_unstable();
        all.dedup_by(|next, last| {
            let joins = next.0 <= last.1;
            if joins {
                last.1 = last.1.max(next.1);
            }
            joins
        });
        Spans(all)
    }

    /// The stretches, earliest first.
    pub fn as_slice(&self) -> &[(i64, i64)] {
        &self.0
    }

    /// Their length, nanoseconds.
    pub fn total_ns(&self) -> i64 {
        self.0.iter().fold(0, |sum, (start, end)| sum.saturating_add(end.saturating_sub(*start)))
    }

    /// What of it is not in `other`.
    pub fn without(&self, other: &Spans) -> Spans {
        let mut left = Vec::with_capacity(self.0.len());
        let mut at = 0;
        for &(start, end) in &self.0 {
            let mut from = start;
            while at < other.0.len() && other.0[at].1 <= start {
                at += 1;
            }
            for &(cut, until) in other.0[at..].iter().take_while(|(cut, _)| *cut < end) {
                if cut > from {
                    left.push((from, cut));
                }
                from = from.max(until);
            }
            if from < end {
                left.push((from, end));
            }
        }
        Spans(left)
    }

    /// How much of the time from `start` to `end` is in it, nanoseconds.
    pub fn within_ns(&self, start: i64, end: i64) -> i64 {
        let first = self.0.partition_point(|(_, until)| *until <= start);
        let inside = self.0[first..].iter().take_while(|(from, _)| *from < end);
        inside.fold(0, |sum, (from, until)| sum.saturating_add((*until).min(end).saturating_sub((*from).max(start))))
    }

    /// Whether the moment is in it.
    pub fn contains(&self, time: i64) -> bool {
        let after = self.0.partition_point(|(start, _)| *start <= time);
        after.checked_sub(1).is_some_and(|last| time < self.0[last].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unions_and_differences() {
        let some = Spans::of([(10, 20), (0, 4), (18, 25), (4, 5), (7, 7)]);
        assert_eq!(some.as_slice(), [(0, 5), (10, 25)]);
        assert_eq!(some.total_ns(), 20);
        let without = some.without(&Spans::of([(-5, 1), (3, 12), (14, 15), (24, 30)]));
        assert_eq!(without.as_slice(), [(1, 3), (12, 14), (15, 24)]);
        assert_eq!((some.within_ns(3, 11), some.within_ns(5, 10), some.within_ns(-9, 99)), (3, 0, 20));
        assert!(some.contains(0) && !some.contains(5) && some.contains(24) && !some.contains(25));
    }
}
