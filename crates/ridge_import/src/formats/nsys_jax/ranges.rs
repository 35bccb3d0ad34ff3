//! NVTX ranges: as they ran on their threads, and as the device work that they caused.

use super::replica::{HOST_RANGES, HOST_RANGES_CSV, PROJECTION, Replica};
use crate::import::Import;
use crate::note::Severity;
use crate::xla::ranges::{self, XlaRange};
use ridge_sqlite::Row;
use ridge_trace::StringId;
use rustc_hash::{FxHashMap, FxHashSet};

/// A range as its work appears on a device.
#[derive(Debug, Clone, Copy)]
pub(super) struct Projected {
    pub(super) id: i64,
    pub(super) parent: Option<i64>,
    pub(super) name: StringId,
    pub(super) start_ns: i64,
    pub(super) dur_ns: i64,
    pub(super) pid: i64,
    pub(super) tid: i64,
    /// Pieces of device work that it caused, where the archive says so.
    pub(super) pieces: Option<u64>,
}

/// A range on its thread.
#[derive(Debug, Clone, Copy)]
pub(super) struct HostRange {
    pub(super) id: i64,
    pub(super) name: StringId,
    pub(super) start_ns: i64,
    pub(super) dur_ns: i64,
    pub(super) pid: Option<i64>,
    pub(super) tid: i64,
}

/// All ranges of one process or of several under one profiler.
#[derive(Debug, Default)]
pub(super) struct Ranges {
    pub(super) projected: Vec<Projected>,
    pub(super) host: Vec<HostRange>,
    /// What XLA's own ranges say, by the id of their name.
    pub(super) xla: FxHashMap<u32, XlaRange>,
    /// Pieces of device work that no range caused.
    pub(super) pieces_of_none: u64,
}

/// A row of the projection before its name is interned.
#[derive(Debug, Default)]
struct Part {
    names: Vec<Box<str>>,
    ids: FxHashMap<Box<str>, u32>,
    rows: Vec<(Projected, Option<(i64, i64)>)>,
    host: Vec<HostRange>,
    pieces_of_none: u64,
}

impl Part {
    /// The place of `name` among this part's names, which stands for a string id until they are interned.
    fn name(&mut self, name: &str) -> StringId {
        if let Some(known) = self.ids.get(name) {
            return StringId(*known);
        }
        let id = self.names.len() as u32;
        self.names.push(name.into());
        self.ids.insert(name.into(), id);
        StringId(id)
    }
}

/// Columns of the projection: those of Nsight Systems up to 2024.4, then those of later ones.
const PROJECTION_COLUMNS: [&str; 16] = [
    "Name",
    "Projected Start",
    "Projected Duration",
    "Orig Start",
    "Orig Duration",
    "PID",
    "TID",
    "NumGPUOps",
    "RangeId",
    "ParentId",
    "Text",
    "Start",
    "End",
    "Range ID",
    "Parent ID",
    "Domain",
];

const HOST_COLUMNS: [&str; 6] = ["Start (ns)", "End (ns)", "Name", "PID", "TID", "RangeId"];

/// A whole number, also where pandas made it a fraction.
fn whole(row: &Row<'_>, at: usize) -> Option<i64> {
    row.int(at).or_else(|| row.real(at).map(|value| value as i64))
}

/// Reads the ranges of `replica`.
pub(super) fn read(replica: &Replica<'_, '_>, import: &mut Import) -> Ranges {
    let mut ranges = Ranges::default();
    let mut own_times = Vec::new();
    for part in replica.table(PROJECTION, &PROJECTION_COLUMNS, import, project) {
        let names = ranges.intern(&part.names, import);
        for (row, own) in part.rows {
            let row = Projected { name: names[row.name.0 as usize], ..row };
            own_times.extend(own.map(|(start_ns, dur_ns)| HostRange {
                id: row.id,
                name: row.name,
                start_ns,
                dur_ns,
                pid: Some(row.pid),
                tid: row.tid,
            }));
            ranges.projected.push(row);
        }
        ranges.pieces_of_none += part.pieces_of_none;
    }
    let mut parts = replica.table(HOST_RANGES, &HOST_COLUMNS, import, host_row);
    if parts.is_empty() {
        parts.extend(from_csv(replica, import));
    }
    for part in parts {
        let names = ranges.intern(&part.names, import);
        let named = part.host.into_iter().map(|row| HostRange { name: names[row.name.0 as usize], ..row });
        ranges.host.extend(named);
    }
    // Ranges that begin and end in different places are in the projection alone.
    let known: FxHashSet<i64> = ranges.host.iter().map(|range| range.id).collect();
    ranges.host.extend(own_times.into_iter().filter(|range| !known.contains(&range.id)));
    ranges
}

impl Ranges {
    fn intern(&mut self, names: &[Box<str>], import: &mut Import) -> Vec<StringId> {
        let mut intern = |name: &str| {
            let id = import.builder.strings.intern(name);
            if let Some(range) = ranges::range(name) {
                self.xla.insert(id.0, range);
            }
            id
        };
        names.iter().map(|name| intern(name)).collect()
    }
}

fn project(part: &mut Part, row: &Row<'_>) {
    let (Some(start_ns), pieces) = (whole(row, 1).or_else(|| whole(row, 11)), whole(row, 7)) else { return };
    let pieces = pieces.and_then(|pieces| u64::try_from(pieces).ok());
    let Some(id) = whole(row, 8).or_else(|| whole(row, 13)) else {
        // A row for each thread whose work no range caused: from its first piece to its last, with all else between.
        part.pieces_of_none += pieces.unwrap_or(0);
        return;
    };
    let end = whole(row, 12).map(|end_ns| end_ns.saturating_sub(start_ns));
    let name = match (row.text(0), row.text(10), row.text(15)) {
        (Some(name), _, _) => part.name(&name),
        (None, Some(text), Some(domain)) if !domain.is_empty() => part.name(&format!("{domain}:{text}")),
        (None, Some(text), _) => {
            // Releases that write neither leave out the domain; XLA's own is known by its grammar.
            let with_domain = format!("TSL:{text}");
            part.name(if ranges::range(&with_domain).is_some() { &with_domain } else { &text })
        }
        (None, None, _) => part.name("(range without a name)"),
    };
    let projected = Projected {
        id,
        parent: whole(row, 9).or_else(|| whole(row, 14)),
        name,
        start_ns,
        dur_ns: whole(row, 2).or(end).unwrap_or(0).max(0),
        pid: whole(row, 5).unwrap_or(0),
        tid: whole(row, 6).unwrap_or(0),
        pieces,
    };
    part.rows.push((projected, whole(row, 3).zip(whole(row, 4).map(|dur| dur.max(0)))));
}

fn host_row(part: &mut Part, row: &Row<'_>) {
    let (Some(start_ns), Some(end_ns), Some(tid)) = (whole(row, 0), whole(row, 1), whole(row, 4)) else { return };
    let name = row.text(2).unwrap_or_default();
    let name = part.name(if name.is_empty() { "(range without a name)" } else { &name });
    let dur_ns = end_ns.saturating_sub(start_ns).max(0);
    part.host.push(HostRange { id: whole(row, 5).unwrap_or(-1), name, start_ns, dur_ns, pid: whole(row, 3), tid });
}

/// The same from the older table in text.
fn from_csv(replica: &Replica<'_, '_>, import: &mut Import) -> Option<Part> {
    let content = replica.content(HOST_RANGES_CSV, import)?;
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(&content.bytes[..]);
    let header = reader.byte_headers().ok()?.clone();
    let place = |name: &str| header.iter().position(|column| column == name.as_bytes());
    let places = HOST_COLUMNS.map(place);
    let (mut part, mut record, mut broken) = (Part::default(), csv::ByteRecord::new(), 0_u64);
    loop {
        match reader.read_byte_record(&mut record) {
            Ok(true) => {}
            Ok(false) => break,
            Err(_) => {
                broken += 1;
                continue;
            }
        }
        let text = |at: usize| record.get(places[at]?).and_then(|text| std::str::from_utf8(text).ok());
        let number = |at: usize| text(at)?.parse::<i64>().ok();
        let (Some(start_ns), Some(end_ns), Some(tid)) = (number(0), number(1), number(4)) else {
            broken += 1;
            continue;
        };
        let name = part.name(text(2).filter(|name| !name.is_empty()).unwrap_or("(range without a name)"));
        let dur_ns = end_ns.saturating_sub(start_ns).max(0);
        part.host.push(HostRange { id: number(5).unwrap_or(-1), name, start_ns, dur_ns, pid: number(3), tid });
    }
    if broken > 0 {
        let message = format!("{HOST_RANGES_CSV}: expected start, end and thread of a range, found something else");
        import.note(Severity::Lost, &replica.name(), None, broken, message);
    }
    Some(part)
}
