//! Datasets of many captures: the same rows as from each capture by itself, and which hosts are unlike the others.

mod support;

use ridge_export::Privacy;
use ridge_export::tables::{Tables, write_folder};
use ridgeline::{OpenOptions, Session};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use support::{answer, fixture, rows};
use tempfile::TempDir;

/// The eight ranks of a job, each as a host.
fn captures() -> Vec<PathBuf> {
    (0..8).map(|rank| fixture(&format!("real/kineto/v100_dlrm_8rank/rank{rank}.json.gz"))).collect()
}

fn dataset(captures: &[PathBuf]) -> TempDir {
    let folder = tempfile::tempdir().expect("a directory");
    for (host, capture) in captures.iter().enumerate() {
        let session = Session::open(std::slice::from_ref(capture), &OpenOptions::default()).expect("a capture");
        let part = folder.path().join(format!("job=dlrm/host=node{host}/rank={host}"));
        fs::create_dir_all(&part).expect("room");
        write_folder(&session, &Tables::new(&session, Privacy::Kept), &part, &mut |_| ()).expect("room");
    }
    folder
}

fn whole(value: &Value) -> i64 {
    value.as_i64().unwrap_or_else(|| panic!("a whole number, found {value}"))
}

#[test]
fn a_dataset_has_the_rows_of_its_captures() {
    let captures = captures();
    let dataset = dataset(&captures);
    let sums = "count(*), sum(dur_ns), max(name) from event where kind = 'kernel'";
    let by_host = rows(dataset.path(), &format!("select host, rank, {sums} group by host, rank order by rank"));
    assert_eq!(by_host.len(), captures.len());
    for (rank, (found, capture)) in by_host.iter().zip(&captures).enumerate() {
        assert_eq!(found[..2], [json!(format!("node{rank}")), json!(rank)]);
        assert_eq!(found[2..], rows(capture, &format!("select {sums}"))[0][..], "{}", capture.display());
    }
    // A view has every capture's rows, and a part can be chosen.
    let all = rows(dataset.path(), "select count(*) from stats.kernel");
    let each = captures.iter().map(|capture| whole(&rows(capture, "select count(*) from stats.kernel")[0][0]));
    assert_eq!(whole(&all[0][0]), each.sum::<i64>());
    let one = rows(dataset.path(), "select distinct host from step where rank = 3");
    assert_eq!(one, [[json!("node3")]]);
}

#[test]
fn tables_are_listed_and_what_is_no_part_is_left_out() {
    let dataset = dataset(&captures()[..2]);
    for stray in ["job=dlrm/.host=node9.ridgeline-partial/rank=0/raw", "notes/raw"] {
        fs::create_dir_all(dataset.path().join(stray)).expect("room");
        fs::write(dataset.path().join(stray).join("event.parquet"), "cut sho").expect("room");
    }
    let listed = answer(dataset.path(), &["--tables"]);
    assert!(listed.out.starts_with("2 captures, told apart by the columns job, host and rank of every table\n"));
    assert!(listed.out.contains("\nraw.event ") && !listed.out.contains("perfetto."), "{}", listed.out);
    let columns = answer(dataset.path(), &["--tables=step"]).out;
    assert!(columns.contains("wall_ns") && columns.contains("host"), "{columns}");
    assert_eq!(rows(dataset.path(), "select count(distinct host) from event"), [[json!(2)]]);
    let both = answer(dataset.path(), &[fixture("real/kineto").to_str().expect("a path"), "select 1"]);
    assert_eq!(both.code, Some(2), "{}", both.err);
}

#[test]
fn the_host_that_others_wait_for_is_unlike_them() {
    let dataset = dataset(&captures());
    let found = answer(dataset.path(), &["--fleet=hosts", "-f", "json"]);
    assert_eq!(found.code, Some(0), "{}", found.err);
    let document: Value = serde_json::from_str(&found.out).expect("JSON");
    let unlike = |host: &str| {
        let row = document["rows"].as_array().expect("rows").iter().find(|row| row["host"] == host).expect("the host");
        row["unlike"].as_str().expect("a text").to_owned()
    };
    // `ridgeline stats --by rank`, which has the clocks of all ranks, says that the others wait for rank 7.
    assert_eq!(unlike("node7"), "others wait for it (inferred: half of their time in collectives, or less)");
    assert_eq!((0..7).map(|host| unlike(&format!("node{host}"))).collect::<String>(), "");
    let both = answer(dataset.path(), &["--fleet"]);
    assert_eq!(both.code, Some(0), "{}", both.err);
    assert!(both.out.contains("of_captures"), "{}", both.out);
    let capture = answer(&captures()[0], &["--fleet"]);
    assert_eq!(capture.code, Some(2));
    assert!(capture.err.contains("expected a dataset of many captures"), "{}", capture.err);
}

#[test]
fn steps_are_compared_across_hosts_in_a_table_and_on_a_page() {
    let dataset = dataset(&captures());
    let found = answer(dataset.path(), &["--fleet=steps", "-f", "csv"]);
    assert_eq!(found.code, Some(0), "{}", found.err);
    let lines: Vec<&str> = found.out.lines().collect();
    assert_eq!(
        lines[..3],
        [
            "job,host,rank,step,wall_ns,slower_pct,of_places",
            "dlrm,node0,0,10,14455000,-10.4,8",
            "dlrm,node1,1,10,19901000,23.4,8",
        ]
    );
    let file = dataset.path().join("page.html");
    let written = answer(dataset.path(), &["--fleet", "--html", file.to_str().expect("a path")]);
    assert_eq!((written.code, written.out.as_str()), (Some(0), ""), "{}", written.err);
    let page = fs::read_to_string(file).expect("a page");
    let data = page.split("id=\"data\">").nth(1).and_then(|rest| rest.split("</script>").next()).expect("the numbers");
    let data: Value = serde_json::from_str(data).expect("JSON");
    assert_eq!(data["jobs"][0]["steps"], json!([10]));
    assert_eq!(data["jobs"][0]["rows"][7], json!({ "host": "node7", "rank": 7, "wall_ns": [12_509_000] }));
    assert_eq!(data["captures"], json!(8));
    assert_eq!(data["hosts"]["rows"].as_array().map(Vec::len), Some(8));
}

#[test]
fn datasets_are_put_into_buckets_alone() {
    let dataset = dataset(&captures()[..1]);
    let place = dataset.path().to_str().expect("a path");
    let put = answer(dataset.path(), &["--put", place]);
    assert_eq!((put.code, put.err), (Some(2), format!("error: expected s3://BUCKET/PREFIX, found {place}\n")));
}
