//! Host threads: API calls, NVTX ranges, operating-system calls, overhead.

use super::device::source_of;
use super::names::{NameKey, NameStyle, Names, torch_operator};
use super::rows::{DetailOf, Distinct, EventRow, Lane, Part, Timeline};
use super::tables::Tables;
use crate::import::Import;
use crate::note::Severity;
use ridge_sqlite::Row;
use ridge_trace::{EventKind, NONE, OperatorShape, StringId};
use rustc_hash::FxHashMap;

pub(super) const CALLS: &str = "CUPTI_ACTIVITY_KIND_RUNTIME";
pub(super) const RANGES: &str = "NVTX_EVENTS";
pub(super) const SYSTEM_CALLS: &str = "OSRT_API";

/// Tables of ranges with a name, a thread and nothing else that we use.
const NAMED: [&str; 4] = [SYSTEM_CALLS, "CUBLAS_EVENTS", "CUDNN_EVENTS", "MPI_P2P_EVENTS"];

/// Overhead that CUPTI saw: the profiler's own, and the driver's.
const CUPTI_OVERHEAD: &str = "CUPTI_ACTIVITY_KIND_OVERHEAD";

/// Overhead of the profiler itself.
const PROFILER: &str = "PROFILER_OVERHEAD";

/// `ENUM_NSYS_EVENT_TYPE` of the exports.
const MARK: i64 = 34;
const PUSH_POP: i64 = 59;
const START_END: i64 = 60;
const DOMAIN_CREATE: i64 = 75;
/// The same from text files that the program wrote (`NVTXT`).
const TEXT_MARK: i64 = 65;
const TEXT_PUSH_POP: i64 = 70;
const TEXT_START_END: i64 = 71;

/// Calls that cause device work; every other call only asks or waits.
const LAUNCHES: [&str; 10] = [
    "cudaLaunch",
    "cuLaunch",
    "cudaGraphLaunch",
    "cuGraphLaunch",
    "cudaMemcpy",
    "cuMemcpy",
    "cudaMemset",
    "cuMemset",
    "cudaMemPrefetch",
    "cuMemPrefetch",
];

/// Reads every table of host events.
pub(super) fn read(tables: &impl Tables, timeline: &mut Timeline, names: &mut Names, import: &mut Import) {
    let mut incomplete = 0;
    tables.scan_each(CALLS, &["start", "end", "globalTid", "nameId", "correlationId"], call, |calls| {
        incomplete += timeline.take_part(calls, NameStyle::Api, DetailOf::Nothing, names, import);
    });
    mark_launches(timeline, import);
    for table in NAMED {
        let parts = tables.scan(table, &["start", "end", "globalTid", "nameId"], call);
        incomplete += timeline.take(parts, NameStyle::AsWritten, DetailOf::Nothing, names, import);
    }
    let overhead = tables.scan(PROFILER, &["start", "end", "globalTid", "nameId"], overhead);
    incomplete += timeline.take(overhead, NameStyle::AsWritten, DetailOf::Nothing, names, import);
    let overhead =
        tables.scan(CUPTI_OVERHEAD, &["start", "end", "globalTid", "nameId", "overheadType"], cupti_overhead);
    incomplete += timeline.take(overhead, NameStyle::AsWritten, DetailOf::Nothing, names, import);
    if incomplete > 0 {
        let message = "calls without a start or a thread were left out".to_owned();
        import.note(Severity::Lost, &source_of(import), None, incomplete, message);
    }
    read_ranges(tables, timeline, names, import);
}

/// A thread and a span, from the places 0 to 2.
#[inline]
fn span(row: &Row<'_>, kind: EventKind) -> Option<(Lane, EventRow)> {
    let start_ns = row.int(0)?;
    let dur_ns = row.int(1).map_or(0, |end| end.saturating_sub(start_ns)).max(0);
    let lane = Lane::Thread { tid: row.int(2)? as u64 };
    Some((lane, EventRow { start_ns, dur_ns, name: 0, detail: NONE, op: NONE, correlation: 0, kind }))
}

fn call(part: &mut Part, row: &Row<'_>) {
    let Some((lane, event)) = span(row, EventKind::HostRange) else {
        part.incomplete += 1;
        return;
    };
    let name = part.names.id(row.int(3).map_or(NameKey::Fixed("(call without a name)"), NameKey::Id));
    let correlation = row.int(4).and_then(|id| u32::try_from(id).ok()).unwrap_or(0);
    part.push(lane, EventRow { name, correlation, ..event });
}

fn overhead(part: &mut Part, row: &Row<'_>) {
    let Some((lane, event)) = span(row, EventKind::Overhead) else {
        part.incomplete += 1;
        return;
    };
    let name = part.names.id(row.int(3).map_or(NameKey::Fixed("profiler overhead"), NameKey::Id));
    part.push(lane, EventRow { name, ..event });
}

fn cupti_overhead(part: &mut Part, row: &Row<'_>) {
    // `ENUM_CUPTI_OVERHEAD_TYPE` of the exports; what is not the profiler's own is there without it, too.
    let kind = match row.int(4) {
        Some(3..=5) => EventKind::Overhead,
        Some(2) => EventKind::Compile,
        _ => EventKind::HostRange,
    };
    let Some((lane, event)) = span(row, kind) else {
        part.incomplete += 1;
        return;
    };
    let name = part.names.id(row.int(3).map_or(NameKey::Fixed("overhead without a name"), NameKey::Id));
    part.push(lane, EventRow { name, ..event });
}

/// Marks the calls that cause device work; the others keep no correlation, so that nothing links to them.
fn mark_launches(timeline: &mut Timeline, import: &Import) {
    let mut launches: FxHashMap<u32, bool> = FxHashMap::default();
    let strings = &import.builder.strings;
    for row in timeline.rows.iter_mut().flatten().filter(|row| row.kind == EventKind::HostRange) {
        let is_launch = *launches.entry(row.name).or_insert_with(|| {
            let name = strings.get(StringId(row.name));
            LAUNCHES.iter().any(|start| name.starts_with(start))
        });
        row.kind = if is_launch { EventKind::Launch } else { EventKind::HostRange };
    }
}

/// A name in place, or else the string that is named behind it.
fn text_or_id(row: &Row<'_>, at: usize) -> Option<NameKey> {
    let text = row.text(at).map(|text| NameKey::Text(text.into()));
    text.or_else(|| row.int(at + 1).map(NameKey::Id))
}

/// Ranges of one part, with the operator shapes beside them.
#[derive(Default)]
struct Ranges {
    part: Part,
    /// Names in place that are in no domain, by their id in the part: what most ranges have, found without a copy.
    texts: FxHashMap<Box<str>, u32>,
    /// Domains that the part names: process, domain, name.
    domains: Vec<(u64, i64, NameKey)>,
    /// Input sizes by place in the rows' `detail`.
    sizes: Distinct<Box<str>>,
    /// Whether a range of the part is in a domain.
    is_in_domains: bool,
    unended: u64,
}

impl Ranges {
    /// The id in the part of a name in place.
    fn text(&mut self, text: &str) -> u32 {
        if let Some(id) = self.texts.get(text) {
            return *id;
        }
        let id = self.part.names.id(NameKey::Text(text.into()));
        self.texts.insert(text.into(), id);
        id
    }
}

fn read_ranges(tables: &impl Tables, timeline: &mut Timeline, names: &mut Names, import: &mut Import) {
    let columns = ["start", "end", "globalTid", "eventType", "domainId", "text", "textId"];
    let (mut unended, mut shapes, mut waiting) = (0, FxHashMap::default(), Vec::new());
    let mut take = |mut ranges: Ranges, names: &mut Names| {
        unended += ranges.unended;
        let shape = |sizes: Box<str>| *shapes.entry(sizes).or_insert_with_key(|sizes| operator_shape(sizes, import));
        let details: Vec<u32> = ranges.sizes.keys.into_iter().map(shape).collect();
        ranges.part.set_details(&details);
        timeline.take_part(ranges.part, NameStyle::AsWritten, DetailOf::Final, names, import);
    };
    tables.scan_each(RANGES, &columns, range, |mut ranges: Ranges| {
        for (pid, domain, name) in ranges.domains.drain(..) {
            names.add_domain(pid, domain, name);
        }
        // A later part may name the domain that ranges of this one are in.
        if waiting.is_empty() && !ranges.is_in_domains {
            take(ranges, names);
        } else {
            waiting.push(ranges);
        }
    });
    waiting.into_iter().for_each(|ranges| take(ranges, names));
    if unended > 0 {
        let message = "NVTX ranges that never ended were left out".to_owned();
        import.note(Severity::Partial, &source_of(import), None, unended, message);
    }
}

fn operator_shape(sizes: &str, import: &mut Import) -> u32 {
    let dims = import.builder.strings.intern(sizes);
    import.builder.operator_shapes.push(OperatorShape { dims, ..OperatorShape::default() });
    import.builder.operator_shapes.len() as u32 - 1
}

fn range(ranges: &mut Ranges, row: &Row<'_>) {
    let kind = match row.int(3) {
        Some(MARK | TEXT_MARK) => EventKind::Instant,
        Some(PUSH_POP | START_END | TEXT_PUSH_POP | TEXT_START_END) => EventKind::Annotation,
        Some(DOMAIN_CREATE) => {
            let pid = row.int(2).unwrap_or(0) as u64 >> 24;
            ranges.domains.extend(text_or_id(row, 5).map(|name| (pid, row.int(4).unwrap_or(0), name)));
            return;
        }
        _ => return,
    };
    let Some((lane, mut event)) = span(row, kind).filter(|_| kind == EventKind::Instant || row.int(1).is_some()) else {
        ranges.unended += 1;
        return;
    };
    let text = row.text(5);
    let operator = text.as_deref().and_then(torch_operator);
    if let Some((_, sizes)) = operator {
        event.kind = EventKind::Operator;
        if !sizes.is_empty() {
            event.detail = ranges.sizes.id_of(sizes);
        }
    }
    let name = operator.map(|(name, _)| name).or(text.as_deref());
    let domain = row.int(4).unwrap_or(0);
    event.name = match (name, domain) {
        (Some(name), 0) => ranges.text(name),
        _ => {
            let name = name.map(|name| NameKey::Text(name.into()));
            let key = name.or_else(|| row.int(6).map(NameKey::Id)).unwrap_or(NameKey::Fixed("(range without a name)"));
            ranges.is_in_domains |= domain != 0;
            let in_domain = |key| NameKey::InDomain(lane.pid(), domain, Box::new(key));
            ranges.part.names.id(if domain == 0 { key } else { in_domain(key) })
        }
    };
    ranges.part.push(lane, event);
}
