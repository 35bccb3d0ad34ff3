//! Numbers of a GPU, and the lines of `nvidia-smi` that have them.

use crate::programs::plain;
use std::collections::BTreeMap;
use std::io::{self, BufRead as _, Read as _, Write};
use std::sync::{Mutex, PoisonError};

/// What is asked of it, in this order.
pub(crate) const QUERY: &str = "--query-gpu=timestamp,index,name,utilization.gpu,memory.used,memory.total,clocks.sm,clocks.max.sm,temperature.gpu,power.draw";

/// Bytes of a line, and GPUs, that are read.
pub(crate) const LONGEST_LINE: u64 = 4096;
pub(crate) const MOST_GPUS: usize = 1024;

/// One GPU now; `None` where the driver does not say.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Gpu {
    /// Its number.
    pub index: u32,
    /// Its model.
    pub name: String,
    /// Part of the last period in which a kernel ran, percent.
    pub utilization_pct: Option<f64>,
    /// Memory taken, MiB.
    pub used_mib: Option<f64>,
    /// All of its memory, MiB.
    pub total_mib: Option<f64>,
    /// Clock of its cores, MHz.
    pub clock_mhz: Option<f64>,
    /// The highest clock of its cores, MHz.
    pub most_clock_mhz: Option<f64>,
    /// Temperature, degrees Celsius.
    pub celsius: Option<f64>,
    /// Power, watts.
    pub watts: Option<f64>,
}

/// The GPU that a line is about; `None` for a header or anything else.
pub(crate) fn gpu(line: &str) -> Option<Gpu> {
    let cells: Vec<&str> = line.split(',').map(str::trim).collect();
    let [_, index, name, utilization, used, total, clock, most_clock, celsius, watts] = cells[..] else { return None };
    let number = |cell: &str| cell.split(' ').next()?.parse().ok().filter(|number: &f64| number.is_finite());
    Some(Gpu {
        index: index.parse().ok()?,
        name: plain(name),
        utilization_pct: number(utilization),
        used_mib: number(used),
        total_mib: number(total),
        clock_mhz: number(clock),
        most_clock_mhz: number(most_clock),
        celsius: number(celsius),
        watts: number(watts),
    })
}

/// Keeps the last line of each GPU that `out` says, and writes all to `log`.
pub(crate) fn listen(
    mut out: impl io::BufRead,
    latest: &Mutex<BTreeMap<u32, Gpu>>,
    mut log: Option<Box<dyn Write + Send>>,
) {
    let mut line = Vec::new();
    loop {
        line.clear();
        match out.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        if let Some(log) = &mut log {
            let _ = log.write_all(&line).and_then(|()| log.flush());
        }
        if let Some(gpu) = gpu(&String::from_utf8_lossy(&line)) {
            let mut latest = latest.lock().unwrap_or_else(PoisonError::into_inner);
            if latest.len() < MOST_GPUS || latest.contains_key(&gpu.index) {
                latest.insert(gpu.index, gpu);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    const LINES: &str = "\
timestamp, index, name, utilization.gpu [%], memory.used [MiB], memory.total [MiB], clocks.current.sm [MHz], clocks.max.sm [MHz], temperature.gpu, power.draw [W]
2026/11/15 00:13:20.000, 0, NVIDIA H100 80GB HBM3, 55 %, 1024 MiB, 81559 MiB, 1980 MHz, 1980 MHz, 41, 312.50 W
2026/11/15 00:13:20.002, 1, NVIDIA \x1b[31mH100, [N/A], 4 MiB, 81559 MiB, 345 MHz, 1980 MHz, 30, nan W
2026/11/15 00:13:21.000, 0, NVIDIA H100 80GB HBM3, 97 %, 2048 MiB, 81559 MiB, 1755 MHz, 1980 MHz, 44, 650.25 W
Unable to determine the device handle
";

    #[test]
    fn the_last_line_of_a_gpu_counts_and_the_log_has_all() {
        let latest = Mutex::new(BTreeMap::new());
        listen(LINES.as_bytes(), &latest, None);
        let latest = latest.into_inner().expect("no thread failed");
        assert_eq!(latest.len(), 2);
        assert_eq!((latest[&0].utilization_pct, latest[&0].watts), (Some(97.0), Some(650.25)));
        assert_eq!(
            (latest[&1].name.as_str(), latest[&1].utilization_pct, latest[&1].watts),
            ("NVIDIA [31mH100", None, None)
        );
    }

    #[test]
    fn lines_without_end_take_no_room() {
        let latest = Mutex::new(BTreeMap::new());
        listen(BufReader::new(io::repeat(b'x').take(1 << 22)), &latest, None);
        assert!(latest.into_inner().expect("no thread failed").is_empty());
    }
}
