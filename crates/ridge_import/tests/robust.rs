//! Broken captures: an error or a partial answer that says so, never a panic, never memory out of proportion.
//!
//! Every capture of the corpus and of the fixtures is cut, flipped, inflated and spliced; captures written by hand
//! hold what real ones rarely do. It does not check what intact captures say: `corpus.rs` does.

mod support;

use ridge_analysis::{Ask, Prepared, Topic, VIEWS, instructions, overview, sections};
use ridge_import::{ImportError, Imported, Severity, Source, import};
use ridge_table::{FactValue, Table, Unit};
use ridge_trace::{NONE, TrackKind};
use std::path::PathBuf;
use support::counting::{Counting, alone, measured};
use support::proto::{Message, event, line, plane, space, with_stats};
use support::random::Random;

#[global_allocator]
static COUNTING: Counting = Counting;

/// The most memory that reading may take: this many times the file, and a constant.
///
/// The smallest event takes 2 bytes in a file and 42 while its row is built, twice where rows are put in order.
const TIMES: usize = 64;
const CONSTANT: usize = 8 << 20;

fn captures() -> Vec<(String, Vec<u8>)> {
    let mut paths: Vec<PathBuf> = ridge_test::files(&ridge_test::fixtures("xplane"), ".xplane.pb");
    paths.extend(ridge_test::real_files("xplane", ".xplane.pb"));
    let name = |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    paths.iter().map(|path| (name(path), std::fs::read(path).expect("a file that is listed"))).collect()
}

fn read(bytes: &[u8]) -> Result<Imported, ImportError> {
    import(&[Source { name: "capture", bytes }], Some("xplane"))
}

/// Reads `bytes` within the memory bound and looks at what came of it.
#[track_caller]
fn survive(what: &str, bytes: &[u8]) -> Result<Imported, ImportError> {
    survive_within(what, bytes, CONSTANT)
}

#[track_caller]
fn survive_within(what: &str, bytes: &[u8], constant: usize) -> Result<Imported, ImportError> {
    let (result, peak) = measured(|| read(bytes));
    let bound = TIMES * bytes.len() + constant;
    assert!(peak <= bound, "{what}: {peak} bytes to read {}; at most {bound}", bytes.len());
    if let Ok(imported) = &result {
        check_ids(what, imported);
    }
    result
}

/// Every id in the columns is a row of its table or none.
#[track_caller]
fn check_ids(what: &str, imported: &Imported) {
    let trace = &imported.trace;
    let events = &trace.events;
    let within = |ids: &[u32], rows: usize| ids.iter().all(|id| *id == NONE || (*id as usize) < rows);
    assert!(within(&events.op, trace.operations.len()), "{what}: operations");
    assert!(within(&events.link, events.len()) && within(&events.parent, events.len()), "{what}: links");
    assert!(events.name.iter().all(|id| (*id as usize) < trace.strings.len()), "{what}: names");
    for track in &trace.tracks {
        let rows = track.rows.start as usize..track.rows.end as usize;
        assert!(events.start_ns[rows.clone()].is_sorted(), "{what}: a track is out of order");
        assert!(events.dur_ns[rows].iter().all(|dur| *dur >= 0), "{what}: a negative duration");
    }
}

fn every_table(imported: &Imported) {
    let prepared = Prepared::with_sheets(&imported.trace);
    let analysis = prepared.analysis(&imported.trace, &imported.hlo);
    let facts = overview(&analysis).into_iter().flat_map(|section| section.facts);
    let events = facts.filter(|fact| fact.key == "events").map(|fact| fact.value).collect::<Vec<_>>();
    assert_eq!(events, [FactValue::Count(imported.trace.events.len() as u64)]);
    for view in VIEWS {
        let table = view.table(&analysis, &Ask::default());
        assert!(table.subjects.is_empty() || table.subjects.len() == table.batch.num_rows(), "{view:?}");
        for field in table.batch.schema().fields() {
            let meaning = Table::meaning(field);
            let is_words = matches!(meaning.unit, Unit::Text | Unit::Flag);
            assert!(is_words || meaning.basis.is_some(), "{view:?}: {} has no basis", field.name());
        }
    }
    for topic in Topic::ALL {
        for fact in sections(&analysis, topic, &Ask::default()).iter().flat_map(|section| &section.facts) {
            let is_words = matches!(fact.value, FactValue::Text(_));
            assert!(is_words || fact.basis.is_some(), "{topic:?}: {} has no basis", fact.key);
        }
    }
    for module in 0..imported.trace.modules.len() as u32 {
        instructions(&analysis, module);
    }
}

fn says_lost(imported: &Imported) -> bool {
    imported.notes.iter().any(|note| note.severity == Severity::Lost)
}

/// Where a cut falls between two fields of the outermost message: nothing shows that more had followed.
fn plane_ends(bytes: &[u8]) -> Vec<usize> {
    let mut fields = ridge_hlo::wire::Fields::new(bytes);
    let mut ends = vec![0];
    while fields.next().is_some() {
        ends.push(fields.offset());
    }
    ends
}

#[test]
fn cut_anywhere() {
    let _alone = alone();
    for (name, bytes) in captures() {
        let ends = plane_ends(&bytes);
        let mut random = Random(1);
        for place in 0..200 {
            let at = if place < 20 { place } else { random.below(bytes.len()) };
            let what = format!("{name} cut at {at}");
            match survive(&what, &bytes[..at]) {
                Ok(imported) => {
                    assert!(ends.contains(&at) || says_lost(&imported), "{what}: nothing says that data was lost");
                }
                Err(error) => assert!(at < ends[1], "{what}: a plane is whole, and nothing was read: {error}"),
            }
        }
    }
}

#[test]
fn bits_flipped() {
    let _alone = alone();
    for (name, bytes) in captures() {
        let mut random = Random(2);
        for _ in 0..200 {
            // Most of a large file is alike: a window of it around the flip is as hard as the whole.
            let at = random.below(bytes.len());
            let mut broken = bytes[..bytes.len().min(at + (256 << 10))].to_vec();
            let bit = random.below(8);
            broken[at] ^= 1 << bit;
            let what = format!("{name} with bit {bit} of byte {at} flipped");
            if let Ok(imported) = survive(&what, &broken)
                && random.below(8) == 0
            {
                every_table(&imported);
            }
        }
    }
}

#[test]
fn lengths_inflated() {
    let _alone = alone();
    for (name, bytes) in captures() {
        let mut random = Random(3);
        for _ in 0..60 {
            let at = random.below(bytes.len());
            let mut broken = bytes[..bytes.len().min(at + (64 << 10))].to_vec();
            // A varint of any length from one to ten bytes, as a length, an id, a time.
            let length = 1 + random.below(10);
            let mut varint = vec![0xff; length - 1];
            varint.push(0x7f);
            broken.splice(at..(at + 1).min(broken.len()), varint);
            if let Ok(imported) = survive(&format!("{name} with a number of {length} bytes at {at}"), &broken) {
                every_table(&imported);
            }
        }
    }
}

#[test]
fn pieces_spliced() {
    let _alone = alone();
    for (name, bytes) in captures() {
        let mut random = Random(4);
        for _ in 0..60 {
            let head = random.below(bytes.len().min(128 << 10));
            let from = random.below(bytes.len());
            let length = random.below(64 << 10);
            let mut broken = bytes[..head].to_vec();
            broken.extend_from_slice(&bytes[from..bytes.len().min(from + length)]);
            if let Ok(imported) = survive(&format!("{name} to {head}, then {length} bytes from {from}"), &broken) {
                every_table(&imported);
            }
        }
    }
}

#[test]
fn files_of_other_kinds() {
    let _alone = alone();
    let mut random = Random(5);
    let noise: Vec<u8> = (0..100_000).map(|_| random.number() as u8).collect();
    for (what, bytes) in [
        ("an empty file", Vec::new()),
        ("text", b"step,loss\n1,0.5\n2,0.25\n".to_vec()),
        ("a zip archive", b"PK\x03\x04\x14\x00\x00\x00\x08\x00 and so on".to_vec()),
        ("a gzip file", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03 and so on".to_vec()),
        ("JSON", b"{\"step\": 1, \"loss\": 0.5}".to_vec()),
        ("zeros", vec![0; 100_000]),
        ("noise", noise),
        ("one byte", vec![0x0a]),
    ] {
        let (result, peak) = measured(|| import(&[Source { name: "file", bytes: &bytes }], None));
        let error = result.err().unwrap_or_else(|| panic!("{what} was read as a capture"));
        assert!(peak < CONSTANT, "{what}: {peak} bytes");
        assert_eq!(error.source_name(), Some("file"), "{what}: {error}");
        assert!(!error.hints().is_empty(), "{what}: no hint with `{error}`");
        // Asked to read it as a capture all the same, it stays an error or says what is wrong.
        if let Ok(imported) = survive(what, &bytes) {
            assert!(says_lost(&imported) || imported.trace.events.is_empty(), "{what} gave events");
        }
    }
}

#[test]
fn numbers_beyond_all_sense() {
    let _alone = alone();
    let extremes = [i64::MIN, i64::MIN + 1, -1, 0, 1, i64::from(u32::MAX), 1 << 62, i64::MAX];
    for id in extremes {
        for number in extremes {
            let odd = Message::new().int(1, id).int(2, number).int(3, number);
            let stat = Message::new().int(1, 1).int(4, number);
            let odd = odd.message(4, &stat);
            let metadata = Message::new().int(1, id).message(2, &Message::new().int(1, id).text(2, "kernel"));
            let mut lines = line(id, "Stream #1", number);
            for _ in 0..3 {
                lines = lines.message(4, &odd).message(4, &event(1, 0, 5));
            }
            for stat_name in ["correlation_id", "program_id", "allocation_bytes", "step_num", "_p", "_c", "run_id"] {
                for name in ["/device:GPU:0", "/host:CPU"] {
                    let named = with_stats(plane(name, &["MemoryDeallocation"]), &[stat_name, "allocator_name"]);
                    let capture = space(&named.message(4, &metadata).message(3, &lines));
                    let imported = survive("extreme numbers", &capture.0).expect("it is well formed");
                    assert_eq!(imported.trace.events.len(), 6);
                    every_table(&imported);
                }
            }
        }
    }
}

#[test]
fn an_allocator_event_of_any_size() {
    let _alone = alone();
    for bytes in [i64::MIN, i64::MAX, 0] {
        let stats = |message: Message| {
            let size = Message::new().int(1, 1).int(4, bytes);
            message.message(4, &size).message(4, &Message::new().int(1, 2).text(5, "bfc"))
        };
        let named = with_stats(plane("/host:CPU", &["MemoryDeallocation"]), &["allocation_bytes", "allocator_name"]);
        let capture = space(&named.message(3, &line(1, "thread", 0).message(4, &stats(event(1, 0, 0)))));
        let imported = survive("an allocator event", &capture.0).expect("it is well formed");
        assert_eq!(imported.trace.allocations.time_ns.len(), 1);
    }
}

/// Found by fuzzing: the row of a transfer was taken for that of a launch shape.
#[test]
fn a_kernel_described_as_a_copy() {
    let _alone = alone();
    for (name, stat_name, details) in
        [("kernel", "memcpy_details", "size:4 dest:1"), ("MemcpyH2D", "kernel_details", "regs:8 grid:1,1,1")]
    {
        let described = event(1, 0, 5).message(4, &Message::new().int(1, 1).text(5, details));
        let named = with_stats(plane("/device:GPU:0", &[name]), &[stat_name]);
        let capture = space(&named.message(3, &line(1, "Stream #1", 0).message(4, &described)));
        let imported = survive("a wrong description", &capture.0).expect("it is well formed");
        assert_eq!(imported.trace.events.detail[0], ridge_trace::NONE, "{name} has no {stat_name}");
        every_table(&imported);
    }
}

#[test]
fn announced_and_not_there() {
    let _alone = alone();
    // A line that says it is a gigabyte long, an event that says it stands for as many.
    let mut capture = space(&plane("/device:GPU:0", &["kernel"])).0;
    let tail = [0x1a, 0x80, 0x94, 0xeb, 0xdc, 0x03, 0x22, 0x02, 0x08, 0x01];
    capture.extend([0x0a, 0x80, 0x94, 0xeb, 0xdc, 0x03, 0x12, 0x0d]);
    capture.extend(b"/device:GPU:1");
    capture.extend(tail);
    let imported = survive("a line announced as a gigabyte", &capture).expect("its start can be read");
    assert!(says_lost(&imported));
    assert_eq!(imported.trace.events.len(), 1, "the event that is there is read");
    let many = Message::new().int(1, 1).int(5, 1_000_000_000).int(3, 7000);
    let capture = space(&plane("/device:GPU:0", &["kernel"]).message(3, &line(1, "Stream #1", 0).message(4, &many)));
    assert_eq!(survive("a billion occurrences", &capture.0).expect("it is well formed").trace.events.len(), 1);
}

#[test]
fn shapes_nested_without_end() {
    let _alone = alone();
    let mut shape = Message::new().int(2, 11);
    for _ in 0..20_000 {
        shape = Message::new().int(2, 13).message(4, &shape);
    }
    let instruction = Message::new().text(1, "deep").text(2, "parameter").message(3, &shape).int(35, 1);
    let computation = Message::new().text(1, "main").message(2, &instruction).int(5, 1).int(6, 1);
    let module = Message::new().text(1, "jit_deep").text(2, "main").message(3, &computation).int(6, 1);
    let proto = Message::new().message(1, &module);
    let stat = Message::new().int(1, 1).bytes(6, &proto.0);
    let metadata = Message::new().int(1, 7).text(2, "jit_deep(7)").message(5, &stat);
    let named = with_stats(plane("/host:metadata", &[]), &["Hlo Proto"]);
    let capture = space(&named.message(4, &Message::new().int(1, 7).message(2, &metadata)));
    let imported = survive("deep shapes", &capture.0).expect("the rest of the capture stands");
    assert_eq!(imported.trace.modules.len(), 1);
    every_table(&imported);
}

#[test]
fn many_small_things() {
    let _alone = alone();
    // As many planes and empty events as a small file can name.
    let mut planes = Message::new();
    for id in 0..5_000 {
        planes = planes.message(1, &Message::new().text(2, &format!("/device:GPU:{id}")).message(3, &Message::new()));
    }
    let mut events = line(1, "Stream #1", 0);
    for _ in 0..200_000 {
        events = events.message(4, &Message::new());
    }
    for (what, capture, expected) in
        [("planes", planes, 0), ("events", space(&plane("/device:GPU:0", &["k"]).message(3, &events)), 200_000)]
    {
        let imported = survive_within(what, &capture.0, 2 * CONSTANT).expect("it is well formed");
        assert_eq!(imported.trace.events.len(), expected, "{what}");
        every_table(&imported);
    }
}

#[test]
fn more_lines_than_any_program_has_threads() {
    let _alone = alone();
    let mut lines = plane("/device:GPU:0", &["k"]);
    for _ in 0..200_000 {
        lines = lines.message(3, &Message::new().message(4, &Message::new()));
    }
    // A line costs memory of its own, so their number is bounded.
    let imported = survive_within("lines", &space(&lines).0, 128 << 20).expect("it is well formed");
    assert_eq!(imported.trace.events.len(), 65_536);
    let lost: Vec<u64> = imported.notes.iter().map(|note| note.count).collect();
    assert_eq!((lost, says_lost(&imported)), (vec![200_000 - 65_536], true));
    every_table(&imported);
}

/// One kernel on one stream of a device, in a session that began at `start` Unix nanoseconds.
fn small_capture(start: Option<i64>, line_ns: i64, pid: i64) -> Message {
    let stats = ["profile_start_time", "process_id"];
    let environment = with_stats(Message::new().text(2, "Task Environment"), &stats);
    let environment =
        start.into_iter().fold(environment, |plane, start| plane.message(6, &Message::new().int(1, 1).int(3, start)));
    let metadata = with_stats(Message::new().text(2, "/host:metadata"), &stats);
    let metadata = metadata.message(6, &Message::new().int(1, 2).int(3, pid));
    let stream = line(1, "Stream #1", line_ns).message(4, &event(1, 10, 5));
    let device = plane("/device:GPU:0", &["kernel"]).message(3, &stream);
    Message::new().message(1, &device).message(1, &environment).message(1, &metadata)
}

fn starts(imported: &Imported) -> Vec<i64> {
    imported.trace.events.start_ns.to_vec()
}

#[test]
fn spaces_in_one_file_are_one_capture() {
    let _alone = alone();
    for (name, bytes) in captures() {
        let once = read(&bytes).expect("an intact capture");
        let twice = survive(&name, &[&bytes[..], &bytes].concat()).expect("both halves are intact");
        // Operations of a CPU that run at one time go side by side on lanes, so only captured lines are counted.
        let lines = |imported: &Imported| {
            imported.trace.tracks.iter().filter(|track| track.kind != TrackKind::OperationLane).count()
        };
        assert_eq!(lines(&twice), lines(&once), "{name}: lines that repeat share a track");
        let sum = |imported: &Imported| {
            let rows = imported.trace.device_tracks().flat_map(|track| track.rows.clone());
            rows.fold((0, 0), |(count, sum), row| (count + 1, sum + imported.trace.events.dur_ns[row as usize]))
        };
        let (count, total) = sum(&once);
        assert_eq!(sum(&twice), (2 * count, 2 * total), "{name}");
    }
}

#[test]
fn hosts_share_the_first_ones_clock() {
    let _alone = alone();
    let start = 1_700_000_000_000_000_000;
    let (first, second) = (small_capture(Some(start), 100, 7), small_capture(Some(start + 5_000), 100, 8));
    let sources = [Source { name: "a", bytes: &first.0 }, Source { name: "b", bytes: &second.0 }];
    let imported = import(&sources, None).expect("both are well formed");
    assert_eq!(starts(&imported), [110, 5_110]);
    assert_eq!(imported.trace.processes.len(), 2);
    assert_eq!(imported.trace.processes.iter().map(|process| process.pid).collect::<Vec<_>>(), [Some(7), Some(8)]);
    assert_eq!(imported.trace.devices.len(), 2, "a device of each process");
    // A capture that does not say when it began keeps its own zero.
    let unknown = small_capture(None, 100, 9);
    let sources = [Source { name: "a", bytes: &first.0 }, Source { name: "b", bytes: &unknown.0 }];
    assert_eq!(starts(&import(&sources, None).expect("both are well formed")), [110, 110]);
}

#[test]
fn unix_times_are_moved_to_the_session() {
    let _alone = alone();
    let start = 1_700_000_000_000_000_000;
    let known = read(&small_capture(Some(start), start + 100, 7).0).expect("it is well formed");
    assert_eq!(starts(&known), [110]);
    let unknown = read(&small_capture(None, start + 100, 7).0).expect("it is well formed");
    assert_eq!(starts(&unknown), [10], "without a session the earliest line is the start");
}

#[test]
fn one_good_file_of_two() {
    let _alone = alone();
    let good = small_capture(None, 0, 7);
    let sources = [Source { name: "good", bytes: &good.0 }, Source { name: "bad", bytes: b"nothing" }];
    let imported = import(&sources, None).expect("one can be read");
    assert_eq!(imported.trace.events.len(), 1);
    let lost: Vec<&str> = imported.notes.iter().map(|note| note.source.as_str()).collect();
    assert!(says_lost(&imported));
    assert_eq!(lost, ["bad"]);
}

#[test]
fn profiler_errors_are_told() {
    let _alone = alone();
    let capture = small_capture(None, 0, 7).text(2, "ran out of buffers").text(3, "clock is coarse");
    let imported = read(&capture.0).expect("it is well formed");
    let notes: Vec<String> =
        imported.notes.iter().map(|note| format!("{:?}: {}", note.severity, note.message)).collect();
    assert_eq!(
        notes,
        ["Lost: the profiler reported an error: ran out of buffers", "Partial: the profiler warned: clock is coarse"]
    );
}
