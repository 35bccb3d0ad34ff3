//! What `check` says of one real capture, in every form.

mod schema;

use expect_test::{Expect, expect};
use ridge_report::check::{Options, github, json, junit, markdown, sarif, text};
use ridge_report::terminal::Layout;
use ridgeline::{Check, OpenOptions, Selection, Session};
use serde_json::Value;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn checked(select: &[&str]) -> Check {
    let path = root().join("fixtures/real/kineto/mi300_sglang_decode_hipgraph.json.gz");
    let session = Session::open(&[path], &OpenOptions::default()).expect("a fixture");
    let only = select.iter().map(|name| (*name).to_owned()).collect();
    Check { path: "run/".to_owned(), ..session.check(&Selection { only, ignored: Vec::new() }) }
}

#[track_caller]
fn check(text: &str, expected: Expect) {
    expected.assert_eq(text);
}

#[test]
fn text_for_a_terminal() {
    check(
        &text::full(&checked(&[]), &Options::default(), &Layout::plain(80)),
        expect![[r#"
            step 474 ms · device busy 2.1% · 1 finding accounts for 463 ms · capture
            quality: partial

            capture[few-or-unstable-steps]: 1 step is in the capture: step-to-step variation
              is unknown
               = effect: cannot tell what a step took
               = fix: `ridgeline record --steps 10..20 -- python PROGRAM.py`

            warning[unexplained-wait]: a stream waits 463 ms for work from before the
              capture
               --> /sgl-workspace/sglang/python/sglang/jit_kernel/resolve_future_token_ids.py:30
               = time: 463 ms of 474 ms per step (97.7%)
               = evidence: 463 ms idle although the next work had been launched long ago
               = evidence: 4 more operations launched on the stream during the wait couldn't
                 start either
               = evidence: `hipMemcpyWithStream` waits with the stream: it is a victim, not
                 the cause
               = why: work on a stream starts only after all earlier work is done, and
                 nothing in the capture runs during the wait
               = help: before you change anything, start the capture earlier and record two
                 steps, so that it contains the work the stream waited for
               = saving: at most 460 ms per step; the cost of a replacement is unknown

            cannot tell: late-warmup, module-load-late; `--all` shows them
            `ridgeline explain RULE` explains a rule
        "#]],
    );
}

#[test]
fn one_line_a_finding() {
    check(
        &text::concise(&checked(&[]), &Options::default(), &Layout::plain(80)),
        expect![[r#"
        step 474 ms · device busy 2.1% · 1 finding accounts for 463 ms · capture quality: partial
        /sgl-workspace/sglang/python/sglang/jit_kernel/resolve_future_token_ids.py:30: warning[unexplained-wait]: a stream waits 463 ms for work from before the capture (463 ms of 474 ms per step (97.7%))
    "#]],
    );
    check(
        &text::brief(&checked(&[]), &Layout::plain(80)),
        expect![[r#"
            Top findings
              unexplained-wait: a stream waits 463 ms for work from before the capture
                (/sgl-workspace/sglang/python/sglang/jit_kernel/resolve_future_token_ids.py:
                30)
              `ridgeline check run/`
        "#]],
    );
}

#[test]
fn markdown_for_a_pull_request() {
    check(
        &markdown::render(&checked(&[]), &Options::default()),
        expect![[r#"
            ### step 474 ms · device busy 2.1% · 1 finding accounts for 463 ms · capture quality: partial

            > **capture** `few-or-unstable-steps`: 1 step is in the capture: step-to-step variation is unknown; cannot tell what a step took; fix: `ridgeline record --steps 10..20 -- python PROGRAM.py`

            #### warning: a stream waits 463 ms for work from before the capture

            - **rule**: `unexplained-wait`
            - **at**: `/sgl-workspace/sglang/python/sglang/jit_kernel/resolve_future_token_ids.py:30`
            - **time**: 463 ms of 474 ms per step (97.7%)
            - **evidence**: 463 ms idle although the next work had been launched long ago
            - **evidence**: 4 more operations launched on the stream during the wait couldn't start either
            - **evidence**: \`hipMemcpyWithStream\` waits with the stream: it is a victim, not the cause
            - **why**: work on a stream starts only after all earlier work is done, and nothing in the capture runs during the wait
            - **help**: before you change anything, start the capture earlier and record two steps, so that it contains the work the stream waited for
            - **saving**: at most 460 ms per step; the cost of a replacement is unknown
        "#]],
    );
}

#[test]
fn annotations_of_github() {
    check(
        &github::annotations(&checked(&[]), &Options::default()),
        expect![[r#"
            ::warning file=/sgl-workspace/sglang/python/sglang/jit_kernel/resolve_future_token_ids.py,line=30,title=ridgeline unexplained-wait::a stream waits 463 ms for work from before the capture%0A463 ms of 474 ms per step (97.7%25)%0Abefore you change anything, start the capture earlier and record two steps, so that it contains the work the stream waited for
        "#]],
    );
}

#[test]
fn junit_has_a_case_for_each_rule() {
    check(
        &junit::report(&checked(&["unexplained-wait", "data-loading"]), &Options::default()),
        expect![[r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites>
        <testsuite name="ridgeline check" tests="2" failures="1" errors="0" skipped="0">
        <testcase classname="ridgeline.host" name="unexplained-wait"><failure message="a stream waits 463 ms for work from before the capture">/sgl-workspace/sglang/python/sglang/jit_kernel/resolve_future_token_ids.py:30: a stream waits 463 ms for work from before the capture; 463 ms of 474 ms per step (97.7%)
        before you change anything, start the capture earlier and record two steps, so that it contains the work the stream waited for
        </failure></testcase>
        <testcase classname="ridgeline.host" name="data-loading"></testcase>
        </testsuite>
        </testsuites>
    "#]],
    );
}

#[test]
fn sarif_names_rule_place_and_level() {
    let log: Value = serde_json::from_str(&sarif::log(&checked(&[]), &Options::default())).expect("JSON");
    assert_eq!(log["version"], "2.1.0");
    let result = &log["runs"][0]["results"][0];
    assert_eq!((&result["ruleId"], &result["level"]), (&"unexplained-wait".into(), &"warning".into()));
    let place = &result["locations"][0]["physicalLocation"];
    assert!(place["region"]["startLine"].as_u64().is_some_and(|line| line > 0), "{place}");
    let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().expect("rules");
    assert_eq!(rules[result["ruleIndex"].as_u64().expect("an index") as usize]["id"], result["ruleId"]);
}

#[test]
fn json_keeps_to_its_schema() {
    let page = std::fs::read_to_string(root().join("docs/json/check.v1.schema.json")).expect("the schema's page");
    let page: Value = serde_json::from_str(&page).expect("the schema page is JSON");
    let found: Value = serde_json::from_str(&json::document(&checked(&[]), &Options::default())).expect("JSON");
    assert_eq!(schema::problems(&page, &found), Vec::<String>::new());
    assert_eq!(found["verdict"]["state"], "partly");
    assert_eq!(found["findings"][0]["rule"], "unexplained-wait");
    let first: Value =
        serde_json::from_str(json::lines(&checked(&[]), &Options::default()).lines().next().expect("a line"))
            .expect("JSON");
    assert_eq!(first, found["findings"][0]);
}

#[test]
fn what_a_baseline_lists_is_not_shown() {
    let found = checked(&[]);
    let options = Options { all: false, accepted: found.shown.iter().map(|shown| shown.fingerprint.clone()).collect() };
    let text = text::concise(&found, &options, &Layout::plain(200));
    assert_eq!(text.lines().count(), 1, "{text}");
}
