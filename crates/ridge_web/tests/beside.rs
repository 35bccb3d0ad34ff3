//! Two stretches beside each other, the durations of like events, exposed collectives, and replays, against numbers that the
//! captures are made of.

mod support;

use ridge_web::Page;
use ridgeline::{OpenOptions, Session};
use serde_json::{Value, json};
use support::{page_of, whole};

/// Six steps of 100 µs that launch `gemm` and `add` twice each; the fourth has a `gemm` of 60 µs more and a copy.
fn trace() -> String {
    let mut events: Vec<String> = Vec::new();
    let mut event = |category: &str, name: &str, place: &str, start: u64, length: u64, arguments: &str| {
        events.push(format!(
            r#"{{"ph":"X","cat":"{category}","name":"{name}",{place},"ts":{start},"dur":{length},"args":{{{arguments}}}}}"#
        ));
    };
    let (host, device) = (r#""pid":100,"tid":100"#, r#""pid":0,"tid":7"#);
    let (mut at, mut id) = (1_000, 0);
    for step in 0..6 {
        let slower = if step == 3 { 60 } else { 0 };
        event("user_annotation", &format!("ProfilerStep#{step}"), host, at, 100 + slower, "");
        let mut ready = at + 5;
        for (name, length) in [("gemm", 20 + slower), ("add", 5), ("gemm", 20), ("add", 5)] {
            id += 1;
            event("cuda_runtime", "cudaLaunchKernel", host, at + 2 * (id % 4), 1, &format!(r#""correlation":{id}"#));
            event("kernel", name, device, ready, length, &format!(r#""device":0,"stream":7,"correlation":{id}"#));
            ready += length + 1;
        }
        if step == 3 {
            id += 1;
            event("cuda_runtime", "cudaMemcpyAsync", host, at + 20, 1, &format!(r#""correlation":{id}"#));
            let arguments = format!(r#""device":0,"stream":7,"correlation":{id},"bytes":64"#);
            event("gpu_memcpy", "Memcpy HtoD", device, ready, 7, &arguments);
            id += 3;
        }
        at += 100 + slower;
    }
    format!(r#"{{"schemaVersion":1,"traceEvents":[{}]}}"#, events.join(","))
}

#[test]
fn the_median_step_beside_the_outlier_and_what_differs_largest_first() {
    let page = page_of("trace.json", trace().as_bytes());
    let steps = whole(&page, "steps");
    let took: Vec<&Value> = steps["steps"].as_array().expect("steps").iter().map(|step| &step[4]).collect();
    assert_eq!(json!(took), json!([100_000, 100_000, 100_000, 160_000, 100_000, 100_000]));
    let number = |key: &str| {
        let row = &steps[key];
        steps["steps"].as_array().expect("steps").iter().find(|step| step[0] == *row).map(|step| step[1].clone())
    };
    assert_eq!((number("median"), number("outlier")), (Some(json!(4)), Some(json!(3))));

    let answer = whole(&page, "beside");
    let titles: Vec<&Value> = answer["halves"].as_array().expect("two").iter().map(|half| &half["title"]).collect();
    assert_eq!(json!(titles), json!(["step 4", "step 3"]));
    assert_eq!(json!([answer["halves"][0]["long_ns"], answer["halves"][1]["long_ns"]]), json!([100_000, 160_000]));
    let rows = &answer["differences"]["lists"][0]["rows"];
    assert_eq!(
        json!([rows[0], rows[1], rows[2]]),
        json!([["gemm", 40_000, 100_000, 2, 2], ["Memcpy HtoD", 0, 7_000, 0, 1], ["add", 10_000, 10_000, 2, 2]])
    );
    assert_eq!(answer["differences"]["totals"][1], json!(["devices busy", 50_000, 117_000]));
}

/// What one half has of the stream: `[name, nth, start, duration]` of each piece.
fn drawn(answer: &Value, half: usize) -> Vec<Value> {
    let tracks = answer["halves"][half]["tracks"].as_array().expect("tracks");
    let found = tracks.iter().find(|one| one["name"].as_str().is_some_and(|name| name.contains(" · ")));
    let name = |piece: &Value| answer["names"][piece[4].as_u64().expect("a number") as usize].clone();
    let pieces = found.expect("the stream")["pieces"].as_array().expect("pieces").iter();
    pieces.map(|piece| json!([name(piece), piece[5], piece[1], piece[2]])).collect()
}

#[test]
fn events_are_drawn_from_the_start_of_their_step_and_counted_by_name() {
    let page = page_of("trace.json", trace().as_bytes());
    let answer = whole(&page, "beside");
    assert_eq!(
        json!([drawn(&answer, 0), drawn(&answer, 1)]),
        json!([
            [["gemm", 0, 5000, 20000], ["add", 0, 26000, 5000], ["gemm", 1, 32000, 20000], ["add", 1, 53000, 5000]],
            [
                ["gemm", 0, 5000, 80000],
                ["add", 0, 86000, 5000],
                ["gemm", 1, 92000, 20000],
                ["add", 1, 113_000, 5000],
                ["Memcpy HtoD", 0, 119_000, 7000]
            ]
        ])
    );
    // A closer look counts what was before it too, so that the same events belong together.
    let closer = whole(&page, "beside?from=30000&to=60000");
    assert_eq!(
        json!([drawn(&closer, 0), drawn(&closer, 1)]),
        json!([
            [["add", 0, 30000, 1000], ["gemm", 1, 32000, 20000], ["add", 1, 53000, 5000]],
            [["gemm", 0, 30000, 30000]]
        ])
    );
}

#[test]
fn another_capture_is_drawn_above_with_its_median_step() {
    let folder = tempfile::tempdir().expect("a folder");
    let before = folder.path().join("before.json");
    std::fs::write(&before, trace().replace(r#""name":"add""#, r#""name":"sum""#)).expect("written");
    let page = page_of("trace.json", trace().as_bytes());
    assert_eq!(page.answer("beside?against=1").map_err(|refusal| refusal.status), Err(404));
    let page = page.against(&[before]);
    let answer = whole(&page, "beside?against=1");
    assert_eq!(json!([answer["halves"][0]["title"], answer["halves"][1]["title"]]), json!(["step 4", "step 4"]));
    let rows = &answer["differences"]["lists"][0]["rows"];
    assert_eq!(
        json!([rows[0], rows[1], rows[2]]),
        json!([["add", 0, 10_000, 0, 2], ["sum", 10_000, 0, 2, 0], ["gemm", 40_000, 40_000, 2, 2]])
    );
    assert_eq!(whole(&page, "steps?against=1")["total"], 6);
}

#[test]
fn durations_of_like_events_in_all_over_time_and_by_step() {
    let page = page_of("trace.json", trace().as_bytes());
    let hits = whole(&page, "search?q=name%3Dgemm");
    let row = hits["hits"][0]["row"].as_u64().expect("a row");
    let answer = whole(&page, &format!("durations/{row}"));
    let of = |key: &str| answer[key].clone();
    assert_eq!(
        json!([of("count"), of("least_ns"), of("p50_ns"), of("p95_ns"), of("most_ns"), of("total_ns")]),
        json!([12, 20_000, 20_000, 20_000, 80_000, 300_000])
    );
    let steps: Vec<Value> = answer["by_step"].as_array().expect("steps").clone();
    assert_eq!(json!([steps[2], steps[3]]), json!([[2, 2, 40_000, 20_000, 20_000], [3, 2, 100_000, 80_000, 80_000]]));
    let counted = |list: &Value, at: usize| -> u64 {
        list.as_array().expect("a list").iter().filter_map(|one| one[at].as_u64()).sum()
    };
    assert_eq!((counted(&answer["buckets"], 1), counted(&answer["over_time"]["columns"], 1)), (12, 12));
}

#[test]
fn exposed_collectives_are_events_and_no_longer_than_they_are() {
    let path = ridge_test::real("kineto").join("v100_dlrm_8rank");
    let page = Page::new(Session::open(&[path], &OpenOptions::default()).expect("a capture"));
    let answer = whole(&page, "collectives");
    let rows = answer["rows"].as_array().expect("rows");
    assert!(!rows.is_empty(), "{answer}");
    for row in rows {
        let (exposed, long) =
            (row["exposed_ns"].as_i64().expect("a number"), row["event"][2].as_i64().expect("a number"));
        assert!((1..=long).contains(&exposed), "{row}");
        let event = whole(&page, &format!("event/{}", row["event"][0]));
        assert_eq!((&event["name"], &event["category"]), (&row["name"], &json!("collective")));
    }
    assert!(answer["exposed_ns"].as_i64() <= answer["total_ns"].as_i64());
}

/// Of every finding: a timeline that is shorter where its saving comes from a replay, else a reason and no number.
#[test]
fn a_finding_has_a_predicted_timeline_or_a_reason() {
    let path = ridge_test::real("xplane").join("mi300_te_fused_attn.xplane.pb");
    let page = Page::new(Session::open(&[path], &OpenOptions::default()).expect("a capture"));
    let findings = whole(&page, "findings")["findings"].as_array().expect("findings").clone();
    let (mut shown, mut refused) = (0, 0);
    for (at, finding) in findings.iter().enumerate() {
        let answer = whole(&page, &format!("replay?finding={at}"));
        assert_eq!(answer["predicted"], true);
        if finding["saving"]["basis"] != "replay" {
            assert!(answer["refused"].is_string() && answer["halves"].is_null(), "{finding}: {answer}");
            refused += 1;
            continue;
        }
        let number = |value: &Value| value.as_i64().expect("a number");
        let saved = number(&answer["captured_ns"]) - number(&answer["replayed_ns"]);
        let (low, high) = (number(&finding["saving"]["low_ns"]), number(&finding["saving"]["high_ns"]));
        assert!((low..=high).contains(&saved), "{saved} of {low} to {high}");
        shown += 1;
    }
    assert!(shown > 0 && refused > 0, "{shown} {refused}");
    assert_eq!(page.answer("replay?finding=99").map_err(|refusal| refusal.status), Err(404));
}

/// Changes that are typed: the numbers of `ridgeline what-if`, and the timeline; words that mean nothing are refused.
#[test]
fn typed_changes_have_a_predicted_timeline() {
    let path = ridge_test::real("xplane").join("mi300_te_fused_attn.xplane.pb");
    let page = Page::new(Session::open(&[path], &OpenOptions::default()).expect("a capture"));
    let number = |value: &Value| value.as_i64().expect("a number");
    let kernel = whole(&page, "table/stats/kernel?limit=1")["rows"][0][0].as_str().expect("a name").to_owned();
    let saved = |change: &str| {
        let answer = whole(&page, &format!("replay?changes={}", change.replace('%', "%25").replace('&', "%26")));
        assert_eq!((&answer["predicted"], &answer["refused"]), (&json!(true), &Value::Null), "{answer}");
        assert_eq!(answer["halves"].as_array().map(Vec::len), Some(2));
        let concerned = number(&answer["changes"]["rows"][0][2]);
        (concerned, number(&answer["captured_ns"]) - number(&answer["replayed_ns"]))
    };
    let (events, gone) = saved("remove *");
    let (some, twice) = saved(&format!("scale {kernel}=2x"));
    assert!(events > some && some > 0 && gone > twice && twice > 0, "{events} {some}: {gone} {twice}");
    let nothing = whole(&page, "replay?changes=remove nothing is called so");
    assert_eq!((nothing["refused"].is_string(), &nothing["halves"]), (true, &Value::Null));
    let refused = |address: &str| page.answer(address).map_err(|refusal| refusal.message);
    assert_eq!(refused("replay?changes=%0A"), Err("expected 1 to 50 changes, found 0".to_owned()));
    assert_eq!(refused("replay?changes=scale a"), Err("expected NAME=TIMES, as in `gemm*=2x`".to_owned()));
}
