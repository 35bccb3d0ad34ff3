//! What `diff` says of real captures, in every form.

mod schema;

use expect_test::expect;
use ridge_report::diff::{Options, json, markdown, text};
use ridge_report::terminal::Layout;
use ridgeline::comparison::{By, What};
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
    expect![[r#"
        inconclusive: step 14.5 ms → 19.9 ms, +37.7%
        before before/: 1 step, devices busy 45.6%
        after  after/: 1 step, devices busy 61.9%
        reason: one side has a single step or capture, so its run-to-run variation is
          unknown
        fix: ridgeline record --steps 10..40 -- python PROGRAM.py

        Changes, per step and device
                                                          Before      After     Change
        operation  record_param_comms                    5.67 ms    11.2 ms   +5.53 ms
                   1.4 ms each instead of 708 µs
        rest       nothing recorded explains it             0 ns    1.13 ms   +1.13 ms
                   new
        idle       host late: loadin…erIter.__next__)     1.1 ms       0 ns    -1.1 ms
                   gone
        idle       host late: progra…arallel.forward)    2.46 ms    2.24 ms    -221 µs
        kernel     at::native::vecto…ementwise_kernel       0 ns     160 µs    +160 µs
                   new
        idle       host late: operator (aten::empty)      2.8 ms    2.75 ms     -46 µs
        kernel     at::native::unrol…ementwise_kernel       0 ns      43 µs     +43 µs
                   new
        idle       in the launch cal…udaLaunchKernel)     960 µs     926 µs     -34 µs
                   44 others                             1.46 ms    1.45 ms   -10.5 µs
        total                                            14.5 ms    19.9 ms   +5.45 ms

        Other metrics
          kernels and operations, per step: 245 → 310
    "#]]
    .assert_eq(&text::render(&ranks(), &Options::default(), &Layout::plain(80)));
}

#[test]
fn markdown_for_a_pull_request() {
    expect![[r#"
        ### inconclusive: step 14.5 ms → 19.9 ms, +37.7%

        - **before**: before/: 1 step, devices busy 45.6%
        - **after**: after/: 1 step, devices busy 61.9%
        - **reason**: one side has a single step or capture, so its run-to-run variation is unknown

        | what | subject | before | after | change | why |
        |---|---|--:|--:|--:|---|
        | operation | record\_param\_comms | 5.67 ms | 11.2 ms | +5.53 ms | 1.4 ms each instead of 708 µs |
        | rest | nothing recorded explains it | 0 ns | 1.13 ms | +1.13 ms | new |
        | idle | host late: loading data (enumerate(DataLoader)#\_Singl…cessDataLoaderIter.\_\_next\_\_) | 1.1 ms | 0 ns | -1.1 ms | gone |
        | | 49 others | 7.69 ms | 7.58 ms | -108 µs | |

        - kernels and operations, per step: 245 → 310
    "#]].assert_eq(&markdown::render(&ranks(), &Options { rows: 3, ..Options::default() }));
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
    let found =
        compared("kineto/h100_qwen15_0.5b_infer.json.gz", "kineto/mi300_torch_compile_triton.json.gz").comparison;
    assert_eq!(found.before.total_ns, 49_378_903);
    let rows = found.changes_by(By::Kernel);
    let work =
        || rows.iter().filter(|row| matches!(row.what, What::Kernel | What::Copy)).map(|row| row.before_total_ns);
    assert_eq!(work().sum::<i64>(), 45_382_492);
    // All that the template `elementwise_kernel` made, which the other side has none of, then the longest single kernel.
    assert_eq!(work().max(), Some(14_969_991));
    assert!(work().any(|ns| ns == 12_623_584));
}

#[test]
fn a_small_file_stands_for_a_capture() {
    let found = ranks();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("base.json");
    std::fs::write(&file, ridgeline::summary_text(&found.summaries.0)).expect("written");
    let after = root().join("fixtures/real/kineto/v100_dlrm_8rank/rank1.json.gz");
    let options = DiffOptions { causes: CausesAsked::Never, ..DiffOptions::default() };
    let again = diff(&[file], &[after], &options).expect("a summary and a capture");
    assert_eq!(again.comparison.changes, found.comparison.changes);
}
