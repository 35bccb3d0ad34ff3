//! Idle time of every real capture at hand adds up, to the nanosecond.
//!
//! The busy time is worked out here a second way, from a sorted list of all intervals.

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use ridge_test::{every_capture, real, render};
use ridge_trace::{EventKind, Trace};
use ridgeline::{OpenOptions, Session, Table, Topic};
use std::path::Path;

/// The session of a capture; `None` where the file is no capture.
fn open(path: &Path) -> Option<Session> {
    Session::open(&[path.to_owned()], &OpenOptions::default()).ok()
}

fn table(session: &Session, by: &str) -> Table {
    session.table(Topic::Idle, by).expect("a view of idle time")
}

fn column(table: &Table, key: &str) -> Vec<i64> {
    let column = table.batch.column_by_name(key).unwrap_or_else(|| panic!("no column {key}"));
    column.as_primitive::<Int64Type>().values().to_vec()
}

/// Busy time of each device with work, by sorting all of its intervals.
fn busy(trace: &Trace) -> Vec<i64> {
    let of_device = |device: usize| {
        let rows = trace.tracks_of_device(device as u32).flat_map(|track| track.rows.clone());
        let work = rows.map(|row| row as usize).filter(|row| trace.events.kind(*row).is_device_work());
        let mut spans: Vec<(i64, i64)> =
            work.map(|row| (trace.events.start_ns[row], trace.events.end_ns(row))).collect();
        spans.sort_unstable();
        let mut merged: Vec<(i64, i64)> = Vec::new();
        for (start, end) in spans {
            match merged.last_mut() {
                Some((_, until)) if start <= *until => *until = end.max(*until),
                _ => merged.push((start, end)),
            }
        }
        (!merged.is_empty()).then(|| merged.iter().map(|(start, end)| end - start).sum())
    };
    (0..trace.devices.len()).filter_map(of_device).collect()
}

/// Checks every identity that docs/idle.md promises.
fn assert_adds_up(path: &Path, session: &Session) {
    let name = path.display();
    let devices = table(session, "device");
    let [busy_ns, idle_ns, head, tail, active, capture] =
        ["busy_ns", "idle_ns", "head_ns", "tail_ns", "active_ns", "capture_ns"].map(|key| column(&devices, key));
    for row in 0..busy_ns.len() {
        assert_eq!(busy_ns[row] + idle_ns[row], active[row], "{name}: busy and idle are the active window");
        assert_eq!(head[row] + active[row] + tail[row], capture[row], "{name}: the capture window");
    }
    let (mut found, mut expected) = (busy_ns.clone(), busy(session.trace()));
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected, "{name}: busy time of every device");

    let causes = column(&table(session, "cause"), "idle_ns");
    assert!(causes.iter().all(|ns| *ns > 0), "{name}: no cause has negative time");
    assert_eq!(
        sum(&causes) + sum(&busy_ns),
        sum(&capture),
        "{name}: the causes and the busy time are the capture window"
    );

    let between = sum(&idle_ns);
    let host = column(&table(session, "host"), "idle_ns");
    assert_eq!(sum(&host), between + sum(&head) + sum(&tail), "{name}: what the host did");
    for by in ["op", "annotation", "source"] {
        assert_eq!(sum(&column(&table(session, by), "idle_ns")), between, "{name}: {by:?}");
    }
    let gaps = column(&table(session, "gap"), "length_ns");
    assert_eq!(sum(&gaps), between, "{name}: the gaps");
    assert!(gaps.iter().all(|ns| *ns > 0), "{name}: every gap has a length");
}

fn sum(values: &[i64]) -> i64 {
    values.iter().sum()
}

fn has_work(trace: &Trace) -> bool {
    trace.events.kind.iter().any(|kind| EventKind::from_byte_is_work(*kind))
}

#[test]
fn idle_time_of_every_capture_adds_up() {
    let mut checked = 0;
    for path in every_capture() {
        let Some(session) = open(&path) else { continue };
        if has_work(session.trace()) {
            assert_adds_up(&path, &session);
            checked += 1;
        }
    }
    assert!(checked > 0, "the project has fixtures with device work");
}

#[test]
fn causes_of_a_graph_replay() {
    let session = open(&real("xplane").join("nvidia_like_cudagraph.xplane.pb")).expect("an intact capture");
    let text = render(&table(&session, "cause"), &["cause", "idle_ns", "gaps", "longest_ns"]);
    // Eight steps: a copy issued 5 us into the step, a graph of 16 kernels 2 us apart 1 us after the copy, a copy back.
    let expected = "\
cause                  idle_ns  gaps  longest_ns
host late              672000   7     96000
inside a graph replay  240000   120   2000
waiting for a copy     30000    15    2000
in the launch call     21000    7     3000
before the first work  10000    1     10000
between queued work    8000     8     1000
";
    assert_eq!(text, expected);
}
