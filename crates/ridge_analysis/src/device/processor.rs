//! What processors can do by their makers' sheets, for as many cores as a program may use.
//!
//! One file per model under `processors/`, each number with its source. A processor is found by the name that the
//! system reports and by nothing else; one that no sheet names has no roofs but measured ones.

use super::sheet::{Reader, SheetError};
use crate::device::{Ceiling, Ceilings, ComputeUnit, Limit, NumberType};
use ridge_table::Basis;
use std::sync::OnceLock;
use toml::{Table, Value};

/// Bytes that a channel of DDR4 or DDR5 carries per transfer: 64 bits (JEDEC JESD79-4 and JESD79-5).
const CHANNEL_BYTES: f64 = 8.0;

/// Every sheet's text; a new processor is one line here.
const SHEETS: &[&str] = &[
    include_str!("../../processors/amd-epyc-7742.toml"),
    include_str!("../../processors/amd-epyc-7763.toml"),
    include_str!("../../processors/amd-epyc-9554.toml"),
    include_str!("../../processors/amd-epyc-9654.toml"),
    include_str!("../../processors/intel-xeon-platinum-8380.toml"),
    include_str!("../../processors/intel-xeon-platinum-8480plus.toml"),
    include_str!("../../processors/intel-xeon-platinum-8592plus.toml"),
];

/// What is published of one model of processor, per socket.
#[derive(Debug, Clone, PartialEq)]
pub struct ProcessorSheet {
    /// The maker's name for it.
    pub name: String,
    /// The names that systems report, as in `/proc/cpuinfo`.
    pub names: Vec<String>,
    /// Cores.
    pub cores: f64,
    /// Threads that a core runs at once.
    pub threads_per_core: f64,
    /// The clock that all cores keep, Hz.
    pub base_hz: f64,
    /// The highest clock of any core, Hz.
    pub boost_hz: f64,
    /// Design power, watts.
    pub tdp_watts: f64,
    /// Bytes of the last-level cache.
    pub cache_bytes: u64,
    /// Bytes per second of all memory channels.
    memory: Ceiling,
    /// Operations of one core in a cycle.
    per_cycle: Vec<Ceiling>,
}

impl ProcessorSheet {
    /// Reads the text of a sheet.
    ///
    /// # Errors
    /// [`SheetError`] where it is no TOML, something is missing, or a number names no source.
    pub fn parse(text: &str) -> Result<ProcessorSheet, SheetError> {
        let table: Table = text.parse().map_err(|error: toml::de::Error| SheetError::NotToml(error.to_string()))?;
        let reader = Reader { table: &table };
        let value = |key: &str| Ok(reader.figure(key)?.value);
        let (channels, transfers) = (reader.figure("memory_channels")?, value("memory_mega_transfers")? * 1e6);
        // Who reads the sheet learns these; nothing is computed with them.
        reader.text("vendor")?;
        reader.text("architecture")?;
        Ok(ProcessorSheet {
            name: reader.text("name")?,
            names: reader.texts("names")?,
            cores: value("cores")?,
            threads_per_core: value("threads_per_core")?,
            base_hz: value("base_ghz")? * 1e9,
            boost_hz: value("boost_ghz")? * 1e9,
            tdp_watts: value("tdp_watts")?,
            cache_bytes: (value("l3_mib")? * 1_048_576.0) as u64,
            memory: Ceiling {
                limit: Limit::Memory,
                value: channels.value * transfers * CHANNEL_BYTES,
                basis: Basis::Sheet,
                source: format!("{} channels at {:.0} MT/s: {}", channels.value, transfers / 1e6, channels.source),
            },
            per_cycle: per_cycle(&table, &reader)?,
        })
    }

    /// What `usable` logical processors of it can do at most.
    ///
    /// Rates are cores × highest clock × operations of a core in a cycle, which no clock exceeds. Up to as many logical
    /// processors as a socket has cores, each is taken for a core of its own; more are threads of whole sockets.
    /// Of the memory, a part of a socket has no known part of the bandwidth, so it has all of it and a note says so.
    pub fn ceilings(&self, usable: u64) -> Ceilings {
        let usable = usable.max(1) as f64;
        let sockets = (usable / (self.cores * self.threads_per_core)).ceil().max(1.0);
        let cores = usable.min(sockets * self.cores);
        let rate = |per_cycle: &Ceiling| Ceiling {
            value: per_cycle.value * cores * self.boost_hz,
            source: format!(
                "{cores} cores x {} GHz x {} a cycle: {}",
                self.boost_hz / 1e9,
                per_cycle.value,
                per_cycle.source
            ),
            ..per_cycle.clone()
        };
        let memory = Ceiling { value: self.memory.value * sockets, ..self.memory.clone() };
        Ceilings {
            device: self.name.clone(),
            entries: self.per_cycle.iter().map(rate).chain([memory]).collect(),
            cache_bytes: Some((self.cache_bytes as f64 * sockets) as u64),
            notes: self.notes(cores, sockets).into_iter().collect(),
        }
    }

    fn notes(&self, cores: f64, sockets: f64) -> Option<String> {
        let (name, all) = (&self.name, self.cores * sockets);
        (cores < all).then(|| {
            format!(
                "{name}: {cores} of {all} cores are used; rates are theirs at the highest clock, the memory bandwidth is \
                 the whole socket's; `ridgeline calibrate` measures both"
            )
        })
    }
}

fn per_cycle(table: &Table, reader: &Reader<'_>) -> Result<Vec<Ceiling>, SheetError> {
    let mut entries = Vec::new();
    for (unit, section) in [(ComputeUnit::Plain, "plain_per_cycle"), (ComputeUnit::Matrix, "matrix_per_cycle")] {
        for (name, value) in table.get(section).and_then(Value::as_table).into_iter().flatten() {
            let key = format!("{section}.{name}");
            let unknown = || SheetError::Missing { expected: "a type of numbers", key: key.clone() };
            let limit = Limit::Rate(NumberType::from_name(name).ok_or_else(unknown)?, unit);
            let figure = reader.figure_of(&key, value)?;
            entries.push(Ceiling { limit, value: figure.value, basis: Basis::Sheet, source: figure.source });
        }
    }
    Ok(entries)
}

/// All sheets of processors, by file name.
pub fn processor_sheets() -> &'static [ProcessorSheet] {
    static PARSED: OnceLock<Vec<ProcessorSheet>> = OnceLock::new();
    PARSED.get_or_init(|| {
        let parsed = SHEETS.iter().map(|text| ProcessorSheet::parse(text));
        parsed.collect::<Result<_, _>>().expect("the tests read every sheet, and a sheet is part of the program")
    })
}

/// What `usable` logical processors of the model called `name` can do at most; `None` where no sheet has that name.
pub fn processor_ceilings(name: &str, usable: u64) -> Option<Ceilings> {
    let is_it = |known: &String| known.eq_ignore_ascii_case(name.trim());
    let sheet = processor_sheets().iter().find(|sheet| sheet.names.iter().any(is_it))?;
    Some(sheet.ceilings(usable))
}

#[cfg(test)]
mod tests {
    use super::*;

    const F32: Limit = Limit::Rate(NumberType::F32, ComputeUnit::Plain);

    /// f32 in 10⁹ operations a second, memory in 10⁹ bytes a second, and whether a note says that it is a part.
    fn of(name: &str, usable: u64) -> Option<(f64, f64, bool)> {
        let ceilings = processor_ceilings(name, usable)?;
        let value = |limit| (ceilings.value(limit).expect("every sheet has it") / 1e9 * 10.0).round() / 10.0;
        Some((value(F32), value(Limit::Memory), !ceilings.notes.is_empty()))
    }

    #[test]
    fn rates_are_those_of_the_cores_that_may_be_used() {
        let epyc = "AMD EPYC 9654 96-Core Processor";
        // 96 * 3.7 * 32 = 11366.4; 12 * 4800 * 8 = 460.8. Two of 96 cores are a 48th of it.
        for (usable, expected) in [
            (192, (11366.4, 460.8, false)),
            (96, (11366.4, 460.8, false)),
            (2, (236.8, 460.8, true)),
            (384, (22732.8, 921.6, false)),
            (0, (118.4, 460.8, true)),
        ] {
            assert_eq!(of(epyc, usable), Some(expected), "{usable}");
        }
        // 56 * 3.8 * 64 and 8 * 4800 * 8.
        assert_eq!(of("intel(r) xeon(r) platinum 8480+ ", 112), Some((13619.2, 307.2, false)));
    }

    #[test]
    fn a_relative_is_not_the_processor() {
        for name in
            ["AMD EPYC 9654P 96-Core Processor", "Intel(R) Xeon(R) Platinum 8480C", "Intel(R) Xeon(R) Processor", ""]
        {
            assert_eq!(of(name, 4), None, "{name}");
        }
    }

    #[test]
    fn sheets_are_in_an_order_that_hardware_has() {
        let mut names: Vec<&str> =
            processor_sheets().iter().flat_map(|sheet| &sheet.names).map(String::as_str).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "a name belongs to one sheet");
        for sheet in processor_sheets() {
            let rate = |number, unit| sheet.ceilings(1).value(Limit::Rate(number, unit));
            assert_eq!(rate(NumberType::F64, ComputeUnit::Plain).map(|rate| 2.0 * rate), sheet.ceilings(1).value(F32));
            assert!(
                rate(NumberType::Bf16, ComputeUnit::Matrix)
                    .is_none_or(|rate| Some(rate) > sheet.ceilings(1).value(F32))
            );
            assert!(sheet.base_hz < sheet.boost_hz && sheet.boost_hz < 6e9, "{}", sheet.name);
            assert!((100.0..600.0).contains(&sheet.tdp_watts) && sheet.threads_per_core <= 2.0, "{}", sheet.name);
            assert!((1e11..1e12).contains(&sheet.memory.value), "{}", sheet.name);
        }
    }

    #[test]
    fn what_is_missing_is_named() {
        let broken = SHEETS[0].replace("boost_ghz", "boost");
        let error = ProcessorSheet::parse(&broken).expect_err("it is broken");
        assert_eq!(error.to_string(), "expected a figure with its source at `boost_ghz`");
        let broken = SHEETS[0].replace("f32 =", "f33 =");
        let error = ProcessorSheet::parse(&broken).expect_err("it is broken");
        assert_eq!(error.to_string(), "expected a type of numbers at `plain_per_cycle.f33`");
    }
}
