//! Sums of selections against brute force: every nanosecond is looked at by itself.

mod support;

use ridge_web::Page;
use ridgeline::trace::{EventKind, Trace};
use ridgeline::{OpenOptions, Session};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use support::{Random, page_of, whole};

const LONG: u64 = 3_000;

/// Two devices of two streams each, whose kernels overlap; a thread of nested calls and ranges; a copy of a range on a stream.
fn made_up(random: &mut Random) -> String {
    let mut events: Vec<String> = Vec::new();
    let mut event = |category: &str, name: &str, place: &str, start: u64, length: u64, arguments: &str| {
        let (ts, dur) =
            (format!("{}.{:03}", start / 1000, start % 1000), format!("{}.{:03}", length / 1000, length % 1000));
        events.push(format!(
            r#"{{"ph":"X","cat":"{category}","name":"{name}",{place},"ts":{ts},"dur":{dur},"args":{{{arguments}}}}}"#
        ));
    };
    for device in 0..2 {
        for stream in [7, 9] {
            let mut at = random.below(200);
            while at < LONG {
                let length = 1 + random.below(150);
                let place = format!(r#""pid":{device},"tid":{stream}"#);
                let arguments = format!(r#""device":{device},"stream":{stream},"correlation":0"#);
                event("kernel", &format!("kernel{}", random.below(4)), &place, at, length, &arguments);
                at += length + random.below(90);
            }
            let place = format!(r#""pid":{device},"tid":{stream}"#);
            let arguments = format!(r#""device":{device},"stream":{stream}"#);
            event("gpu_user_annotation", "phase", &place, 100, 2_000, &arguments);
        }
    }
    let mut at = 0;
    while at < LONG {
        let length = 40 + random.below(300);
        let place = r#""pid":100,"tid":100"#;
        event(
            "python_function",
            &format!("train.py({}): f{}", random.below(9), random.below(3)),
            place,
            at,
            length,
            "",
        );
        event("user_annotation", "phase", place, at + 1, length - 2, "");
        event("cpu_op", "aten::mm", place, at + 3, length / 2, "");
        event("cpu_op", "aten::inner", place, at + 5, length / 4, "");
        at += length + random.below(30);
    }
    format!(r#"{{"schemaVersion":1,"traceEvents":[{}]}}"#, events.join(","))
}

fn side(kind: EventKind) -> Option<&'static str> {
    match kind {
        EventKind::Derived => None,
        EventKind::Annotation | EventKind::Step | EventKind::DeviceRange => Some("annotation"),
        EventKind::DeviceMemory | EventKind::Overhead | EventKind::Synchronization => Some("mark"),
        kind if kind.is_device_work() => Some("device"),
        _ => Some("host"),
    }
}

/// What is expected of one side.
#[derive(Debug, Default, PartialEq)]
struct Expected {
    events: u64,
    busy_ns: i64,
    /// By name: self time, total time, events.
    by_name: BTreeMap<String, (i64, i64, u64)>,
    by_track: BTreeMap<String, i64>,
}

/// Looks at every nanosecond from `from` to `to`, nanoseconds from the first start.
fn brute(
    trace: &Trace,
    from: i64,
    to: i64,
    tracks: &[usize],
    wanted: impl Fn(usize) -> bool,
) -> BTreeMap<&'static str, Expected> {
    let events = &trace.events;
    let origin = events.start_ns.iter().copied().min().unwrap_or(0);
    let mut found: BTreeMap<&str, Expected> = BTreeMap::new();
    for track in tracks {
        for row in trace.tracks[*track].rows.clone().map(|row| row as usize).filter(|row| wanted(*row)) {
            let (start, end) = (events.start_ns[row] - origin, events.end_ns(row) - origin);
            let Some(side) = side(events.kind(row)).filter(|_| start < to && end > from) else { continue };
            let expected = found.entry(side).or_default();
            expected.events += 1;
            expected.by_name.entry(trace.name(row).to_owned()).or_default().2 += 1;
        }
    }
    for time in from..to {
        // Who was busy at this nanosecond: devices of each side, and threads.
        let mut busy: BTreeSet<(&str, String)> = BTreeSet::new();
        for at in tracks {
            let track = &trace.tracks[*at];
            // The innermost of each side, which is the one that began last.
            let mut innermost: BTreeMap<&str, usize> = BTreeMap::new();
            for row in track.rows.clone().map(|row| row as usize) {
                let Some(side) = side(events.kind(row)) else { continue };
                if events.start_ns[row] - origin > time || events.end_ns(row) - origin <= time {
                    continue;
                }
                innermost.insert(side, row);
                if !wanted(row) {
                    continue;
                }
                let owner = match track.device {
                    Some(device) if side != "host" => format!("device {device}"),
                    _ => format!("track {at}"),
                };
                busy.insert((side, owner));
                found.get_mut(side).expect("counted").by_name.get_mut(trace.name(row)).expect("counted").1 += 1;
            }
            for (side, row) in innermost.into_iter().filter(|(_, row)| wanted(*row)) {
                let expected = found.get_mut(side).expect("counted");
                expected.by_name.get_mut(trace.name(row)).expect("counted").0 += 1;
                *expected.by_track.entry(trace.strings.get(track.name).to_owned()).or_default() += 1;
            }
        }
        for (side, _) in busy {
            found.get_mut(side).expect("counted").busy_ns += 1;
        }
    }
    found
}

fn answered(answer: &Value) -> BTreeMap<&str, Expected> {
    let side = |side: &'_ Value| {
        let list = |by: &str| side["by"][by]["rows"].as_array().expect("rows").clone();
        let name = |row: &Value| row["name"].as_str().expect("text").to_owned();
        let number = |row: &Value, key: &str| row[key].as_i64().expect("a number");
        let mut by_track: BTreeMap<String, i64> = BTreeMap::new();
        for row in list("track").iter().filter(|row| number(row, "self_ns") > 0) {
            *by_track.entry(name(row)).or_default() += number(row, "self_ns");
        }
        let of_name = |row: &Value| (number(row, "self_ns"), number(row, "total_ns"), number(row, "events") as u64);
        Expected {
            events: side["events"].as_u64().expect("a number"),
            busy_ns: number(side, "busy_ns"),
            by_name: list("name").iter().map(|row| (name(row), of_name(row))).collect(),
            by_track,
        }
    };
    answer["sides"]
        .as_array()
        .expect("sides")
        .iter()
        .map(|one| (one["side"].as_str().expect("text"), side(one)))
        .collect()
}

#[test]
fn sums_are_those_of_every_nanosecond_looked_at_by_itself() {
    let mut random = Random(11);
    let page = page_of("trace.json", made_up(&mut random).as_bytes());
    let trace = page.session().trace();
    assert_eq!(trace.devices.len(), 2, "two devices");
    let all: Vec<usize> = (0..trace.tracks.len()).collect();
    for n in 0..12 {
        let from = random.below(LONG) as i64;
        let to = from + 1 + random.below(900) as i64;
        let some: Vec<usize> =
            all.iter().copied().filter(|track| n == 0 || !random.below(4).is_multiple_of(3) || *track == 0).collect();
        let tracks = some.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
        let address = format!("selection?from={from}&to={to}&tracks={tracks}&rows=1000");
        let (answer, filtered) =
            (whole(&page, &address), whole(&page, &format!("{address}&where=name~el[12]|aten%20dur>30ns")));
        assert_eq!(answered(&answer), brute(trace, from, to, &some, |_| true), "{address}");
        let is_wanted = |row: usize| {
            let name = trace.name(row);
            (name.contains("el1") || name.contains("el2") || name.contains("aten")) && trace.events.dur_ns[row] > 30
        };
        assert_eq!(answered(&filtered), brute(trace, from, to, &some, is_wanted), "{address}, filtered");
    }
}

#[test]
fn a_whole_capture_has_the_busy_time_of_each_device_and_the_kernels_of_the_table() {
    for name in ["xplane/mi300_conv_08.xplane.pb", "nsys/h100_2gpu.sqlite"] {
        let path = ridge_test::real(name.split('/').next().expect("a folder"))
            .join(name.split('/').next_back().expect("a file"));
        let page = Page::new(Session::open(&[path], &OpenOptions::default()).expect("a capture"));
        let last = page.session().trace().tracks.len() - 1;
        let answer = whole(&page, &format!("selection?from=0&to=1000000000000&tracks=0-{last}&rows=2000"));
        let device = &answer["sides"][0];
        assert_eq!(device["side"], "device");
        let trace = page.session().trace();
        let mut busy_ns = 0;
        for at in 0..trace.devices.len() {
            let rows: Vec<usize> = trace
                .device_tracks()
                .filter(|track| track.device == Some(at as u32))
                .flat_map(|track| track.rows.clone())
                .map(|row| row as usize)
                .filter(|row| trace.events.kind(*row).is_device_work())
                .collect();
            busy_ns += ridge_test::union_ns(trace, &rows);
        }
        assert_eq!(device["busy_ns"], busy_ns, "{name}: the sum of the union of each device");
        let categories = whole(&page, "table/stats/category?limit=100");
        let of_table: i64 = categories["rows"].as_array().expect("rows").iter().filter_map(|row| row[1].as_i64()).sum();
        let of_answer: i64 = device["by"]["category"]["rows"]
            .as_array()
            .expect("rows")
            .iter()
            .filter_map(|row| row["self_ns"].as_i64())
            .sum();
        assert_eq!(of_answer, of_table, "{name}: no call of the host is among the categories of device work");
    }
}

#[test]
fn a_step_has_the_work_that_it_caused_and_lines_have_that_of_their_launches() {
    let place = r#""pid":1,"tid":1"#;
    let host = |name: &str, category: &str, start: u64, length: u64, id: u64| {
        format!(
            r#"{{"ph":"X","cat":"{category}","name":"{name}",{place},"ts":{start},"dur":{length},"args":{{"correlation":{id}}}}}"#
        )
    };
    let kernel = |start: u64, id: u64| {
        format!(
            r#"{{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":{start},"dur":10,"args":{{"device":0,"stream":7,"correlation":{id}}}}}"#
        )
    };
    let events = [
        host("ProfilerStep#1", "user_annotation", 0, 100, 0),
        host("train.py(12): step", "python_function", 5, 80, 0),
        host("cudaLaunchKernel", "cuda_runtime", 10, 5, 1),
        host("ProfilerStep#2", "user_annotation", 100, 100, 0),
        host("train.py(30): other", "python_function", 105, 80, 0),
        host("cudaLaunchKernel", "cuda_runtime", 110, 5, 2),
        // Late: it runs when the second step has begun.
        kernel(120, 1),
        kernel(140, 2),
    ];
    let page =
        page_of("trace.json", format!(r#"{{"schemaVersion":1,"traceEvents":[{}]}}"#, events.join(",")).as_bytes());
    let last = page.session().trace().tracks.len() - 1;
    let asked = |more: &str| whole(&page, &format!("selection?from=0&to=1000000&tracks=0-{last}{more}"));
    let device = |answer: &Value| answer["sides"][0].clone();
    assert_eq!((device(&asked(""))["busy_ns"].clone(), asked("")["steps"].clone()), (20_000.into(), 2.into()));
    let first = asked("&step=1&lines=1");
    assert_eq!((device(&first)["busy_ns"].clone(), first["steps"].clone()), (10_000.into(), 1.into()), "{first}");
    let lines = &device(&first)["by"]["line"]["rows"];
    assert_eq!((lines[0]["name"].as_str(), lines.as_array().map(Vec::len)), (Some("train.py:12"), Some(1)));
    assert_eq!(page.answer("selection?from=0&to=9&step=7").map_err(|refusal| refusal.status), Err(404));
    assert_eq!(page.answer("selection?from=0&to=9&where=dur>x").map_err(|refusal| refusal.status), Err(400));
}

#[test]
fn flames_and_idle_time_of_a_selection_are_of_it_alone() {
    let path = ridge_test::real("xplane").join("mi300_conv_08.xplane.pb");
    let page = Page::new(Session::open(&[path], &OpenOptions::default()).expect("a capture"));
    let whole_ns = whole(&page, "timeline")["span_ns"].as_i64().expect("a length");
    let last = page.session().trace().tracks.len() - 1;
    // The whole in two halves: what neither counts twice nor loses.
    let parts = [(0, whole_ns / 2), (whole_ns / 2, whole_ns + 1)];
    for by in ["scope", "module"] {
        let total = |address: &str| whole(&page, address)["root"]["total_ns"].as_i64().expect("a number");
        let halves: i64 =
            parts.iter().map(|(from, to)| total(&format!("flame/{by}?from={from}&to={to}&tracks=0-{last}"))).sum();
        assert_eq!(halves, total(&format!("flame/{by}")), "{by}");
    }
    let idle = |address: &str| -> i64 {
        let answer = whole(&page, address);
        let devices = answer["devices"].as_array().expect("devices");
        devices
            .iter()
            .flat_map(|device| device["causes"].as_array().expect("causes"))
            .filter_map(|cause| cause["ns"].as_i64())
            .sum()
    };
    let halves: i64 = parts.iter().map(|(from, to)| idle(&format!("chart/idle?from={from}&to={to}"))).sum();
    assert_eq!(halves, idle("chart/idle"));
    let answer = whole(&page, &format!("chart/idle?from=1000&to={}", whole_ns / 3));
    for device in answer["devices"].as_array().expect("devices") {
        let causes: i64 =
            device["causes"].as_array().expect("causes").iter().filter_map(|cause| cause["ns"].as_i64()).sum();
        let cells: i64 =
            device["over_time"]["cells"].as_array().expect("cells").iter().filter_map(|cell| cell[2].as_i64()).sum();
        assert_eq!(cells, causes, "{device}");
    }
}
