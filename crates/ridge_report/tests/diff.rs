//! What `diff` says of real captures, in every form.

mod schema;

use expect_test::expect;
use ridge_report::diff::{Options, json, markdown, text};
use ridge_report::terminal::Layout;
use ridgeline::comparison::{By, Summary, What};
use ridgeline::{CausesAsked, Diff, DiffOptions, diff};
use serde_json::Value;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn compared(before: &str, after: &str) -> Diff {
    let path = |name: &str| vec![root().join("fixtures/real").join(name)];
    let options = DiffOptions { causes: CausesAsked::Never, ..DiffOptions::default() };
    let mut found = diff(&path(before), &path(after), &options).expect("two fixtures");
    found.comparison.before.names = vec!["before/".to_owned()];
    found.comparison.after.names = vec!["after/".to_owned()];
    found
}

fn ranks() -> Diff {
    compared("kineto/v100_dlrm_8rank/rank0.json.gz", "kineto/v100_dlrm_8rank/rank1.json.gz")
}

#[test]
fn text_for_a_terminal() {
    expect![[r#""#]].assert_eq(&text::render(&ranks(), &Options::default(), &Layout::plain(80)));
}

#[test]
fn markdown_for_a_pull_request() {
    expect![[r#""#]].assert_eq(&markdown::render(&ranks(), &Options { rows: 3, ..Options::default() }));
}

#[test]
fn json_keeps_to_its_schema_and_adds_up() {
    let page = std::fs::read_to_string(root().join("docs/json/diff.v1.schema.json")).expect("the schema's page");
    let page: Value = serde_json::from_str(&page).expect("the schema page is JSON");
    let pairs = [
        ranks(),
        compared("kineto/h100_qwen15_0.5b_infer.json.gz", "xplane/mi300_gemm.xplane.pb"),
        compared("xplane/nvidia_like.xplane.pb", "xplane/nvidia_like_cudagraph.xplane.pb"),
    ];
    for found in pairs {
        let document: Value = serde_json::from_str(&json::document(&found, &Options::default())).expect("JSON");
        assert_eq!(schema::problems(&page, &document), Vec::<String>::new());
        let sum = |rows: &Value, key: &str| -> i64 {
            rows.as_array().expect("rows").iter().map(|row| row[key].as_i64().expect("whole")).sum()
        };
        let divisions = document["divisions"].as_object().expect("divisions").values();
        for rows in divisions.chain([&document["changes"]]) {
            assert_eq!(sum(rows, "before_ns"), document["whole"]["before_ns"]);
            assert_eq!(sum(rows, "after_ns"), document["whole"]["after_ns"]);
            assert_eq!(sum(rows, "before_total_ns"), document["before"]["total_ns"]);
        }
    }
}

/// The numbers are sums over the plain JSON: `dur` of device events of category kernel, gpu_memcpy and gpu_memset inside the
/// one step, which ends with the last of them.
#[test]
fn totals_agree_with_an_independent_sum() {
    let found = compared("kineto/h100_qwen15_0.5b_infer.json.gz", "kineto/mi300_torch_compile_triton.json.gz").comparison;
    assert_eq!(found.before.total_ns, 49_378_903);
    let rows = found.changes_by(By::Kernel);
    let work = rows.iter().filter(|row| matches!(row.what, What::Kernel | What::Copy));
    assert_eq!(work.map(|row| row.before_total_ns).sum::<i64>(), 45_382_492);
    let longest = rows.iter().map(|row| row.before_total_ns).max();
    assert_eq!(longest, Some(12_623_584));
}

#[test]
fn a_small_file_stands_for_a_capture() {
    let found = ranks();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("base.json");
    let summary: &Summary = &found.summaries.0[0];
    std::fs::write(&file, ridgeline::summary_text(summary)).expect("written");
    let after = root().join("fixtures/real/kineto/v100_dlrm_8rank/rank1.json.gz");
    let options = DiffOptions { causes: CausesAsked::Never, ..DiffOptions::default() };
    let again = diff(&[file], &[after], &options).expect("a summary and a capture");
    assert_eq!(again.comparison.changes, found.comparison.changes);
}
