//! Databases of `nvprof`, read as if Nsight Systems had exported them: the same CUPTI records in tables of other columns.
//!
//! Kernels are in `CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL`, names in `StringTable`, ranges as two markers each, calls by CUPTI's
//! numbers (`cupti_runtime_cbid.h`, `cupti_driver_cbid.h`). Device records say no process: a database is of one.
//! The tool ended with CUDA 11 and its schema with it; that was seen in public databases and in `nvprof`'s own statements.

use super::tables::{SqliteTables, Tables};
use super::{device, host};
use crate::import::{Import, Source};
use crate::note::Severity;
use ridge_sqlite::{Cell, Encoding, Row};
use rustc_hash::FxHashMap;

/// The table of texts, which no export of Nsight Systems has.
const STRINGS: &str = "StringTable";
const CONCURRENT: &str = "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL";
const DRIVER: &str = "CUPTI_ACTIVITY_KIND_DRIVER";
const MARKERS: &str = "CUPTI_ACTIVITY_KIND_MARKER";
const DEVICES: &str = "CUPTI_ACTIVITY_KIND_DEVICE";
const PEER_COPIES: &str = "CUPTI_ACTIVITY_KIND_MEMCPY2";

/// Numbers and names of the calls that CUPTI knows, a line each.
const RUNTIME_CALLS: &str = include_str!("runtime_calls.txt");
const DRIVER_CALLS: &str = include_str!("driver_calls.txt");
/// Where the ids of their names begin: strings of a database have ids from 1 up.
const RUNTIME_NAMES: i64 = -1_000_000;
const DRIVER_NAMES: i64 = -2_000_000;

/// `CUPTI_ACTIVITY_FLAG_MARKER_*`.
const INSTANT: i64 = 1;
const START: i64 = 2;
const END: i64 = 4;
/// `ENUM_NSYS_EVENT_TYPE`, as the reader of ranges knows it.
const MARK: i64 = 34;
const START_END: i64 = 60;

/// More columns are asked of no table.
const MOST_COLUMNS: usize = 24;

/// Whether a database with these tables is one of `nvprof`.
pub(super) fn is_one(tables: &impl Tables) -> bool {
    tables.has(STRINGS) && !tables.has("StringIds") && (tables.has(CONCURRENT) || tables.has(device::KERNELS))
}

/// Where a column of an export is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// The column that is asked for, under another name perhaps.
    Column(&'static str),
    /// A kind of memory, which exports count from 0 and CUPTI from 1.
    Memory(&'static str),
    /// The number of a call, as the id of its name.
    Call(&'static str, i64),
    Process,
    /// Process and thread of a call.
    Thread,
    Nothing,
}

impl Origin {
    fn column(self) -> &'static str {
        match self {
            Origin::Column(name) | Origin::Memory(name) | Origin::Call(name, _) => name,
            Origin::Thread => "threadId",
            Origin::Process | Origin::Nothing => "",
        }
    }
}

/// The tables of a database of `nvprof`.
pub(super) struct NvprofTables<'d, 'a> {
    tables: SqliteTables<'d, 'a>,
    who: Who,
}

/// Which process and threads the records are of.
struct Who {
    process: i64,
    /// Processes that calls are of, at most two.
    processes: Vec<i64>,
    /// Threads in the order in which they are first named: what the database says of one is an address.
    threads: FxHashMap<i64, i64>,
}

impl Who {
    /// The global id of `thread`: process and thread, 24 bits each.
    fn thread_id(&self, thread: i64) -> i64 {
        (self.process & 0xff_ffff) << 24 | self.threads.get(&thread).copied().unwrap_or(0) & 0xff_ffff
    }

    fn cell<'r>(&self, from: Origin, cell: Cell<'r>) -> Cell<'r> {
        match (from, cell) {
            (Origin::Column(_), cell) => cell,
            (Origin::Memory(_), Cell::Int(kind)) => Cell::Int(kind - 1),
            (Origin::Call(_, names), Cell::Int(number)) => Cell::Int(names - number),
            (Origin::Thread, Cell::Int(thread)) => Cell::Int(self.thread_id(thread)),
            (Origin::Process, _) => Cell::Int((self.process & 0xff_ffff) << 24),
            _ => Cell::Null,
        }
    }
}

impl<'d, 'a> NvprofTables<'d, 'a> {
    pub(super) fn new(tables: SqliteTables<'d, 'a>) -> NvprofTables<'d, 'a> {
        let (mut processes, mut threads) = (Vec::new(), FxHashMap::default());
        for table in [host::CALLS, DRIVER] {
            let pair = |row: &Row<'_>| Some((row.int(0)?, row.int(1)?));
            for (process, thread) in tables.collect(table, &["processId", "threadId"], pair) {
                if !processes.contains(&process) && processes.len() < 2 {
                    processes.push(process);
                }
                let next = threads.len() as i64 + 1;
                threads.entry(thread).or_insert(next);
            }
        }
        let who = Who { process: processes.first().copied().unwrap_or(0), processes, threads };
        NvprofTables { tables, who }
    }

    /// The tables that hold what an export has in `name`.
    fn sources(&self, name: &str) -> Vec<&'static str> {
        let all: &[&'static str] = match name {
            device::KERNELS => &[CONCURRENT, device::KERNELS],
            device::COPIES => &[device::COPIES, PEER_COPIES],
            device::MEMORY_SETS => &[device::MEMORY_SETS],
            device::SYNCHRONIZATION => &[device::SYNCHRONIZATION],
            host::CALLS => &[host::CALLS, DRIVER],
            _ => &[],
        };
        all.iter().copied().filter(|table| self.tables.has(table)).collect()
    }

    /// Texts, and the names of calls.
    fn strings<T: Default>(&self, visit: &(impl Fn(&mut T, &Row<'_>) + Sync)) -> Vec<T> {
        let mut part = T::default();
        let text = |row: &Row<'_>| Some((row.int(0)?, row.text(1)?.into_owned()));
        let known = self.tables.collect(STRINGS, &["_id_", "value"], text);
        let calls = [(RUNTIME_CALLS, RUNTIME_NAMES), (DRIVER_CALLS, DRIVER_NAMES)];
        let calls = calls.into_iter().flat_map(|(list, names)| {
            list.lines().filter_map(move |line| {
                line.split_once(' ').map(|(number, name)| (names - number.parse::<i64>().unwrap_or(0), name.to_owned()))
            })
        });
        for (id, text) in known.into_iter().chain(calls) {
            visit(&mut part, &Row { cells: &[Cell::Int(id), Cell::Text(text.as_bytes())], encoding: Encoding::Utf8 });
        }
        vec![part]
    }

    /// Ranges of NVTX, each from its two markers, in the columns that the reader of ranges asks for.
    fn ranges<T: Default>(&self, columns: &[&str], visit: &(impl Fn(&mut T, &Row<'_>) + Sync)) -> Vec<T> {
        let marker = |row: &Row<'_>| {
            let thread = match row.cells.get(4) {
                // `CUpti_ActivityObjectKindId`: process and thread, 32 bits each; other kinds of objects have no thread.
                Some(Cell::Blob(id)) if id.len() >= 8 => {
                    i64::from(u32::from_le_bytes(id[4..8].try_into().expect("four bytes")))
                }
                _ => 0,
            };
            Some((row.int(0)?, row.int(1)?, row.int(2)?, row.int(3)?, thread))
        };
        let (mut part, mut begun) = (T::default(), FxHashMap::default());
        let mut add = |start: i64, end: Option<i64>, kind: i64, name: i64, thread: i64| {
            let cells: Vec<Cell<'_>> = columns
                .iter()
                .map(|column| match *column {
                    "start" => Cell::Int(start),
                    "end" => end.map_or(Cell::Null, Cell::Int),
                    "globalTid" => Cell::Int(self.who.thread_id(thread)),
                    "eventType" => Cell::Int(kind),
                    "domainId" => Cell::Int(0),
                    "textId" => Cell::Int(name),
                    _ => Cell::Null,
                })
                .collect();
            visit(&mut part, &Row { cells: &cells, encoding: Encoding::Utf8 });
        };
        for (flags, time, id, name, thread) in
            self.tables.collect(MARKERS, &["flags", "timestamp", "id", "name", "objectId"], marker)
        {
            if flags & INSTANT != 0 {
                add(time, None, MARK, name, thread);
            } else if flags & START != 0 {
                begun.insert(id, (time, name, thread));
            } else if flags & END != 0
                && let Some((start, name, thread)) = begun.remove(&id)
            {
                add(start, Some(time), START_END, name, thread);
            }
        }
        let mut open: Vec<_> = begun.into_values().collect();
        open.sort_unstable();
        open.into_iter().for_each(|(start, name, thread)| add(start, None, START_END, name, thread));
        vec![part]
    }

    /// What the devices are, in the columns that the reader of them asks for.
    fn devices<T: Default + Send>(&self, columns: &[&str], visit: &(impl Fn(&mut T, &Row<'_>) + Sync)) -> Vec<T> {
        let text = |row: &Row<'_>| Some((row.int(0)?, row.text(1)?.into_owned()));
        let names: FxHashMap<i64, String> =
            self.tables.collect(STRINGS, &["_id_", "value"], text).into_iter().collect();
        // CUPTI's own units are kilobytes a second and kilohertz.
        let from = |column: &&str| match *column {
            "id" | "cuDevice" => ("id", 1),
            "name" => ("name", 1),
            "totalMemory" => ("globalMemorySize", 1),
            "memoryBandwidth" => ("globalMemoryBandwidth", 1000),
            "clockRate" => ("coreClockRate", 1000),
            "smCount" => ("numMultiprocessors", 1),
            "computeMajor" => ("computeCapabilityMajor", 1),
            "computeMinor" => ("computeCapabilityMinor", 1),
            _ => ("", 1),
        };
        let asked: Vec<(&str, i64)> = columns.iter().map(from).collect();
        let found: Vec<&str> = asked.iter().map(|(column, _)| *column).collect();
        self.tables.scan(DEVICES, &found, |part, row| {
            let name = asked.iter().position(|(column, _)| *column == "name").and_then(|at| names.get(&row.int(at)?));
            let cell = |(at, (column, factor)): (usize, &(&str, i64))| match (*column, row.int(at)) {
                ("name", _) => name.map_or(Cell::Null, |name| Cell::Text(name.as_bytes())),
                (_, Some(value)) => Cell::Int(value.saturating_mul(*factor)),
                _ => Cell::Null,
            };
            let cells: Vec<Cell<'_>> = asked.iter().enumerate().map(cell).collect();
            visit(part, &Row { cells: &cells, encoding: Encoding::Utf8 });
        })
    }
}

/// Where `column` of an export is in the table `source`.
fn from(source: &str, column: &str) -> Origin {
    match (source, column) {
        (_, "start") => Origin::Column("start"),
        (_, "end") => Origin::Column("end"),
        (_, "deviceId") => Origin::Column("deviceId"),
        (_, "contextId") => Origin::Column("contextId"),
        (_, "streamId") => Origin::Column("streamId"),
        (_, "correlationId") => Origin::Column("correlationId"),
        (_, "globalPid") => Origin::Process,
        (_, "bytes") => Origin::Column("bytes"),
        (_, "copyKind") => Origin::Column("copyKind"),
        (_, "srcKind") => Origin::Memory("srcKind"),
        (_, "dstKind") => Origin::Memory("dstKind"),
        (_, "memKind") => Origin::Memory("memoryKind"),
        (_, "syncType") => Origin::Column("type"),
        (host::CALLS | DRIVER, "globalTid") => Origin::Thread,
        (host::CALLS, "nameId") => Origin::Call("cbid", RUNTIME_NAMES),
        (DRIVER, "nameId") => Origin::Call("cbid", DRIVER_NAMES),
        (_, "demangledName") => Origin::Column("name"),
        (_, "registersPerThread") => Origin::Column("registersPerThread"),
        (_, "gridX") => Origin::Column("gridX"),
        (_, "gridY") => Origin::Column("gridY"),
        (_, "gridZ") => Origin::Column("gridZ"),
        (_, "blockX") => Origin::Column("blockX"),
        (_, "blockY") => Origin::Column("blockY"),
        (_, "blockZ") => Origin::Column("blockZ"),
        (_, "staticSharedMemory") => Origin::Column("staticSharedMemory"),
        (_, "dynamicSharedMemory") => Origin::Column("dynamicSharedMemory"),
        _ => Origin::Nothing,
    }
}

impl Tables for NvprofTables<'_, '_> {
    fn names(&self) -> Vec<String> {
        self.tables.names()
    }

    fn columns(&self, name: &str) -> Option<Vec<String>> {
        self.sources(name).first().and_then(|table| self.tables.columns(table))
    }

    fn scan_each<T: Default + Send>(
        &self,
        name: &str,
        columns: &[&str],
        visit: impl Fn(&mut T, &Row<'_>) + Sync,
        mut each: impl FnMut(T),
    ) {
        let small = match name {
            "StringIds" => Some(self.strings(&visit)),
            host::RANGES => Some(self.ranges(columns, &visit)),
            "TARGET_INFO_GPU" => Some(self.devices(columns, &visit)),
            _ => None,
        };
        if let Some(parts) = small {
            return parts.into_iter().for_each(each);
        }
        let who = &self.who;
        for source in self.sources(name) {
            let places: Vec<Origin> = columns.iter().take(MOST_COLUMNS).map(|column| from(source, column)).collect();
            let found: Vec<&str> = places.iter().map(|place| place.column()).collect();
            let visit = |part: &mut T, row: &Row<'_>| {
                let mut cells = [Cell::Null; MOST_COLUMNS];
                for (at, place) in places.iter().enumerate() {
                    cells[at] = who.cell(*place, row.cells.get(at).copied().unwrap_or(Cell::Null));
                }
                visit(part, &Row { cells: &cells[..places.len()], encoding: row.encoding });
            };
            self.tables.scan_each(source, &found, visit, &mut each);
        }
    }

    fn note_damage(&self, source: Source<'_>, import: &mut Import) {
        if self.who.processes.len() > 1 {
            let message = "the database has several processes, but nvprof doesn't record which one device work belongs to: all of it is shown in one; `nvprof -o FILE.%p` records each separately";
            import.note(Severity::Partial, source.name, None, 1, message.to_owned());
        }
        self.tables.note_damage(source, import);
    }
}
