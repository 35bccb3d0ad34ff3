//! From stored rows to the trace: ranges closed, tracks sorted and written, and what refers to rows put beside them.

use super::backward::link_backwards;
use super::captured;
use super::clock::Clock;
use super::flaws::{Flaw, Flaws, NOWHERE};
use super::header::Header;
use super::link::{Operations, attribute, fill_missing_correlations, note_unlinked};
use super::memory::place_allocations;
use super::own;
use super::placed::{Placed, PlacedTrack};
use super::processor;
use super::row::{Extra, Row, TrackKey};
use super::steps::mark_steps;
use super::store::{Store, StoredTrack};
use super::xla;
use crate::import::{CaptureFacts, Import};
use crate::note::Severity;
use crate::source::{GraphCapture, GraphWork, Said};
use rayon::prelude::*;
use ridge_trace::{Attribution, Collective, EventKind, EventSlices, NONE, StringId, TrackKind};
use rustc_hash::FxHashMap;

/// Traces with fewer rows are sorted on one thread: starting others costs more.
const PARALLEL_ROWS: u64 = 1 << 16;

/// Writes `store` into the trace.
pub(super) fn place(mut store: Store, header: &Header, name: &str, bytes: u64, import: &mut Import) {
    fill_missing_correlations(&mut store);
    let is_own = header.own_devices.is_some();
    let is_xla = !is_own && xla::is_from_xla(&store, import);
    let mut flaws = store.flaws;
    close_ranges(&mut store.tracks, &mut flaws);
    let in_parallel = store.tracks.iter().map(|track| track.rows.len() as u64).sum::<u64>() >= PARALLEL_ROWS;
    let sort = |track: &mut StoredTrack| sort_rows(&mut track.rows);
    if in_parallel {
        store.tracks.par_iter_mut().for_each(sort)
    } else {
        store.tracks.iter_mut().for_each(sort)
    }
    let rank = header.rank.or_else(|| rank_in_name(name));
    if import.is_one_of_several
        && let Some(graphs) = captured::graphs(&store, import)
    {
        let source = name.to_owned();
        import.captures.push(CaptureFacts {
            source: source.clone(),
            format: "graph-capture",
            bytes,
            ..CaptureFacts::default()
        });
        import.graph_captures.push(GraphCapture { source, rank, graphs });
        return flaws.note(name, import);
    }
    let clock = Clock::of(&store, header, is_xla, import);
    let process = import.builder.add_process(name, None);
    import.builder.process_mut(process).rank = rank;
    import.captures.push(clock.facts(header, name, bytes));
    let first_row = import.builder.rows();
    import.builder.process_mut(process).pid = process_of_operators(&store, import);
    let tracks = write_tracks(&mut store, header, process, &clock, is_xla, import);
    let placed = Placed { first_row, process, tracks };
    if is_own {
        own::interpret(&store, &placed, &header.own_modules, name, import);
    } else if is_xla {
        xla::interpret(&store, &placed, import);
    } else {
        mark_steps(&placed, name, import);
        let mut operations = Operations::default();
        attribute(&placed, &mut operations, import);
        if !header.has_devices() {
            processor::add_lanes(&store.extras, &placed, &mut operations, import);
        }
        link_backwards(&placed, import);
        place_collectives(&store, &placed, import);
        place_nodes(&store, &placed, import);
        if import.is_one_of_several {
            captured::replays(process, placed.streams().flat_map(|track| track.rows.clone()), import);
        }
    }
    place_allocations(&store, &placed, &clock, import);
    place_samples(&store, &clock, import);
    if header.predicted.is_none() {
        note_unlinked(&placed, name, import);
    }
    flaws.note(name, import);
    header.note_logs(name, import);
    if let Some(how) = &header.predicted {
        import.predicted += 1;
        import.note(Severity::Partial, name, None, 1, format!("predicted, not measured: {how}"));
    }
}

/// Rank as file names say it: `rank3.json.gz`, `trace_rank_3.json`, `rank-3_…`.
fn rank_in_name(name: &str) -> Option<u32> {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let (_, after) =
        file.to_ascii_lowercase().rsplit_once("rank").map(|(before, after)| (before.len(), after.to_owned()))?;
    let digits = after.trim_start_matches(['_', '-', '=']);
    let end = digits.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().ok()
}

/// Start, then longest first, so that what encloses comes before what it encloses.
fn sort_rows(rows: &mut [Row]) {
    let key = |row: &Row| (row.start_ns, -row.dur_ns);
    if !rows.is_sorted_by_key(key) {
        rows.sort_by_key(key);
    }
}

/// Joins beginnings and ends that are events of their own.
fn close_ranges(tracks: &mut [StoredTrack], flaws: &mut Flaws) {
    for track in tracks.iter_mut().filter(|track| track.rows.iter().any(|row| row.phase != b'X')) {
        track.rows.sort_by_key(|row| row.start_ns);
        let mut open: FxHashMap<(u32, u32), Vec<usize>> = FxHashMap::default();
        for at in 0..track.rows.len() {
            let row = track.rows[at];
            // Asynchronous ranges are told apart by their ids and names, those of a thread by their order.
            let key = if matches!(row.phase, b'b' | b'e') { (row.external, row.name) } else { (0, NONE) };
            match row.phase {
                b'B' | b'b' => open.entry(key).or_default().push(at),
                b'E' | b'e' => match open.get_mut(&key).and_then(Vec::pop) {
                    Some(begin) => {
                        let begun = &mut track.rows[begin];
                        begun.dur_ns = row.start_ns.saturating_sub(begun.start_ns);
                        begun.phase = b'X';
                    }
                    None => flaws.add(Flaw::HalfRanges, NOWHERE),
                },
                _ => {}
            }
        }
        let unclosed = open.values().map(Vec::len).sum::<usize>();
        (0..unclosed).for_each(|_| flaws.add(Flaw::HalfRanges, NOWHERE));
        track.rows.retain(|row| row.phase == b'X');
    }
}

fn write_tracks(
    store: &mut Store,
    header: &Header,
    process: u32,
    clock: &Clock,
    is_xla: bool,
    import: &mut Import,
) -> Vec<PlacedTrack> {
    let mut tracks: Vec<StoredTrack> = store.tracks.drain(..).collect();
    let mut order: Vec<usize> = (0..tracks.len()).collect();
    // Threads as they come, then streams by device and number.
    order.sort_by_key(|at| match tracks[*at].key {
        TrackKey::Stream(device, stream) => (1, device, stream),
        _ => (0, *at as i64, 0),
    });
    import.builder.expect_rows(tracks.iter().map(|track| track.rows.len()).sum());
    let namer = Namer::of(store, &tracks, import);
    let mut placed: Vec<(usize, PlacedTrack)> = Vec::with_capacity(tracks.len());
    for at in order {
        let stored = std::mem::take(&mut tracks[at].rows);
        let key = tracks[at].key;
        if stored.is_empty() {
            placed.push((at, PlacedTrack { key, rows: 0..0, stored }));
            continue;
        }
        let home = match header.own_devices.as_deref() {
            Some(devices) => own::home_of(key, &stored, devices, store, process, import),
            None if is_xla => xla::home_of(key, store, process, import),
            None => None,
        };
        let track = home.unwrap_or_else(|| add_track(key, &namer, header, process, import));
        let first = import.builder.reserve(track, stored.len());
        let rows = first..first + stored.len() as u32;
        write_rows(&stored, clock, header.own_devices.is_some(), import.builder.slices(rows.clone()));
        placed.push((at, PlacedTrack { key, rows, stored }));
    }
    // Allocator events and arrows name tracks by their place in the store.
    placed.sort_by_key(|(at, _)| *at);
    placed.into_iter().map(|(_, track)| track).collect()
}

/// The system's number of the process whose threads call operators; none where it is not one.
fn process_of_operators(store: &Store, import: &Import) -> Option<u64> {
    let is_operator = |row: &Row| row.kind == EventKind::Operator as u8;
    let mut found = None;
    for track in &store.tracks {
        let TrackKey::Thread(pid, _) = track.key else { continue };
        if found == Some(pid) || !track.rows.iter().any(is_operator) {
            continue;
        }
        if found.replace(pid).is_some() {
            return None;
        }
    }
    import.builder.strings.get(found?).parse().ok().filter(|pid| *pid > 0)
}

fn add_track(key: TrackKey<StringId>, namer: &Namer<'_>, header: &Header, process: u32, import: &mut Import) -> u32 {
    match key {
        TrackKey::Stream(device, stream) => {
            let row = import.builder.device(process, &format!("/device:GPU:{device}"));
            header.describe(device, import.builder.device_mut(row));
            import.builder.add_track(process, Some(row), TrackKind::Stream, &format!("Stream #{stream}"), stream)
        }
        TrackKey::Derived => import.builder.add_track(process, None, TrackKind::Derived, "derived", 0),
        TrackKey::Thread(..) | TrackKey::Async(_) => {
            let (name, id) = namer.thread(key, import);
            import.builder.add_track(process, None, TrackKind::HostThread, &name, id)
        }
    }
}

/// How threads are called.
struct Namer<'s> {
    store: &'s Store,
    /// A profiler of programs, whose thread names are those of processes and users; a plain trace's are its own.
    is_kineto: bool,
    has_processes: bool,
}

impl<'s> Namer<'s> {
    fn of(store: &'s Store, tracks: &[StoredTrack], import: &Import) -> Namer<'s> {
        let pids = tracks.iter().filter_map(|track| match track.key {
            TrackKey::Thread(pid, _) => Some(import.builder.strings.get(pid)),
            _ => None,
        });
        let mut real: Vec<&str> = pids.filter(|pid| *pid != "-1").collect();
        real.sort_unstable();
        real.dedup();
        let is_kineto = tracks.iter().any(|track| {
            let kinds = [EventKind::Operator as u8, EventKind::Kernel as u8, EventKind::PythonCall as u8];
            track.rows.iter().take(1000).any(|row| kinds.contains(&row.kind))
        });
        Namer { store, is_kineto, has_processes: real.len() > 1 }
    }

    fn thread(&self, key: TrackKey<StringId>, import: &Import) -> (String, i64) {
        let text = |id: StringId| import.builder.strings.get(id);
        let (pid, tid) = match key {
            TrackKey::Thread(pid, tid) => (pid, tid),
            TrackKey::Async(pid) => return (format!("asynchronous ranges of {}", text(pid)), 0),
            TrackKey::Stream(..) | TrackKey::Derived => return (String::new(), 0),
        };
        let id = text(tid).parse().unwrap_or(0);
        if text(pid) == "-1" {
            return ("profiler overhead".to_owned(), id);
        }
        let called = self.store.thread_names.get(&(pid, tid)).filter(|_| !self.is_kineto).map(|name| text(*name));
        let thread = called.map_or_else(|| format!("thread {}", text(tid)), str::to_owned);
        let process = self.store.process_names.get(&pid).filter(|_| !self.is_kineto).map(|name| text(*name));
        match (self.has_processes, process) {
            (false, _) => (thread, id),
            (true, Some(process)) => (format!("{process}/{thread}"), id),
            (true, None) => (format!("process {}/{thread}", text(pid)), id),
        }
    }
}

fn write_rows(stored: &[Row], clock: &Clock, is_own: bool, slices: EventSlices<'_>) {
    for (at, row) in stored.iter().enumerate() {
        slices.start_ns[at] = clock.at(row.start_ns);
        slices.dur_ns[at] = row.dur_ns;
        slices.name[at] = row.name;
        slices.op[at] = NONE;
        slices.detail[at] = row.detail;
        // An operator's is another thing in PyTorch's traces.
        let is_operator = !is_own && row.kind == EventKind::Operator as u8;
        slices.correlation[at] = if is_operator { 0 } else { row.correlation };
        slices.link[at] = NONE;
        slices.kind[at] = row.kind;
        let is_work = EventKind::from_byte_is_work(row.kind);
        slices.attribution[at] = if is_work { Attribution::Unattributed } else { Attribution::NotAsked } as u8;
    }
}

fn place_collectives(store: &Store, placed: &Placed, import: &mut Import) {
    for track in placed.tracks.iter().filter(|track| matches!(track.key, TrackKey::Stream(..))) {
        for (row, stored) in track.rows.clone().zip(&track.stored) {
            let Some(Extra::Collective { name, group, sequence, group_size, element_type, bytes_in, bytes_out }) =
                store.extras.get(stored.extra as usize)
            else {
                continue;
            };
            import.builder.collectives.push(Collective {
                event: row,
                name: StringId(name.0),
                group: StringId(group.0),
                sequence: *sequence,
                group_size: *group_size,
                element_type: StringId(element_type.0),
                bytes_in: *bytes_in,
                bytes_out: *bytes_out,
            });
        }
    }
}

fn place_nodes(store: &Store, placed: &Placed, import: &mut Import) {
    for track in placed.streams() {
        for (row, stored) in track.rows.clone().zip(&track.stored) {
            let Some(Extra::Node { id, name, module }) = store.extras.get(stored.extra as usize) else { continue };
            let said = Said { name: StringId(name.0), scope: StringId(module.0) };
            let is_said = [said.name, said.scope].iter().any(|text| !import.builder.strings.get(*text).is_empty());
            import.graph_work.push(GraphWork { row, node: *id, said: is_said.then_some(said) });
        }
    }
}

fn place_samples(store: &Store, clock: &Clock, import: &mut Import) {
    for sample in &store.samples {
        let text = |id: u32| import.builder.strings.get(StringId(id));
        let metric = match (text(sample.name.0), text(sample.series.0)) {
            (name, "" | "value") => name.to_owned(),
            (name, series) => format!("{name} {series}"),
        };
        let metric = import.builder.strings.intern(&metric);
        let counters = &mut import.builder.counters;
        counters.device.push(NONE);
        counters.metric.push(metric);
        counters.time_ns.push(clock.at(sample.time_ns));
        counters.value.push(sample.value);
    }
}
