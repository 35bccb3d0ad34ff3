//! What is written is read back, each format by a reader of its own.

mod perfetto;

use expect_test::{Expect, expect};
use ridge_export::{Form, Privacy, export};
use ridgeline::Trace;
use serde_json::Value;
use std::collections::BTreeMap;

/// A launch and its work, ranges that nest, work that overlaps, a copy, a line that a viewer derived.
const SMALL: &str = "
    module jit_f 15
    thread python
      1000 +9000 train step=3
      1500 +200 cudaLaunchKernel launch id=7 as=l
      1800 +0 mark instant
    stream 7 on gpu
      2000 +1001 gemm op=dot.1 in=jit_f scope=jit(f)/dot id=7 grid=2,1,1 block=64,1,1
      2500 +1000 relu
      4000 +10 MemcpyH2D h2d bytes=1024
    derived Steps on gpu
      2000 +2000 3";

fn written(trace: &Trace, form: Form, privacy: Privacy) -> String {
    String::from_utf8(bytes(trace, form, privacy)).expect("text")
}

fn bytes(trace: &Trace, form: Form, privacy: Privacy) -> Vec<u8> {
    let mut out = Vec::new();
    export(trace, &|_| None, form, privacy, &mut out, &mut |_| {}).expect("memory");
    out
}

fn check(form: Form, expected: Expect) {
    expected.assert_eq(&written(&ridge_test::trace(SMALL), form, Privacy::Removed));
}

#[test]
fn chrome() {
    check(
        Form::Chrome,
        expect![[r#"
            {"displayTimeUnit":"ns","ridgeline":{"devices":[{"plane":"gpu","vendor":null,"model":null,"cores":null,"clock_khz":null,"memory_bytes":null,"memory_bytes_per_sec":null,"compute_capability":null,"streams":[1]}]},"traceEvents":[
            {"ph":"M","name":"process_name","pid":100000,"tid":0,"args":{"name":"process 0"}},
            {"ph":"M","name":"process_name","pid":0,"tid":0,"args":{"name":"gpu"}},
            {"ph":"M","name":"thread_name","pid":100000,"tid":0,"args":{"name":"python"}},
            {"ph":"M","name":"thread_name","pid":0,"tid":1,"args":{"name":"Stream #7"}},
            {"ph":"X","cat":"user_annotation","pid":100000,"tid":0,"ts":1.000,"dur":9.000,"name":"train","args":{"event kind":"step","step_num":3}},
            {"ph":"X","cat":"cuda_runtime","pid":100000,"tid":0,"ts":1.500,"dur":0.200,"name":"cudaLaunchKernel","args":{"correlation":2,"event kind":"launch"}},
            {"ph":"i","s":"t","cat":"instant","pid":100000,"tid":0,"ts":1.800,"name":"mark"},
            {"ph":"X","cat":"kernel","pid":0,"tid":1,"ts":2.000,"dur":1.001,"name":"gemm","args":{"device":0,"stream":1,"correlation":2,"event kind":"kernel","operation":"dot.1","module":"jit_f","scope":"jit(f)/dot","grid":[2,1,1],"block":[64,1,1]}},
            {"ph":"s","id":3,"cat":"ac2g","name":"ac2g","pid":100000,"tid":0,"ts":1.500},
            {"ph":"f","bp":"e","id":3,"cat":"ac2g","name":"ac2g","pid":0,"tid":1,"ts":2.000},
            {"ph":"X","cat":"kernel","pid":0,"tid":1,"ts":2.500,"dur":1.000,"name":"relu","args":{"device":0,"stream":1}},
            {"ph":"X","cat":"gpu_memcpy","pid":0,"tid":1,"ts":4.000,"dur":0.010,"name":"MemcpyH2D","args":{"device":0,"stream":1,"event kind":"copy host to device","bytes":1024,"source":"pinned","destination":"device"}}
            ],"ridgeline modules":[
            {"id":0,"program_id":15,"name":"jit_f"}
            ]}
        "#]],
    );
}

#[test]
fn chrome_is_json_with_equal_totals() {
    let trace = ridge_test::trace(SMALL);
    let document: Value = serde_json::from_str(&written(&trace, Form::Chrome, Privacy::Removed)).expect("JSON");
    let mut totals: BTreeMap<String, f64> = BTreeMap::new();
    for event in document["traceEvents"].as_array().expect("events").iter().filter(|event| event["ph"] == "X") {
        let category = event["cat"].as_str().expect("a category").to_owned();
        *totals.entry(category).or_default() += event["dur"].as_f64().expect("a duration");
    }
    expect![[r#"{"cuda_runtime": 0.2, "gpu_memcpy": 0.01, "kernel": 2.001, "user_annotation": 9.0}"#]]
        .assert_eq(&format!("{totals:?}"));
}

#[test]
fn speedscope() {
    check(
        Form::Speedscope,
        expect![[r#"
        {"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":"ridgeline","shared":{"frames":[{"name":"train"},{"name":"cudaLaunchKernel"},{"name":"mark"},{"name":"gemm"},{"name":"relu"},{"name":"MemcpyH2D"}]},"profiles":[
        {"type":"evented","name":"process 0: python","unit":"nanoseconds","startValue":0,"endValue":9000,"events":[{"type":"O","frame":0,"at":0},{"type":"O","frame":1,"at":500},{"type":"C","frame":1,"at":700},{"type":"O","frame":2,"at":800},{"type":"C","frame":2,"at":800},{"type":"C","frame":0,"at":9000}]},
        {"type":"evented","name":"gpu: Stream #7","unit":"nanoseconds","startValue":1000,"endValue":3010,"events":[{"type":"O","frame":3,"at":1000},{"type":"C","frame":3,"at":2001},{"type":"O","frame":5,"at":3000},{"type":"C","frame":5,"at":3010}]},
        {"type":"evented","name":"gpu: Stream #7, overlapping 1","unit":"nanoseconds","startValue":1500,"endValue":2500,"events":[{"type":"O","frame":4,"at":1500},{"type":"C","frame":4,"at":2500}]}
        ]}
    "#]],
    );
}

#[test]
fn csv() {
    check(
        Form::Csv,
        expect![[r#"
        row,process,device,track,kind,name,start_ns,dur_ns,caused_by,operation,module,scope,bytes
        0,process 0,,python,step,train,1000,9000,,,,,
        1,process 0,,python,launch,cudaLaunchKernel,1500,200,,,,,
        2,process 0,,python,instant,mark,1800,0,,,,,
        3,process 0,gpu,Stream #7,kernel,gemm,2000,1001,1,dot.1,jit_f,jit(f)/dot,
        4,process 0,gpu,Stream #7,kernel,relu,2500,1000,,,,,
        5,process 0,gpu,Stream #7,copy host to device,MemcpyH2D,4000,10,,,,,1024
    "#]],
    );
}

#[test]
fn perfetto() {
    let written = bytes(&ridge_test::trace(SMALL), Form::Perfetto, Privacy::Removed);
    expect![[r#"
        track 1 "process 0" pid 100000
        track 2 "gpu" pid 1000000
        track 3 "python" in 1
        1000 begin on 3 [user_annotation] "train" event kind=step step_num=3
        1500 begin on 3 [cuda_runtime] "cudaLaunchKernel" flow 2 event kind=launch
        1700 end on 3
        1800 instant on 3 [instant] "mark"
        10000 end on 3
        track 4 "Stream #7" in 2
        2000 begin on 4 [kernel] "gemm" flow 2 event kind=kernel operation=dot.1 module=jit_f scope=jit(f)/dot grid=[2,1,1] block=[64,1,1]
        3001 end on 4
        4000 begin on 4 [gpu_memcpy] "MemcpyH2D" event kind=copy host to device bytes=1024 source=pinned destination=device
        4010 end on 4
        track 5 "Stream #7" in 2
        2500 begin on 5 [kernel] "relu"
        3500 end on 5
    "#]]
    .assert_eq(&perfetto::render(&written));
}

#[test]
fn times_are_exact_before_and_after_zero() {
    let trace = ridge_test::trace("thread t\n -1500 +1 early\n 1790857026000000123 +1 late");
    let text = written(&trace, Form::Chrome, Privacy::Removed);
    assert!(text.contains("\"ts\":-1.500,") && text.contains("\"ts\":1790857026000000.123,"), "{text}");
}

#[test]
fn what_is_private_stays_only_if_asked() {
    let trace = ridge_test::trace("thread t\n 0 +1 /home/ada/train.py:3 python\n 2 +1 hf_abcdefghijklmnopqrst0123");
    for form in [Form::Chrome, Form::Perfetto, Form::Speedscope, Form::Csv] {
        let held = |privacy| String::from_utf8_lossy(&bytes(&trace, form, privacy)).into_owned();
        let (removed, kept) = (held(Privacy::Removed), held(Privacy::Kept));
        assert!(
            removed.contains("~/train.py:3") && !removed.contains("ada") && !removed.contains("hf_abc"),
            "{form:?}"
        );
        assert!(kept.contains("/home/ada/train.py:3") && kept.contains("hf_abc"), "{form:?}");
    }
}

#[test]
fn an_empty_trace_is_a_whole_document() {
    let trace = ridge_test::trace("");
    for form in [Form::Chrome, Form::Speedscope] {
        serde_json::from_str::<Value>(&written(&trace, form, Privacy::Removed)).expect("JSON");
    }
    assert!(!bytes(&trace, Form::Perfetto, Privacy::Removed).is_empty());
}
