//! Products of matrices of which only the diagonal, or a few elements of each row, are read.

use super::calls::{Form, LeftBy, Match, Nodes, WIDTH, elements};
use crate::pricing::Work;

/// Smaller matrices cost less than another call.
const SMALLEST: f64 = 16.0;
/// The part of the elements that is read at most, of a few.
const FEW: f64 = 0.1;

/// The product `rest[0]`, whose result nothing but its diagonal, or elements that are picked, is read of.
pub(super) fn find(rest: &Nodes<'_>) -> Option<Match> {
    let (at, node) = rest.first()?;
    let product = node.product.filter(|product| product.m >= SMALLEST && product.n >= SMALLEST)?;
    let all = product.elements();
    // Its size must tell it from the arrays that it is made of.
    if node.reads(all) {
        return None;
    }
    let (mut calls, mut results, mut is_diagonal) = (vec![*at], 0.0, false);
    for (at, next) in rest.iter().skip(1) {
        if next.product.is_some_and(|other| other.elements() == all) {
            break;
        }
        match next.name {
            "diagonal" | "diag" | "trace" | "linalg_diagonal" if product.m == product.n && next.reads(all) => {
                (results, is_diagonal) = (results + product.batch * product.m, true);
            }
            "gather" | "index" | "take_along_dim" | "index_select" if next.reads(all) => {
                let picked = next.arrays.iter().map(|array| elements(array)).filter(|count| *count != all);
                let picked = picked.fold(0.0, f64::max);
                if picked == 0.0 || picked > FEW * all {
                    return None;
                }
                results += picked;
                calls.push(*at);
            }
            // With a row or column, which can be picked from as well.
            "add" | "sub" | "mul" | "div"
                if next.reads(all) && next.arrays.iter().filter(|array| elements(array) == all).count() == 1 =>
            {
                calls.push(*at);
            }
            _ if !next.is_view && next.reads(all) => return None,
            _ => {}
        }
    }
    if results == 0.0 || results > FEW * all {
        return None;
    }
    let terms = results * product.k;
    let better = Work { plain: 2.0 * terms, bytes: WIDTH * 3.0 * terms, ..Work::default() };
    let large = vec![product.m as i64, product.n as i64];
    Some(Match { form: if is_diagonal { DIAGONAL } else { PICKED }, calls, better, now: Work::default(), large })
}

const DIAGONAL: Form = Form {
    does: "goes to computing a whole product of two matrices ({}) to read only its diagonal",
    instead: "one sum for each row",
    why: "an element of the diagonal is one row of the first matrix times one column of the second; all other elements are thrown away",
    help: "use `(a * b.mT).sum(-1)` or `torch.einsum('ij,ji->i', a, b)` instead of `torch.diagonal(a @ b)`",
    left: LeftBy::Price,
};

const PICKED: Form = Form {
    does: "goes to computing a whole product of two matrices ({}) to read only a few elements of it",
    instead: "one dot product for each element that is used",
    why: "an element of the product is one row times one column; all others, and their gradients, are thrown away",
    help: "gather the rows first and multiply them elementwise: `(a * b[index]).sum(-1)` instead of `(a @ b.T).gather(1, index)`",
    left: LeftBy::Price,
};
