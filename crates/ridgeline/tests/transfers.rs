//! Transfers of every real capture at hand: totals that others computed, and overlaps worked out a second way.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt64Type};
use expect_test::expect;
use ridge_test::{corpus, files, fixtures, render};
use ridge_trace::Trace;
use ridgeline::{Answer, CeilingsChoice, FactValue, OpenOptions, Question, Session, Topic, view};
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

/// Captures of any format in `folder`, and in folders inside it.
fn captures(folder: &Path) -> Vec<PathBuf> {
    let (folders, found): (Vec<PathBuf>, Vec<PathBuf>) = files(folder, "").into_iter().partition(|path| path.is_dir());
    found.into_iter().chain(folders.iter().flat_map(|folder| captures(folder))).collect()
}

#[test]
fn overlaps_of_every_capture_are_exact() {
    let own = fixtures("nsys").parent().map(captures).unwrap_or_default();
    let theirs = ["xplane", "kineto", "nsys", "nsys-jax"]
        .iter()
        .filter_map(|format| corpus("overlaps_of_every_capture_are_exact", format))
        .flat_map(|folder| captures(&folder));
    let sessions = own.into_iter().chain(theirs).filter_map(|path| Some((open(&path)?, path)));
    let copies: u64 = sessions.map(|(session, path)| assert_agrees(&path, &session)).sum();
    assert!(copies > 0, "the project has fixtures with copies");
}

#[test]
fn copies_of_a_video_model_are_what_sql_says() {
    let Some(folder) = corpus("copies_of_a_video_model_are_what_sql_says", "nsys") else { return };
    let session = open(&folder.join("h100_2gpu_1s.sqlite")).expect("an intact capture");
    let report = ask(&session, "direction");
    // Count, bytes and time by copy kind are in h100_2gpu_1s.truth.json: 450, 50 950 507 584 and 1 841 630 798 to the
    // device, of which 4 are from pageable memory.
    let expected = "\
direction         from      to      transfers  bytes        total_ns
host to device    pinned    device  446        50950504448  1841627438
device to device  device    device  450        59368472576  39203544
device to host    device    pinned  4          18           7872
host to device    pageable  device  4          3136         3360
";
    let columns = ["direction", "from", "to", "transfers", "bytes", "total_ns"];
    assert_eq!(render(&report.tables[0], &columns), expected);
}

#[test]
fn a_model_that_the_user_names_stands_in_for_one_that_the_capture_does_not() {
    let test = "a_model_that_the_user_names_stands_in_for_one_that_the_capture_does_not";
    let Some(folder) = corpus(test, "nsys") else { return };
    // Its export was made without the tables that describe GPUs.
    let path = folder.join("h100_2gpu_1s.sqlite");
    let session = open(&path).expect("an intact capture");
    assert!(session.notes().iter().any(|note| note.message.contains("does not say what its GPUs are")));
    let columns = ["direction", "from", "link_bytes_per_sec", "link_share"];
    let link = |choice: &CeilingsChoice| {
        let options = OpenOptions { ceilings: choice.clone(), ..OpenOptions::default() };
        let session = Session::open(&[path.clone()], &options).expect("a data sheet of that name");
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
        device to device  device    1675999999999.992   0.904
        device to host    device    63015384615.385     0
        host to device    pageable  63015384615.385     0.015
    "#]]
    .assert_eq(&link(&CeilingsChoice::Sheet("NVIDIA H100 SXM5 80GB".to_owned())));
}
