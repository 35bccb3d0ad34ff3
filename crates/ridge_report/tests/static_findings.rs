//! What `check` says of a compilation, of which nothing ran: findings of its code, marked as static in every form.

use expect_test::expect;
use ridge_report::check::{Options, json, sarif, text};
use ridge_report::terminal::Layout;
use ridgeline::{Check, OpenOptions, Selection, Session, predict};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// The compilation beside this test, with `edit` made in the file `name` of its module.
fn checked(name: &str, edit: impl Fn(&str) -> String) -> Check {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compiled");
    let folder = tempfile::tempdir().expect("a folder");
    copy(&from, folder.path());
    let path = folder.path().join("hlo/step.1").join(name);
    let text = fs::read_to_string(&path).expect("a file of the fixture");
    fs::write(&path, edit(&text)).expect("written");
    predict(folder.path()).expect("a compilation");
    let session = Session::open(&[folder.path().to_path_buf()], &OpenOptions::default()).expect("its timeline");
    let only = ["uncoalesced-access", "register-spills", "small-grid", "tail-wave", "tensor-cores-idle", "atomics"];
    session.check(&Selection { only: only.map(str::to_owned).to_vec(), ignored: Vec::new() })
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder").filter_map(Result::ok) {
        let place = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &place);
        } else {
            fs::copy(entry.path(), place).expect("a copy");
        }
    }
}

fn told(check: &Check) -> Vec<String> {
    let options = Options { all: true, ..Options::default() };
    let text = text::concise(check, &options, &Layout::plain(400));
    text.lines().skip(1).map(str::to_owned).collect()
}

#[test]
fn what_code_shows_is_found_and_marked() {
    let check = checked("thunks.txt", str::to_owned);
    expect![[r#"
        strided.py:5: warning[uncoalesced-access]: `loop_add_fusion` fetches 144 32-byte sectors per warp but needs only 32: 78% of the sectors are wasted unless the cache keeps them for other warps (static) (31.1 µs of 201 µs (15.5%))
        strided.py:6: info[atomics]: `input_scatter_fusion` has an atomic operation in its code (static)"#]].assert_eq(&told(&check).join("\n"));
    let options = Options { all: true, ..Options::default() };
    let document: Value = serde_json::from_str(&json::document(&check, &options)).expect("JSON");
    let findings = document["findings"].as_array().expect("findings");
    assert!(!findings.is_empty() && findings.iter().all(|finding| finding["static"] == true), "{document:#}");
    let log: Value = serde_json::from_str(&sarif::log(&check, &options)).expect("JSON");
    let results = log["runs"][0]["results"].as_array().expect("results");
    assert!(results.len() == findings.len() && results.iter().all(|one| one["properties"]["static"] == true));
}

#[test]
fn spills_are_found_where_the_assembler_reports_them() {
    let spilled = |text: &str| {
        let of_add = text.find("Function properties for loop_add_fusion").expect("the kernel");
        let (before, after) = text.split_at(of_add);
        format!(
            "{before}{}",
            after.replacen(
                "0 bytes spill stores, 0 bytes spill loads",
                "64 bytes spill stores, 96 bytes spill loads",
                1
            )
        )
    };
    let found = told(&checked("kernels/ptxas.txt", spilled));
    assert!(
        found.iter().any(|line| line.contains("warning[register-spills]: `loop_add_fusion` stores 64 bytes")),
        "{found:?}"
    );
}

#[test]
fn dense_accesses_and_stores_without_atomics_are_passed_over() {
    let quiet = told(&checked("after.txt", |text| text.replace("[0:4096:16]", "[0:256:1]")));
    assert!(!quiet.iter().any(|line| line.contains("uncoalesced-access")), "{quiet:?}");
    let plain = told(&checked("kernels/1.ptx", |text| text.replace("atom.", "st.")));
    assert!(!plain.iter().any(|line| line.contains("[atomics]")), "{plain:?}");
}
