//! Calls and forms as the patterns see them.

use crate::pricing::Work;

/// Bytes of an element: single precision, which most programs compute in.
pub(super) const WIDTH: f64 = 4.0;

/// A kind of better form: its words, and how much is known of what it replaces.
#[derive(Debug, Clone, Copy)]
pub(super) struct Form {
    /// What the program does, after "… of the time", with `{}` for the sizes of the array that would not be made.
    pub(super) does: &'static str,
    /// What would do, a noun.
    pub(super) instead: &'static str,
    pub(super) why: &'static str,
    pub(super) help: &'static str,
    pub(super) left: LeftBy,
}

/// How what a form leaves of the time is known.
#[derive(Debug, Clone, Copy)]
pub(super) enum LeftBy {
    /// By the price of both, as much slower than that as what is replaced was.
    Price,
    /// By its price alone: what is replaced is slow for a reason that goes with it.
    OwnPrice,
    /// Parts of the time, at least and at most.
    Parts(f64, f64),
}

/// One place in the calls where a form stands.
pub(super) struct Match {
    pub(super) form: Form,
    /// Positions of the calls that would go.
    pub(super) calls: Vec<usize>,
    /// What would take their place.
    pub(super) better: Work,
    /// Arithmetic of the calls that the cost model does not count.
    pub(super) now: Work,
    /// The sizes of the array that would not be made.
    pub(super) large: Vec<i64>,
}

impl Match {
    /// One whose form alone says what is left of its calls.
    pub(super) fn by_form(form: Form, calls: Vec<usize>, large: Vec<i64>) -> Match {
        Match { form, calls, better: Work::default(), now: Work::default(), large }
    }
}

/// A call as the patterns see it.
pub(super) struct Node<'a> {
    /// Its operator, without the namespace.
    pub(super) name: &'a str,
    /// The extents of its arrays; those of a single number are empty.
    pub(super) arrays: &'a [Vec<i64>],
    /// The same and the distances in memory as written, which have lists of arrays as well.
    pub(super) dims: &'a str,
    pub(super) strides: &'a str,
    /// Its other arguments as written, where they are kept.
    pub(super) values: &'a str,
    /// The types of its arguments as written.
    pub(super) types: &'a str,
    /// Whether it only looks at an array another way.
    pub(super) is_view: bool,
    /// The product of two matrices that it is, or that it calls.
    pub(super) product: Option<Product>,
    pub(super) is_known: bool,
}

/// A product of matrices: `batch` times m × k by k × n.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Product {
    pub(super) batch: f64,
    pub(super) m: f64,
    pub(super) n: f64,
    pub(super) k: f64,
}

impl Product {
    pub(super) fn of(name: &str, arrays: &[Vec<i64>]) -> Option<Product> {
        let of = |extent: &i64| *extent as f64;
        match (name, arrays) {
            ("mm", [left, right, ..]) => match (&left[..], &right[..]) {
                ([m, k], [_, n]) => Some(Product { batch: 1.0, m: of(m), n: of(n), k: of(k) }),
                _ => None,
            },
            ("bmm", [left, right, ..]) => match (&left[..], &right[..]) {
                ([batch, m, k], [_, _, n]) => Some(Product { batch: of(batch), m: of(m), n: of(n), k: of(k) }),
                _ => None,
            },
            ("mv", [left, _, ..]) => match &left[..] {
                [m, k] => Some(Product { batch: 1.0, m: of(m), n: 1.0, k: of(k) }),
                _ => None,
            },
            _ => None,
        }
    }

    /// Its operations.
    pub(super) fn flops(&self) -> f64 {
        2.0 * self.batch * self.m * self.n * self.k
    }

    /// Elements of its result.
    pub(super) fn elements(&self) -> f64 {
        self.batch * self.m * self.n
    }
}

/// Elements of an array.
pub(super) fn elements(extents: &[i64]) -> f64 {
    extents.iter().map(|extent| *extent as f64).product()
}

impl Node<'_> {
    /// Elements of what an operator on each element gives.
    pub(super) fn broadcast(&self) -> f64 {
        elements(&self.broadcast_sizes())
    }

    /// The sizes of what an operator on each element gives.
    pub(super) fn broadcast_sizes(&self) -> Vec<i64> {
        let rank = self.arrays.iter().map(Vec::len).max().unwrap_or(0);
        let extent = |from_last: usize| {
            let of = |array: &Vec<i64>| array.len().checked_sub(from_last + 1).and_then(|at| array.get(at)).copied();
            self.arrays.iter().filter_map(of).max().unwrap_or(1)
        };
        (0..rank).rev().map(extent).collect()
    }

    /// Elements of its largest array.
    pub(super) fn largest(&self) -> f64 {
        self.arrays.iter().map(|array| elements(array)).fold(0.0, f64::max)
    }

    /// Whether one of its arrays has so many elements.
    pub(super) fn reads(&self, count: f64) -> bool {
        self.is_known && self.arrays.iter().any(|array| elements(array) == count)
    }
}

/// The calls that the program makes itself: positions with what is known of each.
pub(super) type Nodes<'a> = [(usize, Node<'a>)];

/// The calls after the first that do work.
pub(super) fn later<'n, 'a>(rest: &'n Nodes<'a>) -> impl Iterator<Item = &'n (usize, Node<'a>)> {
    rest.iter().skip(1).filter(|(_, node)| !node.is_view)
}
