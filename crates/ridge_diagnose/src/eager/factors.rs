//! Matrices that are factorized more often than there are different ones.

use super::calls::{Form, LeftBy, Match, Node, Nodes, elements, later};

/// Smaller matrices cost less than another call.
const SMALLEST: i64 = 16;
/// Members of a batch that share a matrix, at least.
const FEWEST_MEMBERS: i64 = 4;

pub(super) fn find(rest: &Nodes<'_>) -> Option<Match> {
    let (_, node) = rest.first()?;
    match node.name {
        "expand" => shared(rest),
        name if is_factorization(name) => twice(rest),
        _ => None,
    }
}

fn is_factorization(name: &str) -> bool {
    let all = [
        "linalg_inv",
        "inverse",
        "linalg_det",
        "linalg_slogdet",
        "slogdet",
        "logdet",
        "linalg_solve",
        "linalg_cholesky",
        "cholesky",
        "linalg_lu_factor",
        "linalg_eigh",
        "linalg_qr",
        "linalg_svd",
        "linalg_eigvalsh",
    ];
    all.contains(&name)
}

/// The square matrices that a call factorizes.
fn matrices<'n>(node: &'n Node<'_>) -> Option<&'n Vec<i64>> {
    let array = node.arrays.first()?;
    matches!(array[..], [.., rows, columns] if rows == columns && rows >= SMALLEST).then_some(array)
}

/// Two factorizations of matrices of one size, between which no other of that size is made.
fn twice(rest: &Nodes<'_>) -> Option<Match> {
    let (at, node) = rest.first()?;
    let array = matrices(node)?;
    let all = elements(array);
    for (other_at, next) in later(rest) {
        if is_factorization(next.name) && matrices(next) == Some(array) {
            return (next.name != node.name).then(|| Match::by_form(TWICE, vec![*at, *other_at], array.clone()));
        }
        // What is made of that size may be what is factorized next.
        let makes = next.product.map_or_else(|| next.broadcast(), |product| product.elements());
        if makes == all {
            return None;
        }
    }
    None
}

/// One matrix that is factorized for each member of a batch.
fn shared(rest: &Nodes<'_>) -> Option<Match> {
    let (_, node) = rest.first()?;
    let array = node.arrays.first()?;
    let [ref outer @ .., rows, columns] = array[..] else { return None };
    if rows != columns || rows < SMALLEST || outer.iter().any(|extent| *extent != 1) {
        return None;
    }
    for (at, next) in later(rest) {
        let is_batch = |array: &&Vec<i64>| {
            array.len() > 2
                && array.ends_with(&[rows, columns])
                && elements(array) >= (FEWEST_MEMBERS * rows * columns) as f64
        };
        match next.name {
            "contiguous" | "clone" => {}
            name if is_factorization(name) => {
                let batch = next.arrays.first().filter(is_batch)?;
                return Some(Match::by_form(SHARED, vec![*at], batch.clone()));
            }
            _ => return None,
        }
    }
    None
}

const TWICE: Form = Form {
    does: "goes to factorizing a matrix of {} twice by different methods",
    instead: "one factorization for both",
    why: "a factor gives the determinant, the inverse and solutions alike, and finding it is most of the work",
    help: "for a positive definite matrix: `l = torch.linalg.cholesky(m)`, then `torch.cholesky_solve(b, l)` for solutions and `2 * l.diagonal().log().sum()` for the logarithm of the determinant; otherwise `torch.linalg.lu_factor` and `lu_solve`",
    left: LeftBy::Parts(0.25, 0.7),
};

const SHARED: Form = Form {
    does: "goes to factorizing one matrix again for every member of a batch ({})",
    instead: "one factorization for the batch",
    why: "`expand` repeats the matrix for every member, and a batched solver doesn't know that all are the same",
    help: "give the solver the matrix itself, with the members as columns of one right-hand side: `torch.linalg.solve(m, b.mT).mT`",
    left: LeftBy::Parts(0.02, 0.4),
};
