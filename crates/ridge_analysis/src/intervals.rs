//! Unions of time spans: how long at least one thing was going on.

/// Disjoint spans in order, each `(start, end)` in nanoseconds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Intervals(Vec<(i64, i64)>);

impl Intervals {
    /// The union of spans that come in order of start.
    pub fn from_sorted(spans: impl Iterator<Item = (i64, i64)>) -> Intervals {
        let mut union: Vec<(i64, i64)> = Vec::new();
        for (start, end) in spans {
            match union.last_mut() {
                Some((_, last_end)) if start <= *last_end => *last_end = end.max(*last_end),
                _ if end > start => union.push((start, end)),
                _ => {}
            }
        }
        Intervals(union)
    }

    /// The union of several unions.
    pub fn union<'i>(parts: impl IntoIterator<Item = &'i Intervals>) -> Intervals {
        let mut all: Vec<(i64, i64)> = parts.into_iter().flat_map(|part| part.0.iter().copied()).collect();
        // The parts are sorted runs, which the stable sort merges in linear time.
        all.sort();
        Intervals::from_sorted(all.into_iter())
    }

    /// Summed length, nanoseconds.
    pub fn total_ns(&self) -> i64 {
        self.0.iter().map(|(start, end)| end - start).sum()
    }

    /// The spans in order.
    pub fn spans(&self) -> &[(i64, i64)] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlaps_count_once() {
        let a = Intervals::from_sorted([(0, 4), (2, 3), (3, 6), (6, 7), (9, 9), (10, 12)].into_iter());
        assert_eq!((a.spans(), a.total_ns()), (&[(0, 7), (10, 12)][..], 9));
        let b = Intervals::from_sorted([(5, 11)].into_iter());
        assert_eq!(Intervals::union([&a, &b]).total_ns(), 12);
    }
}
