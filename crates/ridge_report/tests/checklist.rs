//! What `guide --checklist` says of real captures, in both forms.

mod schema;

use expect_test::expect;
use ridge_report::checklist::{json, text};
use ridge_report::terminal::Layout;
use ridgeline::{Checklist, OpenOptions, Session};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn asked(capture: &str) -> Checklist {
    Session::open(&[root().join(capture)], &OpenOptions::default()).expect("a fixture").checklist()
}

fn shown(capture: &str) -> String {
    text(&asked(capture), &Layout::plain(100)).replace(&format!("{}/", root().display()), "")
}

#[test]
fn a_program_that_ran_operation_by_operation() {
    expect![[""]].assert_eq(&shown("fixtures/chrome/torch_mlp.json"));
}

#[test]
fn a_training_on_a_gpu() {
    expect![[""]].assert_eq(&shown("fixtures/real/xplane/nvidia_like.xplane.pb"));
}

#[test]
fn documents_keep_to_their_schema() {
    let page = std::fs::read_to_string(root().join("docs/json/checklist.v1.schema.json")).expect("the page");
    let page = serde_json::from_str(&page).expect("JSON");
    for capture in
        ["fixtures/xplane/train_steps.xplane.pb", "fixtures/nsys/two_processes.sqlite", "fixtures/ncu/made_up.ncu-rep"]
    {
        let document = serde_json::from_str(&json(&asked(capture))).expect("JSON");
        assert_eq!(schema::problems(&page, &document), [""; 0], "{capture}");
    }
}
