//! The made-up exports of `fixtures/nsys/`, each trap with what must be made of it.

use super::Nsys;
use crate::folder::Folder;
use crate::formats::Format;
use crate::import::{Import, ImportOptions, Imported, Input, Source, import, import_inputs};
use expect_test::{Expect, expect};
use ridge_analysis::{Prepared, Topic};
use ridge_test::render;
use ridge_trace::{EventKind, NONE, Trace};

const TWO_PROCESSES: &[u8] = include_bytes!("../../../../../fixtures/nsys/two_processes.sqlite");
const OLD_SCHEMA: &[u8] = include_bytes!("../../../../../fixtures/nsys/old_schema.sqlite");
const NVPROF: &[u8] = include_bytes!("../../../../../fixtures/nsys/nvprof.sqlite");

fn open(bytes: &[u8]) -> Imported {
    import(&[Source { name: "capture", bytes }], None).expect("it can be read")
}

#[track_caller]
fn check(imported: &Imported, by: &str, columns: &[&str], expected: Expect) {
    let prepared = Prepared::default();
    let analysis = prepared.analysis(&imported.trace, &imported.hlo);
    expected.assert_eq(&render(&analysis.table(Topic::Time, by).expect("a view"), columns));
}

/// What launched each row of device work: `work <- call`.
fn causes(trace: &Trace) -> String {
    let work = (0..trace.events.len()).filter(|row| trace.events.kind(*row).is_device_work());
    let line = |row: usize| {
        let link = trace.events.link[row];
        let cause = if link == NONE { "-" } else { trace.name(link as usize) };
        format!("{} {} <- {cause}\n", trace.events.start_ns[row], trace.name(row))
    };
    work.map(line).collect()
}

#[test]
fn correlation_ids_are_per_process() {
    expect![[r#"
        450 Memset <- -
        500 MemcpyH2D <- cudaMemcpyAsync
        1000 gemm<float>(int) <- cudaLaunchKernel
        1400 axpy(float*) <- cuLaunchKernel
        1500 MemcpyD2H <- cudaMemcpyAsync
        1700 axpy(float*) <- -
        1100 axpy <- cudaLaunchKernel
        2000 graph 5 <- cuGraphLaunch
    "#]]
    .assert_eq(&causes(&open(TWO_PROCESSES).trace));
}

/// Sums of the fixture's rows by hand: two kernels of 600 and 100, a copy of 400, a memory set of 10.
#[test]
fn databases_of_nvprof_are_read_as_exports() {
    let imported = open(NVPROF);
    expect![[r#"
        1000 MemcpyH2D <- cudaMemcpy
        1500 Memset <- cudaMemset
        2000 gemm(float*) <- cudaLaunchKernel
        2700 axpy(float*) <- cuLaunchKernel
    "#]]
    .assert_eq(&causes(&imported.trace));
    let transfer = &imported.trace.transfers[0];
    expect!["4096 Pageable to Device"]
        .assert_eq(&format!("{} {:?} to {:?}", transfer.bytes, transfer.source, transfer.destination));
    let device = &imported.trace.devices[0];
    expect!["Tesla V100-SXM2-16GB, 80 cores, 7.0"].assert_eq(&format!(
        "{}, {} cores, {}.{}",
        device.model.as_deref().unwrap_or_default(),
        device.cores.unwrap_or_default(),
        device.compute_capability.unwrap_or_default().0,
        device.compute_capability.unwrap_or_default().1
    ));
    let said: Vec<String> = imported.notes.iter().map(|note| note.message.clone()).collect();
    expect![[r#"["NVTX ranges that never ended were left out"]"#]].assert_eq(&format!("{said:?}"));
    let ranges =
        (0..imported.trace.events.len()).filter(|row| imported.trace.events.kind(*row) == EventKind::Annotation);
    let ranges: Vec<(&str, i64)> =
        ranges.map(|row| (imported.trace.name(row), imported.trace.events.dur_ns[row])).collect();
    assert_eq!(ranges, [("forward", 2100)]);
}

#[test]
fn ranges_own_the_work_they_launched() {
    let imported = open(TWO_PROCESSES);
    check(
        &imported,
        "operation",
        &["operation", "device_ns", "device_self_ns", "count", "events"],
        expect![[r#"
            operation              device_ns  device_self_ns  count  events
            train step             1000       600             1      4
            (outside every range)  630        630             0      3
            registered range       400        400             1      1
            across                 50         50              1      1
        "#]],
    );
    check(
        &imported,
        "op",
        &["op", "self_ns", "events", "attribution"],
        expect![[r#"
        op                     self_ns  events  attribution
        (unattributed)         600      1       nothing
        (copy host to device)  400      1       nothing
        dot.1                  400      1       launch
        (unattributed)         170      3       nothing
        (copy device to host)  100      1       nothing
        (memset)               10       1       nothing
    "#]],
    );
    check(
        &imported,
        "track",
        &["track", "device", "kind", "busy_ns", "events"],
        expect![[r#"
            track        device                     kind    busy_ns  events
            Stream #7    /device:GPU:0 process 501  stream  1010     6
            Stream #7    /device:GPU:0 process 502  stream  650      2
            Stream #13   /device:GPU:0 process 501  stream  20       1
            (no stream)  /device:GPU:0 process 501  stream  0        1
            thread 501   -                          thread  1360     11
            thread 777   -                          thread  150      2
            thread 502   -                          thread  105      4
            thread 778   -                          thread  40       2
        "#]],
    );
}

/// The module that the first process runs, as a recorder keeps it beside the export.
const KEPT: &str = "HloModule jit_f, is_scheduled=true

ENTRY %main (a: f32[64,64]) -> f32[64,64] {
  %a = f32[64,64]{1,0} parameter(0)
  ROOT %dot.1 = f32[64,64]{1,0} dot(%a, %a), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name=\"jit(f)/dot\" source_file=\"/home/f.py\" source_line=7}
}
";

fn open_with(modules: &[&str]) -> Imported {
    let modules: Vec<Source<'_>> = modules.iter().map(|text| Source { name: "kept", bytes: text.as_bytes() }).collect();
    let options = ImportOptions { modules: &modules, ..ImportOptions::default() };
    import_inputs(&[Input::File(Source { name: "capture", bytes: TWO_PROCESSES })], options).expect("it can be read")
}

#[test]
fn modules_that_were_kept_say_what_their_operations_compute() {
    // 2 * 64^3 operations in 400 ns, and two matrices of 16 KiB: one read, one written.
    let columns = ["op", "module", "self_ns", "flops_per_sec", "bytes_per_sec"];
    let imported = open_with(&[KEPT]);
    check(
        &imported,
        "op",
        &columns,
        expect![[r#"
        op                     module  self_ns  flops_per_sec  bytes_per_sec
        (unattributed)         -       600      -              -
        (copy host to device)  -       400      -              -
        dot.1                  jit_f   400      1310720000000  81920000000
        (unattributed)         -       170      -              -
        (copy device to host)  -       100      -              -
        (memset)               -       10       -              -
        * the work of 65.8% of the time is unknown: kernels of no known operation (65.8%)
        * : its ceilings are unknown, so it has no bound and no headroom; `ridgeline calibrate` measures them
    "#]],
    );
    check(
        &imported,
        "source",
        &["source", "self_ns"],
        expect![[r#"
        source                  self_ns
        (no source line known)  1280
        /home/f.py:7            400
    "#]],
    );
    let said: Vec<&str> = imported.notes.iter().map(|note| note.message.as_str()).collect();
    assert!(said.iter().any(|message| message.starts_with("modules were matched by name")), "{said:?}");
    // One that has not what ran is another one of that name, and two that have it are one too many.
    let other = KEPT.replace("dot.1", "dot.2");
    for kept in [&[&*other][..], &[KEPT, KEPT], &[&KEPT.replace("jit_f", "jit_g")]] {
        let imported = open_with(kept);
        assert!(imported.hlo.is_empty());
        let said: Vec<&str> = imported.notes.iter().map(|note| note.message.as_str()).collect();
        assert!(said.iter().any(|message| message.starts_with("modules ran without HLO")), "{said:?}");
    }
    // A dump that is damaged costs itself alone.
    let damaged = open_with(&["HloModule jit_f\n\nENTRY", KEPT]);
    assert_eq!(damaged.hlo.len(), 1);
}

#[test]
fn ranges_of_frameworks_are_told_from_the_programs() {
    let imported = open(TWO_PROCESSES);
    let trace = &imported.trace;
    let named = |kind: EventKind| {
        let rows = (0..trace.events.len()).filter(move |row| trace.events.kind(*row) == kind);
        rows.map(|row| trace.name(row)).collect::<Vec<_>>()
    };
    assert_eq!(named(EventKind::Annotation), ["train step", "registered range", "across"]);
    assert_eq!(named(EventKind::Operator), ["aten::mm"]);
    assert_eq!(named(EventKind::Instant), ["here"]);
    assert_eq!(trace.strings.get(trace.operator_shapes[0].dims), "[[2, 3], [3, 2]]");
}

#[test]
fn memory_events_add_up() {
    let imported = open(TWO_PROCESSES);
    let table = &imported.trace.allocations;
    assert_eq!(table.time_ns, [50, 60, 1800]);
    assert_eq!(table.in_use_bytes, [1000, 1500, 500]);
    assert_eq!(table.peak_bytes, [1000, 1500, 1500]);
    assert_eq!(imported.trace.strings.get(table.allocator[0]), "GPU 0 device memory");
}

#[test]
fn devices_are_found_through_their_process() {
    let imported = open(TWO_PROCESSES);
    let described: Vec<(&str, Option<&str>, Option<u64>)> = (imported.trace.devices.iter())
        .map(|device| (device.plane.as_str(), device.model.as_deref(), device.memory_bytes_per_sec))
        .collect();
    let expected = [
        ("/device:GPU:0", Some("NVIDIA H100 80GB HBM3"), Some(3_352_320_000_000)),
        ("/device:GPU:0", Some("NVIDIA A100"), Some(1_555_200_000_000)),
    ];
    assert_eq!(described, expected);
    let counters = &imported.trace.counters;
    let names: Vec<&str> = counters.metric.iter().map(|metric| imported.trace.strings.get(*metric)).collect();
    assert_eq!(names, ["SM Active [Throughput %]", "SM Active [Throughput %]", "metric 2"]);
    assert_eq!((&counters.value[..], &counters.device[..]), (&[55.0, 60.0, 7.0][..], &[0, 0, 0][..]));
}

#[test]
fn nothing_private_arrives() {
    let imported = open(TWO_PROCESSES);
    let everything = format!("{:?} {:?} {:?}", imported.trace, imported.notes, imported.captures);
    assert!(!everything.contains("secret"), "{everything}");
}

#[test]
fn an_old_export_is_read_by_its_columns() {
    let imported = open(OLD_SCHEMA);
    let notes: Vec<String> = imported.notes.iter().map(|note| format!("{} x{}", note.message, note.count)).collect();
    assert_eq!(
        notes,
        [
            "device events without a start were left out x1",
            "device events have no launching call in the capture x1",
            "the export doesn't name its GPUs: device and link limits are unknown unless `--ceilings` names the model x1"
        ]
    );
    expect![[r#"
        10 saxpy(int) <- cudaLaunchKernel
        40 saxpy(int) <- -
    "#]]
    .assert_eq(&causes(&imported.trace));
}

#[test]
fn two_exports_share_a_clock() {
    let sources = [Source { name: "a", bytes: OLD_SCHEMA }, Source { name: "b", bytes: TWO_PROCESSES }];
    let imported = import(&sources, None).expect("both can be read");
    assert_eq!((imported.trace.processes.len(), imported.captures.len()), (3, 2));
}

#[test]
fn other_databases_and_other_versions_are_refused() {
    let refused = |bytes: &[u8]| {
        Nsys.import(Source { name: "x", bytes }, &mut Import::default()).map_err(|error| error.to_string())
    };
    let other = include_bytes!("../../../../ridge_sqlite/databases/small_pages.sqlite");
    let expected = "not an Nsight Systems export: expected tables such as CUPTI_ACTIVITY_KIND_KERNEL, found a b, plain, \
                    keyed at byte 0";
    assert_eq!(refused(other), Err(expected.to_owned()));
    let mut newer = TWO_PROCESSES.to_vec();
    let at = newer.windows(6).position(|bytes| bytes == b"3.13.2").expect("the version stands in the file");
    newer[at] = b'4';
    assert_eq!(refused(&newer), Err("expected schema version 2 or 3, found 4 at byte 0".to_owned()));
}

#[test]
fn overhead_is_the_profilers_only_where_its_type_says_so() {
    let trace = open(TWO_PROCESSES).trace;
    let kinds = |name: &str| {
        let rows = (0..trace.events.len()).filter(|row| trace.name(*row) == name);
        rows.map(|row| (trace.events.start_ns[row], trace.events.kind(row))).collect::<Vec<_>>()
    };
    assert_eq!(kinds("Buffer flush"), [(210, EventKind::Overhead), (220, EventKind::Overhead)]);
    assert_eq!(kinds("Command Buffer Full"), [(610, EventKind::HostRange)]);
    assert_eq!(kinds("Driver Compiler"), [(260, EventKind::Compile)]);
}

/// The tables of `two_processes.sqlite` as Parquet files, by name.
fn parquet_tables() -> Vec<(String, Vec<u8>)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/nsys_parquet");
    let files = ridge_test::files(&folder, ".parquet");
    let name = |path: &std::path::Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    files.iter().map(|path| (name(path), std::fs::read(path).expect("a fixture"))).collect()
}

fn open_folder(files: &[(String, Vec<u8>)]) -> Result<Imported, crate::import::ImportError> {
    let files: Vec<Source<'_>> = files.iter().map(|(name, bytes)| Source { name, bytes }).collect();
    let folder = Input::Folder(Folder { name: "capture", files: &files });
    import_inputs(&[folder], ImportOptions::default())
}

#[test]
fn a_folder_of_parquet_files_gives_what_the_database_gives() {
    let (folder, database) = (open_folder(&parquet_tables()).expect("a folder"), open(TWO_PROCESSES));
    let said = |imported: &Imported| {
        let trace = &imported.trace;
        let events: Vec<String> = (0..trace.events.len())
            .map(|row| {
                let (events, name) = (&trace.events, trace.name(row));
                let ids = (events.op[row], events.link[row], events.detail[row], events.kind[row]);
                format!("{} {} {name} {ids:?}", events.start_ns[row], events.dur_ns[row])
            })
            .collect();
        format!(
            "{events:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?}",
            trace.devices,
            trace.tracks,
            trace.transfers,
            trace.counters,
            trace.allocations,
            imported.notes,
            imported.captures[0].facts
        )
    };
    assert_eq!(said(&folder), said(&database));
    assert!(!format!("{:?} {:?}", folder.trace, folder.captures).contains("secret"));
}

#[test]
fn a_broken_table_costs_itself_alone() {
    let mut files = parquet_tables();
    for (name, bytes) in &mut files {
        if name.starts_with("GPU_METRICS") {
            bytes.truncate(bytes.len() - 1);
        }
    }
    let imported = open_folder(&files).expect("the rest");
    let note = &imported.notes[0];
    assert_eq!(
        (note.severity, note.message.as_str()),
        (
            crate::note::Severity::Lost,
            "table GPU_METRICS: expected \"PAR1\" at the end of a Parquet file; it is cut short"
        )
    );
    assert!(imported.trace.counters.value.is_empty() && !imported.trace.events.is_empty());
    files.retain(|(name, _)| name.starts_with("StringIds"));
    assert!(crate::sniff_folder(&["StringIds.parquet"]).is_none());
    assert!(open_folder(&files).is_err());
}

#[test]
fn an_export_without_cudas_tables_says_so() {
    let all = parquet_tables();
    let without: Vec<(String, Vec<u8>)> = all.iter().filter(|(name, _)| !name.starts_with("CUPTI_")).cloned().collect();
    let says_so = |files: &[(String, Vec<u8>)]| {
        let notes = open_folder(files).expect("ranges can be read").notes;
        notes.iter().any(|note| note.message.contains("no CUDA activity tables"))
    };
    assert_eq!((says_so(&all), says_so(&without)), (false, true));
}
