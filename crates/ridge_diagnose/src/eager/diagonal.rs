//! Products of matrices of which only the diagonal is read.

use super::calls::{Form, LeftBy, Match, Nodes, WIDTH};
use crate::pricing::Work;

/// Smaller matrices cost less than another call.
const SMALLEST: f64 = 16.0;

/// The product `rest[0]`, whose result nothing but its diagonal is read of.
pub(super) fn find(rest: &Nodes<'_>) -> Option<Match> {
    let (at, node) = rest.first()?;
    let product = node.product.filter(|product| product.m == product.n && product.m >= SMALLEST)?;
    let all = product.elements();
    // Its size must tell it from the arrays that it is made of.
    if node.reads(all) {
        return None;
    }
    let reads_diagonal = |name: &str| matches!(name, "diagonal" | "diag" | "trace" | "diagonal_copy" | "linalg_diagonal");
    let (_, next) = rest.iter().skip(1).find(|(_, next)| reads_diagonal(next.name) || (!next.is_view && next.reads(all)))?;
    if !reads_diagonal(next.name) || !next.reads(all) {
        return None;
    }
    // What is read after the diagonal may be the whole.
    let after = rest.iter().skip_while(|(_, one)| !reads_diagonal(one.name)).skip(1);
    let mut others = after.take_while(|(_, one)| one.product.is_none_or(|other| other.elements() != all));
    if others.any(|(_, one)| !one.is_view && one.reads(all)) {
        return None;
    }
    let terms = product.batch * product.m * product.k;
    let better = Work { plain: 2.0 * terms, bytes: WIDTH * 2.0 * terms, ..Work::default() };
    let large = vec![product.m as i64, product.n as i64];
    Some(Match { form: DIAGONAL, calls: vec![*at], better, now: Work::default(), large })
}

const DIAGONAL: Form = Form {
    does: "computes a whole product of two matrices ({}) and reads its diagonal",
    instead: "one sum for each row",
    why: "an element of the diagonal is one row of the first matrix times one column of the second; all other elements are thrown away",
    help: "use `(a * b.mT).sum(-1)` or `torch.einsum('ij,ji->i', a, b)` instead of `torch.diagonal(a @ b)`",
    left: LeftBy::Price,
};
