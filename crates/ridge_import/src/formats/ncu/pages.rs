//! The CSV pages of `ncu --csv`: `raw`, a row a launch and a column a metric; `details`, a row a metric.
//!
//! Lines that the tool prints before the table are skipped, rows may be shorter than the header, and numbers may have
//! commas between their thousands.

use super::launch::{Launch, Metric, MetricValue, Rule};
use super::units::base;
use crate::import::{Import, ImportError, Source};
use crate::note::Severity;
use csv::StringRecord;
use ridge_trace::RuleKind;
use rustc_hash::FxHashMap;

/// How the header begins on both pages.
const HEADER: &[u8] = b"\"ID\",\"Process ID\",";

/// Columns after which metrics begin on the raw page: the last of those that say which launch it is.
const LAST_ID_COLUMN: &str = "CC";

/// Where the header begins: at the start of a line.
pub(super) fn find_header(bytes: &[u8]) -> Option<usize> {
    if bytes.starts_with(HEADER) {
        return Some(0);
    }
    // Lines before it begin with `==PROF==` or hold the program's own output.
    let line = |at: &usize| bytes[*at - 1] == b'\n' && bytes[*at..].starts_with(HEADER);
    (1..bytes.len().min(1 << 16)).find(line)
}

/// Reads every launch of either page.
pub(super) fn read(source: Source<'_>, import: &mut Import) -> Result<Vec<Launch>, ImportError> {
    let broken =
        |what: &str| ImportError::Broken { source_name: source.name.to_owned(), offset: 0, what: what.to_owned() };
    let start =
        find_header(source.bytes).ok_or_else(|| broken("expected a header with ID and Process ID, found none"))?;
    let mut reader = csv::ReaderBuilder::new().flexible(true).has_headers(false).from_reader(&source.bytes[start..]);
    let mut unreadable = 0;
    let mut rows: Vec<StringRecord> = Vec::new();
    for row in reader.byte_records() {
        match row {
            Ok(row) => rows.push(StringRecord::from_byte_record_lossy(row)),
            Err(_) => unreadable += 1,
        }
    }
    let is_cut = drop_cut_cell(&source.bytes[start..], &mut rows);
    if is_cut {
        let message = "the page ends inside a row; everything before that was read".to_owned();
        import.note(Severity::Lost, source.name, Some(source.bytes.len() as u64), 1, message);
    }
    if unreadable > 0 {
        import.note(Severity::Lost, source.name, None, unreadable, "rows could not be read".to_owned());
    }
    let mut rows = rows.into_iter();
    let header = rows.next().ok_or_else(|| broken("expected a header, found none"))?;
    let columns = Columns::of(&header);
    if columns.metric_name.is_some() {
        return Ok(details(&columns, rows));
    }
    let units = rows.next();
    Ok(rows.filter_map(|row| raw(&columns, &header, units.as_ref(), &row)).collect())
}

/// Whether the table ends inside a row; a cell that is not whole is taken out of the last of `rows`.
fn drop_cut_cell(table: &[u8], rows: &mut [StringRecord]) -> bool {
    let columns = rows.first().map_or(0, StringRecord::len);
    let Some(last) = rows.last_mut() else { return false };
    // A quote inside a cell is written twice.
    if memchr::memchr_iter(b'"', table).count() % 2 == 1 {
        last.truncate(last.len() - 1);
        return true;
    }
    !table.ends_with(b"\n") && (last.len() < columns || table.ends_with(b","))
}

/// Where the columns that both pages share are.
#[derive(Debug, Default)]
struct Columns {
    pid: Option<usize>,
    name: Option<usize>,
    stream: Option<usize>,
    block: Option<usize>,
    grid: Option<usize>,
    device: Option<usize>,
    metrics: usize,
    metric_name: Option<usize>,
    by_name: FxHashMap<String, usize>,
}

impl Columns {
    fn of(header: &StringRecord) -> Columns {
        let find = |name: &str| header.iter().position(|column| column == name);
        Columns {
            pid: find("Process ID"),
            name: find("Kernel Name"),
            stream: find("Stream"),
            block: find("Block Size"),
            grid: find("Grid Size"),
            device: find("Device"),
            metrics: find(LAST_ID_COLUMN).or_else(|| find("Grid Size")).map_or(header.len(), |last| last + 1),
            metric_name: find("Metric Name"),
            by_name: header.iter().enumerate().map(|(at, name)| (name.to_owned(), at)).collect(),
        }
    }

    /// The launch that a row is about; `None` for a row that is about none.
    fn launch(&self, row: &StringRecord) -> Option<Launch> {
        let cell = |at: Option<usize>| at.and_then(|at| row.get(at)).unwrap_or_default();
        Some(Launch {
            launch: row.get(0)?.parse().ok()?,
            pid: cell(self.pid).parse().ok(),
            name: cell(self.name).to_owned(),
            grid: sizes(cell(self.grid)),
            block: sizes(cell(self.block)),
            device: cell(self.device).parse().ok(),
            stream: cell(self.stream).parse().ok(),
            ..Launch::default()
        })
    }

    fn text<'r>(&self, row: &'r StringRecord, name: &str) -> &'r str {
        self.by_name.get(name).and_then(|at| row.get(*at)).unwrap_or_default()
    }
}

/// `(256, 1, 1)` → the three numbers.
fn sizes(text: &str) -> [u32; 3] {
    let mut numbers = text.trim_matches(['(', ')']).split(',').map(|size| size.trim().parse().unwrap_or(0));
    [(); 3].map(|()| numbers.next().unwrap_or(0))
}

fn raw(columns: &Columns, header: &StringRecord, units: Option<&StringRecord>, row: &StringRecord) -> Option<Launch> {
    let mut launch = columns.launch(row)?;
    for (at, name) in header.iter().enumerate().skip(columns.metrics) {
        let unit = units.and_then(|units| units.get(at)).unwrap_or_default();
        launch.metrics.extend(row.get(at).and_then(|value| metric(name, value, unit)));
    }
    Some(launch)
}

/// A metric in base units; `None` where it was not collected.
fn metric(name: &str, value: &str, unit: &str) -> Option<Metric> {
    if matches!(value.trim(), "" | "no data" | "n/a" | "N/A" | "nan" | "inf" | "-nan" | "(!) n/a") {
        return None;
    }
    let (factor, unit) = base(unit);
    let value = match number(value) {
        Some(number) => MetricValue::Number(number * factor),
        None => MetricValue::Text(value.to_owned()),
    };
    Some(Metric { name: name.to_owned(), value, unit })
}

/// A number, with or without commas between its thousands.
fn number(text: &str) -> Option<f64> {
    let plain = text.trim();
    if !plain.starts_with(|letter: char| letter.is_ascii_digit() || letter == '-' || letter == '.') {
        return None;
    }
    plain.replace(',', "").parse().ok().filter(|number: &f64| number.is_finite())
}

/// Puts the rows of a launch together; ids repeat over its rows, and are taken up again by another process.
fn details(columns: &Columns, rows: impl Iterator<Item = StringRecord>) -> Vec<Launch> {
    let mut launches: Vec<Launch> = Vec::new();
    let mut known: FxHashMap<(u32, Option<u64>), usize> = FxHashMap::default();
    for row in rows {
        let Some(launch) = columns.launch(&row) else { continue };
        let at = *known.entry((launch.launch, launch.pid)).or_insert(launches.len());
        if at == launches.len() {
            launches.push(Launch { is_summary: true, ..launch });
        }
        let said = |name| columns.text(&row, name);
        if !said("Metric Name").is_empty() {
            let name = metric_of_label(said("Section Name"), said("Metric Name"));
            launches[at].metrics.extend(metric(&name, said("Metric Value"), said("Metric Unit")));
        }
        if !said("Rule Name").is_empty() {
            launches[at].rules.push(Rule {
                id: said("Rule Name").to_owned(),
                kind: match said("Rule Type") {
                    "WRN" | "OPT" => RuleKind::Warning,
                    "ERR" => RuleKind::Error,
                    _ => RuleKind::Info,
                },
                message: said("Rule Description").to_owned(),
                speedup_pct: number(said("Estimated Speedup")),
            });
        }
    }
    launches
}

/// What the details page calls some metrics: section, label and the metric's own name.
///
/// From the `.section` files that the tool installs; the labels of others stay as they are.
const LABELS: [(&str, &str, &str); 17] = [
    ("GPU Speed Of Light Throughput", "Duration", "gpu__time_duration.sum"),
    ("GPU Speed Of Light Throughput", "Elapsed Cycles", "gpc__cycles_elapsed.max"),
    ("GPU Speed Of Light Throughput", "SM Frequency", "gpc__cycles_elapsed.avg.per_second"),
    ("GPU Speed Of Light Throughput", "DRAM Frequency", "dram__cycles_elapsed.avg.per_second"),
    ("GPU Speed Of Light Throughput", "SM Active Cycles", "sm__cycles_active.avg"),
    ("GPU Speed Of Light Throughput", "Compute (SM) Throughput", "sm__throughput.avg.pct_of_peak_sustained_elapsed"),
    (
        "GPU Speed Of Light Throughput",
        "Memory Throughput",
        "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
    ),
    ("GPU Speed Of Light Throughput", "DRAM Throughput", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"),
    ("GPU Speed Of Light Throughput", "L2 Cache Throughput", "lts__throughput.avg.pct_of_peak_sustained_elapsed"),
    ("GPU Speed Of Light Throughput", "L1/TEX Cache Throughput", "l1tex__throughput.avg.pct_of_peak_sustained_active"),
    ("Memory Workload Analysis", "Memory Throughput", "dram__bytes.sum.per_second"),
    ("Launch Statistics", "Registers Per Thread", "launch__registers_per_thread"),
    ("Launch Statistics", "Waves Per SM", "launch__waves_per_multiprocessor"),
    ("Launch Statistics", "Threads", "launch__thread_count"),
    ("Occupancy", "Theoretical Occupancy", "sm__maximum_warps_per_active_cycle_pct"),
    ("Occupancy", "Achieved Occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active"),
    ("Occupancy", "Achieved Active Warps Per SM", "sm__warps_active.avg.per_cycle_active"),
];

fn metric_of_label(section: &str, label: &str) -> String {
    let known = LABELS.iter().find(|(known, name, _)| *known == section && *name == label);
    known.map_or_else(|| label.to_owned(), |(_, _, metric)| (*metric).to_owned())
}
