//! What mending a finding would save, and where the number comes from.

use ridge_analysis::Per;

/// Where a saving comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SavingBasis {
    /// The capture replayed with the change made.
    Replay,
    /// The finding's part of the time, where a processor works one thing after the other, widened by the record.
    ShareOfTime,
    /// What takes its place was priced by the cost model, and so what is left of the finding's part of the time.
    Price,
    /// No more than the time that the finding holds; how much of it would go cannot be told.
    Bound,
    /// Runs of the program with a change, beside runs without.
    Measured,
}

impl SavingBasis {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            SavingBasis::Replay => "replay",
            SavingBasis::ShareOfTime => "wall",
            SavingBasis::Price => "price",
            SavingBasis::Bound => "bound",
            SavingBasis::Measured => "measured",
        }
    }

    /// The name for people.
    pub fn words(self) -> &'static str {
        match self {
            SavingBasis::Replay => "replay",
            SavingBasis::ShareOfTime => "its share of the time",
            SavingBasis::Price => "cost model",
            SavingBasis::Bound => "upper bound",
            SavingBasis::Measured => "measured",
        }
    }
}

/// What mending would save.
#[derive(Debug, Clone, PartialEq)]
pub struct Saving {
    /// At least, nanoseconds per step or capture.
    pub low_ns: i64,
    /// At most.
    pub high_ns: i64,
    /// The same as parts of the step, or of the steady part of the capture, 0 to 1.
    pub share_low: f64,
    /// At most.
    pub share_high: f64,
    /// What it is per.
    pub per: Per,
    /// Where it comes from.
    pub basis: SavingBasis,
    /// Why no replay was possible.
    pub refused: Option<String>,
}
