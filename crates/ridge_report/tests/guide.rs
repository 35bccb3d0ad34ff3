//! What `guide` says of real captures, in both forms.

mod schema;

use expect_test::{Expect, expect};
use ridge_report::guide::{json, text};
use ridge_report::terminal::Layout;
use ridgeline::{Guide, GuideOptions, OpenOptions, Session};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn asked(capture: &str, meant: Option<&str>) -> Guide {
    let session = Session::open(&[root().join(capture)], &OpenOptions::default()).expect("a fixture");
    session.guide(&GuideOptions { meant: meant.map(str::to_owned) }).expect("an answer")
}

/// The text, with the folder of the project taken out.
fn shown(guide: &Guide) -> String {
    text(guide, &Layout::plain(80)).replace(&format!("{}/", root().display()), "")
}

#[track_caller]
fn check(text: &str, expected: Expect) {
    expected.assert_eq(text);
}

#[test]
fn a_capture_of_a_processor() {
    check(&shown(&asked("fixtures/xplane/train_steps.xplane.pb", Some("h100"))), expect![[r#""#]]);
}

#[test]
fn counters_of_a_profiler_alone() {
    check(&shown(&asked("fixtures/ncu/made_up.ncu-rep", None)), expect![[r#""#]]);
}

#[test]
fn documents_keep_to_their_schema() {
    let page = std::fs::read_to_string(root().join("docs/json/guide.v1.schema.json")).expect("the page");
    let page = serde_json::from_str(&page).expect("JSON");
    for capture in
        ["fixtures/xplane/train_steps.xplane.pb", "fixtures/nsys/two_processes.sqlite", "fixtures/ncu/made_up.ncu-rep"]
    {
        let document = serde_json::from_str(&json(&asked(capture, None))).expect("JSON");
        assert_eq!(schema::problems(&page, &document), [""; 0], "{capture}");
    }
}
