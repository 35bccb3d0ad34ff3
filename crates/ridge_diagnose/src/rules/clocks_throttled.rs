//! The driver lowered clocks while the program ran: heat, the power limit, or the board's own protection.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::CannotTell;
use crate::rule::{Find, Group, Rule};
use crate::words::percent;
use ridge_analysis::Need;
use ridge_analysis::models::counters::{CounterRow, CounterRows, Meaning};
use ridge_table::{Basis, Quantity, Subject, Unit};
use ridge_trace::DeviceRow;
use std::collections::BTreeSet;

pub(crate) static RULE: Rule = Rule {
    id: "clocks-throttled",
    group: Group::Compute,
    summary: "Clocks throttled in a monitor log",
    document: include_str!("clocks_throttled.md"),
    asks: &[],
    explains: &[],
    needs: &[Need::of::<CounterRows>()],
    find: Find::Causes(find),
};

/// Bits of NVML's reasons that hold a busy device back, and their names; being idle or set so by a user is none.
const REASONS: [(u64, &str); 5] = [
    (0x4, "the power limit"),
    (0x8, "a hardware slowdown"),
    (0x20, "heat (driver slowdown)"),
    (0x40, "heat (hardware slowdown)"),
    (0x80, "the external power brake"),
];

/// The part of the samples below which it happened now and then.
const OFTEN: f64 = 0.1;
/// Fewer samples say little of a program that runs.
const FEWEST: u64 = 5;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let counters: &CounterRows = case.analysis.get();
    let devices: BTreeSet<Option<u32>> = counters.0.iter().map(|row| row.device.map(|device| device.0)).collect();
    Ok(devices.into_iter().filter_map(|device| of_device(counters, device.map(DeviceRow))).collect())
}

fn of_device(counters: &CounterRows, device: Option<DeviceRow>) -> Option<Finding> {
    let rows = || counters.0.iter().filter(move |row| row.device == device && row.samples >= FEWEST);
    let mut often: Vec<(&str, f64)> = REASONS.into_iter().map(|(bit, name)| (name, most(rows(), bit))).collect();
    often.retain(|(_, part)| *part >= OFTEN);
    often.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let (reason, part) = *often.first()?;
    let share = |part: f64| Quantity::new(part, Unit::Share, Basis::Measured);
    let mut finding = Finding::new(format!("clocks were throttled in {} of the samples: {reason}", percent(part)))
        .about(device.map(Subject::Device));
    for (name, part) in &often {
        finding = finding.number(format!("of the samples: {name}"), share(*part));
    }
    let mean = |meaning| rows().find(|row| row.meaning == Some(meaning)).map(|row| row.mean);
    if let (Some(clock), Some(most)) = (mean(Meaning::CoreClock), mean(Meaning::MostCoreClock)) {
        finding = finding.number("mean core clock / maximum core clock", share(clock / most.max(1.0)));
    }
    let help = match reason {
        "the power limit" => "check the limit with `nvidia-smi -q -d POWER`; only the machine's administrator can raise it",
        _ => {
            "check temperatures with `nvidia-smi -q -d TEMPERATURE,PERFORMANCE`, and have the machine's administrator check cooling and power supply"
        }
    };
    Some(
        finding
            .why("compute-bound kernels slow down in proportion to the clocks, and two runs of the same program take different times")
            .help(help)
            .information(),
    )
}

/// The part of the samples in which the reason of this bit held, by whichever counter saw it most.
fn most<'r>(rows: impl Iterator<Item = &'r CounterRow>, bit: u64) -> f64 {
    let part = |row: &CounterRow| {
        let holds = |value: f64| match row.meaning {
            Some(Meaning::ThrottleReasons) => value as u64 & bit != 0,
            Some(Meaning::ThrottleReason(of)) => of == bit && value > 0.0,
            // Percent of the sample's time, and a flag.
            Some(Meaning::PowerViolation) => bit == 0x4 && value >= 10.0,
            Some(Meaning::ThermalViolation) => bit == 0x20 && value > 0.0,
            _ => false,
        };
        row.values.iter().filter(|(_, value)| holds(*value)).count() as f64 / row.samples.max(1) as f64
    };
    rows.map(part).fold(0.0, f64::max)
}
