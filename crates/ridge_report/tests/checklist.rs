//! What `guide --checklist` says of real captures, in both forms.

mod schema;

use ridge_report::checklist::{json, text};
use ridge_report::terminal::Layout;
use ridgeline::{ChecklistVerdict, OpenOptions, Selection, Session};
use std::path::{Path, PathBuf};

const CAPTURES: [&str; 4] = [
    "fixtures/xplane/train_steps.xplane.pb",
    "fixtures/chrome/torch_mlp.json",
    "fixtures/nsys/two_processes.sqlite",
    "fixtures/ncu/made_up.ncu-rep",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn opened(capture: &str) -> Session {
    Session::open(&[root().join(capture)], &OpenOptions::default()).expect("a fixture")
}

#[test]
fn every_answer_has_its_evidence() {
    for capture in CAPTURES {
        let session = opened(capture);
        let found = session.check(&Selection::default()).diagnosis.findings;
        let list = session.checklist();
        assert_eq!(list.items.len(), 15, "{capture}");
        for item in &list.items {
            let is_found =
                |said: &String| found.iter().any(|one| said.starts_with(&one.message) && said.contains(one.rule));
            let is_busy = |said: &String| said.starts_with("devices worked ");
            let evidence = &item.evidence;
            assert!(!evidence.is_empty(), "{capture}: {}", item.question);
            match item.verdict {
                ChecklistVerdict::No => {
                    assert!(evidence.iter().all(|said| is_found(said) || is_busy(said)), "{evidence:?}")
                }
                ChecklistVerdict::Yes => assert!(!evidence.iter().any(is_found), "{evidence:?}"),
                ChecklistVerdict::CannotTell => assert!(!item.next.is_empty(), "{capture}: {}", item.question),
            }
        }
    }
}

#[test]
fn the_questions_stand_under_their_sections() {
    let session = opened("fixtures/xplane/train_steps.xplane.pb");
    let list = session.checklist();
    let counted: usize = [ChecklistVerdict::Yes, ChecklistVerdict::No, ChecklistVerdict::CannotTell]
        .into_iter()
        .map(|verdict| list.count(verdict))
        .sum();
    assert_eq!(counted, 15);
    let shown = text(&list, &Layout::plain(80));
    for heading in ["data and host", "device", "memory", "synchronization"] {
        assert!(shown.lines().any(|line| line == heading), "{shown}");
    }
}

#[test]
fn what_a_capture_has_nothing_of_cannot_be_told() {
    let list = opened("fixtures/xplane/train_steps.xplane.pb").checklist();
    let about = |words: &str| {
        let item = list.items.iter().find(|item| item.question.contains(words)).expect("a question");
        (item.verdict, item.evidence.join("; "))
    };
    let untold = |why: &str| (ChecklistVerdict::CannotTell, why.to_owned());
    assert_eq!(about("communication hidden"), untold("the capture has no collective operations"));
    assert_eq!(about("from the host pinned"), untold("the capture has no copies between host and device"));
    assert_eq!(about("tensor cores"), untold("the capture has no device other than the CPU"));
}

#[test]
fn documents_keep_to_their_schema() {
    let page = std::fs::read_to_string(root().join("docs/json/checklist.v1.schema.json")).expect("the page");
    let page = serde_json::from_str(&page).expect("JSON");
    for capture in CAPTURES {
        let document = serde_json::from_str(&json(&opened(capture).checklist())).expect("JSON");
        assert_eq!(schema::problems(&page, &document), [""; 0], "{capture}");
    }
}
