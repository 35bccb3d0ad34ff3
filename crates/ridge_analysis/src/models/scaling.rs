//! How time, work and memory grow with size, and how steps of one size drift.
//!
//! [`PowerLaw`] fits `y = a N^b` and says how sure the exponent is; where the growth bends, [`Growth`] has a second exponent.
//! [`growth_rows`] compare an operation's time with its work, [`next_rows`] say what dominates at the next size.
//! [`growth_chart`] has the numbers of a drawing of both.
//! [`StepTrends`] take the steps of one capture: warm-up, drift, outliers.
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
mod verdict;
mod work;

pub use bend::{Bend, Growth};
pub use chart::{GrowthChart, GrowthFit, GrowthLine, growth_chart};
pub use drift::{Drift, drift};
pub(crate) use drift::{LEAST_DEVIATION, MOST_SCORE, WARM};
pub use growth::{GrowthRow, growth_rows};
pub(crate) use next::WIDEST;
pub use next::{NextRow, next_rows};
pub use power_law::{Between, PowerLaw};
pub use robust::{TheilSen, median, median_deviation, theil_sen};
pub use series::{Series, SizePoint};
pub use steps::{StepTrend, StepTrends};
pub use verdict::Verdict;
pub use work::{CaptureWork, capture_work};
