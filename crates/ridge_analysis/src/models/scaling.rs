//! How time, work and memory grow with size, and how steps of one size drift.
//!
//! [`PowerLaw`] fits `y = a N^b` and says how sure the exponent is; where the growth bends, [`Growth`] has a second exponent.
//! [`growth_table`] compares an operation's time with its work, [`next_table`] says what dominates at the next size.
//! [`growth_chart`] has the numbers of a drawing of both.
//! [`steps_tables`] takes the steps of one capture: warm-up, drift, outliers.
//!
//! Nothing here knows where sizes and times come from.

mod bend;
mod chart;
mod drift;
mod growth;
mod next;
mod power_law;
mod robust;
mod series;
mod steps;
#[cfg(test)]
mod tests;
mod verdict;
mod work;

pub use bend::{Bend, Growth};
pub use chart::{GrowthChart, GrowthFit, GrowthLine, growth_chart};
pub use drift::{Drift, drift};
pub use growth::growth_table;
pub use next::next_table;
pub use power_law::{Between, PowerLaw};
pub use robust::{TheilSen, median, median_deviation, theil_sen};
pub use series::{Series, SizePoint};
pub use steps::steps_tables;
pub use verdict::Verdict;
pub use work::{CaptureWork, capture_work};
