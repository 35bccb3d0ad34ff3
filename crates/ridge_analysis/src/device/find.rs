//! Which sheet a capture's device has: by the name its driver reports, else by what it is made of.
//!
//! Where a capture names no model (ROCm gives an architecture, older captures nothing), the sheet must agree in
//! every number the capture has: version, cores, memory and clock. Two sheets that agree are none.

use super::{DeviceSheet, sheets};
use crate::device::{Ceiling, Ceilings, Limit};
use ridge_table::Basis;
use ridge_trace::Device;
use ridge_units::BytesPerSec;

/// Drivers keep some memory for themselves and report less than the data sheet, seldom more.
const MEMORY_PART: std::ops::Range<f64> = 0.92..1.03;
/// Clocks agree to about this part: sheets round, boards differ by a bin.
const CLOCK_TOLERANCE: f64 = 0.02;
/// Bandwidths that differ by more than this part are said to differ.
const BANDWIDTH_TOLERANCE: f64 = 0.1;

/// The sheet of `device`, where exactly one is its.
pub fn sheet_of(device: &Device) -> Option<&'static DeviceSheet> {
    let named = device.model.as_deref().and_then(|model| {
        let is_it = |name: &String| name.eq_ignore_ascii_case(model.trim());
        sheets().iter().find(|sheet| sheet.driver_names.iter().any(is_it))
    });
    named.or_else(|| {
        // A model that no sheet has is not some other one; a bare architecture (`gfx942`) names no model.
        let is_model = device.model.as_deref().is_some_and(|model| !model.starts_with("gfx"));
        let mut like = sheets().iter().filter(|sheet| !is_model && is_made_like(sheet, device));
        like.next().filter(|_| like.next().is_none())
    })
}

/// Whether all that the capture says of `device` is what `sheet` says; it has to say enough.
fn is_made_like(sheet: &DeviceSheet, device: &Device) -> bool {
    let (Some(cores), Some(version), Some(memory)) = (device.cores, device.compute_capability, device.memory_bytes)
    else {
        return false;
    };
    let vendor = device.vendor.as_deref().is_none_or(|vendor| vendor.eq_ignore_ascii_case(&sheet.vendor));
    let memory = memory as f64 / (sheet.memory_gib.value * 1_073_741_824.0);
    let clock = device.clock_khz.zip(sheet.clock_mhz.as_ref()).is_none_or(|(khz, clock)| {
        let ratio = khz as f64 / 1e3 / clock.value;
        (ratio - 1.0).abs() <= CLOCK_TOLERANCE
    });
    let same = cores as f64 == sheet.cores.value && version == sheet.compute_capability;
    vendor && same && clock && MEMORY_PART.contains(&memory)
}

/// What `device` can do: its sheet's figures, else what its capture says.
///
/// Where the two disagree the sheet is preferred and a note says so.
pub fn ceilings(device: &Device) -> Ceilings {
    match sheet_of(device) {
        Some(sheet) => {
            let mut ceilings = sheet.ceilings.clone();
            // The sheet's own notes are about the model; this one is about the capture at hand.
            ceilings.notes = disagreement(sheet, device).into_iter().collect();
            ceilings
        }
        None => of_capture(device),
    }
}

fn disagreement(sheet: &DeviceSheet, device: &Device) -> Option<String> {
    let (said, known) = (device.memory_bytes_per_sec? as f64, sheet.ceilings.value(Limit::Memory)?);
    ((said / known - 1.0).abs() > BANDWIDTH_TOLERANCE).then(|| {
        format!(
            "{}: the capture reports {} of memory bandwidth, the data sheet {}; the data sheet is used",
            sheet.name,
            BytesPerSec(said),
            BytesPerSec(known)
        )
    })
}

fn of_capture(device: &Device) -> Ceilings {
    let name = device.model.clone().unwrap_or_else(|| kind_of_plane(&device.plane));
    let memory = device.memory_bytes_per_sec.filter(|rate| *rate > 0).map(|rate| Ceiling {
        limit: Limit::Memory,
        value: rate as f64,
        basis: Basis::Capture,
        source: "the capture's description of the device".to_owned(),
    });
    let note = memory
        .is_some()
        .then(|| format!("{name}: no data sheet; the memory bandwidth is the capture's and no peak rate is known"));
    Ceilings {
        device: name,
        entries: memory.into_iter().collect(),
        cache_bytes: None,
        notes: note.into_iter().collect(),
    }
}

/// `/device:CPU:1` → `CPU`: like devices without a model are one kind.
fn kind_of_plane(plane: &str) -> String {
    let bare =
        plane.rsplit_once(':').filter(|(_, number)| number.parse::<u32>().is_ok()).map_or(plane, |(bare, _)| bare);
    bare.strip_prefix("/device:").unwrap_or(bare).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device in words: `model|vendor|cores|clock MHz|GiB|GB/s|version`, `-` for what the capture does not say.
    fn device(text: &str) -> Device {
        let parts: Vec<Option<&str>> = text.split('|').map(|part| (part != "-").then_some(part)).collect();
        let number = |at: usize| parts[at].map(|part| part.parse::<f64>().expect("a number"));
        let version = |text: &str| {
            let (major, minor) = text.split_once('.').expect("a version");
            (major.parse().expect("major"), minor.parse().expect("minor"))
        };
        Device {
            plane: "/device:GPU:0".to_owned(),
            model: parts[0].map(str::to_owned),
            vendor: parts[1].map(str::to_owned),
            cores: number(2).map(|cores| cores as u64),
            clock_khz: number(3).map(|clock| (clock * 1e3) as u64),
            memory_bytes: number(4).map(|gib| (gib * 1_073_741_824.0) as u64),
            memory_bytes_per_sec: number(5).map(|rate| (rate * 1e9) as u64),
            compute_capability: parts[6].map(version),
            ..Device::default()
        }
    }

    #[test]
    fn devices_of_real_captures_find_their_sheet() {
        for (text, name) in [
            ("NVIDIA H100 80GB HBM3|-|-|-|-|-|-", "NVIDIA H100 SXM5 80GB"),
            ("NVIDIA H200|Nvidia|132|1980|140|4915|9.0", "NVIDIA H200"),
            ("nvidia a100-sxm4-80gb|-|108|-|-|-|8.0", "NVIDIA A100 SXM4 80GB"),
            ("-|AMD|304|2100|192|2662|9.4", "AMD Instinct MI300X"),
            ("gfx942|AMD|304|2100|192|2662|9.4", "AMD Instinct MI300X"),
            ("gfx942|AMD|304|2100|256|3000|9.4", "AMD Instinct MI325X"),
            ("-|AMD|256|2400|288|4096|9.5", "AMD Instinct MI355X"),
            ("-|-|80|1530|15.8|898|7.0", "NVIDIA V100 SXM2 16GB"),
            ("-|-|80|1380|31.7|898|7.0", "NVIDIA V100 PCIe 32GB"),
        ] {
            assert_eq!(sheet_of(&device(text)).map(|sheet| sheet.name.as_str()), Some(name), "{text}");
        }
    }

    #[test]
    fn a_relative_is_not_the_device() {
        for text in [
            "NVIDIA H100 NVL|Nvidia|132|1785|94|3938|9.0",
            "NVIDIA H900|Nvidia|132|1980|140|4915|9.0",
            "-|AMD|228|2100|128|5300|9.4",
            "-|AMD|-|-|-|-|-",
            "-|-|80|-|15.8|898|7.0",
        ] {
            assert_eq!(sheet_of(&device(text)), None, "{text}");
        }
    }

    #[test]
    fn the_sheet_goes_before_the_capture_and_says_so() {
        let found = ceilings(&device("-|AMD|304|2100|192|2662.4|9.4"));
        assert_eq!(found.value(Limit::Memory), Some(5.3e12));
        assert_eq!(
            found.notes,
            ["AMD Instinct MI300X: the capture reports 2.66 TB/s of memory bandwidth, the data sheet 5.3 TB/s; \
              the data sheet is used"]
        );
        assert_eq!(ceilings(&device("NVIDIA H200|Nvidia|132|1980|140|4915|9.0")).notes, Vec::<String>::new());
        let unknown = ceilings(&device("Maker X1|Maker|4|1000|2|500|1.2"));
        let memory = unknown.get(Limit::Memory).map(|entry| (entry.value, entry.basis));
        assert_eq!(memory, Some((5e11, Basis::Capture)));
        assert_eq!(unknown.entries.len(), 1);
        let cpu = Device { plane: "/device:CPU:1".to_owned(), ..Device::default() };
        assert_eq!(ceilings(&cpu), Ceilings { device: "CPU".to_owned(), ..Ceilings::default() });
    }
}
