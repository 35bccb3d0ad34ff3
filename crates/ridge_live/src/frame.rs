//! What is known now, as text: devices above, programs below.

use crate::gpus::Gpu;
use crate::programs::Programs;
/// What is shown.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct View {
    /// GPUs, as their driver sees them.
    pub gpus: Vec<Gpu>,
    /// Why there are none, where there are none.
    pub no_gpus: Option<String>,
    /// Programs, as they see themselves.
    pub programs: Programs,
    /// Now, Unix time in seconds.
    pub now_unix_s: f64,
}

/// News of a program that are older than this are said to be old, in seconds.
const OLD_S: f64 = 5.0;

/// What is known now, as lines of text.
pub fn text(view: &View) -> String {
    let gpus: Vec<[String; 7]> = view.gpus.iter().map(gpu_row).collect();
    let mut text = match (gpus.is_empty(), &view.no_gpus) {
        (false, _) => table(["GPU", "Used", "Memory", "", "Clock", "Heat", "Power"], &gpus),
        (true, Some(why)) => format!("{why}\n"),
        (true, None) => "waiting for numbers of GPUs\n".to_owned(),
    };
    text.push('\n');
    let programs = programs_rows(view);
    if programs.is_empty() {
        text.push_str("no program keeps a state: run it under `ridgeline record`, or call `ridgeline.live.start()`\n");
    } else {
        let header = ["Program", "Device", "In use", "Peak", "Limit", "Live arrays", "Steps"];
        text.push_str(&table(header, &programs));
    }
    if view.programs.damaged > 0 {
        text.push_str(&format!("{} files could not be read\n", view.programs.damaged));
    }
    text
}

/// Rows below their header, each column as wide as its widest cell.
fn table(header: [&str; 7], rows: &[[String; 7]]) -> String {
    let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0).max(header[at].len());
    let widths: [usize; 7] = std::array::from_fn(width);
    let line = |cells: [&str; 7]| {
        let cells = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    let rows = rows.iter().map(|row| line(row.each_ref().map(String::as_str)));
    std::iter::once(line(header)).chain(rows).collect()
}

fn gpu_row(gpu: &Gpu) -> [String; 7] {
    let number =
        |number: Option<f64>, unit: &str| number.map_or("–".to_owned(), |number| format!("{number:.0} {unit}"));
    let memory = match (gpu.used_mib, gpu.total_mib) {
        (Some(used), Some(total)) if total > 0.0 => {
            (format!("{:.1} of {:.1} GiB", used / 1024.0, total / 1024.0), format!("{:.0}%", used / total * 100.0))
        }
        _ => ("–".to_owned(), String::new()),
    };
    let clock = match (gpu.clock_mhz, gpu.most_clock_mhz) {
        (Some(clock), Some(most)) => format!("{clock:.0} of {most:.0} MHz"),
        (clock, _) => number(clock, "MHz"),
    };
    [
        format!("{} {}", gpu.index, gpu.name),
        gpu.utilization_pct.map_or("–".to_owned(), |part| format!("{part:.0}%")),
        memory.0,
        memory.1,
        clock,
        number(gpu.celsius, "°C"),
        number(gpu.watts, "W"),
    ]
}

/// A row for each device of each program.
fn programs_rows(view: &View) -> Vec<[String; 7]> {
    let mut rows = Vec::new();
    for program in &view.programs.running {
        let age = view.now_unix_s - program.written_unix_s;
        let old = if age > OLD_S { format!(" (silent for {age:.0} s)") } else { String::new() };
        let name = format!("{} {}{old}", program.pid, program.program);
        let live =
            program.live_arrays.map_or("–".to_owned(), |count| format!("{count}, {}", bytes(program.live_bytes)));
        let steps = match (program.steps, program.steps_per_s) {
            (Some(steps), Some(rate)) => format!("{steps}, {rate:.1}/s"),
            (Some(steps), None) => steps.to_string(),
            _ => "–".to_owned(),
        };
        let blank = || "–".to_owned();
        if program.devices.is_empty() {
            rows.push([name.clone(), blank(), blank(), blank(), blank(), live.clone(), steps.clone()]);
        }
        for (at, device) in program.devices.iter().enumerate() {
            let first = |text: &String| if at == 0 { text.clone() } else { String::new() };
            let kind = format!("{} {}", device.id, device.kind);
            let [used, peak, limit] = [device.bytes_in_use, device.peak_bytes, device.limit_bytes].map(bytes);
            rows.push([first(&name), kind, used, peak, limit, first(&live), first(&steps)]);
        }
    }
    rows
}

fn bytes(bytes: Option<u64>) -> String {
    let Some(bytes) = bytes else { return "–".to_owned() };
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let (mut value, mut unit) = (bytes as f64, 0);
    while value >= 1024.0 && unit + 1 < units.len() {
        (value, unit) = (value / 1024.0, unit + 1);
    }
    if unit == 0 { format!("{bytes} B") } else { format!("{value:.1} {}", units[unit]) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::{DeviceMemory, Program};
    use expect_test::expect;

    fn view() -> View {
        let gpu = Gpu {
            index: 0,
            name: "NVIDIA H100".to_owned(),
            utilization_pct: Some(97.0),
            used_mib: Some(61_440.0),
            total_mib: Some(81_920.0),
            clock_mhz: Some(1755.0),
            most_clock_mhz: Some(1980.0),
            celsius: None,
            watts: Some(650.25),
        };
        let device = DeviceMemory {
            id: 0,
            kind: "NVIDIA H100".to_owned(),
            bytes_in_use: Some(1 << 30),
            peak_bytes: Some(3 << 29),
            limit_bytes: Some(60 << 30),
        };
        let program = Program {
            pid: 4711,
            written_unix_s: 100.0,
            program: "train.py".to_owned(),
            steps: Some(120),
            steps_per_s: Some(3.25),
            live_arrays: Some(42),
            live_bytes: Some(1000),
            devices: vec![device.clone(), DeviceMemory { id: 1, bytes_in_use: None, peak_bytes: None, ..device }],
        };
        let silent = Program { pid: 4712, written_unix_s: 60.0, devices: Vec::new(), steps: None, ..program.clone() };
        let programs = Programs { running: vec![program, silent], damaged: 2 };
        View { gpus: vec![gpu], no_gpus: None, programs, now_unix_s: 101.0 }
    }

    #[test]
    fn a_frame_has_devices_programs_and_what_is_wrong() {
        expect![[r#"
            GPU            Used  Memory                 Clock             Heat  Power
            0 NVIDIA H100  97%   60.0 of 80.0 GiB  75%  1755 of 1980 MHz  –     650 W

            Program                          Device         In use   Peak     Limit     Live arrays  Steps
            4711 train.py                    0 NVIDIA H100  1.0 GiB  1.5 GiB  60.0 GiB  42, 1000 B   120, 3.2/s
                                             1 NVIDIA H100  –        –        60.0 GiB
            4712 train.py (silent for 41 s)  –              –        –        –         42, 1000 B   –
            2 files could not be read
        "#]]
        .assert_eq(&text(&view()));
    }

    #[test]
    fn nothing_is_said_with_its_reason() {
        let view = View { no_gpus: Some("no nvidia-smi on PATH".to_owned()), ..View::default() };
        expect![[r#"
            no nvidia-smi on PATH

            no program keeps a state: run it under `ridgeline record`, or call `ridgeline.live.start()`
        "#]]
        .assert_eq(&text(&view));
    }
}
