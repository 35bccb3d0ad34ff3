//! What parts of libraries cost more than another part of the same library would, and when: from their own documents.
//!
//! Names alone prove nothing, so most of them only inform: a part is told where it has a large share of the time, with the condition
//! under which the other one gives the same.

mod arrays;
mod geometry;
mod operators;
mod probability;
mod solvers;
mod torch;
mod training;
mod worlds;

use crate::library::{Part, Sign};
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// Every part; where several fit an operation, the one whose frame is innermost counts, and the first of these.
pub(crate) static PARTS: LazyLock<Vec<&'static Part>> = LazyLock::new(|| {
    let groups = [
        solvers::PARTS,
        training::PARTS,
        probability::PARTS,
        geometry::PARTS,
        worlds::PARTS,
        torch::PARTS,
        operators::PARTS,
        // What libraries call of JAX comes after their own names.
        arrays::PARTS,
    ];
    groups.into_iter().flatten().collect()
});

/// The positions in [`PARTS`] of those with a frame in a package, by the package.
pub(crate) static BY_PACKAGE: LazyLock<FxHashMap<&'static str, Vec<usize>>> = LazyLock::new(|| {
    let mut found: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
    for (at, part) in PARTS.iter().enumerate() {
        for sign in part.signs {
            let (Sign::Frame(path, _) | Sign::Around(path, _)) = sign else { continue };
            let of_package = found.entry(path.split('/').next().unwrap_or(path)).or_default();
            if of_package.last() != Some(&at) {
                of_package.push(at);
            }
        }
    }
    found
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_sentences() {
        for part in PARTS.iter() {
            assert!(part.does.chars().next().is_some_and(char::is_lowercase), "{}", part.does);
            assert!(!part.why.ends_with('.') && !part.help.ends_with('.'), "{}", part.does);
            assert!(part.source.starts_with("https://") && !part.signs.is_empty(), "{}", part.does);
        }
    }
}
