//! What numbers are measured in.

/// What the numbers of a column are, and so how they are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Words.
    Text,
    /// Nanoseconds, `i64`.
    Nanos,
    /// Bytes, `u64`.
    Bytes,
    /// A number of things, `u64`.
    Count,
    /// A part of a whole, `f64` from 0 to 1.
    Share,
    /// A plain ratio or other number, `f64`.
    Number,
    /// Bytes per second, `f64`.
    BytesPerSec,
    /// Floating-point operations per second, `f64`.
    FlopsPerSec,
    /// Operations of any kind per second, `f64`: integer ones, where that matters.
    OpsPerSec,
    /// Floating-point operations, `f64`; a multiply-add is two.
    Flops,
    /// Arithmetic intensity: floating-point operations per byte, `f64`.
    FlopPerByte,
    /// Yes or no.
    Flag,
}

impl Unit {
    /// The unit's name in Arrow metadata and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Text => "text",
            Unit::Nanos => "ns",
            Unit::Bytes => "bytes",
            Unit::Count => "count",
            Unit::Share => "share",
            Unit::Number => "number",
            Unit::BytesPerSec => "bytes/s",
            Unit::FlopsPerSec => "flop/s",
            Unit::OpsPerSec => "op/s",
            Unit::Flops => "flop",
            Unit::FlopPerByte => "flop/byte",
            Unit::Flag => "flag",
        }
    }

    /// The unit that [`Unit::name`] names.
    pub fn from_name(name: &str) -> Option<Unit> {
        let all = [
            Unit::Text,
            Unit::Nanos,
            Unit::Bytes,
            Unit::Count,
            Unit::Share,
            Unit::Number,
            Unit::BytesPerSec,
            Unit::FlopsPerSec,
            Unit::OpsPerSec,
            Unit::Flops,
            Unit::FlopPerByte,
            Unit::Flag,
        ];
        all.into_iter().find(|unit| unit.name() == name)
    }
}
