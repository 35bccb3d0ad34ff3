//! Matrices that are written out only to multiply by them: inverses, diagonals, Kronecker products, one-hot rows.

use super::calls::{Form, LeftBy, Match, Node, Nodes, Product, WIDTH, elements, later};
use crate::pricing::Work;

/// Smaller matrices cost less than another call.
const SMALLEST: f64 = 16.0;
/// A solution is for at most this part of as many right-hand sides as the matrix has columns.
const NARROW: f64 = 0.5;
/// Calls between indices that are written out and the product.
const NEAR: usize = 6;

pub(super) fn find(rest: &Nodes<'_>) -> Option<Match> {
    let (_, node) = rest.first()?;
    match node.name {
        "linalg_inv" | "inverse" | "linalg_inv_ex" => inverse(rest),
        "diag" | "diag_embed" | "diagflat" => diagonal(rest),
        "one_hot" => one_hot(rest),
        _ => None,
    }
}

/// The first product that reads an array of `count` elements, if nothing else does before it: its position, sizes, and whether the
/// array is on its left.
fn multiplied(rest: &Nodes<'_>, count: f64) -> Option<(usize, Product, bool)> {
    let (at, node) = later(rest).find(|(_, node)| node.reads(count))?;
    let product = node.product?;
    let is_left = product.batch * product.m * product.k == count;
    (is_left || product.batch * product.k * product.n == count).then_some((*at, product, is_left))
}

/// Columns (or rows) that a square matrix of the product is multiplied by.
fn columns_of(product: &Product, is_left: bool) -> f64 {
    if is_left { product.n } else { product.m }
}

fn inverse(rest: &Nodes<'_>) -> Option<Match> {
    let (at, node) = rest.first()?;
    let matrix = node.arrays.first()?;
    let n = *matrix.last()? as f64;
    let (product_at, product, is_left) = multiplied(rest, elements(matrix))?;
    // The inverse may be multiplied by more later: then it pays.
    let all = later(rest).filter(|(_, node)| node.reads(elements(matrix))).filter_map(|(_, node)| node.product);
    let columns =
        all.map(|product| columns_of(&product, product.batch * product.m * product.k == elements(matrix))).sum::<f64>();
    let columns = columns.max(columns_of(&product, is_left));
    if n < SMALLEST || columns > NARROW * n || product.k != n {
        return None;
    }
    let batch = elements(matrix) / (n * n);
    let bytes = WIDTH * batch * (n * n + 2.0 * n * columns);
    let better = Work { matrix: batch * (2.0 / 3.0 * n * n * n + 2.0 * n * n * columns), bytes, ..Work::default() };
    let now = Work { matrix: batch * 2.0 * n * n * n, ..Work::default() };
    Some(Match { form: INVERSE, calls: vec![*at, product_at], better, now, large: vec![n as i64, n as i64] })
}

fn diagonal(rest: &Nodes<'_>) -> Option<Match> {
    let (at, node) = rest.first()?;
    // Of a matrix, `diag` takes the diagonal.
    let vector = node.arrays.first().filter(|vector| node.name != "diag" || vector.len() == 1)?;
    let n = if node.name == "diagflat" { elements(vector) } else { *vector.last()? as f64 };
    let all = elements(vector) * n;
    let (product_at, product, is_left) = multiplied(rest, all)?;
    if n < SMALLEST || product.k != n {
        return None;
    }
    let results = elements(vector) * columns_of(&product, is_left);
    let better = Work { plain: results, bytes: WIDTH * 2.0 * results, ..Work::default() };
    Some(Match {
        form: DIAGONAL,
        calls: vec![*at, product_at],
        better,
        now: Work::default(),
        large: vec![n as i64, n as i64],
    })
}

/// Kronecker products, however long before they are multiplied by.
pub(super) fn kronecker(all: &Nodes<'_>) -> Vec<Match> {
    let mut made: Vec<(usize, [f64; 4])> = Vec::new();
    let mut found = Vec::new();
    for (at, node) in all {
        if let ("kron", [one, other, ..]) = (node.name, node.arrays)
            && let ([rows, width], [more_rows, more_width]) = (&one[..], &other[..])
        {
            made.push((*at, [rows, width, more_rows, more_width].map(|extent| *extent as f64)));
        }
        let Some(product) = node.product else { continue };
        let count = |sizes: &[f64; 4]| sizes.iter().product::<f64>();
        let is_left = |sizes: &[f64; 4]| product.batch * product.m * product.k == count(sizes);
        let is_it = |sizes: &[f64; 4]| is_left(sizes) || product.batch * product.k * product.n == count(sizes);
        if let Some((kron, sizes)) = made.iter().rev().find(|(_, sizes)| is_it(sizes) && sizes[0].min(sizes[2]) >= 4.0)
        {
            found.push(by_sides(*kron, *at, *sizes, columns_of(&product, is_left(sizes))));
        }
    }
    found
}

fn by_sides(kron: usize, product: usize, [rows, width, more_rows, more_width]: [f64; 4], columns: f64) -> Match {
    let matrix = 2.0 * columns * (rows * width * more_width + rows * more_rows * more_width);
    let bytes = WIDTH * columns * 2.0 * (width * more_width + rows * more_rows);
    let large = vec![(rows * more_rows) as i64, (width * more_width) as i64];
    let better = Work { matrix, bytes, ..Work::default() };
    Match { form: KRONECKER, calls: vec![kron, product], better, now: Work::default(), large }
}

/// Indices as rows of zeros and a one, converted perhaps, and multiplied by a matrix.
fn one_hot(rest: &Nodes<'_>) -> Option<Match> {
    let (at, node) = rest.first()?;
    let indices = elements(node.arrays.first()?);
    let mut calls = vec![*at];
    // How many there are is known where they are converted.
    let mut classes = None;
    for (at, next) in later(rest).take(NEAR) {
        let is_of_rows = |node: &Node<'_>| node.largest() >= 2.0 * indices && node.largest() % indices == 0.0;
        calls.push(*at);
        match (next.name, next.product) {
            (_, Some(product)) => {
                let is_it = product.batch * product.m == indices
                    && product.k >= SMALLEST
                    && classes.is_none_or(|classes| classes == product.k);
                let results = indices * product.n;
                let better = Work { bytes: WIDTH * 2.0 * results, ..Work::default() };
                let large = vec![indices as i64, product.k as i64];
                return is_it.then(|| Match { form: ONE_HOT, calls, better, now: Work::default(), large });
            }
            ("to" | "_to_copy" | "type_as", _) if is_of_rows(next) => classes = Some(next.largest() / indices),
            _ => return None,
        }
    }
    None
}

const INVERSE: Form = Form {
    does: "goes to inverting a matrix of {} only to multiply by the inverse",
    instead: "solving for the right-hand side directly",
    why: "an inverse solves one right-hand side per column of the matrix, and is less accurate",
    help: "use `torch.linalg.solve(m, b)` instead of `torch.linalg.inv(m) @ b` (`torch.cholesky_solve` if `m` is symmetric and positive); factorize once if `m` stays the same",
    left: LeftBy::Price,
};

const DIAGONAL: Form = Form {
    does: "goes to multiplying by a dense diagonal matrix of {}",
    instead: "scaling rows or columns",
    why: "all but one element of each row are zeros, but the matrix product multiplies by all of them",
    help: "use `d[:, None] * x` instead of `torch.diag(d) @ x`, and `x * d` instead of `x @ torch.diag(d)`",
    left: LeftBy::OwnPrice,
};

const KRONECKER: Form = Form {
    does: "goes to multiplying by a materialized Kronecker product of {}",
    instead: "one small product along each dimension",
    why: "a Kronecker product is two small matrices, each acting on its own dimension of the vector",
    help: "reshape the vector to a matrix and multiply it from both sides: `a @ x.reshape(n, m) @ b.T` instead of `torch.kron(a, b) @ x`",
    left: LeftBy::Price,
};

const ONE_HOT: Form = Form {
    does: "goes to multiplying one-hot rows of {} by a matrix",
    instead: "indexing rows",
    why: "each one-hot row selects one row of the matrix, but the product multiplies all other rows by zero",
    help: "index the rows: `weight[indices]`, `torch.nn.functional.embedding(indices, weight)`, or `torch.nn.Embedding`",
    left: LeftBy::OwnPrice,
};
