//! Archives of nsys-jax: the corpus's real ones against numbers computed from the same tables with pandas, and
//! archives that are cut, flipped, bombs, or called what no file should be.

use flate2::Compression;
use flate2::write::DeflateEncoder;
use ridge_analysis::{Ask, Prepared, Topic, view};
use ridge_import::{Folder, ImportError, ImportOptions, Imported, Input, Source, import, import_inputs};
use ridge_test::{corpus, union_ns};
use ridge_trace::{EventKind, NONE, Trace};
use std::collections::BTreeMap;
use std::io::Write as _;

fn archive(test: &str, process: u32) -> Option<Vec<u8>> {
    let folder = corpus(test, "nsys-jax")?;
    Some(std::fs::read(folder.join(format!("pax_fsdp4_4proc_proc{process}.zip"))).expect("a file of the corpus"))
}

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(ridge_test::fixtures("nsys-jax").join(name)).expect("a fixture")
}

fn open(bytes: &[u8]) -> Imported {
    import(&[Source { name: "capture", bytes }], None).expect("an intact archive")
}

fn work(trace: &Trace) -> Vec<usize> {
    (0..trace.events.len()).filter(|row| trace.events.kind(*row).is_device_work()).collect()
}

/// Count and time of device work by what `key` says of it, longest first.
fn totals<'t>(trace: &'t Trace, key: impl Fn(usize) -> &'t str) -> Vec<(&'t str, usize, i64)> {
    let mut sums: BTreeMap<&str, (usize, i64)> = BTreeMap::new();
    for row in work(trace) {
        let sum = sums.entry(key(row)).or_default();
        *sum = (sum.0 + 1, sum.1 + trace.events.dur_ns[row]);
    }
    let mut sums: Vec<(&str, usize, i64)> = sums.into_iter().map(|(key, sum)| (key, sum.0, sum.1)).collect();
    sums.sort_by_key(|(_, _, total)| std::cmp::Reverse(*total));
    sums
}

#[test]
fn operations_to_the_nanosecond() {
    // Rows of trace.parquet called `TSL:Thunk:…`: count, sum of the projected durations, union, first, last.
    let expected = [
        (13827, 1_647_793_495, 1_624_480_936, 29_638_212_571, 115_883_325_719),
        (13824, 7_994_538_892, 7_928_522_095, 29_609_687_571, 115_854_785_264),
    ];
    for (process, expected) in expected.into_iter().enumerate() {
        let Some(bytes) = archive("operations_to_the_nanosecond", process as u32) else { return };
        let imported = open(&bytes);
        let trace = &imported.trace;
        let rows = work(trace);
        let sum: i64 = rows.iter().map(|row| trace.events.dur_ns[*row]).sum();
        let first = rows.iter().map(|row| trace.events.start_ns[*row]).min().expect("there is work");
        let last = rows.iter().map(|row| trace.events.end_ns(*row)).max().expect("there is work");
        assert_eq!((rows.len(), sum, union_ns(trace, &rows), first, last), expected, "process {process}");
    }
}

#[test]
fn operations_and_modules_that_took_longest() {
    let Some(bytes) = archive("operations_and_modules_that_took_longest", 0) else { return };
    let imported = open(&bytes);
    let trace = &imported.trace;
    let op = |row: usize| &trace.operations[trace.events.op[row] as usize];
    let mut modules = totals(trace, |row| trace.strings.get(trace.modules[op(row).module as usize].name));
    modules.truncate(4);
    assert_eq!(
        modules,
        [
            ("pjit__wrapped_step_fn", 13050, 678_391_282),
            ("gemm_fusion_dot.411", 18, 542_360_826),
            ("gemm_fusion_dot.261", 12, 263_769_218),
            ("gemm_fusion_dot.545", 52, 37_771_812),
        ]
    );
    let longest = totals(trace, |row| trace.name(row));
    assert!(longest.contains(&("custom-call.219.0", 5, 13_655_933)));
    // All 13050 of the step's thunks have an instruction; modules of the autotuner are not dumped.
    let joined = work(trace).into_iter().filter(|row| op(*row).instruction != NONE).count();
    let of_step =
        |row: &usize| trace.strings.get(trace.modules[op(*row).module as usize].name) == "pjit__wrapped_step_fn";
    let step = work(trace).into_iter().filter(of_step).filter(|row| op(*row).instruction != NONE).count();
    assert_eq!((imported.hlo.len(), step), (17, 13050));
    assert!(joined > step, "small modules are joined, too");
}

#[test]
fn ranges_threads_and_links() {
    let Some(bytes) = archive("ranges_threads_and_links", 0) else { return };
    let imported = open(&bytes);
    let trace = &imported.trace;
    let on_host = trace.tracks.iter().filter(|track| track.device.is_none());
    let (threads, rows) = on_host.fold((0, 0), |sum, track| (sum.0 + 1, sum.1 + track.rows.len()));
    // Rows of report_nvtx_pushpop_trace.csv and its threads.
    assert_eq!((threads, rows), (5, 27891));
    for row in work(trace) {
        let cause = trace.events.link[row] as usize;
        assert!(trace.name(cause).contains(trace.name(row)), "{} <- {}", trace.name(row), trace.name(cause));
    }
    let device = &trace.devices[0];
    assert_eq!((device.model.as_deref(), device.cores), (Some("NVIDIA A100-SXM4-40GB"), Some(108)));
    assert_eq!(trace.processes[0].rank, Some(0));
    // 16997 pieces of work of all top ranges and of no range, 14086 of thunks.
    let outside = imported.notes.iter().find(|note| note.message.contains("outside of XLA's operations"));
    assert_eq!(outside.map(|note| note.count), Some(16997 - 14086));
    let everything = format!("{:?} {:?} {:?}", trace.strings, imported.notes, imported.captures);
    assert!(!everything.contains("nvdl-") && !everything.contains("SLURM"), "hosts and environments are private");
}

#[test]
fn operations_have_source_lines_and_scopes() {
    let Some(bytes) = archive("operations_have_source_lines_and_scopes", 0) else { return };
    let imported = open(&bytes);
    let prepared = Prepared::default();
    let analysis = prepared.analysis(&imported.trace, &imported.hlo);
    let line_text = |file: &str, line: u32| {
        let text = &imported.sources.iter().find(|source| source.path == file)?.text;
        text.lines().nth(line as usize - 1).map(|line| line.trim().to_owned())
    };
    let by_line = view(Topic::Time, "source").expect("a view");
    let sources = by_line.table(&analysis, &Ask { line_text: Some(&line_text), ..Ask::default() });
    let text = ridge_test::render(&sources, &["source", "text"]);
    assert!(text.contains("/praxis/") && text.contains("jnp."), "{text}");
    assert_eq!(imported.sources.len(), 31);
    assert!(analysis.table(Topic::Time, "module").expect("a view").batch.num_rows() > 10);
}

#[test]
fn processes_are_put_on_one_clock() {
    let test = "processes_are_put_on_one_clock";
    let (Some(first), Some(second)) = (archive(test, 0), archive(test, 1)) else { return };
    let sources = [Source { name: "p0", bytes: &first }, Source { name: "p1", bytes: &second }];
    let imported = import(&sources, None).expect("intact archives");
    // The median over the step's 115 collectives of the second's end less the first's is -28.54092 ms.
    let shift: Vec<&str> = imported.notes.iter().map(|note| note.message.as_str()).collect();
    let expected = "its clock was shifted by +28.5 ms to align the ends of its collectives with the first rank's";
    assert!(shift.contains(&expected), "{shift:?}");
    let ranks: Vec<Option<u32>> = imported.trace.processes.iter().map(|process| process.rank).collect();
    assert_eq!(ranks, [Some(0), Some(1)]);
}

#[test]
fn thunks_of_a_graph_are_the_work_and_the_graph_is_not() {
    let imported = open(&fixture("one_process.zip"));
    let trace = &imported.trace;
    assert_eq!(
        totals(trace, |row| trace.name(row)),
        [
            ("graph_fusion.1", 1, 200),
            ("graph_fusion.2", 1, 200),
            ("broadcast_in_dim.6", 1, 100),
            ("psum_invariant.7", 1, 100),
        ]
    );
    assert_eq!(union_ns(trace, &work(trace)), 150 + 400);
    assert_eq!(imported.sources[0].path, "/tmp/programs/operations.py");
    let ranges: Vec<&str> = (0..trace.events.len())
        .filter(|row| trace.events.kind(*row) == EventKind::DeviceRange)
        .map(|row| trace.name(row))
        .collect();
    assert_eq!(ranges.len(), 3, "{ranges:?}");
}

#[test]
fn a_small_archive_has_threads_a_device_and_lines() {
    let imported = open(&fixture("one_process.zip"));
    let trace = &imported.trace;
    let on_host = trace.tracks.iter().filter(|track| track.device.is_none());
    // `make.py` writes nine ranges of one thread.
    assert_eq!(on_host.map(|track| track.rows.len()).collect::<Vec<_>>(), [9]);
    let device = &trace.devices[0];
    assert_eq!((device.model.as_deref(), device.cores), (Some("NVIDIA A100-SXM4-40GB"), Some(108)));
    let prepared = Prepared::default();
    let analysis = prepared.analysis(trace, &imported.hlo);
    let by_line = view(Topic::Time, "source").expect("a view");
    let text = ridge_test::render(&by_line.table(&analysis, &Ask::default()), &["source"]);
    assert!(text.contains("operations.py"), "{text}");
}

#[test]
fn a_combined_archive_has_its_processes() {
    let imported = open(&fixture("combined.zip"));
    let names: Vec<&str> =
        imported.trace.processes.iter().map(|process| imported.trace.strings.get(process.name)).collect();
    assert_eq!(names, ["capture/rank0", "capture/rank1"]);
    assert_eq!(
        imported.trace.devices.iter().map(|device| device.plane.as_str()).collect::<Vec<_>>(),
        ["/device:GPU:0", "/device:GPU:1"]
    );
    let everything = format!("{:?} {:?} {:?}", imported.trace.strings, imported.notes, imported.captures);
    assert!(!everything.contains("secret"), "{everything}");
}

#[test]
fn a_folder_gives_what_its_archive_gives() {
    let bytes = fixture("one_process.zip");
    let files = members(&bytes);
    let sources: Vec<Source<'_>> = files.iter().map(|(name, bytes)| Source { name, bytes }).collect();
    let folder = Input::Folder(Folder { name: "capture", files: &sources });
    let unpacked = import_inputs(&[folder], ImportOptions::default()).expect("a folder");
    let packed = open(&bytes);
    assert_eq!(unpacked.trace.events.start_ns, packed.trace.events.start_ns);
    assert_eq!((unpacked.hlo.len(), unpacked.sources), (packed.hlo.len(), packed.sources));
    let names = ["device-metadata.parquet", "dump/x.hlo.pb"];
    assert!(ridge_import::sniff_folder(&names).is_none());
}

/// The members of a zip whose own headers tell their sizes: stored ones and deflated ones.
fn members(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let number =
        |at: usize, size: usize| bytes[at..at + size].iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
    let (mut found, mut at) = (Vec::new(), 0);
    while bytes[at..].starts_with(b"PK\x03\x04") {
        let (method, packed, name, extra) =
            (number(at + 8, 2), number(at + 18, 4), number(at + 26, 2), number(at + 28, 2));
        let start = at + 30 + name + extra;
        let mut content = bytes[start..start + packed].to_vec();
        if method == 8 {
            let mut reader = flate2::read::DeflateDecoder::new(&bytes[start..start + packed]);
            content.clear();
            std::io::Read::read_to_end(&mut reader, &mut content).expect("an intact member");
        }
        found.push((String::from_utf8_lossy(&bytes[at + 30..at + 30 + name]).into_owned(), content));
        at = start + packed;
    }
    found
}

/// A zip of deflated members.
fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut bytes, mut entries) = (Vec::new(), Vec::new());
    for (name, content) in files {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(content).expect("memory takes all");
        let packed = encoder.finish().expect("memory takes all");
        let mut checksum = flate2::Crc::new();
        checksum.update(content);
        let mut header = vec![20, 0, 0, 0, 8, 0, 0, 0, 0, 0];
        header.extend(checksum.sum().to_le_bytes());
        header.extend((packed.len() as u32).to_le_bytes());
        header.extend((content.len() as u32).to_le_bytes());
        header.extend((name.len() as u16).to_le_bytes());
        header.extend([0, 0]);
        entries.extend(
            [&b"PK\x01\x02\x14\0"[..], &header, &[0; 10], &(bytes.len() as u32).to_le_bytes(), name.as_bytes()]
                .concat(),
        );
        bytes.extend([&b"PK\x03\x04"[..], &header, name.as_bytes(), &packed].concat());
    }
    let count = (files.len() as u16).to_le_bytes();
    let end = [
        &b"PK\x05\x06\0\0\0\0"[..],
        &count,
        &count,
        &(entries.len() as u32).to_le_bytes(),
        &(bytes.len() as u32).to_le_bytes(),
        &[0, 0],
    ];
    let end = end.concat();
    bytes.extend(entries);
    bytes.extend(end);
    bytes
}

#[test]
fn names_are_never_paths() {
    let projection = "nvtx_gpu_proj_trace/trace.parquet";
    let good = members(&fixture("one_process.zip"));
    let table = &good.iter().find(|(name, _)| name == projection).expect("it is there").1;
    let climbing = format!("../../{projection}");
    let refused = |name: &str| {
        import(&[Source { name: "x", bytes: &zip(&[(name, table)]) }], None).map_err(|error| error.to_string())
    };
    assert!(refused(projection).is_ok());
    for name in [climbing.as_str(), "/etc/passwd", "", "nvtx_gpu_proj_trace/trace.parquet/a/b"] {
        let expected = format!("not an nsys-jax archive: expected {projection}, found {name} at byte 0");
        assert_eq!(refused(name).map(drop), Err(expected), "{name}");
    }
    let files = [(projection, &table[..]), ("sources../../etc/passwd", b"x"), ("sources/a.py", b"y")];
    let imported = open(&zip(&files));
    assert_eq!(imported.sources.iter().map(|source| source.path.as_str()).collect::<Vec<_>>(), ["/a.py"]);
}

#[test]
fn a_bomb_costs_no_more_than_the_bound() {
    let zeros = vec![0; 64 << 20];
    let bytes = zip(&[("nvtx_gpu_proj_trace/trace.parquet", &zeros)]);
    let options = ImportOptions { max_unpacked_bytes: Some(1 << 20), ..ImportOptions::default() };
    let error = import_inputs(&[Input::File(Source { name: "x", bytes: &bytes })], options)
        .expect_err("nothing useful is in it");
    assert_eq!(error.to_string(), "expected ranges in nvtx_gpu_proj_trace/trace.parquet, found none at byte 0");
    let good = fixture("one_process.zip");
    let small = ImportOptions { max_unpacked_bytes: Some(3000), ..ImportOptions::default() };
    if let Ok(part) = import_inputs(&[Input::File(Source { name: "x", bytes: &good })], small) {
        assert!(part.notes.iter().any(|note| note.message.contains("unpacks to more than")), "{:?}", part.notes);
    }
}

#[test]
fn cut_and_flipped_archives_are_errors_or_partial() {
    for name in ["one_process.zip", "combined.zip"] {
        let whole = fixture(name);
        let survive = |bytes: &[u8]| -> Result<Imported, ImportError> {
            import(&[Source { name: "x", bytes }], Some("nsys-jax"))
        };
        let mut partial = 0;
        // The last 22 bytes are the directory's end; a comment's length behind it, which nothing needs, is its last two.
        for cut in (1..whole.len() - 22).step_by(97) {
            if let Ok(found) = survive(&whole[..cut]) {
                partial += 1;
                assert!(
                    found.notes.iter().any(|note| note.message.contains("directory is lost")),
                    "{name} cut at {cut}"
                );
            }
        }
        assert!(partial > 0, "what came before the cut is read");
        for at in (0..whole.len()).step_by(31) {
            let mut flipped = whole.clone();
            flipped[at] ^= 1 << (at % 8);
            let _ = survive(&flipped);
        }
    }
}
