//! What a user wants to be otherwise: a clock, a number of calls that data stay on the board for, a format.

use crate::draw::Draw;
use crate::operators::Format;
use crate::parameter::Parameter;
use thiserror::Error;

/// What is taken to be otherwise.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WhatIf {
    /// Parameters that are decided, in the units of the formulas.
    pub decided: Vec<(Parameter, f64)>,
    /// Calls for which data stay on the board; 1 where each call pays its transfers.
    pub resident: Option<f64>,
    /// The format that a design computes in.
    pub format: Option<Format>,
    /// Whether the input is born at the board, so that it need not be sent there.
    pub is_streamed: bool,
}

/// Why a change cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum WhatIfError {
    /// There is no such thing to change.
    #[error("unknown assumption `{0}`")]
    Unknown(String),
    /// The value does not fit.
    #[error("expected {expected} for `{name}`, found `{found}`")]
    Value {
        /// What is changed.
        name: String,
        /// What its value must be.
        expected: String,
        /// What was said.
        found: String,
    },
}

impl WhatIf {
    /// Reads `clock=250MHz,resident=100,dtype=int16,stream=yes`; any parameter of `constants.toml` may be set.
    ///
    /// # Errors
    /// [`WhatIfError`] where a name is not known or a value does not fit.
    pub fn parse(text: &str) -> Result<WhatIf, WhatIfError> {
        let mut what_if = WhatIf::default();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').ok_or_else(|| WhatIfError::Unknown(part.to_owned()))?;
            what_if.set(name.trim(), value.trim())?;
        }
        Ok(what_if)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), WhatIfError> {
        let wrong = |expected: &str| WhatIfError::Value {
            name: name.to_owned(),
            expected: expected.to_owned(),
            found: value.to_owned(),
        };
        match name {
            "resident" => {
                let calls = value.parse().ok().filter(|calls: &f64| (1.0..=1e12).contains(calls));
                self.resident = Some(calls.ok_or_else(|| wrong("a number of calls from 1"))?);
            }
            "dtype" => {
                let formats = [
                    ("int16", Format::I16),
                    ("int32", Format::I32),
                    ("f16", Format::F16),
                    ("f32", Format::F32),
                    ("f64", Format::F64),
                ];
                let found = formats.into_iter().find(|(name, format)| *name == value || format.name() == value);
                self.format = Some(found.ok_or_else(|| wrong("int16, int32, f16, f32 or f64"))?.1);
            }
            "stream" => {
                self.is_streamed = match value {
                    "yes" => true,
                    "no" => false,
                    _ => return Err(wrong("yes or no")),
                }
            }
            _ => {
                let parameter = Parameter::ALL.into_iter().find(|parameter| parameter.name() == name);
                let parameter = parameter.ok_or_else(|| WhatIfError::Unknown(name.to_owned()))?;
                self.decided.push((parameter, decided(parameter, value).ok_or_else(|| wrong(expected(parameter)))?));
            }
        }
        Ok(())
    }

    /// `draw` with what is decided.
    pub fn apply(&self, draw: Draw) -> Draw {
        self.decided.iter().fold(draw, |draw, (parameter, value)| draw.with(*parameter, *value))
    }

    /// Whether nothing is otherwise.
    pub fn is_empty(&self) -> bool {
        *self == WhatIf::default()
    }
}

/// The value in the units of the formulas.
fn decided(parameter: Parameter, text: &str) -> Option<f64> {
    let prior = &crate::constants().prior(parameter).unit;
    let units: &[(&str, f64)] = match prior.as_str() {
        "MHz" => &[("GHz", 1e9), ("MHz", 1e6), ("", 1e6)],
        "µs" => &[("ms", 1e-3), ("us", 1e-6), ("µs", 1e-6), ("", 1e-6)],
        "ns" => &[("us", 1e-6), ("µs", 1e-6), ("ns", 1e-9), ("", 1e-9)],
        _ => &[("", 1.0)],
    };
    let (digits, scale) = units.iter().find_map(|(unit, scale)| Some((text.strip_suffix(unit)?, *scale)))?;
    let value: f64 = digits.trim().parse().ok()?;
    let highest = if prior == "part" { 1.0 } else { 1e12 };
    (value.is_finite() && value >= 0.0 && value <= highest && (value > 0.0 || parameter == Parameter::Conflict))
        .then_some(value * scale)
}

fn expected(parameter: Parameter) -> &'static str {
    match crate::constants().prior(parameter).unit.as_str() {
        "MHz" => "a clock such as 250MHz",
        "µs" | "ns" => "a time such as 5us",
        "part" => "a part from 0 to 1",
        _ => "a positive number",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_read_with_their_units() {
        let found =
            WhatIf::parse("clock=250MHz, resident=100,dtype=int16,stream=yes,launch=5us,dsp_use=0.7").expect("read");
        assert_eq!(
            found.decided,
            [(Parameter::Clock, 250e6), (Parameter::Launch, 5.0 * 1e-6), (Parameter::DspUse, 0.7)]
        );
        assert_eq!((found.resident, found.format, found.is_streamed), (Some(100.0), Some(Format::I16), true));
        assert!(WhatIf::parse("").expect("nothing").is_empty());
        let error = |text: &str| WhatIf::parse(text).expect_err("an error").to_string();
        assert_eq!(error("speed=2"), "unknown assumption `speed`");
        assert_eq!(error("clock"), "unknown assumption `clock`");
        assert_eq!(error("clock=fast"), "expected a clock such as 250MHz for `clock`, found `fast`");
        assert_eq!(error("clock=0"), "expected a clock such as 250MHz for `clock`, found `0`");
        assert_eq!(error("dsp_use=7"), "expected a part from 0 to 1 for `dsp_use`, found `7`");
        assert_eq!(error("resident=nan"), "expected a number of calls from 1 for `resident`, found `nan`");
        assert_eq!(error("dtype=int3"), "expected int16, int32, f16, f32 or f64 for `dtype`, found `int3`");
    }
}
