//! Tables of growth over sizes and of the steps of one capture; they have commands of their own instead of views.

mod growth;
mod next;
mod steps;
#[cfg(test)]
mod tests;

pub use growth::growth_table;
pub use next::next_table;
pub use steps::steps_tables;

/// Seconds as whole nanoseconds.
fn nanos(secs: f64) -> i64 {
    (secs * 1e9).round() as i64
}
