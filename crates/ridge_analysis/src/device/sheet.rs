//! Reads one device's sheet.

use crate::device::{Ceiling, Ceilings, ComputeUnit, Limit, NumberType};
use ridge_table::Basis;
use thiserror::Error;
use toml::{Table, Value};

/// Why a sheet cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SheetError {
    /// It is not TOML.
    #[error("expected a device sheet in TOML: {0}")]
    NotToml(String),
    /// A key is absent or not of its kind.
    #[error("expected {expected} at `{key}`")]
    Missing {
        /// What belongs there.
        expected: &'static str,
        /// Where.
        key: String,
    },
    /// A number's source is not among the sheet's sources.
    #[error("expected the source of `{key}` among the sheet's sources, found `{source_key}`")]
    UnknownSource {
        /// The number.
        key: String,
        /// The source it names.
        source_key: String,
    },
}

/// A number with where it is from.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// The number, in the unit of its place.
    pub value: f64,
    /// The document, in words.
    pub source: String,
}

/// What is published of one model.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceSheet {
    /// The maker's name for it.
    pub name: String,
    /// The maker (`NVIDIA`, `AMD`).
    pub vendor: String,
    /// The names that drivers report.
    pub driver_names: Vec<String>,
    /// The architecture's name.
    pub architecture: String,
    /// Compute capability or architecture version, major and minor.
    pub compute_capability: (u32, u32),
    /// Streaming multiprocessors, compute units or, of a TPU, TensorCores.
    pub cores: Figure,
    /// Highest core clock, MHz, where it is published.
    pub clock_mhz: Option<Figure>,
    /// Memory size, GiB.
    pub memory_gib: Figure,
    /// Design power, watts.
    pub tdp_watts: Option<Figure>,
    /// Links to other devices together, both directions, 10⁹ bytes per second.
    pub peer_gb_per_s: Option<Figure>,
    /// Rates and bandwidths.
    pub ceilings: Ceilings,
}

impl DeviceSheet {
    /// Reads the text of a sheet.
    ///
    /// # Errors
    /// [`SheetError`] where it is no TOML, something is missing, or a number names no source.
    pub fn parse(text: &str) -> Result<DeviceSheet, SheetError> {
        let table: Table = text.parse().map_err(|error: toml::de::Error| SheetError::NotToml(error.to_string()))?;
        let reader = Reader { table: &table };
        let name = reader.text("name")?;
        Ok(DeviceSheet {
            vendor: reader.text("vendor")?,
            driver_names: reader.texts("driver_names")?,
            architecture: reader.text("architecture")?,
            compute_capability: reader.version("compute_capability")?,
            cores: reader.figure("cores")?,
            clock_mhz: reader.optional_figure("clock_mhz")?,
            memory_gib: reader.figure("memory_gib")?,
            tdp_watts: reader.optional_figure("tdp_watts")?,
            peer_gb_per_s: reader.optional_figure("peer_gb_per_s")?,
            ceilings: Ceilings {
                device: name.clone(),
                entries: reader.ceilings()?,
                cache_bytes: reader.optional_figure("cache_mib")?.map(|mib| (mib.value * 1_048_576.0) as u64),
                notes: if table.contains_key("notes") { reader.texts("notes")? } else { Vec::new() },
            },
            name,
        })
    }
}

/// Looks things up in a sheet, and says what is missing.
pub(super) struct Reader<'t> {
    pub(super) table: &'t Table,
}

impl Reader<'_> {
    pub(super) fn text(&self, key: &str) -> Result<String, SheetError> {
        let text = self.table.get(key).and_then(Value::as_str);
        text.map(str::to_owned).ok_or_else(|| missing("text", key))
    }

    pub(super) fn texts(&self, key: &str) -> Result<Vec<String>, SheetError> {
        let list = self.table.get(key).and_then(Value::as_array).ok_or_else(|| missing("a list of texts", key))?;
        let texts = list.iter().map(|item| item.as_str().map(str::to_owned));
        texts.collect::<Option<_>>().ok_or_else(|| missing("a list of texts", key))
    }

    fn version(&self, key: &str) -> Result<(u32, u32), SheetError> {
        let text = self.text(key)?;
        let parts = text.split_once('.').and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
        parts.ok_or_else(|| missing("a version such as 9.0", key))
    }

    pub(super) fn figure(&self, key: &str) -> Result<Figure, SheetError> {
        self.optional_figure(key)?.ok_or_else(|| missing("a figure with its source", key))
    }

    fn optional_figure(&self, key: &str) -> Result<Option<Figure>, SheetError> {
        self.table.get(key).map(|value| self.figure_of(key, value)).transpose()
    }

    /// `{ value = 989.4, source = "whitepaper" }`.
    pub(super) fn figure_of(&self, key: &str, value: &Value) -> Result<Figure, SheetError> {
        let number = value.get("value").and_then(number).ok_or_else(|| missing("a positive number", key))?;
        Ok(Figure { value: number, source: self.source(key, value)? })
    }

    /// The words of the source that `value` names.
    fn source(&self, key: &str, value: &Value) -> Result<String, SheetError> {
        let name = value.get("source").and_then(Value::as_str).ok_or_else(|| missing("a source", key))?;
        let words = self.table.get("sources").and_then(|sources| sources.get(name)).and_then(Value::as_str);
        let unknown = || SheetError::UnknownSource { key: key.to_owned(), source_key: name.to_owned() };
        words.map(str::to_owned).ok_or_else(unknown)
    }

    fn ceilings(&self) -> Result<Vec<Ceiling>, SheetError> {
        const GIGA: f64 = 1e9;
        let mut entries = self.rates()?;
        entries.push(ceiling(Limit::Memory, self.figure("memory_gb_per_s")?, GIGA));
        let cache = self.optional_figure("cache_gb_per_s")?;
        entries.extend(cache.map(|figure| ceiling(Limit::Cache, figure, GIGA)));
        if self.table.contains_key("pcie") {
            let link = self.link()?;
            entries.push(ceiling(Limit::HostToDevice, link.clone(), 1.0));
            entries.push(ceiling(Limit::DeviceToHost, link, 1.0));
        }
        Ok(entries)
    }

    fn rates(&self) -> Result<Vec<Ceiling>, SheetError> {
        const TERA: f64 = 1e12;
        let mut entries = Vec::new();
        for unit in ComputeUnit::ALL {
            let rates = self.table.get(unit.name()).and_then(Value::as_table);
            for (name, value) in rates.into_iter().flatten() {
                let key = format!("{}.{name}", unit.name());
                let number = NumberType::from_name(name).ok_or_else(|| missing("a type of numbers", &key))?;
                entries.push(ceiling(Limit::Rate(number, unit), self.figure_of(&key, value)?, TERA));
            }
        }
        Ok(entries)
    }

    /// Bytes per second of a PCIe link in one direction.
    ///
    /// PCI Express base specification: 8 GT/s per lane in generation 3, doubled by each later one to 32 GT/s in
    /// generation 5, in a code of 128 bits in 130.
    fn link(&self) -> Result<Figure, SheetError> {
        let link = self.table.get("pcie").ok_or_else(|| missing("a link", "pcie"))?;
        let part = |name| link.get(name).and_then(number).ok_or_else(|| missing("generation and lanes", "pcie"));
        let (generation, lanes) = (part("generation")?, part("lanes")?);
        let transfers_per_sec = 8e9 * 2_f64.powf(generation - 3.0);
        Ok(Figure {
            value: transfers_per_sec * lanes * 128.0 / 130.0 / 8.0,
            source: format!("PCIe {generation}.0 x{lanes}: {}", self.source("pcie", link)?),
        })
    }
}

fn ceiling(limit: Limit, figure: Figure, scale: f64) -> Ceiling {
    Ceiling { limit, value: figure.value * scale, basis: Basis::Sheet, source: figure.source }
}

fn missing(expected: &'static str, key: &str) -> SheetError {
    SheetError::Missing { expected, key: key.to_owned() }
}

fn number(value: &Value) -> Option<f64> {
    let number = value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64))?;
    (number.is_finite() && number > 0.0).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHEET: &str = r#"
        name = "Maker X1"
        vendor = "Maker"
        driver_names = ["X1"]
        architecture = "X"
        compute_capability = "1.2"
        cores = { value = 4, source = "sheet" }
        clock_mhz = { value = 1500, source = "sheet" }
        memory_gib = { value = 2, source = "sheet" }
        memory_gb_per_s = { value = 500, source = "sheet" }
        pcie = { generation = 4, lanes = 16, source = "sheet" }
        [matrix]
        bf16 = { value = 1.5, source = "sheet" }
        [sources]
        sheet = "Maker's data sheet"
    "#;

    #[test]
    fn figures_come_in_base_units_with_their_source() {
        let sheet = DeviceSheet::parse(SHEET).expect("a whole sheet");
        let bf16 = sheet.ceilings.get(Limit::Rate(NumberType::Bf16, ComputeUnit::Matrix)).expect("it is there");
        assert_eq!((bf16.value, bf16.basis, bf16.source.as_str()), (1.5e12, Basis::Sheet, "Maker's data sheet"));
        let link = sheet.ceilings.value(Limit::HostToDevice).expect("the sheet has a link");
        assert!((link - 31.508e9).abs() < 1e7, "{link}");
        assert_eq!((sheet.compute_capability, sheet.cores.value), ((1, 2), 4.0));
    }

    #[test]
    fn what_is_missing_is_named() {
        for (from, to, message) in [
            ("vendor =", "maker =", "expected text at `vendor`"),
            ("\"1.2\"", "\"one\"", "expected a version such as 9.0 at `compute_capability`"),
            ("value = 4,", "value = -4,", "expected a positive number at `cores`"),
            ("bf16 =", "bf17 =", "expected a type of numbers at `matrix.bf17`"),
            (
                "value = 500, source = \"sheet\"",
                "value = 500, source = \"memory\"",
                "expected the source of `memory_gb_per_s` among the sheet's sources, found `memory`",
            ),
        ] {
            let broken = SHEET.replace(from, to);
            assert_eq!(DeviceSheet::parse(&broken).expect_err("it is broken").to_string(), message);
        }
        assert!(matches!(DeviceSheet::parse("name = "), Err(SheetError::NotToml(_))));
    }
}
