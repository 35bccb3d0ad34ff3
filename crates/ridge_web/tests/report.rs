//! The report in one file: it holds what the server would answer, stays below its size, and says what it left out.

mod support;

use base64::Engine as _;
use flate2::read::GzDecoder;
use ridge_redact::Words;
use ridge_web::Page;
use ridge_web::report::{Part, Report, ReportOptions, report};
use ridgeline::{OpenOptions, Session};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Read as _;
use support::{Random, Tile, page_of};

/// The answers in a report by their keys, and the index.
fn unpacked(html: &str) -> (Value, BTreeMap<String, Vec<u8>>) {
    let start = "id=\"ridgeline-data\">";
    let data = html.split_once(start).and_then(|(_, rest)| rest.split_once("</script>")).expect("data").0;
    let packed = base64::engine::general_purpose::STANDARD.decode(data).expect("base64");
    let mut all = Vec::new();
    GzDecoder::new(&packed[..]).read_to_end(&mut all).expect("gzip");
    let length = u32::from_le_bytes(all[..4].try_into().expect("four bytes")) as usize;
    let index: Value = serde_json::from_slice(&all[4..4 + length]).expect("an index");
    let bodies = &all[4 + length..];
    let place = |place: &Value, at: usize| place[at].as_u64().expect("a number") as usize;
    let answers = index["answers"].as_object().expect("answers").iter();
    let answers = answers.map(|(key, at)| (key.clone(), bodies[place(at, 0)..place(at, 0) + place(at, 1)].to_vec()));
    let answers = answers.collect();
    (index, answers)
}

fn all_of(page: &Page, most_bytes: u64) -> Report {
    report(page, &ReportOptions { parts: Part::ALL.to_vec(), most_bytes, opens_at: None }).expect("a report")
}

/// A trace with so many calls, some with a private name.
fn trace(events: usize) -> String {
    let mut random = Random(5);
    let names = ["/home/ada/solver.py(3): step", "matmul", "dot on vm7.lab.example"];
    let event = |at: usize| {
        let (name, length) = (names[at % 3], random.below(9_000));
        format!(
            r#"{{"ph":"X","pid":1,"tid":1,"ts":{},"dur":{}.{:03},"name":"{name}"}}"#,
            at * 10,
            length / 1000,
            length % 1000
        )
    };
    let events: Vec<String> = (0..events).map(event).collect();
    format!(r#"{{"traceEvents":[{}]}}"#, events.join(","))
}

#[test]
fn a_report_holds_what_the_server_answers() {
    let page = page_of("trace.json", trace(9_000).as_bytes());
    let made = all_of(&page, 20_000_000);
    let (index, answers) = unpacked(&made.html);
    for key in ["capture", "findings", "timeline", "table/stats/track", "flame/host"] {
        assert!(answers.contains_key(key), "{key} of {:?}", answers.keys().collect::<Vec<_>>());
    }
    for (key, body) in answers.iter().filter(|(key, _)| *key != "capture" && !key.starts_with("table/")) {
        assert!(page.answer(key).expect("an answer").body == *body, "{key}");
    }
    let capture: Value = serde_json::from_slice(&answers["capture"]).expect("JSON");
    assert_eq!(capture["has"]["report"], true);
    assert_eq!(index["left_out"].as_array().expect("sentences").len(), made.left_out.len());
    let begun: usize = answers.iter().filter(|(key, _)| key.starts_with("tile/")).map(|(_, body)| begun(body)).sum();
    assert_eq!(begun, 9_000, "each event is in one of the tiles that hold events");
}

/// Every closer look repeats all events that are open: what packs to nothing must not unpack to gigabytes.
#[test]
fn thousands_of_events_that_overlap_fit_into_memory() {
    let event = |at: usize| format!(r#"{{"ph":"X","pid":1,"tid":1,"ts":{},"dur":1000000,"name":"f"}}"#, at * 10);
    let events: Vec<String> = (0..9_000).map(event).collect();
    let page = page_of("trace.json", format!(r#"{{"traceEvents":[{}]}}"#, events.join(",")).as_bytes());
    let made = all_of(&page, 20_000_000);
    let (_, answers) = unpacked(&made.html);
    let tiles: usize = answers.iter().filter(|(key, _)| key.starts_with("tile/")).map(|(_, body)| body.len()).sum();
    assert!(tiles > 0 && tiles <= 64 << 20, "{tiles} bytes of tiles");
    assert!(made.left_out.iter().any(|said| said.contains("so many events overlap")), "{:?}", made.left_out);
}

/// Events that begin in a tile, where it holds them.
fn begun(body: &[u8]) -> usize {
    match Tile::read(body) {
        Tile::Events { events, .. } => events.iter().filter(|event| event.start_ns >= 0.0).count(),
        Tile::Columns { .. } => 0,
    }
}

#[test]
fn a_small_report_ends_the_timeline_at_what_fits() {
    let page = page_of("trace.json", trace(40_000).as_bytes());
    let whole = all_of(&page, 20_000_000).html.len() as u64;
    let most = whole * 2 / 3;
    let small = all_of(&page, most);
    assert!(small.html.len() as u64 <= most, "{} of {most}", small.html.len());
    assert!(small.left_out.iter().any(|said| said.starts_with("the timeline closer than")), "{:?}", small.left_out);
    let (_, answers) = unpacked(&small.html);
    assert!(answers.keys().any(|key| key.starts_with("tile/")), "the levels that fit are there");
    let refused = report(&page, &ReportOptions { parts: Part::ALL.to_vec(), most_bytes: 100, opens_at: None });
    assert!(refused.is_err());
}

#[test]
fn only_the_parts_that_were_asked_for_are_there() {
    let page = page_of("trace.json", trace(100).as_bytes());
    let options =
        ReportOptions { parts: vec![Part::Overview, Part::Operations], most_bytes: 20_000_000, opens_at: None };
    let made = report(&page, &options).expect("a report");
    let (_, answers) = unpacked(&made.html);
    assert!(answers.keys().all(|key| key == "capture" || key.starts_with("table/")), "{:?}", answers.keys());
    assert!(
        made.left_out.iter().any(|said| said.contains("views that were left out: findings, whatif, timeline")),
        "{:?}",
        made.left_out
    );
}

#[test]
fn nothing_private_is_in_a_redacted_report() {
    let open = all_of(&page_of("trace.json", trace(9_000).as_bytes()), 20_000_000);
    let private = ["/home/ada", "vm7.lab.example"];
    let holds = |made: &Report, word: &str| {
        let (_, answers) = unpacked(&made.html);
        answers.values().any(|body| body.windows(word.len()).any(|part| part == word.as_bytes()))
    };
    assert!(private.iter().all(|word| holds(&open, word)));
    let mut words = Words::default();
    words.add_host("vm7.lab.example");
    let page = page_of("trace.json", trace(9_000).as_bytes()).redacted(words);
    let redacted = all_of(&page, 20_000_000);
    assert!(private.iter().all(|word| !holds(&redacted, word)), "{private:?}");
    assert!(holds(&redacted, "solver.py(3): step") && !holds(&redacted, "~/solver.py"));
}

#[test]
fn the_file_asks_nobody() {
    let made = all_of(&page_of("trace.json", trace(10).as_bytes()), 20_000_000);
    assert!(made.html.contains("default-src 'none'") && !made.html.contains("connect-src"), "no address may be asked");
}

#[test]
fn a_comparison_is_in_a_report_and_names_no_folder_where_that_is_private() {
    let before = ridge_test::real("xplane").join("mi300_gemm.xplane.pb");
    let page = || page_of("trace.json", trace(200).as_bytes()).against(std::slice::from_ref(&before));
    let names = |page: &Page| {
        let made = report(page, &ReportOptions { parts: vec![Part::Compare], most_bytes: 20_000_000, opens_at: None })
            .expect("a report");
        let (_, answers) = unpacked(&made.html);
        let document: Value = serde_json::from_slice(&answers["compare"]).expect("JSON");
        assert_eq!(document["schema"], "ridgeline.diff.v1");
        document["before"]["names"][0].as_str().expect("a name").to_owned()
    };
    assert_eq!(names(&page()), before.display().to_string());
    assert_eq!(names(&page().redacted(Words::default())), "mi300_gemm.xplane.pb");
}

#[test]
fn programs_are_in_a_report_with_what_is_inside_and_their_text_as_far_as_they_fit() {
    let path = ridge_test::real("xplane").join("mi300_te_fused_attn.xplane.pb");
    let page = Page::new(Session::open(&[path], &OpenOptions::default()).expect("a capture"));
    let of = |most_bytes: u64| {
        let options = ReportOptions { parts: vec![Part::Graph], most_bytes, opens_at: None };
        let made = report(&page, &options).expect("a report");
        (unpacked(&made.html).1, made.left_out)
    };
    let (answers, left_out) = of(20_000_000);
    assert!(left_out.iter().all(|said| !said.contains("did not fit")), "{left_out:?}");
    let mut opened = 0;
    for (key, body) in answers.iter().filter(|(key, _)| key.starts_with("hlo/graph?")) {
        let drawing: Value = serde_json::from_slice(body).expect("JSON");
        let module = key.split("module=").nth(1).and_then(|rest| rest.split('&').next()).expect("a module");
        for node in drawing["nodes"].as_array().expect("nodes") {
            let has_inside = node["inside"].as_array().expect("a list").iter().any(|one| !one["root"].is_null());
            let inside = format!("hlo/inside?module={module}&op={}", node["name"].as_str().expect("a name"));
            assert_eq!(answers.contains_key(&inside), has_inside, "{inside} of {key}");
            opened += usize::from(has_inside);
        }
        assert!(answers.contains_key(&format!("hlo/text?module={module}&stage=after")), "the text of {module}");
    }
    assert!(opened > 0, "no node has anything inside");
    let smallest = (1..).map(|kib| kib * 8192).find(|most| {
        let options = ReportOptions { parts: vec![Part::Graph], most_bytes: *most, opens_at: None };
        report(&page, &options).is_ok()
    });
    let (answers, left_out) = of(smallest.expect("a size") + 16_384);
    let insides = answers.keys().filter(|key| key.starts_with("hlo/inside?")).count();
    let said = left_out.iter().find(|said| said.starts_with("the contents of fusions and calls: "));
    assert!(insides < opened && said.is_some_and(|said| said.contains("did not fit")), "{insides}: {left_out:?}");
}

#[test]
fn a_report_opens_at_an_address_with_what_is_chosen_there() {
    let page = page_of("trace.json", trace(9_000).as_bytes());
    let address = "http://127.0.0.1:8080/0123/#/timeline?a=5&b=900&where=dur%3E1ms&event=8999&marks=7%3Alate";
    let options =
        ReportOptions { parts: Part::ALL.to_vec(), most_bytes: 20_000_000, opens_at: Some(address.to_owned()) };
    let (index, answers) = unpacked(&report(&page, &options).expect("a report").html);
    assert_eq!(index["at"], "timeline?a=5&b=900&where=dur%3E1ms&event=8999&marks=7%3Alate");
    assert!(answers.contains_key("event/8999"));
    let sums = "selection?from=5&lines=1&rows=200&to=900&tracks=0&where=dur%3E1ms";
    assert!(answers.contains_key(sums), "{sums} of {:?}", answers.keys().collect::<Vec<_>>());
    let (index, _) = unpacked(&all_of(&page, 20_000_000).html);
    assert_eq!(index["at"], Value::Null);
}
