//! The rules, by group. A new one is a file, a document and a line here.

use crate::rule::Rule;

macro_rules! rules {
    ($($file:ident)*) => {
        $(mod $file;)*

        /// Every rule, in the order of groups.
        pub static RULES: &[&Rule] = &[$(&$file::RULE),*];
    };
}

rules! {
    capture_empty
    graph_under_recorded
    graph_opaque
    zero_timestamps
    data_loading
    blocking_call
    host_bound_dispatch
    sync_copy
    defensive_copies
    exposed_collectives
}

/// The rule called `id`.
pub fn rule(id: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.id == id)
}

#[cfg(test)]
mod tests;
