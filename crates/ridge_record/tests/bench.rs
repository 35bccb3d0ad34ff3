//! A benchmark with a shell script in the place of Python: every way in which a worker can end leaves all its rows.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../../ridge_report/tests/schema/mod.rs"]
mod schema;
mod script;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ridge_record::bench::{BenchError, BenchEvent, BenchOptions, BenchOutcome, BenchStatus, Layout, bench};
use serde_json::Value;

/// Runs the "suite" as a shell script; `$size`, `$after` and `$list` say what was asked.
const PYTHON: &str = r#"#!/bin/sh
suite=$4; size=; after=; list=; budget=
for a in "$@"; do
    case $previous in
        --size) size=$a ;;
        --after) after=$a ;;
        --budget-s) budget=$a ;;
    esac
    [ "$a" = --list ] && list=yes
    previous=$a
done
plan() { printf '{"event":"plan","suite":"fake","sizes":[8,16],"operations":[%s],"variants":{"loud":{"LOUD":"1"}}}\n' "$1"; }
start() { printf '{"event":"start","operation":"%s","volume_size":%s}\n' "$1" "$size"; }
phase() { printf '{"event":"phase","operation":"%s","phase":"%s"}\n' "$1" "$2"; }
ok() { printf '{"event":"row","operation":"%s","volume_size":%s,"status":"ok","runs":2,"median_s":0.5,"min_s":0.4,"spread_s":0.1,"notes":[]}\n' "$1" "$size"; }
. "$suite"
"#;

struct Bench {
    dir: tempfile::TempDir,
    options: BenchOptions,
}

impl Bench {
    fn new(suite: &str) -> Bench {
        let dir = tempfile::tempdir().unwrap();
        let python = dir.path().join("python");
        script::write(&python, PYTHON);
        let path = dir.path().join("fake.py");
        fs::write(&path, suite).unwrap();
        let options = BenchOptions::new(path.to_str().unwrap(), dir.path().join("out"));
        Bench { options: BenchOptions { python: Some(python), ..options }, dir }
    }

    fn run(&self) -> BenchOutcome {
        bench(&self.options, &mut |_| {}).unwrap()
    }

    fn out(&self) -> PathBuf {
        self.dir.path().join("out")
    }
}

fn table(outcome: &BenchOutcome) -> String {
    let mut text = String::new();
    for (row, cell) in outcome.rows.iter().flat_map(|row| row.cells.iter().map(move |cell| (row, cell))) {
        let told = match &cell.status {
            BenchStatus::Ok { median_s, spread_s, .. } => format!("{median_s} ± {spread_s}"),
            BenchStatus::Failed { reason } => format!("failed: {reason}"),
            BenchStatus::NotRun { reason } => format!("not run: {reason}"),
        };
        writeln!(text, "{} {}: {told}", row.operation, cell.size).unwrap();
    }
    text
}

fn json(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn rows_in_results(out: &Path) -> Vec<(String, u64, String)> {
    let results = json(&out.join("results.json"));
    let row = |row: &Value| {
        let text = |key: &str| row[key].as_str().unwrap().to_owned();
        (text("operation"), row["volume_size"].as_u64().unwrap(), text("status"))
    };
    results["summary"].as_array().unwrap().iter().map(row).collect()
}

const TWO_FINE: &str = r#"
plan '"a","b"'
[ "$list" ] && exit 0
printf '{"event":"environment","environment":{"versions":{"jax":"1.2"},"devices":[{"id":0}]}}\n'
start a
printf '{"event":"modules","operation":"a","modules":[{"name":"jit_a","dir":"hlo/a/jit_a.1"}],"costs":[{"name":"jit_a","cost":{"flops":5.0,"bytes accessed":7.0}}]}\n'
printf '{"event":"measurement","operation":"a","volume_size":%s,"run":1,"time":0.5,"traced":false}\n' "$size"
ok a
start b; ok b
"#;

#[test]
fn every_size_of_the_suite_is_measured() {
    let bench = Bench::new(TWO_FINE);
    let outcome = bench.run();
    assert_eq!(table(&outcome), "a 8: 0.5 ± 0.1\na 16: 0.5 ± 0.1\nb 8: 0.5 ± 0.1\nb 16: 0.5 ± 0.1\n");
    assert!(!outcome.interrupted);
}

#[test]
fn results_and_manifest_keep_to_their_schemas() {
    let failing = format!("{TWO_FINE}\nexit 9");
    for suite in [TWO_FINE, failing.as_str()] {
        let bench = Bench::new(suite);
        bench.run();
        for (file, page) in [("results.json", "bench.v1.schema.json"), ("manifest.json", "manifest.v1.schema.json")] {
            let page = json(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/json").join(page));
            assert_eq!(schema::problems(&page, &json(&bench.out().join(file))), Vec::<String>::new(), "{file}");
        }
    }
}

#[test]
fn results_and_manifest_hold_what_the_worker_said() {
    let bench = Bench::new(TWO_FINE);
    bench.run();
    let results = json(&bench.out().join("results.json"));
    assert_eq!(results["schema"], "ridgeline.bench.v1");
    assert_eq!(results["suite"], "fake");
    assert_eq!(results["environment"]["versions"]["jax"], "1.2");
    let measurement = r#"{"operation":"a","volume_size":8,"run":1,"time":0.5,"traced":false}"#;
    assert_eq!(results["measurements"][0].to_string(), measurement);
    assert_eq!(results["cost_analysis"]["a"]["16"]["flops_once"], 5.0);
    assert_eq!(results["cost_analysis"]["a"]["16"]["bytes_accessed_once"], 7.0);

    let manifest = json(&bench.out().join("manifest.json"));
    assert_eq!((&manifest["schema"], &manifest["kind"]), (&"ridgeline.manifest.v1".into(), &"bench".into()));
    assert_eq!(manifest["modules"][1]["dir"], "size_016/hlo/a/jit_a.1");
    assert_eq!((&manifest["complete"], &manifest["devices"][0]["id"]), (&true.into(), &0.into()));
}

#[test]
fn a_worker_that_is_killed_costs_one_operation() {
    let bench = Bench::new(
        r#"
plan '"a","b","c"'
[ "$list" ] && exit 0
if [ -z "$after" ]; then start a; ok a; start b; phase b "timed runs"; echo "about to die" >&2; kill -KILL $$; fi
[ "$after" = b ] || exit 9
start c; ok c
"#,
    );
    let bench = Bench { options: BenchOptions { sizes: vec![8], ..bench.options.clone() }, ..bench };
    let reason = "the worker was ended by SIGKILL (perhaps for want of memory) during timed runs: about to die";
    assert_eq!(table(&bench.run()), format!("a 8: 0.5 ± 0.1\nb 8: failed: {reason}\nc 8: 0.5 ± 0.1\n"));
    let told = |name: &str, status: &str| (name.to_owned(), 8, status.to_owned());
    assert_eq!(rows_in_results(&bench.out()), [told("a", "ok"), told("b", "failed"), told("c", "ok")]);
    let manifest = json(&bench.out().join("manifest.json"));
    assert_eq!((&manifest["complete"], &manifest["missing"][0]["what"]), (&false.into(), &"b at 8".into()));
}

#[test]
fn a_worker_that_ends_between_operations_is_not_started_again() {
    let bench = Bench::new(
        r#"
plan '"a","b"'
[ "$list" ] && exit 0
start a; ok a
exit 7
"#,
    );
    let text = table(&bench.run());
    let reason = "failed: the worker exited with status 7";
    assert_eq!(text, format!("a 8: 0.5 ± 0.1\na 16: 0.5 ± 0.1\nb 8: {reason}\nb 16: {reason}\n"));
}

#[test]
fn lines_that_are_no_events_are_passed_over() {
    let bench = Bench::new(
        r#"
plan '"a"'
[ "$list" ] && exit 0
echo hello; printf 'not text: \377\n'; echo '{"event":"from a later version"}'; echo '{"event":"row"}'
start a; ok a
"#,
    );
    assert_eq!(table(&bench.run()), "a 8: 0.5 ± 0.1\na 16: 0.5 ± 0.1\n");
}

#[test]
fn an_interrupted_worker_leaves_rows_for_what_was_not_run() {
    let bench = Bench::new(
        r#"
plan '"a","b","c"'
[ "$list" ] && exit 0
start a; ok a; start b; phase b "first run"
printf '{"event":"interrupted"}\n'
exit 130
"#,
    );
    let outcome = bench.run();
    assert!(outcome.interrupted);
    let mut expected = String::from("a 8: 0.5 ± 0.1\na 16: not run: not run: interrupted\n");
    expected.push_str("b 8: not run: interrupted during first run\nb 16: not run: not run: interrupted\n");
    expected.push_str("c 8: not run: not run: interrupted\nc 16: not run: not run: interrupted\n");
    assert_eq!(table(&outcome), expected);
}

#[test]
fn what_is_left_of_the_budget_goes_to_the_worker() {
    let bench = Bench::new(
        r#"
plan '"a"'
[ "$list" ] && exit 0
start a
case $budget in 359?.*) ok a ;; esac
"#,
    );
    let budget = Some(Duration::from_secs(3600));
    let bench = Bench { options: BenchOptions { budget, ..bench.options.clone() }, ..bench };
    assert_eq!(table(&bench.run()), "a 8: 0.5 ± 0.1\na 16: 0.5 ± 0.1\n");
}

#[test]
fn a_variant_sets_its_variables_and_an_unknown_one_is_an_error() {
    let bench = Bench::new("plan '\"a\"'\n[ \"$list\" ] && exit 0\nstart a\n[ \"$LOUD\" = 1 ] && ok a\n");
    let mut options = BenchOptions { variant: Some("loud".into()), sizes: vec![8], ..bench.options.clone() };
    let outcome = bench_with(&options).unwrap();
    assert_eq!(table(&outcome), "a 8: 0.5 ± 0.1\n");
    assert_eq!(json(&bench.out().join("results.json"))["added_environment"]["LOUD"], "1");
    options.variant = Some("lood".into());
    assert_eq!(bench_with(&options).unwrap_err().to_string(), r#"expected a variant among ["loud"], found "lood""#);
}

#[test]
fn a_suite_that_python_refuses_is_an_error_and_harms_no_earlier_result() {
    let bench = Bench::new(TWO_FINE);
    bench.run();
    let broken = r#"printf '{"event":"broken","reason":"SuiteError: no operation matches"}\n'; exit 3"#;
    fs::write(&bench.options.suite, broken).unwrap();
    let error = bench_with(&bench.options).unwrap_err();
    assert_eq!(error.to_string(), "cannot use the suite: SuiteError: no operation matches");
    assert_eq!(rows_in_results(&bench.out()).len(), 4);
}

#[test]
fn an_earlier_benchmark_is_replaced_and_other_files_are_not() {
    let bench = Bench::new(TWO_FINE);
    bench.run();
    let options = BenchOptions { sizes: vec![8], ..bench.options.clone() };
    bench_with(&options).unwrap();
    assert!(!bench.out().join("size_016").exists());
    fs::write(bench.out().join("thesis.tex"), "").unwrap();
    assert!(matches!(bench_with(&options), Err(BenchError::FolderInUse { .. })));
    assert!(bench.out().join("results.json").exists());
}

#[test]
fn the_home_folder_is_not_in_what_is_written() {
    let Some(home) = std::env::home_dir().filter(|home| home.components().count() > 1) else { return };
    let suite = r#"
plan '"a"'
[ "$list" ] && exit 0
start a
printf '{"event":"row","operation":"a","volume_size":%s,"status":"failed","reason":"OSError: no file %s/secret.npy","notes":[]}\n' "$size" "$HOME"
"#;
    let bench = Bench::new(suite);
    let outcome = bench.run();
    assert!(table(&outcome).starts_with("a 8: failed: OSError: no file ~/secret.npy\n"), "{}", table(&outcome));
    for name in ["results.json", "manifest.json"] {
        assert!(!fs::read_to_string(bench.out().join(name)).unwrap().contains(&*home.to_string_lossy()), "{name}");
    }
}

#[test]
fn events_come_in_the_order_in_which_things_happen() {
    let bench = Bench::new(TWO_FINE);
    let options = BenchOptions { sizes: vec![8], ..bench.options.clone() };
    let mut told = Vec::new();
    let name = |event: BenchEvent| format!("{event:?}").split([' ', '{']).next().unwrap_or_default().to_owned();
    ridge_record::bench::bench(&options, &mut |event| told.push(name(event))).unwrap();
    let expected = "Planned SizeStarted OperationStarted Measured OperationDone OperationStarted OperationDone";
    assert_eq!(told.join(" "), expected);
}

#[test]
fn an_unknown_suite_and_a_missing_interpreter_are_errors() {
    let bench = Bench::new(TWO_FINE);
    let unknown = BenchOptions { suite: "mbirjacks".into(), ..bench.options.clone() };
    let error = bench_with(&unknown).unwrap_err();
    assert_eq!(error.to_string(), r#"expected a suite's name or a path to its file, found "mbirjacks""#);
    assert_eq!(error.hints(), ["built-in suites: kernels, mbirjax, shallow_water"]);
    let nowhere = BenchOptions { python: Some("/nowhere/python".into()), ..bench.options.clone() };
    assert!(matches!(bench_with(&nowhere), Err(BenchError::Spawn { .. })));
}

fn bench_with(options: &BenchOptions) -> Result<BenchOutcome, BenchError> {
    bench(options, &mut |_| {})
}

#[test]
fn a_pattern_that_matches_nothing_is_answered_with_what_there_is() {
    let bench = Bench::new(r#"printf '{"event":"no_match","pattern":"c*","operations":["a","b"]}\n'; exit 3"#);
    let error = bench_with(&bench.options).unwrap_err();
    assert_eq!(error.to_string(), "expected a pattern that matches an operation of the suite, found \"c*\"");
    assert_eq!(error.hints(), ["operations of the suite: a, b"]);
}

#[test]
fn what_compiles_at_every_call_is_told_with_its_times() {
    let late = r#"ok() { printf '{"event":"row","operation":"%s","volume_size":%s,"status":"ok","runs":2,"median_s":0.5,"min_s":0.4,"spread_s":0.1,"late_modules":2,"late_compile_s":0.75,"late_runs_s":1,"late_names":{"jit_f":2},"notes":[]}\n' "$1" "$size"; }"#;
    let bench = Bench::new(&format!("{late}\n{TWO_FINE}"));
    let outcome = bench.run();
    let BenchStatus::Ok { recompiles: Some(recompiles), .. } = &outcome.rows[0].cells[0].status else {
        panic!("measured: {:?}", outcome.rows[0])
    };
    let expected = "compiles again at every call: 2 modules in 2 calls (most often jit_f, 2), 0.75 of 1.00 s";
    assert_eq!(recompiles.to_string(), expected);
    let page = json(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/json/bench.v1.schema.json"));
    assert_eq!(schema::problems(&page, &json(&bench.out().join("results.json"))), Vec::<String>::new());
}

/// A capture, modules and XLA's dump of each size, and an operation that is half of another.
const ALL_FILES: &str = r#"
printf '{"event":"plan","suite":"fake","sizes":[8],"operations":["a","b"],"variants":{},"parts":{"a":"b"},"ratios":[["b","a"]],"began":"20260102_030405"}\n'
[ "$list" ] && exit 0
for a in "$@"; do case $previous in --out) out=$a ;; --dump) dump=$a ;; --warm-up) warm=$a ;; esac; previous=$a; done
[ "$dump" ] || dump=$out/hlo_dump; mkdir -p "$out/plugins/profile/a" "$out/hlo/a/jit_a.1" "$dump/a"
printf x > "$out/plugins/profile/a/host0.xplane.pb"; printf x > "$out/hlo/a/jit_a.1/after.txt"; printf "%s" "$XLA_FLAGS" > "$dump/a/flags"
printf '{"event":"environment","environment":{"versions":{"jax":"1.2","mbirjax":"0.7"},"devices":[{"id":0,"platform":"gpu"}]}}\n'
start a
printf '{"event":"modules","operation":"a","modules":[{"name":"jit_a","dir":"hlo/a/jit_a.1"}],"costs":[{"name":"jit_a","cost":{"flops":5.0,"bytes accessed":7.0}}]}\n'
printf '{"event":"measurement","operation":"a","volume_size":%s,"run":1,"time":0.5,"traced":false}\n' "$size"
printf '{"event":"row","operation":"a","volume_size":%s,"status":"ok","runs":2,"first_run_s":3.5,"median_s":0.5,"min_s":0.4,"spread_s":0.1,"warm_up_s":[%s],"traces":["plugins/profile/a/host0.xplane.pb"],"notes":[]}\n' "$size" "$warm"
start b
printf '{"event":"row","operation":"b","volume_size":%s,"status":"ok","runs":2,"median_s":1.0,"min_s":0.4,"spread_s":0.1,"notes":[]}\n' "$size"
"#;

#[test]
fn the_layout_of_mbirjax_has_its_files_and_stays_a_benchmark() {
    let mut bench = Bench::new(ALL_FILES);
    bench.options.layout = Layout::Mbirjax;
    bench.options.warm_up = 2;
    bench.options.xla_dump = ["html".to_owned()].into();
    // An earlier one gives way, whatever its layout.
    for _ in 0..2 {
        bench.run();
    }
    let out = bench.out();
    let time = "20260102_030405";
    let trace = format!("jax_traces/{time}/vol8/plugins/profile/a/host0.xplane.pb");
    assert!(out.join(&trace).is_file() && out.join(format!("hlo_dumps/{time}/vol8/a/jit_a.1/after.txt")).is_file());
    let flags = fs::read_to_string(out.join(format!("hlo_dumps_xla/{time}/vol8/a/flags"))).unwrap();
    assert!(flags.contains("--xla_dump_to=") && flags.ends_with("size_008/hlo_dump --xla_dump_hlo_as_html"), "{flags}");

    let results = json(&out.join("results.json"));
    assert_eq!(
        (&results["summary"][0]["traces"][0], &results["summary"][0]["warm_up_s"]),
        (&trace.into(), &serde_json::json!([2]))
    );
    let modules = json(&out.join("manifest.json"))["modules"][0]["dir"].clone();
    assert_eq!(modules, format!("hlo_dumps/{time}/vol8/a/jit_a.1"));
    let theirs = json(&out.join(format!("mbirjax_profile_{time}.json")));
    assert_eq!(theirs["environment"]["devices"][0], "cuda:0");
    assert_eq!(
        theirs["measurements"][0],
        serde_json::json!({"operation": "a", "volume_size": 8, "run": 1, "time": 3.5})
    );
    assert_eq!(theirs["cost_analysis"]["8"]["a"]["bytes accessed"], 7.0);
}

#[test]
fn shares_and_ratios_are_in_the_results() {
    let bench = Bench::new(ALL_FILES);
    let outcome = bench.run();
    assert_eq!((outcome.parts[0].share, outcome.parts[0].of_whole, outcome.ratios[0].ratio), (1.0, Some(0.5), 2.0));
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/json/bench.v1.schema.json");
    assert_eq!(schema::problems(&json(&page), &json(&bench.out().join("results.json"))), Vec::<String>::new());
}
