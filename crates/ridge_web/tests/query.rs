//! SQL of the page, with a script in the place of the program: what it is given, within which bounds, and that it ends.

mod support;

use ridge_web::{Page, QueryProgram, Refusal};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use support::running::Running;
use support::{page_of, whole};
use tempfile::TempDir;

const TRACE: &str = r#"{"traceEvents":[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":5,"name":"a"}]}"#;
/// How long something that must happen soon may take on a busy machine.
const SOON: Duration = Duration::from_secs(20);

/// A folder with a program that does what `script` says, and the page that asks it.
fn page(script: &str) -> (TempDir, Page) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("ridgeline-query");
    fs::write(&path, format!("#!/bin/sh\ncd '{}'\n{script}\n", folder.path().display())).expect("written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("its owner");
    let page = page_of("trace.json", TRACE.as_bytes()).of(&[PathBuf::from("/runs/-f")]);
    (folder, page.querying(Some(QueryProgram::new(path))))
}

fn refused(page: &Page, address: &str) -> Refusal {
    page.answer(address).expect_err("a refusal")
}

#[test]
fn what_the_program_answers_becomes_a_table() {
    let answer = r#"cat <<'.'
{
  "schema": "ridgeline.query.v1",
  "columns": [{"key":"name","type":"text"},{"key":"ts","type":"whole"},{"key":"share","type":"number"},{"key":"is_gap","type":"flag"}],
  "rows": [
    {"name": "<b>", "ts": 1790000000000000001, "share": 0.5, "is_gap": true},
    {"name": null, "ts": 3, "share": null, "is_gap": false}
  ]
}
."#;
    let (_folder, page) = page(answer);
    assert_eq!(whole(&page, "capture")["has"]["query"], json!(true));
    let table = whole(&page, "query?sql=select%201");
    let units: Vec<&str> =
        table["columns"].as_array().expect("a list").iter().filter_map(|one| one["unit"].as_str()).collect();
    assert_eq!(units, ["text", "count", "number", "flag"]);
    assert_eq!(table["rows"], json!([["<b>", "1790000000000000001", 0.5, true], [null, 3, null, false]]));
    assert_eq!((&table["total"], &table["cut"]), (&json!(2), &Value::Null));
}

#[test]
fn a_query_is_never_an_option() {
    let (folder, page) = page(r#"printf '%s\n' "$@" >words; echo '{"columns": [], "rows": []}'"#);
    let other = page_of("trace.json", TRACE.as_bytes()).of(&[PathBuf::from("--output=x")]);
    let words = |page: &Page, address: &str| {
        whole(page, address);
        fs::read_to_string(folder.path().join("words")).expect("it ran")
    };
    assert_eq!(words(&page, "query?sql=--output=/tmp/x"), "--format=json\n--rows=0\n--\n/runs/-f\n--output=/tmp/x\n");
    let query = QueryProgram::new(folder.path().join("ridgeline-query")).reading(Some("chrome".to_owned()), Some(7));
    let all = words(&other.querying(Some(query)), "query?sql=select 1");
    assert_eq!(all, "--format=json\n--rows=0\n--read-as=chrome\n--max-unpacked=7\n--\n--output=x\nselect 1\n");
    assert_eq!(refused(&page, "query?sql=%20").message, "expected a query, found none");
    assert_eq!(refused(&page, &format!("query?sql={}", "x".repeat(1 << 17))).status, 400);
}

#[test]
fn errors_are_those_of_the_program() {
    let (_folder, page) = page(
        "echo 'warning: a part is lost' >&2; printf 'error: unknown column `x`\\n  hint: there are a, b\\n' >&2; exit 1",
    );
    let refusal = refused(&page, "query?sql=select x");
    assert_eq!((refusal.status, refusal.message.as_str()), (400, "unknown column `x`"));
    assert_eq!(refusal.hints, ["there are a, b"]);
    assert_eq!(refused(&page.querying(None), "query?sql=select x").status, 404);
}

#[test]
fn tables_and_columns_are_listed() {
    let script = r#"case "$*" in
"--tables -- /runs/-f") printf 'raw.event      every event\nidle.gap       each gap\n\nA name without its schema is looked for in raw, stats.\n' ;;
"--tables=raw.event -- /runs/-f") printf 'raw.event\n  12 rows\n  name           Utf8       the name\n  dur_ns         Int64      how long\n' ;;
esac"#;
    let (_folder, page) = page(script);
    let tables = whole(&page, "query/tables");
    assert_eq!(tables["tables"], json!([["raw.event", "every event"], ["idle.gap", "each gap"]]));
    assert_eq!(tables["order"], "A name without its schema is looked for in raw, stats.");
    let columns = whole(&page, "query/tables?of=raw.event");
    assert_eq!(columns["columns"], json!([["name", "Utf8       the name"], ["dur_ns", "Int64      how long"]]));
}

#[test]
fn a_long_answer_is_cut_and_says_so() {
    let endless = r#"echo $$ >pid
echo '{'; echo '  "columns": [{"key":"a","type":"whole"}],'; echo '  "rows": ['
exec yes '    {"a": 1},'"#;
    let (folder, page) = page(endless);
    let table = whole(&page, "query?sql=select 1");
    assert_eq!((&table["total"], table["rows"].as_array().map(Vec::len)), (&json!(10_000), Some(10_000)));
    assert!(table["cut"].as_str().is_some_and(|said| said.contains("first 10000 rows")), "{}", table["cut"]);
    is_soon_gone(folder.path());
}

#[test]
fn a_slow_query_is_ended_with_what_it_started() {
    let (folder, page) = page("sleep 1000 & echo $! >pid; wait");
    let program = QueryProgram::new(folder.path().join("ridgeline-query"));
    let page = page.querying(Some(program.within(Duration::from_millis(500))));
    let refusal = refused(&page, "query?sql=select 1");
    assert_eq!((refusal.status, refusal.message.as_str()), (504, "the query took longer than 0.5 s and was ended"));
    is_soon_gone(folder.path());
}

#[test]
fn a_query_ends_when_the_browser_goes_or_the_server() {
    let (folder, page) = page("sleep 1000 & echo $! >pid.new; mv pid.new pid; wait");
    let server = Running::of(page);
    let ask = || {
        let connection = server.sent(&server.own("/api/v1/query?sql=select%201").each_ref().map(String::as_str), "");
        soon("the program runs", || folder.path().join("pid").exists());
        connection
    };
    drop(ask());
    is_soon_gone(folder.path());
    fs::remove_file(folder.path().join("pid")).expect("it was there");
    let _waits = ask();
    drop(server);
    is_soon_gone(folder.path());
}

/// The process that wrote its number to `pid` ends.
fn is_soon_gone(folder: &Path) {
    let pid = fs::read_to_string(folder.join("pid")).expect("it was started");
    let state = || fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    // Whoever adopts it takes it away in its own time.
    soon("it is gone", || state().is_empty() || state().contains(") Z"));
}

fn soon(what: &str, mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + SOON;
    while !holds() {
        assert!(Instant::now() < until, "{what}: not within {SOON:?}");
        std::thread::yield_now();
    }
}
