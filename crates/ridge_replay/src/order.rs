//! The order in which instants can be computed: stretches of lanes, each after what it waits for.
//!
//! A lane is followed until it waits for an instant of another; that one is followed up to the instant first.
//! So long stretches of neighboring instants are computed in turn, and captured times play no part.
//! An edge that closes a circle is left out and counted; the clocks of a damaged capture make such.

use crate::edges::{Edges, LEFT_OUT};
use crate::nodes::Nodes;
use std::ops::Range;

/// The stretches, in the order to compute them.
#[derive(Debug, Default)]
pub(crate) struct Order {
    pub(crate) stretches: Vec<Range<u32>>,
    /// Edges that closed a circle.
    pub(crate) left_out: usize,
}

struct Walk<'n> {
    nodes: &'n Nodes,
    /// Next instant by lane.
    next: Vec<u32>,
    is_open: Vec<bool>,
    done: Vec<bool>,
    order: Order,
}

impl Order {
    pub(crate) fn new(nodes: &Nodes, edges: &mut Edges) -> Order {
        let lanes = &nodes.lanes;
        let mut walk = Walk {
            nodes,
            next: lanes.iter().map(|lane| 2 * lane.events.start).collect(),
            is_open: vec![false; lanes.len()],
            done: vec![false; 2 * nodes.len()],
            order: Order::default(),
        };
        for lane in (0..lanes.len()).filter(|lane| lanes[*lane].is_thread()) {
            walk.follow(lane, edges);
        }
        (0..lanes.len()).for_each(|lane| walk.follow(lane, edges));
        walk.order
    }
}

impl Walk<'_> {
    /// Follows `lane` to its end, and others as far as it needs them.
    fn follow(&mut self, lane: usize, edges: &mut Edges) {
        let mut open: Vec<(usize, u32)> = vec![(lane, 2 * self.nodes.lanes[lane].events.end)];
        self.is_open[lane] = true;
        while let Some(&(lane, until)) = open.last() {
            match self.advance(lane, until, edges) {
                None => {
                    self.is_open[lane] = false;
                    open.pop();
                }
                Some(edge) => {
                    let needed = edges.from[edge];
                    let other = self.nodes.lane_of((needed >> 1) as usize);
                    if self.is_open[other] {
                        edges.from[edge] = LEFT_OUT;
                        self.order.left_out += 1;
                    } else {
                        self.is_open[other] = true;
                        open.push((other, needed + 1));
                    }
                }
            }
        }
    }

    /// Computes `lane` up to `until`; gives the edge that it has to wait for.
    fn advance(&mut self, lane: usize, until: u32, edges: &Edges) -> Option<usize> {
        let first = self.next[lane];
        let mut instant = first;
        let mut waits = None;
        while instant < until {
            waits = edges.to(instant).find(|edge| {
                let from = edges.from[*edge];
                from != LEFT_OUT && !self.done[from as usize]
            });
            if waits.is_some() {
                break;
            }
            self.done[instant as usize] = true;
            instant += 1;
        }
        self.next[lane] = instant;
        match self.order.stretches.last_mut() {
            Some(last) if last.end == first => last.end = instant,
            _ if instant > first => self.order.stretches.push(first..instant),
            _ => {}
        }
        waits
    }
}
