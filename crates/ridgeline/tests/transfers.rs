//! Transfers of every real capture at hand: totals that others computed, and overlaps worked out a second way.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt64Type};
use expect_test::expect;
use ridge_test::{every_capture, real, render};
use ridge_trace::Trace;
use ridgeline::{Answer, CeilingsChoice, FactValue, OpenOptions, Question, Session, Topic, view};
use serde_json::Value;
use std::path::{Path, PathBuf};

fn open(path: &Path) -> Option<Session> {
    Session::open(&[path.to_owned()], &OpenOptions::default()).ok()
}

fn ask(session: &Session, by: &str) -> Answer {
    let view = view(Topic::Transfers, by).expect("a view of transfers");
    session.answer(Topic::Transfers, &[view], Question::default()).expect("all devices")
}

fn nanos(report: &Answer, key: &str) -> i64 {
    let fact = report.sections[0].facts.iter().find(|fact| fact.key == key);
    match fact.map(|fact| &fact.value) {
        Some(FactValue::Nanos(ns)) => *ns,
        other => panic!("{key}: {other:?}"),
    }
}

/// Spans as a sorted list without overlaps.
fn merged(mut spans: Vec<(i64, i64)>) -> Vec<(i64, i64)> {
    spans.sort_unstable();
    let mut merged: Vec<(i64, i64)> = Vec::new();
    for (start, end) in spans {
        match merged.last_mut() {
            Some((_, until)) if start <= *until => *until = end.max(*until),
            _ => merged.push((start, end)),
        }
    }
    merged
}

/// Length of the part of `span` that `covering`, sorted and without overlaps, does not cover.
fn uncovered(span: (i64, i64), covering: &[(i64, i64)]) -> i64 {
    let first = covering.partition_point(|(_, end)| *end <= span.0);
    let inside = covering[first..].iter().take_while(|(start, _)| *start < span.1);
    let covered: i64 = inside.map(|(start, end)| (*end).min(span.1) - (*start).max(span.0)).sum();
    span.1 - span.0 - covered
}

/// Number of copies; their time and exposed time, each copy by itself; the same of the union of each device's copies.
fn expected(trace: &Trace) -> (u64, [i64; 4]) {
    let (mut count, mut sums) = (0, [0; 4]);
    for device in 0..trace.devices.len() {
        let rows =
            || trace.tracks_of_device(device as u32).flat_map(|track| track.rows.clone()).map(|row| row as usize);
        let span = |row: usize| (trace.events.start_ns[row], trace.events.end_ns(row));
        let compute = merged(rows().filter(|row| trace.events.kind(*row).is_compute()).map(span).collect());
        let copies: Vec<(i64, i64)> = rows().filter(|row| trace.events.kind(*row).is_copy()).map(span).collect();
        count += copies.len() as u64;
        for (at, spans) in [copies.clone(), merged(copies)].iter().enumerate() {
            sums[2 * at] += spans.iter().map(|(start, end)| end - start).sum::<i64>();
            sums[2 * at + 1] += spans.iter().map(|span| uncovered(*span, &compute)).sum::<i64>();
        }
    }
    (count, sums)
}

fn assert_agrees(path: &Path, session: &Session) -> u64 {
    let (count, [ns, exposed, copying, copying_exposed]) = expected(session.trace());
    for by in ["direction", "size", "cause"] {
        let report = ask(session, by);
        let batch = &report.tables[0].batch;
        let column = |key: &str| batch.column_by_name(key).unwrap_or_else(|| panic!("no column {key}"));
        let sum = |key: &str| column(key).as_primitive::<Int64Type>().values().iter().sum::<i64>();
        let transfers: u64 = column("transfers").as_primitive::<UInt64Type>().values().iter().sum();
        let name = path.display();
        assert_eq!((transfers, sum("total_ns"), sum("exposed_ns")), (count, ns, exposed), "{name}: {by:?}");
        assert_eq!(nanos(&report, "copying_ns"), copying, "{name}: union of copies");
        assert_eq!(nanos(&report, "exposed_ns"), copying_exposed, "{name}: exposed part of the union");
    }
    count
}

#[test]
fn overlaps_of_every_capture_are_exact() {
    let sessions = every_capture().into_iter().filter_map(|path| Some((open(&path)?, path)));
    let copies: u64 = sessions.map(|(session, path)| assert_agrees(&path, &session)).sum();
    assert!(copies > 0, "the project has fixtures with copies");
}

#[test]
fn copies_of_a_video_model_are_what_sql_says() {
    let session = open(&video_model()).expect("an intact capture");
    let truth = std::fs::read_to_string(real("nsys").join("h100_2gpu.truth.json")).expect("a fixture");
    let truth: Value = serde_json::from_str(&truth).expect("JSON");
    // Numbers of CUPTI's enumerations.
    let direction = ["", "host to device", "device to host", "", "", "", "", "", "device to device"];
    let place = ["pageable", "pinned", "device"];
    let mut expected = "direction|from|to|transfers|bytes|total_ns\n".to_owned();
    for row in truth["memcpy_by_place"].as_array().expect("rows") {
        let number = |key: &str| row[key].as_u64().expect("a number");
        let at = |key: &str| number(key) as usize;
        let names = [direction[at("copyKind")], place[at("srcKind")], place[at("dstKind")]].join("|");
        expected += &format!("{names}|{}|{}|{}\n", number("count"), number("bytes"), number("time_ns"));
    }
    let columns = ["direction", "from", "to", "transfers", "bytes", "total_ns"];
    let found = render(&ask(&session, "direction").tables[0], &columns);
    let cells =
        |line: &str| line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect::<Vec<_>>().join("|");
    let found: String = found.lines().map(|line| cells(line) + "\n").collect();
    assert_eq!(found, expected);
}

/// Two GPUs that run a video model.
fn video_model() -> PathBuf {
    real("nsys").join("h100_2gpu.sqlite")
}

#[test]
fn a_model_that_the_user_names_stands_in_for_one_that_the_capture_does_not() {
    // Its export was made without the tables that describe GPUs.
    let session = open(&video_model()).expect("an intact capture");
    assert!(session.notes().iter().any(|note| note.message.contains("doesn't name its GPUs")));
    let columns = ["direction", "from", "link_bytes_per_sec", "link_share"];
    let link = |choice: &CeilingsChoice| {
        let options = OpenOptions { ceilings: choice.clone(), ..OpenOptions::default() };
        let session = Session::open(&[video_model()], &options).expect("a data sheet of that name");
        render(&ask(&session, "direction").tables[0], &columns)
    };
    expect![[r#"
        direction         from      link_bytes_per_sec  link_share
        host to device    pinned    -                   -
        device to device  device    -                   -
        device to host    device    -                   -
        host to device    pageable  -                   -
    "#]]
    .assert_eq(&link(&CeilingsChoice::None));
    expect![[r#"
        direction         from      link_bytes_per_sec  link_share
        host to device    pinned    63015384615.385     0.439
        device to device  device    1676000000000       0.903
        device to host    device    63015384615.385     0
        host to device    pageable  63015384615.385     0.015
    "#]]
    .assert_eq(&link(&CeilingsChoice::Sheet("NVIDIA H100 SXM5 80GB".to_owned())));
}
