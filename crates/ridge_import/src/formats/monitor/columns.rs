//! The three logs as one: a header that names columns and units, rows of numbers, a time and a device for each.

use super::local_time;
use std::collections::BTreeMap;

/// One number of one device at one time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sample {
    /// Nanoseconds: since 1970 in local time where the log has times, else since its beginning.
    pub(super) time_ns: i64,
    pub(super) gpu: u32,
    /// Position in [`Log::metrics`].
    pub(super) metric: u32,
    pub(super) value: f64,
}

/// A log, read.
#[derive(Debug, Default)]
pub(super) struct Log {
    pub(super) samples: Vec<Sample>,
    pub(super) metrics: Vec<String>,
    pub(super) models: BTreeMap<u32, String>,
    /// Whether the rows say when they were taken, with a date.
    pub(super) has_times: bool,
    pub(super) odd_rows: u64,
    /// Rows that do not say which device they are about.
    pub(super) deviceless_rows: u64,
}

/// Devices, and counters, after which no more are read: both are named by the file.
const MAX_DEVICES: u32 = 1 << 10;
const MAX_METRICS: usize = 1 << 10;

/// Which monitor wrote a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `nvidia-smi --query-gpu`: names and units with commas between them.
    Query,
    /// `nvidia-smi dmon`: two lines that begin with `#`, then columns of spaces.
    Dmon,
    /// `rocm-smi --csv`: rows that begin with `card`.
    Rocm,
}

/// Which monitor's log begins with `head`.
pub(super) fn kind_of(head: &[u8]) -> Option<Kind> {
    const QUERIED: [&str; 8] =
        ["utilization.", "memory.used", "memory.total", "power.draw", "temperature.", "clocks.", "pstate", "fan.speed"];
    let text = String::from_utf8_lossy(head);
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let (first, second) = (lines.next()?, lines.next().unwrap_or_default());
    let is_units = second.starts_with('#') && second.split_whitespace().any(|word| word == "Idx" || word == "#Idx");
    if first.starts_with('#') && is_units {
        return Some(Kind::Dmon);
    }
    if first.starts_with("device,") && second.starts_with("card") {
        return Some(Kind::Rocm);
    }
    let columns: Vec<&str> = first.split(',').map(str::trim).collect();
    let queried = columns.iter().any(|column| QUERIED.iter().any(|start| column.starts_with(start)));
    let plain = columns.iter().all(|column| column.len() < 64 && !column.contains(['"', '{', '<']));
    (queried && plain && columns.len() > 1).then_some(Kind::Query)
}

/// Reads all rows; a header may come again, as it does where a log was made by many calls.
pub(super) fn read(bytes: &[u8]) -> Log {
    let text = String::from_utf8_lossy(bytes);
    let mut log = Log::default();
    let Some(kind) = kind_of(&bytes[..bytes.len().min(4096)]) else { return log };
    let mut header = Header::default();
    let mut names: Vec<String> = Vec::new();
    let mut rounds = Rounds::default();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let cells = cells(kind, line);
        match kind {
            Kind::Dmon if line.starts_with('#') => {
                if cells.iter().any(|cell| cell == "Idx") {
                    header = Header::of(&names, &cells, &mut log);
                } else {
                    names = cells;
                }
            }
            Kind::Query | Kind::Rocm if is_header(kind, &cells) => header = Header::of(&cells, &[], &mut log),
            _ if cells.len() != header.columns.len() => log.odd_rows += 1,
            _ => header.row(&cells, &mut rounds, &mut log),
        }
    }
    log
}

fn is_header(kind: Kind, cells: &[String]) -> bool {
    match kind {
        Kind::Rocm => cells.first().is_some_and(|cell| cell == "device"),
        _ => kind_of(cells.join(",").as_bytes()) == Some(Kind::Query),
    }
}

fn cells(kind: Kind, line: &str) -> Vec<String> {
    let owned = |cell: &str| cell.trim().to_owned();
    match kind {
        Kind::Dmon => line.replace('#', " ").split_whitespace().map(str::to_owned).collect(),
        Kind::Query | Kind::Rocm => line.split(',').map(owned).collect(),
    }
}

/// What a column is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    /// A date, a time, or both.
    Time,
    Gpu,
    Model,
    /// Position in [`Log::metrics`].
    Metric(u32),
    /// Something that identifies a machine, or says nothing over time.
    Ignored,
}

#[derive(Debug, Default)]
struct Header {
    columns: Vec<Column>,
    /// Whether a column says which device a row is about.
    has_gpu: bool,
}

impl Header {
    /// `units` stand in a line of their own in `dmon`; elsewhere they are in the names.
    fn of(names: &[String], units: &[String], log: &mut Log) -> Header {
        let column = |(at, name): (usize, &String)| match name.to_ascii_lowercase().as_str() {
            "timestamp" | "date" | "time" => Column::Time,
            "gpu" | "index" | "device" => Column::Gpu,
            "name" | "gpu_name" => Column::Model,
            "count" | "driver_version" | "serial" | "gpu_serial" | "uuid" | "gpu_uuid" => Column::Ignored,
            lower if lower.starts_with("pci") || lower.contains("bus_id") => Column::Ignored,
            _ => {
                let unit = units.get(at).map(|unit| format!(" [{unit}]")).unwrap_or_default();
                let full = format!("{name}{unit}");
                match log.metrics.iter().position(|metric| *metric == full) {
                    Some(known) => Column::Metric(known as u32),
                    None if log.metrics.len() >= MAX_METRICS => Column::Ignored,
                    None => {
                        log.metrics.push(full);
                        Column::Metric((log.metrics.len() - 1) as u32)
                    }
                }
            }
        };
        let columns: Vec<Column> = names.iter().enumerate().map(column).collect();
        let has_gpu = columns.contains(&Column::Gpu);
        // Times of two kinds do not mix: the first header decides.
        if log.samples.is_empty() {
            let has = |wanted: &str| names.iter().any(|name| name.eq_ignore_ascii_case(wanted));
            log.has_times = has("timestamp") || (has("date") && has("time"));
        }
        Header { columns, has_gpu }
    }

    fn row(&self, cells: &[String], rounds: &mut Rounds, log: &mut Log) {
        let cells_of = |wanted: Column| {
            let pairs = self.columns.iter().zip(cells);
            pairs.filter(move |(column, _)| **column == wanted).map(|(_, cell)| cell.as_str())
        };
        let gpu = cells_of(Column::Gpu).next().unwrap_or_default().trim_start_matches("card").parse().ok();
        let Some(gpu) = gpu.or((!self.has_gpu).then_some(0)).filter(|gpu| *gpu < MAX_DEVICES) else {
            log.odd_rows += 1;
            return;
        };
        let time_ns = if log.has_times {
            match local_time::local_ns(&cells_of(Column::Time).collect::<Vec<_>>().join(" ")) {
                Some(time_ns) => time_ns,
                None => {
                    log.odd_rows += 1;
                    return;
                }
            }
        } else {
            rounds.of(gpu).saturating_mul(1_000_000_000)
        };
        log.deviceless_rows += u64::from(!self.has_gpu);
        if let Some(model) = cells_of(Column::Model).next().filter(|model| !model.is_empty()) {
            log.models.entry(gpu).or_insert_with(|| model.to_owned());
        }
        for (column, cell) in self.columns.iter().zip(cells) {
            if let (Column::Metric(metric), Some(value)) = (column, number(cell)) {
                log.samples.push(Sample { time_ns, gpu, metric: *metric, value });
            }
        }
    }
}

/// Which round of samples a row belongs to, where rows have no times.
#[derive(Debug, Default)]
struct Rounds {
    round: i64,
    last_gpu: Option<u32>,
}

impl Rounds {
    /// Monitors print devices in the order of their numbers: one that does not rise begins a new round.
    fn of(&mut self, gpu: u32) -> i64 {
        self.round += i64::from(self.last_gpu.is_some_and(|last| gpu <= last));
        self.last_gpu = Some(gpu);
        self.round
    }
}

/// `55 %`, `123.4 W` and `P0`-free numbers; `Active` is 1 and `Not Active` 0, a set of bits its number; `None` for
/// `N/A`, `-` and other words.
fn number(cell: &str) -> Option<f64> {
    match cell {
        "Active" => return Some(1.0),
        "Not Active" => return Some(0.0),
        _ => {}
    }
    if let Some(bits) = cell.strip_prefix("0x") {
        return u64::from_str_radix(bits, 16).ok().and_then(|bits| u32::try_from(bits).ok()).map(f64::from);
    }
    let word = cell.split_whitespace().next()?;
    word.parse().ok().filter(|value: &f64| value.is_finite())
}
