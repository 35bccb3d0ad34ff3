//! Where a number comes from.

/// Where a number comes from, and so how far to trust it; the most trustworthy first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Basis {
    /// A clock or a hardware counter said it.
    Measured,
    /// Counted exactly from the program, such as operations from shapes.
    Counted,
    /// From a device's data sheet.
    Sheet,
    /// What the capture says of its device, by the word of the driver or the profiler.
    Capture,
    /// Given to its owner by a rule, because no record says whose it is.
    Inferred,
    /// Computed by a model from the others, under assumptions that the definition names.
    Modelled,
}

impl Basis {
    /// Every basis, the most trustworthy first.
    pub const ALL: [Basis; 6] =
        [Basis::Measured, Basis::Counted, Basis::Sheet, Basis::Capture, Basis::Inferred, Basis::Modelled];

    /// The word in reports, Arrow metadata and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Basis::Measured => "measured",
            Basis::Counted => "counted",
            Basis::Sheet => "sheet",
            Basis::Capture => "capture",
            Basis::Inferred => "inferred",
            Basis::Modelled => "modelled",
        }
    }

    /// The basis that [`Basis::name`] names.
    pub fn from_name(name: &str) -> Option<Basis> {
        Basis::ALL.into_iter().find(|basis| basis.name() == name)
    }

    /// The basis of a number made of two: the weaker one.
    pub fn and(self, other: Basis) -> Basis {
        self.max(other)
    }
}
