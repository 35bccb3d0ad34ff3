//! The constants of the model, read from `constants.toml`: each with unit, basis and source.

use crate::Family;
use crate::basis::Basis;
use crate::operators::{Format, Operator, OperatorCost};
use crate::parameter::Parameter;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// What is not known before a design is built: a triangular distribution.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Constant {
    /// The least value.
    pub low: f64,
    /// The likeliest.
    pub mode: f64,
    /// The greatest.
    pub high: f64,
    /// The unit of all three.
    pub unit: String,
    /// How far they can be trusted.
    pub basis: Basis,
    /// The document, or the reason.
    pub source: String,
}

impl Constant {
    /// The value below which a part `share` of the distribution lies; `share` from 0 to 1.
    pub fn quantile(&self, share: f64) -> f64 {
        let width = self.high - self.low;
        if width <= 0.0 {
            return self.mode;
        }
        let left = self.mode - self.low;
        if share < left / width {
            self.low + (share * width * left).sqrt()
        } else {
            self.high - ((1.0 - share) * width * (self.high - self.mode)).sqrt()
        }
    }
}

/// A figure that is the same for every design.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fixed {
    /// The figure.
    pub value: f64,
    /// Its unit.
    pub unit: String,
    /// How far it can be trusted.
    pub basis: Basis,
    /// The document.
    pub source: String,
}

/// All constants.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Constants {
    prior: BTreeMap<String, Constant>,
    fixed: BTreeMap<String, Fixed>,
    operator: BTreeMap<String, BTreeMap<String, BTreeMap<String, OperatorCost>>>,
}

static CONSTANTS: LazyLock<Constants> = LazyLock::new(|| {
    toml::from_str(include_str!("../constants.toml")).expect("the tests read the file that is compiled in")
});

/// The constants of this version.
pub fn constants() -> &'static Constants {
    &CONSTANTS
}

impl Constants {
    /// What is thought of `parameter` before a design is built.
    ///
    /// # Panics
    /// Never for the constants of this version: a test reads every parameter.
    pub fn prior(&self, parameter: Parameter) -> &Constant {
        &self.prior[parameter.name()]
    }

    /// The figure called `name`: `to_board_setup`, `granule`.
    ///
    /// # Panics
    /// If there is none; the names are this crate's own.
    pub fn fixed(&self, name: &str) -> &Fixed {
        &self.fixed[name]
    }

    /// Every fixed figure by its name.
    pub fn all_fixed(&self) -> impl Iterator<Item = (&str, &Fixed)> {
        self.fixed.iter().map(|(name, fixed)| (name.as_str(), fixed))
    }

    /// Every operator as `family.format.operator` with its cost.
    pub fn all_operators(&self) -> impl Iterator<Item = (String, &OperatorCost)> {
        self.operator.iter().flat_map(|(family, formats)| {
            formats.iter().flat_map(move |(format, operators)| {
                operators.iter().map(move |(operator, cost)| (format!("{family}.{format}.{operator}"), cost))
            })
        })
    }

    /// What `operator` takes on `family`: by its own entry for the format or a wider one, else as on UltraScale+.
    pub fn operator(&self, family: Family, format: Format, operator: Operator) -> Option<&OperatorCost> {
        let of =
            |family: Family, format: Format| self.operator.get(family.name())?.get(format.name())?.get(operator.name());
        let formats = || std::iter::successors(Some(format), |format| format.wider());
        // A family's own floating-point units serve shorter formats, too; its integers are as everywhere.
        let mut own = formats().take_while(|wider| wider.is_float() == format.is_float());
        let found = own.find_map(|format| of(family, format));
        found.or_else(|| formats().find_map(|format| of(Family::Ultrascale, format)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_constant_has_unit_source_and_order() {
        let constants = constants();
        for parameter in Parameter::ALL {
            let prior = constants.prior(parameter);
            assert!(prior.low <= prior.mode && prior.mode <= prior.high, "{}", parameter.name());
            assert!(!prior.unit.is_empty() && !prior.source.is_empty(), "{}", parameter.name());
        }
        assert_eq!(constants.prior.len(), Parameter::ALL.len(), "a prior that nothing reads");
        for (name, fixed) in constants.all_fixed() {
            assert!(fixed.value > 0.0 && !fixed.unit.is_empty() && !fixed.source.is_empty(), "{name}");
        }
        for (name, cost) in constants.all_operators() {
            let parts: Vec<&str> = name.split('.').collect();
            assert!(Family::from_name(parts[0]).is_some(), "{name}");
            assert!(Format::ALL.iter().any(|format| format.name() == parts[1]), "{name}");
            assert!(Operator::ALL.iter().any(|operator| operator.name() == parts[2]), "{name}");
            assert!(cost.dsp + cost.lut > 0.0 && cost.latency > 0.0 && !cost.source.is_empty(), "{name}");
        }
    }

    #[test]
    fn quantiles_of_a_triangle() {
        let triangle = |low, mode, high| Constant {
            low,
            mode,
            high,
            unit: String::new(),
            basis: Basis::Judged,
            source: String::new(),
        };
        // Of (0, 1, 2) half lies below 1 and an eighth below 0.5: x²/2.
        let even = triangle(0.0, 1.0, 2.0);
        assert_eq!([0.0, 0.125, 0.5, 1.0].map(|share| even.quantile(share)), [0.0, 0.5, 1.0, 2.0]);
        assert_eq!(triangle(3.0, 3.0, 3.0).quantile(0.9), 3.0);
        assert_eq!(triangle(0.0, 0.0, 1.0).quantile(0.75), 0.5);
    }
}
