//! Tiles against the events themselves: at every zoom the busy time is the true union, and no event is invisible.
//!
//! Tiles are read here by the layout in docs/web-api.md alone.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use support::{Random, Tile, page_of, whole};

/// One event of a made-up track: start, duration.
type Span = (i64, i64);

/// A Chrome trace of one thread per list of spans.
fn chrome(tracks: &[Vec<Span>]) -> String {
    let event = |thread: usize, at: usize, (start, length): Span| {
        format!(
            r#"{{"ph":"X","pid":1,"tid":{},"ts":{}.{:03},"dur":{}.{:03},"name":"f{}"}}"#,
            thread + 1,
            start / 1000,
            start % 1000,
            length / 1000,
            length % 1000,
            at % 7
        )
    };
    let events: Vec<String> = tracks
        .iter()
        .enumerate()
        .flat_map(|(thread, spans)| spans.iter().enumerate().map(move |(at, span)| event(thread, at, *span)))
        .collect();
    format!(r#"{{"traceEvents":[{}]}}"#, events.join(","))
}

/// Length of the union of `spans` that is inside `from..until`.
fn union_ns(spans: &[Span], from: i64, until: i64) -> i64 {
    let mut clipped: Vec<Span> =
        spans.iter().map(|(start, length)| ((*start).max(from), (start + length).min(until))).collect();
    clipped.sort_unstable();
    let (mut sum, mut covered) = (0, i64::MIN);
    for (start, end) in clipped {
        sum += (end - start.max(covered)).max(0);
        covered = covered.max(end);
    }
    sum
}

/// The spans in order, from the first one's start on: readers may move the clock.
fn from_zero(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable();
    let first = spans.first().map_or(0, |(start, _)| *start);
    spans.iter().map(|(start, length)| (start - first, *length)).collect()
}

/// Holds every tile of every level of the capture against its events.
fn check(tracks: &[Vec<Span>]) {
    let page = page_of("trace.json", chrome(tracks).as_bytes());
    let outline = whole(&page, "timeline");
    let origin = outline["origin_ns"].as_i64().expect("a time");
    let drawn: Vec<&serde_json::Value> = outline["groups"]
        .as_array()
        .expect("groups")
        .iter()
        .flat_map(|group| group["tracks"].as_array().expect("tracks"))
        .collect();
    assert_eq!(drawn.len(), tracks.len());
    for track in drawn {
        let id = track["id"].as_u64().expect("a number");
        let top = track["levels"][1].as_u64().expect("a level");
        let spans = events_of(&page, id, origin);
        let read = from_zero(spans.values().map(|(span, _)| *span).collect());
        let mut made = tracks.iter().map(|spans| from_zero(spans.clone()));
        assert!(made.any(|made| made == read), "the events of a track are all there, and no others");
        for level in 0..=top {
            // Low levels of a long capture have too many tiles for a test; those around some events stand for them.
            check_level(&page, id, level, origin, &spans);
        }
    }
}

/// Every event of a track, as tiles with events have them: its span and its lane, by row.
fn events_of(page: &ridge_web::Page, track: u64, origin: i64) -> BTreeMap<u32, (Span, u16)> {
    let outline = whole(page, "timeline");
    let top = outline["groups"][0]["tracks"][0]["levels"][1].as_u64().expect("a level");
    let mut found = BTreeMap::new();
    let mut open = vec![(top, 0_u64)];
    while let Some((level, index)) = open.pop() {
        match Tile::read(&page.answer(&format!("tile/{track}/{level}/{index}")).expect("a tile").body) {
            Tile::Events { start_ns, events, .. } => {
                found.extend(events.iter().map(|event| {
                    let start = origin + start_ns + event.start_ns as i64;
                    (event.row, ((start, event.duration_ns as i64), event.lane))
                }));
            }
            Tile::Columns { .. } => open.extend([(level - 1, index * 2), (level - 1, index * 2 + 1)]),
        }
    }
    found
}

fn check_level(page: &ridge_web::Page, track: u64, level: u64, origin: i64, events: &BTreeMap<u32, (Span, u16)>) {
    const MOST_TILES: usize = 40;
    let (width, length) = (1_i64 << level, 1024_i64 << level);
    let touched: BTreeSet<i64> = events
        .values()
        .flat_map(|((start, duration), _)| {
            let (first, last) = ((start - origin) / length, (start + duration - origin) / length);
            [first, last]
        })
        .collect();
    let all_are_checked = touched.len() <= MOST_TILES;
    let mut lanes: BTreeMap<u16, Vec<Span>> = BTreeMap::new();
    events.values().for_each(|(span, lane)| lanes.entry(*lane).or_default().push(*span));
    let mut begun = 0;
    for index in touched.into_iter().take(MOST_TILES) {
        let body = page.answer(&format!("tile/{track}/{level}/{index}")).expect("a tile").body;
        let from = origin + index * length;
        match Tile::read(&body) {
            Tile::Events { start_ns, events: shown, .. } => {
                assert_eq!(start_ns, index * length);
                let has_part =
                    |(start, duration): Span| start < from + length && (start + duration > from || start >= from);
                let expected: Vec<u32> =
                    events.iter().filter(|(_, (span, _))| has_part(*span)).map(|(row, _)| *row).collect();
                let mut rows: Vec<u32> = shown.iter().map(|event| event.row).collect();
                rows.sort_unstable();
                assert_eq!(rows, expected, "level {level} tile {index}");
                begun += shown.iter().filter(|event| event.start_ns >= 0.0).count() as u64;
            }
            Tile::Columns { start_ns, columns } => {
                assert_eq!(start_ns, index * length);
                let drawn: BTreeMap<(u16, u16), (f32, u32)> = columns
                    .iter()
                    .map(|column| ((column.lane, column.column), (column.busy_share, column.count)))
                    .collect();
                assert_eq!(drawn.len(), columns.len(), "a column is said once");
                for (lane, spans) in &lanes {
                    let near: Vec<Span> = spans
                        .iter()
                        .filter(|(start, duration)| *start < from + length && start + duration >= from)
                        .copied()
                        .collect();
                    for column in 0..1024_u16 {
                        let begin = from + i64::from(column) * width;
                        let busy = union_ns(&near, begin, begin + width);
                        let starts =
                            near.iter().filter(|(start, _)| (begin..begin + width).contains(start)).count() as u32;
                        let (share, count) = drawn.get(&(*lane, column)).copied().unwrap_or((0.0, 0));
                        let place = format!("level {level} tile {index} lane {lane} column {column}");
                        assert_eq!(share, (busy as f64 / width as f64) as f32, "{place}");
                        assert_eq!(count, starts, "{place}");
                        let is_there = drawn.contains_key(&(*lane, column));
                        assert_eq!(is_there, busy > 0 || starts > 0, "{place}: no event is invisible");
                    }
                }
                begun += columns.iter().map(|column| u64::from(column.count)).sum::<u64>();
            }
        }
    }
    if all_are_checked {
        assert_eq!(begun, events.len() as u64, "level {level}: each event begins in one tile");
    }
}

#[test]
fn work_one_after_the_other() {
    let mut random = Random(1);
    let mut at = 5_000;
    let mut spans = Vec::new();
    for _ in 0..20_000 {
        at += random.below(400) as i64;
        let length = random.below(900) as i64;
        spans.push((at, length));
        at += length;
    }
    check(&[spans]);
}

#[test]
fn calls_inside_calls_and_beside_them() {
    let mut random = Random(2);
    let mut nested = Vec::new();
    let mut at = 0;
    for _ in 0..1_500 {
        let length = 2_000 + random.below(50_000) as i64;
        nested.push((at, length));
        for depth in 1..5 {
            nested.push((at + depth * 100, length - depth * 300));
        }
        at += length + random.below(3_000) as i64;
    }
    let across: Vec<Span> =
        (0..9_000).map(|_| (random.below(20_000_000) as i64, random.below(40_000) as i64)).collect();
    let points: Vec<Span> = (0..9_000).map(|_| (random.below(20_000_000) as i64, 0)).collect();
    check(&[nested, across, points]);
}

#[test]
fn one_event_beside_a_very_long_time() {
    let mut spans: Vec<Span> = (0..6_000).map(|at| (at * 10, 9)).collect();
    spans.push((3_600_000_000_000, 1));
    spans.push((0, 3_600_000_000_001));
    check(&[spans]);
}

#[test]
fn lanes_hold_nothing_twice() {
    let mut random = Random(3);
    let spans: Vec<Span> = (0..5_000).map(|_| (random.below(900_000) as i64, 1 + random.below(2_000) as i64)).collect();
    let page = page_of("trace.json", chrome(&[spans]).as_bytes());
    let mut lanes: BTreeMap<u16, Vec<Span>> = BTreeMap::new();
    events_of(&page, 0, 0).values().for_each(|(span, lane)| lanes.entry(*lane).or_default().push(*span));
    assert!(lanes.len() > 3);
    for (lane, mut spans) in lanes {
        spans.sort_unstable();
        assert!(spans.windows(2).all(|two| two[0].0 + two[0].1 <= two[1].0), "lane {lane}");
    }
}

#[test]
fn what_is_asked_in_vain_is_refused() {
    let page = page_of("trace.json", chrome(&[vec![(0, 5)]]).as_bytes());
    let status = |address: &str| page.answer(address).map_or_else(|refusal| refusal.status, |_| 200);
    for (address, expected) in [
        ("tile/0/0/0", 200),
        ("tile/0/0/18446744073709551615", 200),
        ("tile/0/52/18446744073709551615", 200),
        ("tile/0/53/0", 400),
        ("tile/1/0/0", 404),
        ("tile/x/0/0", 400),
        ("tile/0/0/-1", 400),
        ("tiles", 400),
        ("tiles?want=0/0/0,0/0/1", 200),
        ("tiles?want=0/0", 400),
        ("nothing", 404),
        ("../../etc/passwd", 404),
    ] {
        assert_eq!(status(address), expected, "{address}");
    }
}
