//! Real captures of `fixtures/real/xplane` and their true answers.
//!
//! The numbers come from elsewhere: `*.truth.json`, which `truth.py` there decodes with protobuf itself, and another
//! tool's table beside a capture.
//! How broken captures are met is in `robust.rs`.

use expect_test::{Expect, expect};
use ridge_analysis::{Analysis, Group, Prepared, Topic, overview};
use ridge_import::{Imported, Severity, Source, import};
use ridge_test::{real, render, render_sections};
use ridge_trace::{Attribution, EventKind, NONE, StringId, TrackKind};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

fn open(path: &Path) -> Imported {
    let bytes = std::fs::read(path).expect("a fixture");
    import(&[Source { name: "capture", bytes: &bytes }], None).expect("an intact capture")
}

/// The capture called `name`.
fn capture(name: &str) -> Imported {
    open(&real("xplane").join(format!("{name}.xplane.pb")))
}

/// What is true of it.
fn truth(name: &str) -> Value {
    json(real("xplane").join(format!("{name}.truth.json")))
}

/// Every capture by its name.
fn captures() -> Vec<(String, Imported)> {
    let paths = ridge_test::files(&real("xplane"), ".xplane.pb");
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().replace(".xplane.pb", "");
    paths.iter().map(|path| (name(path), open(path))).collect()
}

fn analyzed<T>(imported: &Imported, ask: impl FnOnce(&Analysis<'_>) -> T) -> T {
    ask(&Prepared::with_sheets(&imported.trace).analysis(&imported.trace, &imported.hlo))
}

#[track_caller]
fn check(imported: &Imported, by: &str, columns: &[&str], expected: Expect) {
    let table = analyzed(imported, |analysis| analysis.table(Topic::Time, by).expect("a view"));
    expected.assert_eq(&render(&table, columns));
}

fn json(path: PathBuf) -> Value {
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).expect("valid JSON")
}

fn whole(value: &Value) -> i64 {
    value.as_i64().expect("a whole number")
}

#[test]
fn operations_to_the_nanosecond() {
    for name in ["mi300_conv_08", "mi300_gemm", "mi300_te_fused_attn", "nvidia_like"] {
        let (imported, truth) = (capture(name), truth(name));
        analyzed(&imported, |analysis| {
            for (key, expected) in truth["operations"].as_object().expect("operations by name") {
                check_operation(&imported, analysis, key, expected);
            }
            check_unnamed(&imported, analysis, &truth["without_operation"]);
        });
    }
}

/// Kernels, time and executions of the operation that `key` names by program and name.
fn check_operation(imported: &Imported, analysis: &Analysis<'_>, key: &str, expected: &Value) {
    let trace = &imported.trace;
    let (program, name) = key.split_once('/').expect("program id and name");
    let is_it = |group: &&Group| {
        let Some(op) = analysis.operation(group.op) else { return false };
        let module = &trace.modules[op.module as usize];
        group.attribution == Attribution::ByStat
            && trace.strings.get(op.name) == name
            && module.program_id.to_string() == program
    };
    let found: Vec<&Group> = analysis.groups().groups.iter().filter(is_it).collect();
    let kernels: u64 = found.iter().map(|group| group.count()).sum();
    let time: i64 = found.iter().map(|group| group.self_ns).sum();
    assert_eq!((kernels as i64, time), (whole(&expected["kernels"]), whole(&expected["dur_ns"])), "{key}");
    if let Some(executions) = expected["executions"].as_u64() {
        assert_eq!(analysis.executions().of(found[0].op, Attribution::ByStat), executions, "{key}");
    }
}

/// Count and time of what names no operation, by its name.
fn check_unnamed(imported: &Imported, analysis: &Analysis<'_>, expected: &Value) {
    let mut found: BTreeMap<&str, (i64, i64)> = BTreeMap::new();
    for group in analysis.groups().groups.iter().filter(|group| group.attribution != Attribution::ByStat) {
        let entry = found.entry(imported.trace.strings.get(StringId(group.name))).or_default();
        *entry = (entry.0 + group.count() as i64, entry.1 + group.self_ns);
    }
    let expected = expected.as_object().expect("sums by name");
    let sums = |(name, row): (_, &Value)| (name, (whole(&row["events"]), whole(&row["dur_ns"])));
    assert_eq!(found, expected.iter().map(|(name, row)| sums((name.as_str(), row))).collect());
}

#[test]
fn allocator_history_is_consistent() {
    let imported = capture("mi300_conv_08");
    let history = &imported.trace.allocations;
    assert!(history.time_ns.is_sorted());
    let mut last: HashMap<StringId, i64> = HashMap::new();
    let (mut steps, mut wrong) = (0, 0);
    for row in 0..history.time_ns.len() {
        if let Some(before) = last.insert(history.allocator[row], history.in_use_bytes[row]) {
            steps += 1;
            wrong += usize::from(before + history.delta_bytes[row] != history.in_use_bytes[row]);
        }
    }
    assert_eq!((wrong, steps, history.time_ns.len()), (0, 222, 230));
}

/// Rows of a CSV file with quoted fields.
fn csv(path: &Path) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(path).expect("a fixture");
    let row = |line: &str| {
        let mut fields = vec![String::new()];
        let mut quoted = false;
        for letter in line.chars() {
            match letter {
                '"' => quoted = !quoted,
                ',' if !quoted => fields.push(String::new()),
                letter => fields.last_mut().expect("there is one from the start").push(letter),
            }
        }
        fields
    };
    text.lines().skip(1).map(row).collect()
}

/// Count and total nanoseconds of kernels by name, as another tool's table has them, and as the trace has them.
type Totals = BTreeMap<String, (u64, i64)>;

fn said_totals(path: &Path) -> Totals {
    let mut totals = Totals::new();
    for row in csv(path) {
        let number = |at: usize| row[at].parse::<f64>().expect("a number");
        let entry = totals.entry(row[1].clone()).or_default();
        entry.0 += number(10) as u64;
        entry.1 += (number(11) * 1000.0).round() as i64;
    }
    totals
}

fn kernel_totals(imported: &Imported) -> Totals {
    let mut totals = Totals::new();
    analyzed(imported, |analysis| {
        for group in analysis.groups().groups.iter().filter(|group| group.kind == EventKind::Kernel) {
            let entry = totals.entry(imported.trace.strings.get(StringId(group.name)).to_owned()).or_default();
            entry.0 += group.count();
            entry.1 += group.total_ns;
        }
    });
    totals
}

#[test]
fn kernel_tables_agree_with_another_tools() {
    for table in ridge_test::files(&real("xplane"), ".xprof.kernel_stats.csv") {
        let path = PathBuf::from(table.to_string_lossy().replace(".xprof.kernel_stats.csv", ".xplane.pb"));
        let (said, found) = (said_totals(&table), kernel_totals(&open(&path)));
        let names = |totals: &Totals| totals.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&found), names(&said), "{}", path.display());
        for (name, (count, time)) in &said {
            let (found_count, found_time) = found[name];
            assert_eq!(found_count, *count, "{name}");
            // The other table rounds every row to a nanosecond of its own.
            let rows = 64;
            assert!((found_time - time).abs() <= rows, "{name}: {found_time} ns, the other tool says {time}");
        }
    }
}

#[test]
fn every_kernel_of_tensorflow_names_its_operation() {
    let imported = capture("nvidia_tf_5ms");
    analyzed(&imported, |analysis| {
        for group in analysis.groups().groups.iter().filter(|group| group.kind == EventKind::Kernel) {
            let name = analysis.operation(group.op).map(|op| imported.trace.strings.get(op.name));
            assert!(name.is_some_and(|name| !name.is_empty()), "{}", imported.trace.strings.get(StringId(group.name)));
        }
    });
    let derived: Vec<u64> =
        imported.notes.iter().filter(|note| note.message.contains("derived")).map(|note| note.count).collect();
    assert_eq!(derived, [truth("nvidia_tf_5ms")["derived_events"].as_u64().expect("a count")]);
    assert!(imported.trace.tracks.iter().all(|track| track.kind != TrackKind::Derived || track.rows.is_empty()));
}

#[test]
fn operations_of_graphs_are_found() {
    for name in ["nvidia_like", "nvidia_like_cudagraph"] {
        let imported = capture(name);
        let text = analyzed(&imported, |analysis| render_sections(&overview(analysis)));
        let expected = if name == "nvidia_like" {
            expect![[r#"
                Overview
                  wall_ns              27405000
                  busy_ns              26424000  0.964
                  idle_compile_ns      0  0
                  idle_host_ns         344000  0.013
                  idle_unknown_ns      637000  0.023
                  compile_ns           0  0
                  device_work_ns       26424000
                  overlap_ns           0  0
                  events               296
                /device:GPU:0 (NVIDIA H200)
                  busy_ns              26424000  0.964
                  idle_ns              981000  0.036
                  window_ns            27395000  1
                  compute_ns           6400000  0.234
                  copies_ns            20024000  0.731
                  kernels              128
                  copied_bytes         536903680
                Kernel attribution
                  by_stat_ns           6400000  1
            "#]]
        } else {
            expect![[r#"
                Overview
                  wall_ns              27405000
                  busy_ns              26424000  0.964
                  idle_compile_ns      0  0
                  idle_host_ns         344000  0.013
                  idle_unknown_ns      637000  0.023
                  compile_ns           0  0
                  device_work_ns       26424000
                  overlap_ns           0  0
                  events               176
                /device:GPU:0 (NVIDIA H200)
                  busy_ns              26424000  0.964
                  idle_ns              981000  0.036
                  window_ns            27395000  1
                  compute_ns           6400000  0.234
                  copies_ns            20024000  0.731
                  kernels              128
                  copied_bytes         536903680
                Kernel attribution
                  by_stat_ns           0  0
                  by_stat_events       0
                  by_module_ns         1200000  0.188
                  by_module_events     24
                  module_only_ns       5200000  0.812
                  module_only_events   104
                  unattributed_ns      0  0
                  unattributed_events  0
                  unnamed_events       128
            "#]]
        };
        expected.assert_eq(&text);
        // A copy of 2.5 ms a step is no computation.
        let copies = imported.trace.transfers.iter().map(|transfer| transfer.bytes).collect::<Vec<_>>();
        assert_eq!(copies, [67_108_864, 4096], "{name}");
        assert_eq!(imported.trace.steps.len(), 8, "{name}");
    }
}

#[test]
fn steps_of_a_training_loop() {
    let imported = capture("nvidia_like");
    check(
        &imported,
        "step",
        &["step", "number", "wall_ns", "device_ns", "copies_ns", "kernels", "events"],
        expect![[r#"
        step   number  wall_ns  device_ns  copies_ns  kernels  events
        train  0       3345000  3303000    2503000    16       18
        train  1       3345000  3303000    2503000    16       18
        train  2       3345000  3303000    2503000    16       18
        train  3       3345000  3303000    2503000    16       18
        train  4       3345000  3303000    2503000    16       18
        train  5       3345000  3303000    2503000    16       18
        train  6       3345000  3303000    2503000    16       18
        train  7       3345000  3303000    2503000    16       18
    "#]],
    );
}

#[test]
fn an_attention_runs_five_times_and_not_25() {
    let imported = capture("mi300_te_fused_attn");
    check(
        &imported,
        "op",
        &["op", "events", "executions", "self_ns", "category"],
        expect![[r#"
            op                             events  executions  self_ns  category
            te_fused_attn_backward_ffi.18  25      5           2330620  attention
            te_fused_attn_backward_ffi.12  25      5           2315140  attention
            te_fused_attn_forward_ffi.10   10      5           1069529  attention
            te_fused_attn_forward_ffi.15   10      5           1026290  attention
            gemm_fusion_dot                5       5           857328   custom fusion (triton)
            gemm_fusion_dot.3              5       5           855927   custom fusion (triton)
            gemm_fusion_dot.6              5       5           835887   custom fusion (triton)
            gemm_fusion_dot.7              5       5           593445   custom fusion (triton)
            custom-call.1                  5       5           584605   matrix product
            gemm_fusion_dot.1              5       5           485285   custom fusion (triton)
            input_reduce_fusion.1          5       5           234603   input fusion
            loop_reduce_fusion             5       5           222761   loop fusion
            loop_reduce_fusion.1           5       5           178321   loop fusion
            loop_reduce_fusion.3           5       5           171642   loop fusion
            loop_reduce_fusion.2           5       5           167601   loop fusion
            loop_reduce_fusion.4           5       5           118320   loop fusion
            input_reduce_fusion            5       5           27160    input fusion
            wrapped_convert.1              5       5           22520    loop fusion
            wrapped_convert                5       5           19161    loop fusion
            input_concatenate_fusion       5       5           17440    input fusion
            * AMD Instinct MI355X: the capture reports 4.1 TB/s of memory bandwidth, the data sheet 8 TB/s; the data sheet is used
        "#]],
    );
}

#[test]
fn source_lines_come_from_stack_frames() {
    let imported = capture("mi300_te_fused_attn");
    let module = imported.hlo.iter().max_by_key(|module| module.instructions.len()).expect("the capture has HLO");
    assert!(!module.instructions.is_empty());
    check(
        &imported,
        "source",
        &["source", "self_ns", "events"],
        expect![[r#"
        source                                                                                          self_ns  events
        /workspace/12_te_fused_attn.py:92                                                               5071122  55
        /opt/venv/lib/python3.12/site-packages/transformer_engine/jax/attention.py:1110                 4645760  50
        /opt/venv/lib/python3.12/site-packages/transformer_engine/jax/cpp_extensions/attention.py:2680  2113259  25
        /workspace/12_te_fused_attn.py:100                                                              234603   5
        /opt/venv/lib/python3.12/site-packages/transformer_engine/jax/cpp_extensions/attention.py:249   41681    10
        /workspace/12_te_fused_attn.py:134                                                              27160    5
        /workspace/12_te_fused_attn.py:158                                                              0        0
        /workspace/12_te_fused_attn.py:187                                                              0        0
        /workspace/12_te_fused_attn.py:98                                                               0        0
        /workspace/12_te_fused_attn.py:77                                                               0        0
        /opt/venv/lib/python3.12/site-packages/transformer_engine/jax/attention.py:916                  0        0
        /opt/venv/lib/python3.12/site-packages/transformer_engine/jax/cpp_extensions/attention.py:2630  0        0
    "#]],
    );
}

#[test]
fn matrix_products() {
    let imported = capture("mi300_gemm");
    check(
        &imported,
        "op",
        &["op", "module", "events", "executions", "self_ns", "attribution"],
        expect![[r#"
            op                         module                    events  executions  self_ns  attribution
            custom-call.1              jit_dot(49)               3       3           1833003  stat
            custom-call.1              jit_dot(79)               3       3           552961   stat
            custom-call.1              jit_dot(34)               3       3           449280   stat
            custom-call.1              jit_dot(64)               3       3           352280   stat
            (unattributed)             -                         12      -           60240    nothing
            custom-call.1              jit_dot(21)               3       3           31360    stat
            wrapped_broadcast          jit_broadcast_in_dim(32)  2       2           29600    stat
            copy.1                     jit_convert_element_type  12      12          27640    stat
            wrapped_broadcast          jit_broadcast_in_dim(45)  1       1           23160    stat
            wrapped_broadcast          jit_broadcast_in_dim(47)  1       1           22920    stat
            wrapped_broadcast          jit_broadcast_in_dim(60)  1       1           16160    stat
            wrapped_broadcast          jit_broadcast_in_dim(62)  1       1           15440    stat
            gemm_fusion_dot_general.1  jit_dot(5)                3       3           15000    stat
            wrapped_broadcast          jit_broadcast_in_dim(75)  1       1           13800    stat
            wrapped_broadcast          jit_broadcast_in_dim(3)   2       2           11080    stat
            wrapped_broadcast          jit_broadcast_in_dim(19)  2       2           11000    stat
            wrapped_broadcast          jit_broadcast_in_dim(77)  1       1           10560    stat
            * the work of 1.7% of the time is unknown: kernels of no known operation (1.7%)
            * AMD Instinct MI300X: the capture reports 2.66 TB/s of memory bandwidth, the data sheet 5.3 TB/s; the data sheet is used
        "#]],
    );
}

#[test]
fn every_module_is_read_without_notes() {
    let mut modules = 0;
    for (name, imported) in captures() {
        modules += imported.hlo.len();
        let grave: Vec<_> = imported.notes.iter().filter(|note| note.severity > Severity::Info).collect();
        assert!(grave.is_empty(), "{name}: {grave:?}");
        for module in &imported.trace.modules {
            assert!(module.hlo.is_some(), "{name}: a module without HLO");
        }
        assert!(imported.hlo.iter().all(|module| module.notes.is_empty() && !module.instructions.is_empty()));
    }
    assert!(modules > 10, "{modules} modules");
}

#[test]
fn numbers_of_every_line_agree_with_protobuf() {
    for (name, imported) in captures() {
        let golden = truth(&name);
        assert_eq!(device_lines(&imported), golden["device_lines"], "{name}: device lines");
        assert_eq!(device_events(&imported), golden["device_events"], "{name}: events by name");
        assert_eq!(host_threads(&imported), golden["host_threads"], "{name}: host threads");
        let allocations = imported.trace.allocations.time_ns.len() as i64;
        assert_eq!(allocations, whole(&golden["allocator_events"]), "{name}: allocator events");
    }
}

fn device_lines(imported: &Imported) -> Value {
    let trace = &imported.trace;
    let mut lines = serde_json::Map::new();
    for track in trace.tracks.iter().filter(|track| !track.rows.is_empty()) {
        let Some(device) = track.device else { continue };
        let rows = || track.rows.start as usize..track.rows.end as usize;
        let key =
            format!("{}|{}|{}", trace.devices[device as usize].plane, track.native_id, trace.strings.get(track.name));
        let numbers = serde_json::json!({
            "dur_ns": rows().map(|row| trace.events.dur_ns[row]).sum::<i64>(),
            "events": track.rows.len(),
            "first_ns": rows().map(|row| trace.events.start_ns[row]).min(),
            "last_ns": rows().map(|row| trace.events.end_ns(row)).max(),
        });
        lines.insert(key, numbers);
    }
    sorted(lines)
}

fn device_events(imported: &Imported) -> Value {
    let trace = &imported.trace;
    let mut totals: BTreeMap<&str, (i64, i64)> = BTreeMap::new();
    for track in trace.tracks.iter().filter(|track| track.device.is_some()) {
        for row in track.rows.start as usize..track.rows.end as usize {
            let entry = totals.entry(trace.name(row)).or_default();
            entry.0 += 1;
            entry.1 += trace.events.dur_ns[row];
        }
    }
    let entry = |(name, (events, dur_ns)): (&str, (i64, i64))| {
        (name.to_owned(), serde_json::json!({"dur_ns": dur_ns, "events": events}))
    };
    sorted(totals.into_iter().map(entry).collect())
}

fn host_threads(imported: &Imported) -> Value {
    let trace = &imported.trace;
    let mut threads = serde_json::Map::new();
    for track in trace.tracks.iter().filter(|track| track.device.is_none() && !track.rows.is_empty()) {
        let key = format!("{}|{}", track.native_id, trace.strings.get(track.name));
        threads.insert(key, serde_json::json!({"events": track.rows.len()}));
    }
    sorted(threads)
}

/// Keys in order, as in the golden files.
fn sorted(map: serde_json::Map<String, Value>) -> Value {
    let ordered: BTreeMap<String, Value> = map.into_iter().collect();
    Value::Object(ordered.into_iter().collect())
}

#[test]
fn every_operation_belongs_to_a_module_with_its_instruction() {
    for (capture, imported) in captures() {
        for op in imported.trace.operations.iter().filter(|op| op.module != NONE && op.name != StringId(0)) {
            let name = imported.trace.strings.get(op.name);
            assert_ne!(op.instruction, NONE, "{capture}: {name} is not in its module");
        }
    }
}
