//! Real PyTorch traces against numbers that were computed without this project, to the nanosecond.

use ridge_analysis::{Ask, Prepared, Topic, VIEWS, overview};
use ridge_import::{Imported, Source, demangled, import};
use ridge_table::FactValue;
use ridge_trace::{EventKind, NONE, Trace, TrackKind};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Every trace with a golden beside it.
fn goldens() -> Vec<(PathBuf, Value)> {
    let with_golden = ridge_test::real_files("kineto", ".json.gz").into_iter().map(|path| {
        let golden = golden(&path);
        (path, golden)
    });
    with_golden.collect()
}

/// What is true of the trace at `path`.
fn golden(path: &Path) -> Value {
    let golden = format!("{}.golden.json", path.display());
    let text = std::fs::read_to_string(&golden).unwrap_or_else(|error| panic!("{golden}: {error}"));
    serde_json::from_str(&text).expect("a golden is JSON")
}

fn open(path: &Path) -> Imported {
    let bytes = std::fs::read(path).expect("a real trace");
    let name = path.display().to_string();
    import(&[Source { name: &name, bytes: &bytes }], None).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Nanoseconds from a golden's microseconds, which have three decimals.
fn ns(value: &Value) -> i64 {
    (value.as_f64().expect("a number") * 1000.0).round() as i64
}

#[test]
fn devices_equal_the_truth() {
    for (path, golden) in goldens() {
        let Some(devices) = golden["truth"]["devices"].as_object() else { continue };
        let imported = open(&path);
        let name = path.file_name().expect("a listed file").to_string_lossy().into_owned();
        // Of a processor the truth says nothing: its work is in no device's records.
        let accelerators = imported.trace.devices.iter().filter(|device| !device.is_processor());
        assert_eq!(accelerators.count(), devices.len(), "{name}");
        for (device, truth) in devices {
            check_times(&imported, &format!("/device:GPU:{device}"), truth, &name);
            check_kernels(&imported.trace, device, truth, &name);
            check_links(&imported.trace, device, truth, &name);
        }
    }
}

/// Busy, span and idle as the overview says them.
fn check_times(imported: &Imported, plane: &str, truth: &Value, name: &str) {
    let prepared = Prepared::default();
    let analysis = prepared.analysis(&imported.trace, &imported.hlo);
    let sections = overview(&analysis);
    let section = sections.iter().find(|section| section.title.starts_with(plane)).expect("the device worked");
    let fact = |key: &str| match section.facts.iter().find(|fact| fact.key == key).map(|fact| &fact.value) {
        Some(FactValue::Nanos(value)) => *value,
        other => panic!("{name}: {key} is {other:?}"),
    };
    assert_eq!(fact("busy_ns"), ns(&truth["busy_us"]), "{name}: busy");
    assert_eq!(fact("window_ns"), ns(&truth["span_us"]), "{name}: span");
    assert_eq!(fact("window_ns") - fact("busy_ns"), ns(&truth["idle_us"]), "{name}: idle");
    assert_eq!(fact("copies_ns"), ns(&truth["memcpy_union_us"]), "{name}: copies");
}

/// Count, sum, shortest and longest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sums(u64, i64, i64, i64);

fn check_kernels(trace: &Trace, device: &str, truth: &Value, name: &str) {
    let mut kernels: BTreeMap<&str, Sums> = BTreeMap::new();
    let (mut copies, mut sets, mut collectives) = ((0, 0), (0, 0), (0, 0));
    let is_collective: Vec<u32> = trace.collectives.iter().map(|found| found.event).collect();
    for row in work_of(trace, device) {
        let dur = trace.events.dur_ns[row];
        let kind = trace.events.kind(row);
        let add = |sums: &mut (u64, i64)| *sums = (sums.0 + 1, sums.1 + dur);
        match kind {
            EventKind::Kernel => {
                let sums = kernels.entry(trace.name(row)).or_insert(Sums(0, 0, i64::MAX, 0));
                *sums = Sums(sums.0 + 1, sums.1 + dur, sums.2.min(dur), sums.3.max(dur));
                if is_collective.binary_search(&(row as u32)).is_ok() {
                    add(&mut collectives);
                }
            }
            EventKind::Memset => add(&mut sets),
            _ => add(&mut copies),
        }
    }
    let total: i64 = kernels.values().map(|sums| sums.1).sum();
    assert_eq!(total, ns(&truth["total_kernel_us"]), "{name}: kernels");
    assert_eq!(kernels.len() as u64, truth["distinct_kernels"].as_u64().expect("a count"), "{name}");
    for (class, found) in [("memcpy", copies), ("memset", sets), ("comm", collectives)] {
        let expected = &truth["by_class"][class];
        let expected = if expected.is_null() {
            (0, 0)
        } else {
            (expected["count"].as_u64().expect("a count"), ns(&expected["sum_us"]))
        };
        assert_eq!(found, expected, "{name}: {class}");
    }
    let mut ranked: Vec<(&str, Sums)> = kernels.into_iter().collect();
    ranked.sort_by_key(|(kernel, sums)| (-sums.1, *kernel));
    let top = truth["top10_kernels"].as_array().expect("a list");
    for (found, expected) in ranked.iter().zip(top) {
        let text = expected["name"].as_str().expect("a name");
        let demangled = demangled(text);
        let text = demangled.as_deref().unwrap_or(text);
        let count = expected["count"].as_u64().expect("a count");
        let sums = Sums(count, ns(&expected["sum_us"]), ns(&expected["min_us"]), ns(&expected["max_us"]));
        assert_eq!(*found, (text, sums), "{name}");
    }
}

fn check_links(trace: &Trace, device: &str, truth: &Value, name: &str) {
    let work: Vec<usize> = work_of(trace, device).collect();
    let linked = work.iter().filter(|row| trace.events.link[**row] != NONE).count();
    let by_graph = work.iter().filter(|row| {
        let launch = trace.events.link[**row];
        launch != NONE && trace.name(launch as usize).contains("GraphLaunch")
    });
    assert_eq!(linked as u64, truth["gpu_events_linked_to_launch"].as_u64().expect("a count"), "{name}: linked");
    assert_eq!(by_graph.count() as u64, truth["of_which_graph_launch"].as_u64().expect("a count"), "{name}: graphs");
    assert_eq!(work.len() as u64, truth["gpu_events"].as_u64().expect("a count"), "{name}");
}

fn work_of(trace: &Trace, device: &str) -> impl Iterator<Item = usize> {
    let plane = format!("/device:GPU:{device}");
    let row = trace.devices.iter().position(|found| found.plane == plane).expect("the device is there") as u32;
    let tracks = trace.tracks_of_device(row);
    tracks
        .flat_map(|track| track.rows.clone())
        .map(|row| row as usize)
        .filter(|row| EventKind::from_byte_is_work(trace.events.kind[*row]))
}

#[test]
fn memory_and_steps_equal_the_truth() {
    for (path, golden) in goldens() {
        let truth = &golden["truth"];
        let Some(devices) = truth["memory_by_device"].as_object() else { continue };
        let name = path.display().to_string();
        let trace = open(&path).trace;
        for (key, expected) in devices {
            let allocator = match key.strip_prefix("type0:") {
                Some(_) => "CPU".to_owned(),
                None => format!("GPU_{}", key.split(':').nth(1).expect("type:device")),
            };
            check_memory(&trace, &allocator, expected, &name);
        }
        let profiler_steps = truth["profiler_steps"].as_array().expect("a list");
        let found: Vec<(&str, i64)> = (trace.steps.iter())
            .filter(|step| trace.name(step.event as usize).starts_with("ProfilerStep"))
            .map(|step| (trace.name(step.event as usize), trace.events.dur_ns[step.event as usize]))
            .collect();
        let expected: Vec<(&str, i64)> =
            profiler_steps.iter().map(|step| (step["name"].as_str().expect("a name"), ns(&step["dur_us"]))).collect();
        assert_eq!(found, expected, "{name}");
    }
}

fn check_memory(trace: &Trace, allocator: &str, expected: &Value, name: &str) {
    let table = &trace.allocations;
    let rows = || (0..table.time_ns.len()).filter(|row| trace.strings.get(table.allocator[*row]) == allocator);
    let number = |key: &str| expected[key].as_i64().expect("a number");
    let sum = |sign: i64| -> i64 { rows().map(|row| (sign * table.delta_bytes[row]).max(0)).sum() };
    assert_eq!(rows().count() as i64, number("n"), "{name}");
    assert_eq!((sum(1), sum(-1)), (number("alloc_bytes"), number("free_bytes")), "{name}");
    // Profilers of 2021 wrote no totals.
    if number("max_total_allocated") > 0 {
        let peak = rows().map(|row| table.in_use_bytes[row]).max().unwrap_or(0);
        let reserved = rows().map(|row| table.reserved_bytes[row]).max().unwrap_or(0);
        assert_eq!(peak, number("max_total_allocated"), "{name}: peak");
        assert_eq!(reserved.max(0), number("max_total_reserved"), "{name}: reserved");
    }
}

#[test]
fn calls_equal_the_truth() {
    for (path, golden) in goldens() {
        let truth = &golden["truth"];
        let Some(calls) = truth["top_runtime_calls"].as_array() else { continue };
        let trace = open(&path).trace;
        let mut found: BTreeMap<&str, (u64, i64)> = BTreeMap::new();
        let threads = trace.tracks.iter().filter(|track| track.kind == TrackKind::HostThread);
        for row in threads.flat_map(|track| track.rows.clone()).map(|row| row as usize) {
            if matches!(trace.events.kind(row), EventKind::Launch | EventKind::HostRange) {
                let sums = found.entry(trace.name(row)).or_default();
                *sums = (sums.0 + 1, sums.1 + trace.events.dur_ns[row]);
            }
        }
        for call in calls {
            let name = call["name"].as_str().expect("a name");
            let expected = (call["count"].as_u64().expect("a count"), ns(&call["sum_us"]));
            assert_eq!(found.get(name), Some(&expected), "{}: {name}", path.display());
        }
    }
}

/// Every table of every trace can be made, and adds up to the same.
#[test]
fn every_table_of_every_trace() {
    for (path, _) in goldens() {
        let imported = open(&path);
        let prepared = Prepared::default();
        let analysis = prepared.analysis(&imported.trace, &imported.hlo);
        VIEWS.iter().for_each(|view| drop(view.table(&analysis, &Ask::default())));
        for note in &imported.notes {
            println!("{}: {:?} x{} {}", path.display(), note.severity, note.count, note.message);
        }
    }
}

/// NCCL's kernels belong to the operator that their External id names, not to the range inside it that launched them.
#[test]
fn collectives_belong_to_the_operator_that_they_name() {
    let Some(folder) = ridge_test::corpus("collectives_belong_to_the_operator_that_they_name", "kineto") else {
        return;
    };
    // Durations of the kernels whose External id is that of a `record_param_comms`, from the JSON alone.
    for (name, expected) in [("a100_ddp_2rank_nccl_rank0", 46_876_493), ("mi300_resnet_act_ckpt_train", 47_200_310)] {
        let imported = open(&folder.join(format!("{name}.json.gz")));
        let prepared = Prepared::default();
        let table = prepared.analysis(&imported.trace, &imported.hlo).table(Topic::Time, "operator").expect("a view");
        let text = ridge_test::render(&table, &["self_device_ns", "operator"]);
        let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split_whitespace().collect()).collect();
        let found = rows.iter().find(|row| row.get(1) == Some(&"record_param_comms")).expect("a row");
        assert_eq!(found[0], expected.to_string(), "{name}");
    }
}

/// Calls, self and total time in nanoseconds, self and total memory in bytes of each operator.
fn operators(imported: &Imported) -> BTreeMap<String, [i64; 5]> {
    let prepared = Prepared::default();
    let analysis = prepared.analysis(&imported.trace, &imported.hlo);
    let table = analysis.table(Topic::Time, "operator").expect("a view");
    let text = ridge_test::render(
        &table,
        &["calls", "self_cpu_ns", "total_cpu_ns", "self_cpu_bytes", "cpu_bytes", "operator"],
    );
    (text.lines().skip(1))
        .map(|line| {
            let mut words = line.split_whitespace();
            let numbers = [(); 5].map(|()| words.next().expect("a number").parse().expect("a number"));
            (words.collect::<Vec<_>>().join(" "), numbers)
        })
        .collect()
}

/// `key_averages()` of the profiler itself, which rounds to floats; times and counts of all keys are exact.
#[test]
fn operators_equal_key_averages() {
    let path = ridge_test::real("kineto").join("cpu_mlp_3steps.json.gz");
    let (found, golden) = (operators(&open(&path)), golden(&path));
    let expected = golden["key_averages"].as_array().expect("a list");
    assert_eq!((found.len(), expected.len()), (48, 48));
    let mut other_memory = Vec::new();
    for row in expected {
        let key = row["key"].as_str().expect("a key");
        let times =
            [row["count"].as_i64().expect("a count"), ns(&row["self_cpu_time_total"]), ns(&row["cpu_time_total"])];
        let numbers = found.get(key).unwrap_or_else(|| panic!("{key} is missing"));
        assert_eq!(numbers[..3], times, "{key}");
        let memory =
            [&row["self_cpu_memory_usage"], &row["cpu_memory_usage"]].map(|value| value.as_i64().expect("bytes"));
        if numbers[3..] != memory {
            other_memory.push((key, numbers[3] - memory[0], numbers[4] - memory[1]));
        }
    }
    // Two frees of 8 bytes, 40 and 50 ns before the end of `aten::div_`, are inside it. The profiler compares times as
    // floats of microseconds since 1970, which are 0.25 apart, and so has them behind that end, in `aten::mean` around it.
    assert_eq!(other_memory, [("aten::mean", 16, 0), ("aten::div_", -16, -16)]);
}

/// The same for the fixture, of a newer profiler: with stacks it takes Python functions for a part of the tree, so what a range
/// has for itself is less by those directly inside it.
#[test]
fn operators_of_the_fixture_equal_key_averages() {
    let text = include_str!("golden/torch_mlp.key_averages.json");
    let golden: Value = serde_json::from_str(text).expect("a golden is JSON");
    let expected = golden["rows"].as_object().expect("rows by key");
    let found = operators(&open(&ridge_test::fixtures("chrome").join("torch_mlp.json")));
    assert_eq!((found.len(), expected.len()), (45, 45));
    let mut with_python_inside = Vec::new();
    for (key, row) in expected {
        let whole = |at: usize| row[at].as_i64().expect("a whole number");
        let [calls, own_ns, all_ns, own_bytes, all_bytes] = found[key];
        assert_eq!((calls, all_ns, all_bytes), (whole(0), ns(&row[2]), whole(4)), "{key}");
        if (own_ns, own_bytes) != (ns(&row[1]), whole(3)) {
            assert!(own_ns >= ns(&row[1]), "{key}");
            with_python_inside.push(key.as_str());
        }
    }
    assert_eq!(with_python_inside, ["step", "Optimizer.step#SGD.step", "Optimizer.zero_grad#SGD.zero_grad"]);
}

/// Inclusive time, events and own time of each scope by its path.
fn scopes(imported: &Imported) -> (BTreeMap<String, (i64, u64, i64)>, String) {
    let prepared = Prepared::default();
    let analysis = prepared.analysis(&imported.trace, &imported.hlo);
    let text = ridge_test::render(
        &analysis.table(Topic::Time, "scope").expect("a view"),
        &["inclusive_ns", "events", "self_ns", "scope"],
    );
    let rows = text.lines().skip(1).filter_map(|line| {
        let mut words = line.split_whitespace();
        let (inclusive, events) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let own = words.next()?.parse().ok()?;
        Some((words.collect::<Vec<_>>().join(" "), (inclusive, events, own)))
    });
    (rows.collect(), text)
}

/// Device time by the modules that launched it, against a computation from the JSON alone; the backward pass counts for
/// the modules of the forward one.
#[test]
fn modules_of_a_model_own_their_work() {
    let Some(folder) = ridge_test::corpus("modules_of_a_model_own_their_work", "kineto") else { return };
    let (found, text) = scopes(&open(&folder.join("mi300_resnet_act_ckpt_train.json.gz")));
    let block = "DistributedDataParallel_0/ResNet_0/CheckpointWrapper_0/Sequential_0";
    for (scope, expected) in [
        ("(in no module)".to_owned(), (80_441_764, 1364)),
        ("DistributedDataParallel_0".to_owned(), (19_788_308, 2289)),
        ("DistributedDataParallel_0/ResNet_0".to_owned(), (18_906_186, 2097)),
        (block.to_owned(), (5_024_039, 450)),
        (format!("{block}/BasicBlock_1"), (3_133_807, 294)),
    ] {
        assert_eq!(found.get(&scope).map(|sums| (sums.0, sums.1)), Some(expected), "{scope} in {text}");
    }
    let backward: i64 = found.iter().filter(|(scope, _)| scope.contains("/backward/")).map(|(_, sums)| sums.2).sum();
    assert_eq!(backward, 13_272_713, "{text}");
}

/// Device time by functions of Python, against a computation from the JSON alone.
#[test]
fn lines_of_python_own_what_they_launched() {
    let imported = open(&ridge_test::real("kineto").join("h100_qwen15_0.5b_infer.json.gz"));
    let prepared = Prepared::default();
    let table = prepared.analysis(&imported.trace, &imported.hlo).table(Topic::Time, "source").expect("a view");
    let text = ridge_test::render(&table, &["source", "self_ns", "inclusive_ns", "events"]);
    let rows: Vec<String> =
        text.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let model = "transformers/models/qwen2/modeling_qwen2.py";
    for expected in [
        "(no source line known) 13741827 13741827 509".to_owned(),
        format!("{model}:56 8042784 8042784 192"),
        format!("{model}:218 7377993 7377993 392"),
        "transformers/integrations/sdpa_attention.py:18 5488972 5488972 120".to_owned(),
        format!("{model}:68 4350828 6952482 144"),
        format!("{model}:150 3107216 15548670 192"),
    ] {
        assert!(rows.contains(&expected), "{expected} is not in {text}");
    }
}

/// On a processor the same tree holds its operators.
#[test]
fn modules_of_the_fixture_own_their_operators() {
    let imported = open(&ridge_test::fixtures("chrome").join("torch_mlp.json"));
    let (found, text) = scopes(&imported);
    for module in ["Linear_0", "ReLU_0", "Linear_1"] {
        let paths = found.keys().filter(|path| path.starts_with(&format!("Sequential_0/{module}")));
        assert!(paths.clone().any(|path| path.contains("/backward")), "{text}");
        assert!(paths.clone().any(|path| !path.contains("/backward")), "{text}");
    }
    let is_operator = |key: &str| !key.starts_with("Optimizer.") && key != "step";
    let expected: i64 = operators(&imported).iter().filter(|(key, _)| is_operator(key)).map(|(_, sums)| sums[1]).sum();
    let top = found.iter().filter(|(path, _)| *path == "Sequential_0" || *path == "(in no module)");
    assert_eq!(top.map(|(_, sums)| sums.0).sum::<i64>(), expected, "{text}");
}

/// Eight ranks against an independent computation.
#[test]
fn eight_ranks_meet_in_collectives() {
    let folder = ridge_test::real("kineto").join("v100_dlrm_8rank");
    let files: Vec<(String, Vec<u8>)> = (ridge_test::files(&folder, ".json.gz").iter())
        .map(|path| (path.display().to_string(), std::fs::read(path).expect("a real trace")))
        .collect();
    let sources: Vec<Source<'_>> = files.iter().map(|(name, bytes)| Source { name, bytes }).collect();
    let imported = import(&sources, None).expect("eight traces");
    assert!(!imported.notes.iter().any(|note| note.message.contains("shifted")), "one host has one clock");
    let text = std::fs::read_to_string(folder.join("multirank.golden.json")).expect("a golden");
    let golden: Value = serde_json::from_str(&text).expect("a golden is JSON");
    let prepared = Prepared::default();
    let analysis = prepared.analysis(&imported.trace, &imported.hlo);
    let keys = ["kernel", "latency_ns", "longest_ns", "skew_ns", "last_rank", "first_rank", "ranks"];
    let found = ridge_test::render(&analysis.table(Topic::Time, "collective").expect("a view"), &keys);
    let rows: Vec<Vec<&str>> = found.lines().skip(1).map(|line| line.split_whitespace().collect()).collect();
    let expected: Vec<Vec<String>> = (golden["collectives"].as_array().expect("a list").iter())
        .map(|row| {
            let us = |key: &str| (row[key].as_i64().expect("a time") * 1000).to_string();
            let kernel = row["kernel"].as_str().expect("a name").to_owned();
            let (last, first) = (row["last_rank"].to_string(), row["first_rank"].to_string());
            vec![kernel, us("min_dur_us"), us("max_dur_us"), us("start_skew_us"), last, first, "8".to_owned()]
        })
        .collect();
    assert_eq!(rows, expected);
    let ranks =
        ridge_test::render(&analysis.table(Topic::Time, "rank").expect("a view"), &["rank", "wait_ns", "times_last"]);
    for line in ranks.lines().skip(1).filter(|line| !line.starts_with('*')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let wait = golden["total_wait_us_by_rank"][words[0]].as_i64().expect("a time") * 1000;
        let last = golden["times_last"][words[0]].as_i64().unwrap_or(0);
        assert_eq!(words[1..], [wait.to_string(), last.to_string()], "rank {}", words[0]);
    }
    // Microseconds computing, communicating, copying and idle, from the JSON alone. TraceLens and HolisticTraceAnalysis give the
    // same where they leave out no work without a launch (ranks 1 and 3) and no memory set (ranks 3 and 4).
    let expected = [
        [1034, 5537, 19, 6419],
        [1246, 11056, 19, 6428],
        [1068, 3217, 19, 7046],
        [1250, 9440, 18, 8145],
        [1133, 6550, 19, 8887],
        [1041, 6211, 19, 9121],
        [1051, 3289, 19, 7051],
        [1059, 1580, 20, 8308],
    ];
    let keys = ["rank", "computing_ns", "communicating_ns", "copying_ns", "device_idle_ns"];
    let times = ridge_test::render(&analysis.table(Topic::Time, "rank").expect("a view"), &keys);
    let rows = times.lines().skip(1).filter(|line| !line.starts_with('*'));
    for (line, expected) in rows.zip(expected) {
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(words[1..], expected.map(|us: i64| (us * 1000).to_string()), "rank {}", words[0]);
    }
    assert!(ranks.contains("rank 7 waited least and was the last to begin in 5 of 8 collectives"), "{ranks}");
}
