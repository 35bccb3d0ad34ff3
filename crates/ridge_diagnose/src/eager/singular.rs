//! Singular value decompositions that complete the vectors of a long matrix to a square one, which nothing reads as a whole.

use super::calls::{Form, LeftBy, Match, Nodes, later};

/// The fewest columns that are worth it.
const SMALLEST: f64 = 8.0;
/// How many times as long as wide a matrix is for which square factors are a waste.
const LONGER: f64 = 2.0;
/// The same from which on the square factor is most of the work: at 13 times, reduced factors took 14% of the time (1440 × 110, one core).
const MUCH_LONGER: f64 = 8.0;
/// Operators that only make another view of an array.
const VIEWS: [&str; 8] = ["slice", "select", "narrow", "as_strided", "detach", "alias", "view", "split"];

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
    // The square factor is multiplied out of as many reflections as the matrix is wide, so its part grows with the length.
    let left = if long >= MUCH_LONGER * short { LeftBy::Parts(0.1, 0.4) } else { LeftBy::Parts(0.2, 0.75) };
    Some(Match::by_form(full(left), vec![*at], vec![long as i64, long as i64]))
}

fn full(left: LeftBy) -> Form {
    Form {
        does: "goes to computing a full matrix of singular vectors of {} (`full_matrices=True`), although at most the first columns are read",
        instead: "the vectors with a singular value",
        why: "by default `torch.linalg.svd` extends the vectors to a square matrix, which is most of the work for a tall matrix",
        help: "use the reduced form: `torch.linalg.svd(a, full_matrices=False)`",
        left,
    }
}
