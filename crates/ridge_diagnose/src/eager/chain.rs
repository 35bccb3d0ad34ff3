//! Products of matrices in an order that makes a large one where a narrow one would do.

use super::calls::{Form, LeftBy, Match, Nodes, Product, WIDTH, later};
use crate::pricing::Work;

/// So many times the operations of the other order both products have at least.
const LARGER: f64 = 3.0;

/// The product `rest[0]`, whose result only another product and sums read, scaled perhaps.
pub(super) fn find(rest: &Nodes<'_>) -> Option<Match> {
    let (at, first) = rest.first()?;
    let inner = first.product.filter(|_| is_plain(first.name))?;
    let all = inner.elements();
    // Its size must tell it from the arrays that it is made of.
    if all <= LARGER * first.largest() || inner.m <= 1.0 || inner.n <= 1.0 {
        return None;
    }
    let mut calls = vec![*at];
    for (at, next) in later(rest) {
        if !next.reads(all) {
            if next.product.is_some_and(|product| product.elements() == all) {
                return None; // Another array of that size is made.
            }
            continue;
        }
        match next.name {
            // By a number, which may as well scale what is narrow.
            "mul" | "div" | "neg" if next.arrays.iter().filter(|array| !array.is_empty()).count() == 1 => {
                calls.push(*at)
            }
            "sum" | "contiguous" | "clone" => calls.push(*at),
            name if is_plain(name) => {
                let outer = next.product?;
                calls.push(*at);
                return of(inner, outer, calls);
            }
            _ => return None,
        }
    }
    None
}

fn is_plain(name: &str) -> bool {
    matches!(name, "mm" | "bmm" | "matmul" | "mv" | "einsum")
}

fn of(inner: Product, outer: Product, calls: Vec<usize>) -> Option<Match> {
    let batch = inner.batch;
    if outer.batch != batch {
        return None;
    }
    // (a b) c or c (a b), by the side whose sizes fit.
    let columns = match () {
        () if outer.m == inner.m && outer.k == inner.n => outer.n,
        () if outer.k == inner.m && outer.n == inner.n => outer.m,
        () => return None,
    };
    let is_right = outer.m == inner.m && outer.k == inner.n;
    let (near, far) = if is_right { (inner.n, inner.m) } else { (inner.m, inner.n) };
    let matrix = 2.0 * batch * inner.k * columns * (near + far);
    if inner.flops() + outer.flops() < LARGER * matrix {
        return None;
    }
    let bytes = WIDTH * batch * (inner.k * (near + far) + columns * (near + far + 2.0 * inner.k));
    let large = vec![inner.m as i64, inner.n as i64];
    Some(Match { form: ORDER, calls, better: Work { matrix, bytes, ..Work::default() }, large, now: Work::default() })
}

const ORDER: Form = Form {
    does: "goes to multiplying matrices in an order that first creates one of {}",
    instead: "the other order",
    why: "matrix products are associative: the large matrix `q @ k.T`, which grows with the square of the length, isn't needed if only sums and products read it",
    help: "add parentheses: `q @ (k.T @ v)` instead of `(q @ k.T) @ v`, and `q @ k.sum(0)` for the row sums; `torch.linalg.multi_dot` finds the best order for several matrices",
    left: LeftBy::Price,
};
