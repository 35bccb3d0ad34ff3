//! Every address on every capture that is kept here: each answers or says why not, and numbers agree with the tables.

mod support;

use ridge_web::Page;
use ridgeline::{OpenOptions, Session, Topic};
use serde_json::Value;
use std::sync::{Arc, mpsc};
use std::time::Duration;
use support::whole;

/// Addresses without a choice to make.
const PLAIN: [&str; 44] = [
    "capture",
    "findings",
    "timeline",
    "chart/roofline",
    "chart/roofline?by=kernel",
    "chart/memory",
    "chart/idle",
    "chart/alive?allocator=memory-0&at=1000000",
    "flame/scope",
    "flame/module",
    "flame/python",
    "flame/host",
    "flame/memory",
    "sources",
    "offload",
    "offload?as=h100",
    "scaling",
    "compare",
    "hlo/modules",
    "hlo/inside?module=jit_f&op=fusion",
    "search?q=a",
    "search?q=a&after=0",
    "selection?from=0&to=1000000000000",
    "idle?device=0",
    "gap?prev=0&next=1",
    "event/0",
    "durations/0",
    "durations/4294967295",
    "collectives",
    "critical",
    "critical?from=0&to=1000000",
    "flows?from=0&to=1000000000000",
    "steps",
    "steps?against=1",
    "beside",
    "beside?against=1",
    "replay?finding=0",
    "replay?changes=remove *%0Ascale a*=2x",
    "query?sql=select 1",
    "query/tables",
    "query/tables?of=raw.event",
    "event/4294967295",
    "counter/sample-0-0",
    "source?file=x.py",
];

/// The answer as JSON where there is one; no answer is a refusal that says why.
fn asked(page: &Page, address: &str) -> Option<Value> {
    match page.answer(address) {
        Ok(answer) => Some(serde_json::from_slice(&answer.body).unwrap_or_else(|error| panic!("{address}: {error}"))),
        Err(refusal) => {
            assert!(matches!(refusal.status, 400 | 404) && !refusal.message.is_empty(), "{address}: {refusal:?}");
            None
        }
    }
}

#[test]
fn every_address_answers_on_every_capture() {
    let mut captures = 0;
    for path in ridge_test::every_fixture() {
        let Ok(session) = Session::open(std::slice::from_ref(&path), &OpenOptions::default()) else { continue };
        captures += 1;
        let page = Page::new(session);
        PLAIN.iter().for_each(|address| drop(asked(&page, address)));
        let timeline = whole(&page, "timeline");
        for counter in timeline["counters"].as_array().expect("a list") {
            let id = counter["id"].as_str().expect("text");
            let points = whole(&page, &format!("counter/{id}"))["points"].as_array().expect("a list").len();
            assert!((1..=5_000).contains(&points), "{}: {points} points of {id}", path.display());
        }
        for topic in Topic::ALL {
            for view in page.session().answerable(topic) {
                let table = whole(&page, &format!("table/{}/{}?limit=3", topic.command(), view.id));
                let subjects = table["subjects"].as_array().expect("a list").iter();
                for id in subjects.filter_map(|subject| subject["id"].as_str()) {
                    let address =
                        format!("events?subject={}", id.replace('%', "%25").replace('&', "%26").replace('+', "%2B"));
                    assert!(asked(&page, &address).is_some(), "{}: {id}", path.display());
                }
            }
        }
        all_events_are_drawn(&page, &timeline);
    }
    assert!(captures > 20, "{captures}");
}

/// What several answers need is made by the first that asks; no worker of the pool may wait for work below on its own stack.
#[test]
fn requests_that_arrive_together_are_all_answered() {
    let line = |track: usize, at: usize| {
        format!(
            r#"{{"ph":"X","cat":"kernel","name":"k{}","pid":0,"tid":{track},"ts":{},"dur":2,"args":{{"device":0,"stream":{track}}}}}"#,
            at % 7,
            at * 3
        )
    };
    let lines: Vec<String> = (0..40).flat_map(|track| (0..400).map(move |at| line(track, at))).collect();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("many.json");
    std::fs::write(&path, format!(r#"{{"traceEvents":[{}]}}"#, lines.join(","))).expect("written");
    for _ in 0..100 {
        let session = Session::open(std::slice::from_ref(&path), &OpenOptions::default()).expect("a capture");
        let page = Arc::new(Page::new(session));
        let (answered, answers) = mpsc::channel();
        for address in ["capture", "timeline"] {
            let (page, answered) = (Arc::clone(&page), answered.clone());
            std::thread::spawn(move || answered.send(page.answer(address).is_ok()));
        }
        for _ in 0..2 {
            assert_eq!(answers.recv_timeout(Duration::from_secs(120)), Ok(true));
        }
    }
}

/// At the level of the whole capture each track's tile has all its events.
fn all_events_are_drawn(page: &Page, timeline: &Value) {
    let tracks = timeline["groups"]
        .as_array()
        .expect("groups")
        .iter()
        .flat_map(|group| group["tracks"].as_array().expect("tracks"));
    for track in tracks {
        let address = format!("tile/{}/{}/0", track["id"], track["levels"][1]);
        let drawn = match support::Tile::read(&page.answer(&address).expect("a tile").body) {
            support::Tile::Events { events, .. } => events.len() as u64,
            support::Tile::Columns { columns, .. } => columns.iter().map(|column| u64::from(column.count)).sum(),
        };
        assert_eq!(drawn, track["events"].as_u64().expect("a number"), "{address} of {track}");
    }
}

#[test]
fn sums_of_a_selection_are_those_of_the_tables() {
    let path = ridge_test::real("xplane").join("mi300_conv_08.xplane.pb");
    let page = Page::new(Session::open(&[path], &OpenOptions::default()).expect("a capture"));
    let selection = whole(&page, "selection?from=0&to=1000000000000");
    let busy = whole(&page, "capture")["overview"][0]["facts"].clone();
    let busy = busy.as_array().expect("facts").iter().find(|fact| fact["key"] == "busy_ns").expect("the busy time");
    assert_eq!(selection["busy_ns"], busy["value"], "the union over all devices");
    let kernels = whole(&page, "table/stats/kernel?limit=5");
    for (row, selected) in
        kernels["rows"].as_array().expect("rows").iter().zip(selection["by_kernel"].as_array().expect("rows")).take(1)
    {
        assert_eq!((&row[0], &row[2]), (&selected["name"], &selected["ns"]));
    }
    let categories = whole(&page, "table/stats/category?limit=50");
    let all: i64 = categories["rows"].as_array().expect("rows").iter().filter_map(|row| row[1].as_i64()).sum();
    let selected: i64 =
        selection["by_category"].as_array().expect("rows").iter().filter_map(|row| row["ns"].as_i64()).sum();
    assert_eq!(selected, all);
}

#[test]
fn rows_are_sorted_filtered_and_cut() {
    let path = ridge_test::real("xplane").join("mi300_conv_08.xplane.pb");
    let page = Page::new(Session::open(&[path], &OpenOptions::default()).expect("a capture"));
    let column = |table: &Value, at: usize| -> Vec<Value> {
        table["rows"].as_array().expect("rows").iter().map(|row| row[at].clone()).collect()
    };
    let whole_table = whole(&page, "table/stats/op");
    let names = column(&whole_table, 0);
    let sorted = whole(&page, "table/stats/op?sort=op");
    let mut expected = names.clone();
    expected.sort_by_key(|name| name.as_str().unwrap_or_default().to_owned());
    assert_eq!(column(&sorted, 0), expected);
    let down = whole(&page, "table/stats/op?sort=self_ns&desc=1&offset=1&limit=2");
    let at = whole_table["columns"]
        .as_array()
        .expect("columns")
        .iter()
        .position(|column| column["id"] == "self_ns")
        .expect("it has one");
    let mut times: Vec<i64> = column(&whole_table, at).iter().filter_map(Value::as_i64).collect();
    times.sort_unstable_by_key(|ns| std::cmp::Reverse(*ns));
    assert_eq!(column(&down, at).iter().filter_map(Value::as_i64).collect::<Vec<_>>(), times[1..3]);
    let found = whole(&page, "table/stats/op?filter=CONV");
    assert!(column(&found, 0).iter().any(|name| name.as_str().is_some_and(|name| name.contains("conv"))));
    assert!(
        found["total"].as_u64() < whole_table["total"].as_u64() && found["rows_total"] == whole_table["rows_total"]
    );
    assert_eq!(page.answer("table/stats/op?sort=nothing").map_err(|refusal| refusal.status), Err(400));
}

/// The columns of a table by their ids.
fn column_of(table: &Value, id: &str) -> usize {
    table["columns"].as_array().expect("columns").iter().position(|column| column["id"] == id).expect("a column")
}

#[test]
fn scopes_and_lines_light_what_their_rows_count() {
    let mut compared = 0;
    for path in ridge_test::every_fixture() {
        let Ok(session) = Session::open(std::slice::from_ref(&path), &OpenOptions::default()) else { continue };
        let page = Page::new(session);
        for view in ["scope", "source"] {
            let Some(table) = asked(&page, &format!("table/stats/{view}?limit=60")) else { continue };
            let events = column_of(&table, "events");
            let rows =
                table["rows"].as_array().expect("rows").iter().zip(table["subjects"].as_array().expect("subjects"));
            for (row, id) in rows.filter_map(|(row, subject)| Some((row, subject["id"].as_str()?))) {
                let encoded = id.replace('%', "%25").replace('&', "%26").replace('+', "%2B").replace('#', "%23");
                let lit = whole(&page, &format!("events?subject={encoded}"));
                // A line that made nothing itself lights what it is around.
                let counted = row[events].as_u64().expect("a number");
                let is_same = lit["count"] == counted || (view == "source" && counted == 0);
                assert!(is_same, "{}: {id} counts {counted} and lights {}", path.display(), lit["count"]);
                compared += usize::from(counted > 0);
            }
        }
    }
    assert!(compared > 100, "{compared}");
}

#[test]
fn what_is_alive_at_a_time_is_what_is_in_use_then() {
    let mut compared = 0;
    for path in ridge_test::every_fixture() {
        let Ok(session) = Session::open(std::slice::from_ref(&path), &OpenOptions::default()) else { continue };
        let page = Page::new(session);
        for allocator in whole(&page, "chart/memory")["allocators"].as_array().expect("a list") {
            let id = allocator["id"].as_str().expect("text");
            let (points, ends) = (allocator["points"].as_array().expect("points"), &allocator["ends_ns"]);
            for (at, point) in points.iter().enumerate().step_by(9) {
                let alive = whole(&page, &format!("chart/alive?allocator={id}&at={}", ends[at]));
                assert_eq!(alive["bytes"], point[2], "{} {id} until {}", path.display(), ends[at]);
                let held: i64 =
                    alive["alive"].as_array().expect("a list").iter().filter_map(|one| one["bytes"].as_i64()).sum();
                let known = held + alive["unknown_bytes"].as_i64().expect("a number");
                let is_cut = alive["alive"].as_array().is_some_and(|all| all.len() == 200);
                assert!(is_cut || Some(known) >= alive["bytes"].as_i64(), "{} {id}: {alive}", path.display());
                compared += 1;
            }
        }
    }
    assert!(compared > 30, "{compared}");
}
