//! Products of low rank that are written out: added to a large matrix for a few rows, or factorized with a diagonal added.

use super::calls::{Form, LeftBy, Match, Nodes, WIDTH, elements, later};
use crate::pricing::Work;

/// How many times the rank of a matrix of low rank its sides are, at least.
const LOWER: f64 = 4.0;
/// How many times as large as its rank a matrix is that is better not factorized.
const TALLER: f64 = 16.0;
/// The smallest side that is worth it.
const SMALLEST: f64 = 64.0;

pub(super) fn find(rest: &Nodes<'_>) -> Option<Match> {
    let (at, first) = rest.first()?;
    let inner = first.product.filter(|product| product.batch <= 1.0 && matches!(first.name, "mm" | "matmul"))?;
    if inner.m.min(inner.n) < SMALLEST || inner.k * LOWER > inner.m.min(inner.n) {
        return None;
    }
    let (all, mut is_sum) = (inner.elements(), false);
    let mut calls = vec![*at];
    for (at, next) in later(rest) {
        if !next.reads(all) {
            if next.product.is_some_and(|product| product.elements() == all) {
                return None;
            }
            continue;
        }
        match next.name {
            "mul" | "mul_" | "div" => calls.push(*at),
            "add" | "add_" | "sub" => {
                is_sum |= next.arrays.iter().filter(|array| elements(array) == all).count() == 2;
                calls.push(*at);
            }
            "linalg_cholesky_ex" | "linalg_cholesky" | "cholesky"
                if inner.m == inner.n && inner.k * TALLER <= inner.n =>
            {
                let (n, k) = (inner.m, inner.k);
                calls.push(*at);
                let better =
                    Work { matrix: 4.0 * n * k * k + k * k * k, bytes: 4.0 * WIDTH * n * k, ..Work::default() };
                let now = Work { matrix: n * n * n / 3.0, bytes: 2.0 * WIDTH * n * n, ..Work::default() };
                return Some(Match { form: FACTORIZED, calls, better, now, large: vec![n as i64, n as i64] });
            }
            "linear" | "mm" | "matmul" | "addmm" if is_sum => {
                let rows = next.arrays.iter().find(|array| elements(array) != all && array.len() >= 2)?;
                let rows = elements(rows) / *rows.last()? as f64;
                let better = Work {
                    matrix: 2.0 * rows * inner.k * (inner.m + inner.n),
                    bytes: WIDTH * (inner.k * (inner.m + inner.n) + rows * (inner.m + inner.n)),
                    ..Work::default()
                };
                let now = Work { plain: 2.0 * all, bytes: 3.0 * WIDTH * all, ..Work::default() };
                let large = vec![inner.m as i64, inner.n as i64];
                return Some(Match { form: MERGED, calls, better, now, large });
            }
            _ => return None,
        }
    }
    None
}

const MERGED: Form = Form {
    does: "goes to writing out a product of low rank ({}) and adding it to a matrix of weights, only to multiply some rows by the sum",
    instead: "multiplying the rows by each factor in turn",
    why: "writing the product out costs as much as passes over the large matrix for every call",
    help: "use `F.linear(x, w) + F.linear(F.linear(x, a), b) * scale` instead of `F.linear(x, w + scale * b @ a)`, as for LoRA adapters in training; merge the weights once, outside the step, if they don't change",
    left: LeftBy::Price,
};

const FACTORIZED: Form = Form {
    does: "goes to factorizing a whole matrix ({}) that is a tall matrix times its transpose plus a diagonal (low rank)",
    instead: "a factorization of the small matrix",
    why: "by the Woodbury identity and the matrix determinant lemma, solves and determinants of such a matrix need only a factorization as large as its rank",
    help: "use `torch.distributions.LowRankMultivariateNormal(loc, cov_factor, cov_diag)` for a covariance `w @ w.T + diag(d)`; otherwise factorize `eye(k) + w.T @ (w / d[:, None])`, and apply the Woodbury identity",
    left: LeftBy::OwnPrice,
};
