//! Captures that are read each by itself: the rows of the dataset that they make, and a word for those that can't be read.

mod support;

use ridge_export::Privacy;
use ridge_export::tables::{Tables, write_folder};
use ridgeline::{OpenOptions, Session, capture_parts};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use support::{fixture, is_same, program};
use tempfile::TempDir;

/// The eight ranks of a job, each as a host.
fn captures() -> Vec<PathBuf> {
    (0..8).map(|rank| fixture(&format!("real/kineto/v100_dlrm_8rank/rank{rank}.json.gz"))).collect()
}

/// The dataset of captures, as `ridgeline collect --no-redact` makes it.
fn dataset(captures: &[PathBuf]) -> TempDir {
    let folder = tempfile::tempdir().expect("a directory");
    for part in capture_parts(captures, None) {
        let session = Session::open(&[part.capture], &OpenOptions::default()).expect("a capture");
        let rank = part.rank.or_else(|| session.only_rank()).unwrap_or(0);
        let place = folder.path().join(format!("job=job/host={}/rank={rank}", part.host));
        fs::create_dir_all(&place).expect("room");
        write_folder(&session, &Tables::new(&session, Privacy::Kept), &place, &mut |_| ()).expect("room");
    }
    folder
}

/// Exit status, rows and what is said beside them.
fn asked(paths: &[PathBuf], words: &[&str]) -> (Option<i32>, Vec<Vec<Value>>, String) {
    let (options, sql): (Vec<&str>, Vec<&str>) = words.iter().partition(|word| word.starts_with("--"));
    let done = program().args(options).args(paths).args(sql).args(["-f", "json"]).output().expect("the program runs");
    let document: Value = serde_json::from_slice(&done.stdout).unwrap_or_default();
    let rows = document["rows"].as_array().cloned().unwrap_or_default();
    let rows = rows.iter().map(|row| row.as_object().expect("a row").values().cloned().collect());
    (done.status.code(), rows.collect(), String::from_utf8_lossy(&done.stderr).into_owned())
}

fn rows(paths: &[PathBuf], sql: &str) -> Vec<Vec<Value>> {
    let (code, rows, told) = asked(paths, &["--each", sql]);
    assert_eq!((code, told.as_str()), (Some(0), ""), "{sql}");
    rows
}

#[test]
fn the_rows_are_those_of_the_dataset_of_the_captures() {
    let captures = captures();
    let dataset = dataset(&captures);
    for sql in [
        "select job, host, rank, kind, count(*), sum(dur_ns), min(name), max(end_ns) from event group by 1, 2, 3, 4 order by 1, 2, 3, 4",
        "select count(*) from event",
        "select host, count(*) from event where rank in (2, 5) group by host order by host",
        "select count(*), sum(dur_ns) from event where host = 'rank3'",
        "select * from step order by host, rank, step",
        "select host, rank, op, self_ns from op order by 1, 2, 3, 4 limit 50",
        "select rank, pid, name from process order by 1, 2, 3",
        "select host, rule, level, message from finding order by 1, 2, 3, 4",
        "select k.host, k.name, count(*) from event k join event l on k.caused_by = l.row and k.host = l.host
            where k.kind = 'kernel' group by 1, 2 order by 1, 2",
    ] {
        let expected = support::rows(dataset.path(), sql);
        let found = rows(&captures, sql);
        assert_eq!(found.len(), expected.len(), "{sql}");
        let same = |(one, other): (&Vec<Value>, &Vec<Value>)| {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        };
        let differing = found.iter().zip(&expected).find(|pair| !same(*pair));
        assert!(differing.is_none(), "{sql}: {differing:?}");
    }
}

#[test]
fn captures_are_listed_and_chosen_without_reading_the_others() {
    let mut all = captures()[..2].to_vec();
    let missing = PathBuf::from("/nowhere/at/all.json");
    let listed = rows(&all, "select host, problem, events > 0 from capture order by host");
    assert_eq!(listed, [[json!("rank0"), Value::Null, json!(true)], [json!("rank1"), Value::Null, json!(true)]]);
    // Hosts are called by where paths differ: from their first words on.
    all.push(missing);
    let own = all[0].canonicalize().expect("a capture");
    let host = own.to_str().expect("a path").trim_start_matches('/').replace('/', "-");
    let host = host.trim_end_matches(".gz").trim_end_matches(".json");
    let counted = rows(&all, &format!("select count(*) > 0 from event where host = '{host}'"));
    assert_eq!(counted, [[json!(true)]]);
}

#[test]
fn what_cannot_be_read_is_an_error_or_left_out_with_a_word() {
    let folder = tempfile::tempdir().expect("a directory");
    let place = |name: &str| folder.path().join(name).join("run.json.gz");
    for name in ["node0", "node1", "node2"] {
        fs::create_dir_all(folder.path().join(name)).expect("room");
        fs::copy(&captures()[0], place(name)).expect("room");
    }
    fs::write(place("node1"), "no capture").expect("room");
    let all: Vec<PathBuf> = ["node0", "node1", "node2"].map(place).to_vec();
    let sql = "select host, count(*) > 0 from event group by host order by host";
    let (code, rows, told) = asked(&all, &["--each", sql]);
    let named = format!("cannot read the capture {}", all[1].display());
    assert!(code == Some(1) && rows.is_empty() && told.contains(&named), "{told}");
    let (code, rows, told) = asked(&all, &["--each", "--skip-unreadable", sql]);
    assert_eq!(rows, [[json!("node0"), json!(true)], [json!("node2"), json!(true)]], "{told}");
    assert!(code == Some(0) && told.starts_with(&format!("note: left out {}: ", all[1].display())), "{told}");
    let (code, _, told) = asked(&all[1..2], &["--each", "--skip-unreadable", sql]);
    assert!(code == Some(1) && told.ends_with("error: none of 1 captures can be read\n"), "{told}");
    // As one capture, there is nothing to leave out.
    let (code, _, told) = asked(&all, &["--skip-unreadable", sql]);
    assert!(code != Some(0), "{told}");
}

#[test]
fn only_the_named_columns_are_read() {
    let plan = |sql: &str| {
        let done = program().arg("--each").args(&captures()[..2]).args([sql, "--explain"]).output().expect("it runs");
        String::from_utf8_lossy(&done.stdout).into_owned()
    };
    let text = plan("select host, sum(dur_ns) from event where kind = 'kernel' group by host");
    assert!(text.contains("CaptureScan: table=raw.event, columns=[kind, dur_ns, host]"), "{text}");
    let text = plan("select count(*) from event where host = 'rank1'");
    assert!(text.contains("CaptureScan: table=raw.event, columns=[]"), "{text}");
}

#[test]
fn the_same_capture_twice_is_told() {
    let twice = vec![captures()[0].clone(); 2];
    let (code, _, told) = asked(&twice, &["--each", "select 1"]);
    assert!(code == Some(2) && told.contains("are the same host and rank"), "{told}");
    let listed = program().arg("--each").args(&captures()[..2]).arg("--tables").output().expect("it runs");
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(
        listed.starts_with("2 captures, told apart by the columns job, host and rank of every table\n"),
        "{listed}"
    );
    assert!(listed.contains("\nraw.capture ") && !listed.contains("perfetto."), "{listed}");
}

/// The rows of a path that tells the rank.
#[test]
fn a_recording_of_several_ranks_is_a_capture_for_each() {
    let folder = tempfile::tempdir().expect("a directory");
    for rank in [0, 3] {
        let place: &Path = &folder.path().join(format!("run/rank-{rank}"));
        fs::create_dir_all(place).expect("room");
        fs::copy(&captures()[rank], place.join("trace.json.gz")).expect("room");
    }
    let run = [folder.path().join("run")];
    let found = rows(&run, "select host, rank, count(*) > 0 from event group by 1, 2 order by 1, 2");
    assert_eq!(found, [[json!("run"), json!(0), json!(true)], [json!("run"), json!(3), json!(true)]]);
}
