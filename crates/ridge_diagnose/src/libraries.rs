//! What parts of libraries cost more than another part of the same library would, and when: from their own documents.
//!
//! Names alone prove nothing, so most of them only inform: a part is told where it has a large share of the time, with the condition
//! under which the other one gives the same.

mod arrays;
mod geometry;
mod probability;
mod solvers;
mod torch;
mod training;
mod worlds;

use crate::library::Part;
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
        // What libraries call of JAX comes after their own names.
        arrays::PARTS,
    ];
    groups.into_iter().flatten().collect()
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
