//! Memory profiles, snapshots and timelines: what must be read of them, and what damage does.

mod support;

use ridge_analysis::{Ask, Prepared, Topic, memory_changes, sections, views_of};
use ridge_import::{ImportError, Imported, Source, import};
use ridge_trace::{BlockState, SegmentEventKind, Trace};
use std::io::Write as _;
use support::counting::{Counting, alone, measured};
use support::random::Random;

#[global_allocator]
static COUNTING: Counting = Counting;

const FIXTURES: [(&str, &str); 5] = [
    ("pprof", "held_arrays.pb"),
    ("torch-snapshot", "train_step.pickle"),
    ("torch-snapshot", "train_step.pt"),
    ("memory-timeline", "steps.raw.json"),
    ("memory-timeline", "steps.sums.json"),
];

fn fixture(format: &str, name: &str) -> Vec<u8> {
    std::fs::read(ridge_test::fixtures(format).join(name)).expect("a fixture")
}

fn read(bytes: &[u8]) -> Imported {
    import(&[Source { name: "file", bytes }], None).expect("an intact file")
}

fn every_table(imported: &Imported) {
    let prepared = Prepared::default();
    let analysis = prepared.analysis(&imported.trace, &imported.hlo);
    sections(&analysis, Topic::Memory, &Ask::default());
    analysis.memory().lines(&imported.trace);
    views_of(Topic::Memory).for_each(|view| drop(view.table(&analysis, &Ask::default())));
    memory_changes(&analysis, &analysis);
}

/// Bytes in use at the start, at the peak and at the end; times in order.
fn uses(trace: &Trace, before: usize) -> (i64, i64, i64) {
    let table = &trace.allocations;
    assert!(table.time_ns.is_sorted());
    let sums: Vec<i64> = table
        .delta_bytes
        .iter()
        .scan(0, |sum, delta| {
            *sum += delta;
            Some(*sum)
        })
        .collect();
    assert_eq!(sums, table.in_use_bytes);
    (sums[before - 1], sums.iter().copied().max().unwrap_or(0), sums[sums.len() - 1])
}

#[test]
fn a_snapshot_of_torch() {
    let _alone = alone();
    let imported = read(&fixture("torch-snapshot", "train_step.pickle"));
    let trace = &imported.trace;
    // `make.py` prints these.
    assert_eq!(uses(trace, 2), (14_679_964, 32_506_156, 12_583_212));
    let segments = &trace.memory.segments;
    assert_eq!(segments.kind, [SegmentEventKind::Allocated, SegmentEventKind::Freed, SegmentEventKind::OutOfMemory]);
    assert_eq!((segments.bytes[2], segments.free_bytes[2]), (80 << 20, Some(16 << 20)));
    let reserved = &trace.allocations.reserved_bytes;
    // 42 MiB are held at the end; the history took 2 and gave 2 back.
    assert_eq!((reserved[0], reserved[4]), (42 << 20, 44 << 20));
    let frames: Vec<&str> =
        trace.memory.stacks.frames(segments.stack[2]).map(|frame| trace.strings.get(frame)).collect();
    assert_eq!(frames, ["??:0 c10::cuda::malloc", "/work/net.py:21 forward", "/work/train.py:40 main"]);
    assert_eq!(imported.captures[0].unix_zero_ns, Some(1_760_000_000_000_100_000));
    every_table(&imported);
}

#[test]
fn the_corpus_snapshot() {
    let _alone = alone();
    let Some(folder) = ridge_test::corpus("the_corpus_snapshot", "kineto") else { return };
    let golden = std::fs::read_to_string(folder.join("memsnap_synthetic.pickle.golden.json")).expect("its numbers");
    let golden: serde_json::Value = serde_json::from_str(&golden).expect("JSON");
    let said = |key: &str| golden[key].as_u64().expect("a number");
    let imported = read(&std::fs::read(folder.join("memsnap_synthetic.pickle")).expect("the snapshot"));
    let (trace, blocks) = (&imported.trace, &imported.trace.memory.blocks);
    let sum = |states: &[BlockState]| -> u64 {
        (0..blocks.len()).filter(|row| states.contains(&blocks.state[*row])).map(|row| blocks.bytes[row]).sum()
    };
    use BlockState::{Allocated, AwaitingFree, Inactive};
    assert_eq!(sum(&[Allocated, AwaitingFree, Inactive]), said("reserved"));
    assert_eq!(sum(&[Allocated]), said("allocated"));
    assert_eq!(sum(&[Allocated, AwaitingFree]), said("active"));
    assert_eq!(sum(&[Inactive]), said("inactive_split_bytes"), "both segments also hold something");
    let asked: u64 = blocks.requested_bytes.iter().sum();
    assert_eq!(sum(&[Allocated, AwaitingFree]) - asked, said("requested_vs_allocated_rounding_bytes"));
    assert_eq!(blocks.len() as u64, said("blocks"));
    let (_, peak, end) = uses(trace, 1);
    assert_eq!((peak as u64, end as u64), (said("peak_allocated_in_trace"), said("net_allocated_end_of_trace")));
    let segments = &trace.memory.segments;
    let place = segments.kind.iter().position(|kind| *kind == SegmentEventKind::OutOfMemory).expect("it ran out");
    assert_eq!(Some(segments.bytes[place]), golden["oom"]["requested"].as_u64());
    assert_eq!(segments.free_bytes[place], golden["oom"]["device_free"].as_u64());
}

#[test]
fn a_timeline_of_torch() {
    let _alone = alone();
    let imported = read(&fixture("memory-timeline", "steps.raw.json"));
    // `make.py` prints these.
    assert_eq!(uses(&imported.trace, 2), (5000, 11_000, 5000));
    let table = &imported.trace.allocations;
    let gradients: i64 = (0..table.len())
        .filter(|row| imported.trace.strings.get(table.owner[*row]) == "gradient" && table.delta_bytes[*row] > 0)
        .map(|row| table.delta_bytes[row])
        .sum();
    assert_eq!(gradients, 5 * 4000);
    every_table(&imported);
}

/// What `torch.save` packed is the same snapshot.
#[test]
fn a_snapshot_that_torch_saved() {
    let _alone = alone();
    let [plain, saved] = ["train_step.pickle", "train_step.pt"].map(|name| read(&fixture("torch-snapshot", name)));
    assert_eq!(saved.trace.allocations.delta_bytes, plain.trace.allocations.delta_bytes);
    assert_eq!(saved.trace.allocations.time_ns, plain.trace.allocations.time_ns);
    assert_eq!(saved.trace.memory.blocks.bytes, plain.trace.memory.blocks.bytes);
    assert_eq!((saved.notes.len(), plain.notes.len()), (0, 0));
    // A model in the same packing names the code that rebuilds its tensors.
    let model = b"PK\x03\x04\x00\x00\x08\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x0a\x00\x00\x00m/data.pkl\
        \x80\x02ccollections\nOrderedDict\n)R.";
    let error =
        import(&[Source { name: "file", bytes: model }], Some("torch-snapshot")).expect_err("it is no snapshot");
    let expected = "expected plain data, found the opcode GLOBAL, which could run code and is refused at byte 42";
    assert_eq!(error.to_string(), expected);
    assert!(ridge_import::sniff(model).is_none());
}

/// The sums of a timeline give the same use of memory at every microsecond as its events.
#[test]
fn a_timeline_of_sums() {
    let _alone = alone();
    let imported = read(&fixture("memory-timeline", "steps.sums.json"));
    assert_eq!(uses(&imported.trace, 2), (5000, 11_000, 5000));
    let owners = |imported: &Imported| {
        let table = &imported.trace.allocations;
        let gained = (0..table.len()).filter(|row| table.delta_bytes[*row] > 0);
        let mut owners: Vec<(String, i64)> = gained
            .map(|row| (imported.trace.strings.get(table.owner[row]).to_owned(), table.delta_bytes[row]))
            .collect();
        owners.sort();
        owners
    };
    let mut of_events = owners(&read(&fixture("memory-timeline", "steps.raw.json")));
    // A new version of a parameter takes as much as it gives, which no sum shows.
    of_events.retain(|owner| *owner != ("parameter".to_owned(), 4000));
    of_events.push(("parameter".to_owned(), 4000));
    of_events.sort();
    assert_eq!(owners(&imported), of_events);
    every_table(&imported);
}

#[test]
fn a_profile_of_jax_plain_and_packed() {
    let _alone = alone();
    let plain = fixture("pprof", "held_arrays.pb");
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(&plain).expect("memory takes all");
    for bytes in [plain, packed.finish().expect("memory takes all")] {
        let imported = read(&bytes);
        let (trace, blocks) = (&imported.trace, &imported.trace.memory.blocks);
        let mut held: Vec<(u64, String)> = (0..blocks.len())
            .filter(|row| trace.strings.get(blocks.kind[*row]) == "buffer")
            .map(|row| {
                let mut frames = trace.memory.stacks.frames(blocks.stack[row]).map(|frame| trace.strings.get(frame));
                let own = frames.find(|frame| frame.starts_with("/work/")).unwrap_or("?");
                (blocks.bytes[row], own.to_owned())
            })
            .collect();
        held.sort();
        // f32[128,128], bf16[64,32] and i32[5000] as the program makes them.
        let expected = [
            (64 * 32 * 2, "/work/held_arrays.py:12 make_weights"),
            (5000 * 4, "/work/held_arrays.py:16 make_state"),
            (128 * 128 * 4, "/work/held_arrays.py:12 make_weights"),
        ];
        assert_eq!(held, expected.map(|(bytes, frame)| (bytes, frame.to_owned())));
        assert!(trace.processes.is_empty(), "a profile must not change how processes of a run are named");
        every_table(&imported);
    }
}

#[test]
fn a_pickle_that_would_run_code_is_refused() {
    let _alone = alone();
    let hostile = b"\x80\x04}\x8c\x08segmentscposix\nsystem\n\x8c\x04true\x85Rs.";
    let error = import(&[Source { name: "file", bytes: hostile }], None).expect_err("it must be refused");
    let expected = "expected plain data, found the opcode GLOBAL, which could run code and is refused at byte 13";
    assert_eq!(error.to_string(), expected);
}

/// A list that is referred to a thousand times is read once, not a thousand times a thousand.
#[test]
fn shared_lists_are_read_once() {
    let _alone = alone();
    let mut bytes = b"\x80\x04}(\x8c\x08segments](".to_vec();
    // One segment whose blocks are a list of a thousand references to one block, remembered as 1 and 0.
    bytes.extend(b"}(\x8c\x06blocks](}\x8c\x04sizeK\x08s\x94");
    (0..999).for_each(|_| bytes.extend(b"h\x00"));
    bytes.extend(b"e\x94u");
    (0..1000).for_each(|_| bytes.extend(b"}\x8c\x06blocksh\x01s"));
    bytes.extend(b"eu.");
    let imported = read(&bytes);
    assert_eq!(imported.trace.memory.blocks.len(), 1000);
    assert_eq!((imported.notes.len(), imported.notes[0].count), (1, 1_000_000));
}

/// Reads `bytes` within a memory bound and asks for every table.
fn survive(what: &str, format: &str, bytes: &[u8]) -> Result<(), ImportError> {
    let (result, peak) = measured(|| import(&[Source { name: "file", bytes }], Some(format)));
    let bound = 64 * bytes.len() + (8 << 20);
    assert!(peak <= bound, "{what}: {peak} bytes to read {}; at most {bound}", bytes.len());
    every_table(&result?);
    Ok(())
}

#[test]
fn damage_of_every_kind() {
    let _alone = alone();
    for (format, name) in FIXTURES {
        let bytes = fixture(format, name);
        let mut random = Random(7);
        let mut read_in_part = 0;
        for at in 0..bytes.len() {
            read_in_part += usize::from(survive("cut", format, &bytes[..at]).is_ok());
            let mut broken = bytes.clone();
            broken[at] = random.number() as u8;
            let _ = survive("changed", format, &broken);
            let from = random.below(bytes.len());
            let spliced = [&bytes[..at], &bytes[from..]].concat();
            let _ = survive("spliced", format, &spliced);
        }
        assert!(read_in_part > bytes.len() / 3, "{name}: {read_in_part} of {} cuts were read in part", bytes.len());
    }
}
