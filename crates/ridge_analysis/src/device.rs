//! What devices can do by their data sheets, and which sheet a capture's device has.
//!
//! One file per model under `devices/`, each number with its public source; a device that no sheet names keeps what
//! its capture says and is never given a relative's figures.
//! Measurements come from elsewhere and are joined as [`Ceilings`].

mod ceilings;
mod find;
mod named;
mod processor;
mod sheet;

pub use ceilings::{Ceiling, Ceilings, ComputeUnit, Limit, NumberType};
pub use find::{ceilings, sheet_of};
pub use named::sheets_named;
pub use processor::{ProcessorSheet, processor_ceilings, processor_sheets};
pub use sheet::{DeviceSheet, Figure, SheetError};

use std::sync::OnceLock;

/// Every sheet's text; a new device is one line here.
const SHEETS: &[&str] = &[
    include_str!("../devices/amd-mi250x-gcd.toml"),
    include_str!("../devices/amd-mi300x.toml"),
    include_str!("../devices/amd-mi325x.toml"),
    include_str!("../devices/amd-mi350x.toml"),
    include_str!("../devices/amd-mi355x.toml"),
    include_str!("../devices/google-tpu-v4.toml"),
    include_str!("../devices/google-tpu-v5e.toml"),
    include_str!("../devices/google-tpu-v5p.toml"),
    include_str!("../devices/google-tpu-v6e.toml"),
    include_str!("../devices/nvidia-a10.toml"),
    include_str!("../devices/nvidia-a100-pcie-40gb.toml"),
    include_str!("../devices/nvidia-a100-pcie-80gb.toml"),
    include_str!("../devices/nvidia-a100-sxm4-40gb.toml"),
    include_str!("../devices/nvidia-a100-sxm4-80gb.toml"),
    include_str!("../devices/nvidia-a40.toml"),
    include_str!("../devices/nvidia-b200.toml"),
    include_str!("../devices/nvidia-gb200.toml"),
    include_str!("../devices/nvidia-geforce-rtx-3070.toml"),
    include_str!("../devices/nvidia-geforce-rtx-3090.toml"),
    include_str!("../devices/nvidia-geforce-rtx-4090.toml"),
    include_str!("../devices/nvidia-geforce-rtx-5080.toml"),
    include_str!("../devices/nvidia-h100-pcie-80gb.toml"),
    include_str!("../devices/nvidia-h100-sxm5-80gb.toml"),
    include_str!("../devices/nvidia-h200.toml"),
    include_str!("../devices/nvidia-l4.toml"),
    include_str!("../devices/nvidia-l40.toml"),
    include_str!("../devices/nvidia-l40s.toml"),
    include_str!("../devices/nvidia-rtx-a4000.toml"),
    include_str!("../devices/nvidia-rtx-a6000.toml"),
    include_str!("../devices/nvidia-t4.toml"),
    include_str!("../devices/nvidia-v100-pcie-16gb.toml"),
    include_str!("../devices/nvidia-v100-pcie-32gb.toml"),
    include_str!("../devices/nvidia-v100-sxm2-16gb.toml"),
    include_str!("../devices/nvidia-v100-sxm2-32gb.toml"),
];

/// All sheets, by file name.
pub fn sheets() -> &'static [DeviceSheet] {
    static PARSED: OnceLock<Vec<DeviceSheet>> = OnceLock::new();
    PARSED.get_or_init(|| {
        let parsed = SHEETS.iter().map(|text| DeviceSheet::parse(text));
        parsed.collect::<Result<_, _>>().expect("the tests read every sheet, and a sheet is part of the program")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{ComputeUnit, Limit, NumberType};

    #[test]
    fn names_belong_to_one_sheet() {
        let mut names: Vec<&str> = sheets().iter().flat_map(|sheet| &sheet.driver_names).map(String::as_str).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn rates_are_in_an_order_that_hardware_has() {
        for sheet in sheets() {
            let rate = |number, unit| sheet.ceilings.value(Limit::Rate(number, unit));
            let at_least = |high, low| assert!(high >= low, "{}: {high:?} < {low:?}", sheet.name);
            let half = rate(NumberType::Bf16, ComputeUnit::Matrix).or(rate(NumberType::F16, ComputeUnit::Matrix));
            at_least(half, rate(NumberType::F32, ComputeUnit::Plain));
            at_least(half, rate(NumberType::Tf32, ComputeUnit::Matrix));
            at_least(rate(NumberType::F32, ComputeUnit::Plain), rate(NumberType::F64, ComputeUnit::Plain));
            let memory = sheet.ceilings.value(Limit::Memory).expect("a sheet has it");
            assert!((1e11..2e13).contains(&memory), "{}: {memory}", sheet.name);
            let boost = sheet.clock_mhz.as_ref().map(|clock| clock.value);
            assert!(boost.is_none_or(|boost| (1000.0..4000.0).contains(&boost)), "{}: {boost:?} MHz", sheet.name);
        }
    }
}
