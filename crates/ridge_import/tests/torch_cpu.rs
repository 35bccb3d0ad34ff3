//! Programs of PyTorch on a processor: their operators are its work, and every figure is that of PyTorch itself.

use ridge_analysis::{Analysis, Prepared, Topic};
use ridge_import::{Imported, Source, import};
use ridge_trace::{EventKind, Trace};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const PROGRAMS: [&str; 5] = ["mlp_loader", "cnn", "transformer", "lstm", "compiled"];

fn open(name: &str) -> Imported {
    let path = ridge_test::real("torch_cpu").join(format!("{name}.json.gz"));
    let bytes = std::fs::read(&path).expect("a listed capture");
    import(&[Source { name, bytes: &bytes }], None).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// What `key_averages()` said of the same capture: calls, self time and time by name; times in nanoseconds.
fn golden(name: &str) -> BTreeMap<String, [i64; 3]> {
    let path = ridge_test::real("torch_cpu").join(format!("{name}.key_averages.json"));
    let text = std::fs::read_to_string(path).expect("a listed file");
    let golden: Value = serde_json::from_str(&text).expect("a golden is JSON");
    let rows = golden["rows"].as_object().expect("rows by key");
    let ns = |value: &Value| (value.as_f64().expect("microseconds") * 1000.0).round() as i64;
    rows.iter().map(|(key, row)| (key.clone(), [row[0].as_i64().expect("a count"), ns(&row[1]), ns(&row[2])])).collect()
}

/// Numbers of a view by the text of its last column.
fn numbers<const N: usize>(
    analysis: &Analysis<'_>,
    topic: Topic,
    view: &str,
    keys: &[&str],
) -> BTreeMap<String, [i64; N]> {
    let text = ridge_test::render(&analysis.table(topic, view).expect("a view"), keys);
    let rows = text.lines().skip(1).filter(|line| !line.starts_with('*')).map(|line| {
        let mut words = line.split_whitespace();
        let numbers = [(); N].map(|()| words.next().and_then(|word| word.parse().ok()).unwrap_or(-1));
        (words.collect::<Vec<_>>().join(" "), numbers)
    });
    rows.collect()
}

#[test]
fn operators_equal_key_averages() {
    for name in PROGRAMS {
        let imported = open(name);
        let prepared = Prepared::default();
        let analysis = prepared.analysis(&imported.trace, &imported.hlo);
        let keys = ["calls", "self_cpu_ns", "total_cpu_ns", "operator"];
        let found: BTreeMap<String, [i64; 3]> = numbers(&analysis, Topic::Time, "operator", &keys);
        assert_eq!(found, golden(name), "{name}");
    }
}

/// The work of the processor is what the operators on its threads have for themselves, but for those that make batches and
/// those that a compiler runs.
#[test]
fn the_work_of_a_processor_is_its_operators() {
    for name in PROGRAMS {
        let imported = open(name);
        let trace = &imported.trace;
        let planes: Vec<&str> = trace.devices.iter().map(|device| &*device.plane).collect();
        assert_eq!(planes, ["/device:CPU:0"], "{name}");
        for track in trace.device_tracks() {
            for row in track.rows.clone().map(|row| row as usize) {
                let operator = trace.events.link[row] as usize;
                let same = |row: usize| (trace.events.start_ns[row], trace.events.dur_ns[row], trace.events.name[row]);
                assert_eq!((trace.events.kind(operator), same(operator)), (EventKind::Operator, same(row)), "{name}");
            }
        }
        let prepared = Prepared::default();
        let groups = prepared.analysis(trace, &imported.hlo).groups().total_self_ns();
        let outermost = outermost_ns(trace);
        assert_eq!(groups, outermost, "{name}");
    }
}

/// The durations of operators that no other work is around: without batches, compilations, and operators that were compiled
/// while they ran.
fn outermost_ns(trace: &Trace) -> i64 {
    let events = &trace.events;
    let outer = |row: &u32| events.parent.get(*row as usize).copied().filter(|outer| (*outer as usize) < events.len());
    let around = |row: u32| std::iter::successors(outer(&row), outer).collect::<Vec<u32>>();
    let kind = |row: u32| events.kind(row as usize);
    let all = 0..events.len() as u32;
    let compilations = all.clone().filter(|row| kind(*row) == EventKind::Compile);
    let compiled: BTreeSet<u32> = compilations.flat_map(around).collect();
    let is_out = |row: &u32| {
        let loads = trace.name(*row as usize).starts_with("enumerate(DataLoader)");
        kind(*row) == EventKind::Compile || kind(*row) == EventKind::Annotation && loads
    };
    let is_work =
        |row: &u32| kind(*row) == EventKind::Operator && !compiled.contains(row) && !around(*row).iter().any(is_out);
    let outermost = all.filter(|row| is_work(row) && !around(*row).iter().any(is_work));
    outermost.map(|row| events.dur_ns[row as usize]).sum()
}

/// Operations of products: the sums of `torch.utils.flop_counter.FlopCounterMode` for the same programs. It counts all of a
/// causal attention, of which half is computed, and no sums of biases.
#[test]
fn products_have_the_operations_that_pytorch_counts() {
    for (name, expected) in [
        (
            "cnn",
            &[
                ("aten::mkldnn_convolution", 1_242_169_344),
                ("aten::convolution_backward", 2_388_787_200),
                ("aten::mm", 61_440),
                ("aten::addmm", 30_720 + 4 * 8 * 10),
            ][..],
        ),
        (
            "transformer",
            &[
                ("aten::mm", 2_717_908_992),
                ("aten::_scaled_dot_product_flash_attention_for_cpu", 201_326_592 / 2),
                ("aten::_scaled_dot_product_flash_attention_for_cpu_backward", 503_316_480 / 2),
            ],
        ),
    ] {
        let imported = open(name);
        let prepared = Prepared::default();
        let analysis = prepared.analysis(&imported.trace, &imported.hlo);
        let found: BTreeMap<String, [i64; 1]> = numbers(&analysis, Topic::Roofline, "op", &["flops", "op"]);
        for (operator, flops) in expected {
            assert_eq!(found.get(*operator), Some(&[*flops]), "{name}: {operator} in {found:?}");
        }
    }
}

/// A trace of a program that had a GPU is not that of a processor, whatever was recorded of it.
#[test]
fn a_program_that_had_a_gpu_did_not_run_on_the_processor() {
    let operator = r#"{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 0, "dur": 50}"#;
    let with = |header: &str, more: &str| {
        let text = format!("{{{header}\"traceEvents\": [{operator}{more}]}}");
        let imported = import(&[Source { name: "trace.json", bytes: text.as_bytes() }], None).expect("a trace");
        imported.trace.devices.len()
    };
    assert_eq!(with("", ""), 1);
    assert_eq!(with(r#""deviceProperties": [],"#, ""), 1);
    assert_eq!(with(r#""deviceProperties": [{"id": 0, "name": "NVIDIA H100"}],"#, ""), 0);
    let call = r#", {"ph": "X", "cat": "cuda_runtime", "name": "cudaDeviceSynchronize", "pid": 1, "tid": 1, "ts": 60, "dur": 5}"#;
    assert_eq!(with("", call), 0);
    let range =
        r#", {"ph": "X", "cat": "user_annotation", "name": "nccl:all_reduce", "pid": 1, "tid": 1, "ts": 60, "dur": 5}"#;
    assert_eq!(with("", range), 0);
    assert_eq!(with("", &range.replace("nccl", "gloo")), 1);
}

/// A trace of operators: name, start and duration in microseconds, autograd's number.
fn operators(all: &[(&str, u32, u32, Option<u32>)]) -> ridge_import::Imported {
    let event = |(name, start, dur, number): &(&str, u32, u32, Option<u32>)| {
        let number =
            number.map_or(String::new(), |number| format!(r#""Sequence number": {number}, "Fwd thread id": 0"#));
        format!(
            r#"{{"ph": "X", "cat": "cpu_op", "name": "{name}", "pid": 1, "tid": 1, "ts": {start}, "dur": {dur}, "args": {{{number}}}}}"#
        )
    };
    let events: Vec<String> = all.iter().map(event).collect();
    let text = format!(r#"{{"schemaVersion": 1, "deviceProperties": [], "traceEvents": [{}]}}"#, events.join(","));
    import(&[Source { name: "host0.pt.trace.json", bytes: text.as_bytes() }], None).expect("a trace")
}

#[test]
fn asking_whether_cudnn_would_do_is_no_use_of_it() {
    let planes = |name: &str| operators(&[("aten::gru", 0, 50, None), (name, 10, 5, None)]).trace.devices.len();
    assert_eq!(planes("aten::cudnn_is_acceptable"), 1);
    assert_eq!(planes("aten::_use_cudnn_ctc_loss"), 1);
    assert_eq!(planes("aten::cudnn_convolution"), 0);
}

#[test]
fn what_autograd_recorded_used_up_its_number() {
    // A linear layer is two recorded operators in one; the sum of constants leaves the number to the next.
    let found = operators(&[
        ("aten::linear", 0, 30, Some(5)),
        ("aten::t", 1, 5, Some(5)),
        ("aten::addmm", 10, 15, Some(6)),
        ("aten::sum", 40, 10, Some(7)),
        ("aten::mul", 60, 10, Some(7)),
        ("aten::add", 80, 10, Some(8)),
        ("aten::cos", 100, 10, None),
    ]);
    let names: Vec<&str> = found.trace.recorded.iter().map(|row| found.trace.name(*row as usize)).collect();
    assert_eq!(names, ["aten::t", "aten::addmm", "aten::mul"]);
}

#[test]
fn an_operator_that_ran_when_the_profiler_stopped_does_not_have_the_time_of_its_stop() {
    let text = r#"{"schemaVersion":1,"traceEvents":[
        {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":7,"tid":7,"ts":10,"dur":5,"args":{"External id":1,"finished":true}},
        {"ph":"X","cat":"cpu_op","name":"aten::stack","pid":7,"tid":7,"ts":20,"dur":344154.3,"args":{"External id":2,"finished":false}}
    ]}"#;
    let imported = import(&[Source { name: "a.json", bytes: text.as_bytes() }], None).expect("a capture");
    let operators =
        (0..imported.trace.events.len()).filter(|row| imported.trace.events.kind(*row) == EventKind::Operator);
    let found: Vec<(&str, i64)> =
        operators.map(|row| (imported.trace.name(row), imported.trace.events.dur_ns[row])).collect();
    assert_eq!(found, [("aten::mm", 5_000), ("aten::stack", 0)]);
}
