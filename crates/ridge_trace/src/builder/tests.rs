//! Rows in the final order stay where they are, and rows in any other order give the same trace.

use super::*;

/// Track, start and duration of a row.
type Row = (u32, i64, i64);

/// A builder with `tracks` tracks and `rows` in the order given; each row's name is its place in `named`.
fn built(tracks: u32, rows: &[Row], named: &[Row]) -> TraceBuilder {
    let mut builder = TraceBuilder::new();
    let process = builder.add_process("", None);
    for track in 0..tracks {
        builder.add_track(process, None, TrackKind::HostThread, "", i64::from(track));
    }
    let names: Vec<StringId> = (0..named.len()).map(|place| builder.strings.intern(&place.to_string())).collect();
    for row in rows {
        let place = named.iter().position(|found| found == row).expect("each row is named");
        builder.push(row.0, NewEvent::new(EventKind::HostRange, names[place], row.1, row.2));
    }
    builder
}

/// Every column that tells rows apart, and the rows of every track.
fn columns(trace: &Trace) -> String {
    let events = &trace.events;
    let rows: Vec<Range<u32>> = trace.tracks.iter().map(|track| track.rows.clone()).collect();
    let (start, dur) = (&events.start_ns[..], &events.dur_ns[..]);
    format!("{rows:?}\n{start:?}\n{dur:?}\n{:?}\n{:?}\n{:?}", &events.name[..], &events.parent[..], &events.link[..])
}

/// Two tracks with work, the first with a nest, and empty ones before, between and behind them.
const SORTED: [Row; 6] = [(1, 0, 100), (1, 10, 30), (1, 15, 5), (1, 60, 10), (3, 5, 5), (3, 20, 5)];

fn in_order() -> TraceBuilder {
    built(5, &SORTED, &SORTED)
}

#[test]
fn sorted_rows_stay_where_they_are() {
    assert_eq!(in_order().order(), None);
    let trace = in_order().finish();
    let rows: Vec<Range<u32>> = trace.tracks.iter().map(|track| track.rows.clone()).collect();
    assert_eq!(rows, [0..0, 0..4, 4..4, 4..6, 6..6]);
    assert_eq!(trace.events.parent[..], [NONE, 0, 1, 0, NONE, NONE]);
}

#[test]
fn any_order_gives_the_same_trace() {
    let expected = columns(&in_order().finish());
    for order in [[5, 4, 3, 2, 1, 0], [4, 0, 5, 1, 2, 3], [0, 2, 1, 3, 4, 5], [4, 5, 0, 1, 2, 3], [0, 1, 4, 2, 3, 5]] {
        let rows = order.map(|place: usize| SORTED[place]);
        assert!(built(5, &rows, &SORTED).order().is_some(), "{order:?} is not the final order");
        assert_eq!(columns(&built(5, &rows, &SORTED).finish()), expected, "{order:?}");
    }
}

#[test]
fn at_one_start_the_longest_comes_first() {
    let rows = [(0, 0, 5), (0, 0, 10), (0, 0, 7)];
    let trace = built(1, &rows, &rows).finish();
    assert_eq!((&trace.events.dur_ns[..], &trace.events.parent[..]), (&[10, 7, 5][..], &[NONE, 0, 1][..]));
}

#[test]
fn rows_that_point_at_rows_follow_them() {
    let point = |builder: &mut TraceBuilder, row: u32, target: u32| {
        builder.slices(0..6).link[row as usize] = target;
        builder.steps.push(Step { event: target, number: 0 });
        builder.backwards.push(Backward { event: row, forward: target });
    };
    let pointed = |trace: &Trace| {
        (trace.events.link.to_vec(), trace.steps[0].event, (trace.backwards[0].event, trace.backwards[0].forward))
    };
    let mut sorted = in_order();
    point(&mut sorted, 4, 1);
    assert_eq!(sorted.order(), None);
    let expected = pointed(&sorted.finish());
    assert_eq!(expected, (vec![NONE, NONE, NONE, NONE, 1, NONE], 1, (4, 1)));
    let mut reversed = built(5, &[5, 4, 3, 2, 1, 0].map(|place: usize| SORTED[place]), &SORTED);
    point(&mut reversed, 1, 4);
    assert_eq!(pointed(&reversed.finish()), expected);
}

#[test]
fn a_row_that_is_dropped_leaves_nothing_behind() {
    let mut builder = in_order();
    builder.slices(0..6).link[4] = 1;
    builder.steps.extend([1, 3].map(|event| Step { event, number: 0 }));
    builder.drop_row(1);
    let trace = builder.finish();
    assert_eq!(trace.events.start_ns[..], [0, 15, 60, 5, 20]);
    assert_eq!(trace.events.parent[..], [NONE, 0, 0, NONE, NONE], "what it enclosed is in what encloses it");
    assert!(trace.events.link.iter().all(|link| *link == NONE), "nothing points at it");
    assert_eq!(trace.steps.iter().map(|step| step.event).collect::<Vec<_>>(), [2]);
}

#[test]
fn a_row_that_is_moved_is_on_the_other_track_alone() {
    let mut builder = in_order();
    builder.move_row(1, 3);
    let trace = builder.finish();
    let rows: Vec<Range<u32>> = trace.tracks.iter().map(|track| track.rows.clone()).collect();
    assert_eq!(rows, [0..0, 0..3, 3..3, 3..6, 6..6]);
    assert_eq!(trace.events.start_ns[..], [0, 15, 60, 5, 10, 20]);
    assert_eq!(trace.events.parent[..], [NONE, 0, 0, NONE, NONE, 4]);
}

#[test]
fn many_rows_are_finished_on_many_threads_alike() {
    let rows = |track: u32| (0..PARALLEL_ROWS as i64).map(move |row| (track, row / 4 * 8, 8 - 2 * (row % 4)));
    let push = |builder: &mut TraceBuilder, tracks: [u32; 2]| {
        let name = builder.strings.intern("row");
        for (track, start_ns, dur_ns) in tracks.into_iter().flat_map(rows) {
            builder.push(track, NewEvent::new(EventKind::HostRange, name, start_ns, dur_ns));
        }
    };
    let (mut sorted, mut turned) = (built(2, &[], &[]), built(2, &[], &[]));
    push(&mut sorted, [0, 1]);
    push(&mut turned, [1, 0]);
    assert_eq!(sorted.order(), None);
    assert!(turned.order().is_some());
    let (sorted, turned) = (sorted.finish(), turned.finish());
    assert!(columns(&sorted) == columns(&turned), "the order of tracks does not matter");
    let second = PARALLEL_ROWS as u32;
    assert_eq!(sorted.events.parent[second as usize..][..6], [NONE, second, second + 1, second + 2, NONE, second + 4]);
}

#[test]
fn what_the_recorder_did_is_overhead_with_all_inside_of_it() {
    // A step with a range of the recorder's, in which a call ran; a thread of its own.
    let rows = [(0, 0, 100), (0, 10, 50), (0, 20, 10), (0, 70, 10), (1, 0, 100), (1, 5, 10)];
    let mut builder = built(2, &rows, &rows);
    let named = |place: &str| builder.strings.find(place).expect("each row is named");
    builder.recorder_names = RecorderNames { work: vec![named("1"), named("5")], threads: vec![named("4")] };
    let trace = builder.finish();
    let kinds: Vec<EventKind> = (0..rows.len()).map(|row| trace.events.kind(row)).collect();
    let (call, ours) = (EventKind::HostRange, EventKind::Overhead);
    assert_eq!(kinds, [call, ours, ours, call, call, ours]);
    let tracks: Vec<TrackKind> = trace.tracks.iter().map(|track| track.kind).collect();
    assert_eq!(tracks, [TrackKind::HostThread, TrackKind::Derived]);
}
