//! A monitor's log beside a trace: each of its numbers is a lane of the timeline, at the times of the trace.

mod support;

use ridge_web::Page;
use ridgeline::{OpenOptions, Session};
use serde_json::Value;
use support::whole;

/// Two seconds of PyTorch's trace from 2023-11-14 22:13:20 on, UTC, with a kernel on device 0 in its second second.
const TRACE: &str = r#"{"schemaVersion":1,"baseTimeNanoseconds":1700000000000000000,"traceEvents":[
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":9,"tid":9,"ts":0,"dur":2000000,"args":{}},
{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":1000000,"dur":900000,"args":{"device":0,"stream":7}}]}"#;

/// As `nvidia-smi --query-gpu=… --format=csv` prints it, an hour before UTC.
const LOG: &str = "timestamp, index, utilization.gpu [%], memory.used [MiB]\n\
    2023/11/14 23:13:20.500, 0, 0 %, 100 MiB\n\
    2023/11/14 23:13:21.500, 0, 93 %, 4000 MiB\n";

#[test]
fn numbers_of_a_log_are_lanes_of_the_device_at_the_times_of_the_trace() {
    let folder = tempfile::tempdir().expect("a folder");
    let paths = [("trace.json", TRACE), ("gpu.csv", LOG)].map(|(name, text)| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("written");
        path
    });
    let page = Page::new(Session::open(&paths, &OpenOptions::default()).expect("a trace and its log"));
    let timeline = whole(&page, "timeline");
    let mut groups = timeline["groups"].as_array().expect("groups").iter();
    let device = groups.find(|group| group["name"] == "/device:GPU:0").expect("the device")["row"].as_u64();
    let lanes: Vec<&Value> = timeline["counters"].as_array().expect("a list").iter().collect();
    assert_eq!(lanes.len(), 2, "{timeline:#}");
    for (lane, values) in lanes.into_iter().zip([[0.0, 93.0], [100.0, 4000.0]]) {
        assert_eq!((lane["device"].as_u64(), lane["samples"].as_u64()), (device, Some(2)), "{lane}");
        let points =
            whole(&page, &format!("counter/{}?level=0", lane["id"].as_str().expect("an id")))["points"].clone();
        let found: Vec<(i64, f64)> = (points.as_array().expect("points").iter())
            .map(|point| (point[0].as_i64().expect("a time"), point[3].as_f64().expect("a value")))
            .collect();
        assert_eq!(found, [(500_000_000, values[0]), (1_500_000_000, values[1])], "{lane}");
    }
}
