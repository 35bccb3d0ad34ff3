//! Which connected part of a region to move: a minimum cut of what each operation gains against what crosses the link.
//!
//! Project selection (Picard, Management Science 22(11), 1976): a node that gains is tied to the source by its gain, one
//! that loses to the sink by its loss. A value that is cut costs its bytes over the link once, however many read it: it has
//! a node of its own for each way, which goes where the first of its readers or its maker is. What is left with the source
//! after a maximum flow is the best set.

/// Nodes beyond which no cut is made.
pub(crate) const MOST_NODES: usize = 4000;

/// A value that flows: who makes it, who reads it, and what it costs where it is cut. A place past the last node is the
/// outside, which stays where it is.
pub(crate) type Value = (usize, Vec<usize>, f64);

/// The best set of nodes by their gains and the cost of what flows, both in seconds.
pub(crate) fn best_set(gains: &[f64], values: &[Value]) -> Vec<usize> {
    let nodes = gains.len();
    if nodes == 0 || nodes > MOST_NODES || !gains.iter().any(|gain| *gain > 0.0) {
        return Vec::new();
    }
    // Whole picoseconds, so that flows add up exactly; no capacity is larger than what can be added without overflow.
    let whole = |secs: f64| (secs * 1e12).clamp(0.0, MOST as f64) as i64;
    let (source, sink) = (nodes, nodes + 1);
    let mut flow = Flow::new(nodes + 2 + 2 * values.len());
    for (at, gain) in gains.iter().enumerate() {
        if *gain > 0.0 {
            flow.add(source, at, whole(*gain));
        } else {
            flow.add(at, sink, whole(-gain));
        }
    }
    let place = |at: usize| if at < nodes { at } else { sink };
    for (position, (maker, readers, cost)) in values.iter().enumerate() {
        let (there, back) = (nodes + 2 + 2 * position, nodes + 3 + 2 * position);
        flow.add(place(*maker), there, whole(*cost));
        flow.add(back, place(*maker), whole(*cost));
        for &reader in readers {
            flow.add(there, place(reader), MOST);
            flow.add(place(reader), back, MOST);
        }
    }
    flow.saturate(source, sink);
    let reached = flow.levels(source);
    (0..nodes).filter(|at| reached[*at].is_some()).collect()
}

/// What moving `set` is worth, seconds: gains inside less each value that crosses its border, once for each way.
pub(crate) fn worth(gains: &[f64], values: &[Value], set: &[usize]) -> f64 {
    let inside = Inside::new(gains.len(), set);
    let crossing = values.iter().filter(|(maker, readers, _)| inside.is_crossed(*maker, readers));
    set.iter().map(|at| gains[*at]).sum::<f64>() - crossing.map(|(_, _, cost)| cost).sum::<f64>()
}

/// A set of nodes; places past the last are the outside.
pub(crate) struct Inside(Vec<bool>);

impl Inside {
    pub(crate) fn new(nodes: usize, set: &[usize]) -> Inside {
        let mut inside = vec![false; nodes];
        set.iter().for_each(|at| inside[*at] = true);
        Inside(inside)
    }

    fn holds(&self, at: usize) -> bool {
        self.0.get(at).copied().unwrap_or(false)
    }

    /// Whether a value is made on one side of the set's border and read on the other.
    pub(crate) fn is_crossed(&self, maker: usize, readers: &[usize]) -> bool {
        readers.iter().any(|reader| self.holds(*reader) != self.holds(maker))
    }
}

/// More than any sum of gains, picoseconds.
const MOST: i64 = 1_000_000_000_000_000;

/// A network with what can still flow on each arc.
struct Flow {
    arcs: Vec<Vec<usize>>,
    to: Vec<usize>,
    left: Vec<i64>,
}

impl Flow {
    fn new(nodes: usize) -> Flow {
        Flow { arcs: vec![Vec::new(); nodes], to: Vec::new(), left: Vec::new() }
    }

    /// An arc and its way back, next to each other.
    fn add(&mut self, from: usize, to: usize, there: i64) {
        self.arcs[from].push(self.to.len());
        self.to.push(to);
        self.left.push(there);
        self.arcs[to].push(self.to.len());
        self.to.push(from);
        self.left.push(0);
    }

    /// Arcs from `source` to each node where something can still flow.
    fn levels(&self, source: usize) -> Vec<Option<usize>> {
        let mut levels = vec![None; self.arcs.len()];
        levels[source] = Some(0);
        let mut open = std::collections::VecDeque::from([source]);
        while let Some(at) = open.pop_front() {
            for &arc in &self.arcs[at] {
                if self.left[arc] > 0 && levels[self.to[arc]].is_none() {
                    levels[self.to[arc]] = levels[at].map(|level| level + 1);
                    open.push_back(self.to[arc]);
                }
            }
        }
        levels
    }

    /// A maximum flow: Dinic, "Algorithm for solution of a problem of maximum flow", Soviet Math. Dokl. 11, 1970.
    fn saturate(&mut self, source: usize, sink: usize) {
        loop {
            let levels = self.levels(source);
            if levels[sink].is_none() {
                return;
            }
            let mut next = vec![0; self.arcs.len()];
            while self.push(source, sink, &levels, &mut next) {}
        }
    }

    /// Sends along one shortest way, without recursion; false where there is none left.
    fn push(&mut self, source: usize, sink: usize, levels: &[Option<usize>], next: &mut [usize]) -> bool {
        let mut way: Vec<usize> = Vec::new();
        let mut at = source;
        while at != sink {
            let Some(&arc) = self.arcs[at].get(next[at]) else {
                // A dead end: step back, and never come here again.
                let Some(last) = way.pop() else { return false };
                at = self.to[last ^ 1];
                next[at] += 1;
                continue;
            };
            let goes_on = levels[self.to[arc]].is_some_and(|level| levels[at].is_some_and(|here| level == here + 1));
            if self.left[arc] > 0 && goes_on {
                way.push(arc);
                at = self.to[arc];
            } else {
                next[at] += 1;
            }
        }
        let most = way.iter().map(|arc| self.left[*arc]).min().unwrap_or(0);
        for arc in way {
            self.left[arc] -= most;
            self.left[arc ^ 1] += most;
        }
        most > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_between_two_gains_is_taken_along_where_the_link_costs_more() {
        let values =
            |cost| [(3, vec![0], 0.1), (0, vec![1], cost), (1, vec![2], cost), (2, vec![3], 0.1)].map(Value::from);
        assert_eq!(best_set(&[3.0, -1.0, 3.0], &values(2.0)), [0, 1, 2]);
        assert_eq!(best_set(&[3.0, -1.0, 3.0], &values(0.2)), [0, 2]);
        // Two transfers cost more than the middle gains.
        assert_eq!(best_set(&[-5.0, 1.0, -5.0], &values(2.0)), [0_usize; 0]);
        assert_eq!(best_set(&[], &[]), [0_usize; 0]);
    }

    #[test]
    fn a_value_that_several_read_is_sent_once() {
        // Apart each gains 1 and pays 2; together they gain 3 and pay 2 once.
        assert_eq!(best_set(&[1.0, 1.0, 1.0], &[(3, vec![0, 1, 2], 2.0)]), [0, 1, 2]);
        assert_eq!(
            best_set(&[1.0, 1.0, 1.0], &[(3, vec![0], 2.0), (3, vec![1], 2.0), (3, vec![2], 2.0)]),
            [0_usize; 0]
        );
    }

    #[test]
    fn no_set_is_worth_more() {
        // All sets of graphs that a small generator makes.
        let mut state = 7_u64;
        let mut part = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / (1_u64 << 31) as f64
        };
        for _ in 0..200 {
            let nodes = 2 + (part() * 6.0) as usize;
            let gains: Vec<f64> = (0..nodes).map(|_| (part() - 0.5) * 10.0).collect();
            let mut place = || (part() * (nodes + 1) as f64) as usize;
            let values: Vec<Value> =
                (0..nodes).map(|_| (place(), vec![place(), place()], place() as f64 * 0.7)).collect();
            let found = worth(&gains, &values, &best_set(&gains, &values));
            let best = (0..1_u32 << nodes)
                .map(|mask| {
                    let set: Vec<usize> = (0..nodes).filter(|at| mask >> at & 1 == 1).collect();
                    worth(&gains, &values, &set)
                })
                .fold(f64::NEG_INFINITY, f64::max);
            assert!((found - best).abs() < 1e-9, "{found} {best} {gains:?} {values:?}");
        }
    }
}
