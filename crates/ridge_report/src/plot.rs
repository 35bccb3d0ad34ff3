//! What drawings on two logarithmic axes share: the part of the plane they show, and where a value stands in it.
//!
//! Draws nothing.

/// Decades that an axis shows at most; what lies further below is drawn at the edge.
const MOST_DECADES: f64 = 9.0;

/// The part of the plane that a drawing shows, as powers of ten.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Window {
    /// Least and greatest value to the right.
    pub(crate) x: (f64, f64),
    /// Least and greatest value upward.
    pub(crate) y: (f64, f64),
}

impl Window {
    /// Where `x` stands, 0 at the left edge to 1 at the right.
    pub(crate) fn right(&self, x: f64) -> f64 {
        part(x, self.x)
    }

    /// Where `y` stands, 0 at the bottom to 1 at the top.
    pub(crate) fn up(&self, y: f64) -> f64 {
        part(y, self.y)
    }

    /// The value at `right` of the way across.
    pub(crate) fn across(&self, right: f64) -> f64 {
        10_f64.powf(self.x.0 + right * (self.x.1 - self.x.0))
    }
}

fn part(value: f64, (low, high): (f64, f64)) -> f64 {
    ((value.log10() - low) / (high - low)).clamp(0.0, 1.0)
}

/// The powers of ten that hold `values` with `margin` decades around, at least `least` decades.
pub(crate) fn span(values: impl Iterator<Item = f64>, margin: f64, least: f64) -> (f64, f64) {
    let logs = values.filter(|value| *value > 0.0 && value.is_finite()).map(f64::log10);
    let (low, high) = logs.fold((f64::MAX, f64::MIN), |(low, high), log| (low.min(log), high.max(log)));
    if low > high {
        return (0.0, least);
    }
    let (low, high) = (low.max(high - MOST_DECADES) - margin, high + margin);
    let missing = (least - (high - low)).max(0.0);
    (low - missing / 2.0, high + missing / 2.0)
}
