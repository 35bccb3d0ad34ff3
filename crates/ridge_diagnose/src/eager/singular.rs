//! Singular value decompositions that complete the vectors of a long matrix to a square one, which nothing reads as a whole.

use super::calls::{Form, LeftBy, Match, Nodes, WIDTH, elements, later};
use crate::pricing::Work;

/// The fewest columns that are worth it.
const SMALLEST: f64 = 8.0;
/// How many times as long as wide a matrix is for which square factors are a waste.
const LONGER: f64 = 2.0;
/// Operators that only make another view of an array.
const VIEWS: [&str; 8] = ["slice", "select", "narrow", "as_strided", "detach", "alias", "view", "split"];
/// How much slower than products of matrices libraries decompose.
const SLOWER: f64 = 10.0;

pub(super) fn find(rest: &Nodes<'_>) -> Option<Match> {
    let (at, node) = rest.first()?;
    if !matches!(node.name, "linalg_svd" | "_linalg_svd") {
        return None;
    }
    let matrix = node.arrays.first()?;
    let [.., rows, columns] = matrix[..] else { return None };
    let (long, short) = (rows.max(columns) as f64, rows.min(columns) as f64);
    // The first argument that is no array: `full_matrices`.
    let is_full = node.values.split('"').nth(3) == Some("True");
    if !is_full || short < SMALLEST || long < LONGER * short {
        return None;
    }
    let is_square =
        |array: &Vec<i64>| matches!(array[..], [.., one, other] if one as f64 == long && other as f64 == long);
    let after = later(rest).take_while(|(_, next)| next.name != node.name);
    // A view reads nothing: what is taken of the square is read by others.
    let after = after.filter(|(_, next)| !VIEWS.contains(&next.name));
    if after.into_iter().any(|(_, next)| next.arrays.iter().any(is_square)) {
        return None;
    }
    let batch = elements(matrix) / (long * short);
    let flops = 14.0 * long * short * short + 8.0 * short.powi(3);
    // The square factor is multiplied out of as many reflections as the matrix is wide.
    let square = 4.0 * long * long * short;
    let work = |flops: f64| Work { matrix: SLOWER * batch * flops, bytes: WIDTH * elements(matrix), ..Work::default() };
    let (better, now) = (work(flops), work(flops + square));
    Some(Match { form: FULL, calls: vec![*at], better, large: vec![long as i64, long as i64], now })
}

const FULL: Form = Form {
    does: "goes to computing a full matrix of singular vectors of {}, although at most the first columns are read",
    instead: "the vectors with a singular value",
    why: "by default `torch.linalg.svd` extends the vectors to a square matrix, which is most of the work for a tall matrix",
    help: "use the reduced form: `torch.linalg.svd(a, full_matrices=False)`",
    left: LeftBy::Price,
};
