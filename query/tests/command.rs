//! The command itself: forms, parameters, errors, and what it refuses.

mod support;

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use support::{answer, fixture, program, rows};

fn small() -> PathBuf {
    fixture("real/kineto/mi300_torch_compile_triton.json.gz")
}

const QUERY: &str = "select name, dur_ns, bytes from event where kind = 'kernel' order by dur_ns desc, row limit 3";

#[test]
fn every_form_has_the_same_rows() {
    let expected = rows(&small(), QUERY);
    assert_eq!(expected.len(), 3);
    let folder = tempfile::tempdir().expect("a directory");
    for (form, separator) in [("csv", ','), ("tsv", '\t')] {
        let text = answer(&small(), &["-f", form, QUERY]).out;
        let mut reader = csv::ReaderBuilder::new().delimiter(separator as u8).from_reader(text.as_bytes());
        assert_eq!(reader.headers().expect("a header"), vec!["name", "dur_ns", "bytes"]);
        let found: Vec<String> = reader.records().map(|record| record.expect("a row")[1].to_owned()).collect();
        let durations: Vec<String> = expected.iter().map(|row| row[1].to_string()).collect();
        assert_eq!(found, durations, "{form}");
    }
    for form in ["parquet", "arrow"] {
        let path = folder.path().join(form);
        let done = answer(&small(), &["-f", form, "-o", path.to_str().expect("a name"), QUERY]);
        assert_eq!((done.code, done.out.as_str()), (Some(0), ""), "{}", done.err);
        let head = std::fs::read(&path).expect("a file");
        assert!(head.starts_with(b"PAR1") || head.starts_with(b"ARROW1"), "{form}");
    }
    let text = answer(&small(), &[QUERY]).out;
    assert!(text.starts_with("name ") && text.lines().count() == 4, "{text}");
    let markdown = answer(&small(), &["-f", "markdown", QUERY]).out;
    assert!(markdown.starts_with("| name | dur_ns | bytes |\n| --- | ---: | ---: |\n"), "{markdown}");
    let cut = answer(&small(), &["--rows", "2", QUERY]).out;
    assert!(cut.contains("the first 2 rows; `--rows 0` shows all"), "{cut}");
}

#[test]
fn files_parameters_and_named_queries() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("report.sql");
    let script = "-- what is long\nCREATE VIEW long_ones AS SELECT * FROM event WHERE dur_ns >= 1000;\n\
                  SELECT count(*) AS n FROM long_ones WHERE kind = $kind AND dur_ns < $most;\n";
    std::fs::write(&path, script).expect("room");
    let file = path.to_str().expect("a name");
    let found = answer(&small(), &["--file", file, "-p", "kind=kernel", "-p", "most=1e12", "-f", "csv"]);
    let direct = rows(&small(), "select count(*) from event where dur_ns >= 1000 and kind = 'kernel'");
    assert_eq!(found.out, format!("n\n{}\n", direct[0][0]), "{}", found.err);
    let missing = answer(&small(), &["--file", file, "-p", "kind=kernel"]);
    assert_eq!(missing.code, Some(2));
    assert!(missing.err.contains("the query asks for $most, which has no value"), "{}", missing.err);
    let plan = answer(&small(), &["--explain", "select count(*) from event where kind = $kind", "-p", "kind=kernel"]);
    assert!(plan.out.contains("physical_plan") && plan.out.contains("RawScan"), "{}", plan.out);
}

#[test]
fn a_query_comes_from_standard_input_too() {
    let mut child = program()
        .arg(small())
        .args(["-f", "csv"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it runs");
    std::io::Write::write_all(&mut child.stdin.take().expect("a pipe"), b"select 1 as one").expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "one\n1\n");
}

#[test]
fn names_that_nobody_has_are_told_from_those_that_are_near() {
    for (sql, said) in [
        ("select 1 from evnt", "unknown table `evnt`\n  hint: did you mean `event`"),
        ("select nmae from event", "unknown column `nmae`\n  hint: did you mean `name`"),
        ("select 1 from perfeto.slice", "unknown schema `perfeto`"),
        ("select 1 from raw.slice", "unknown table `raw.slice`"),
        ("INCLUDE PERFETTO MODULE slices.with_context; select 1", "INCLUDE PERFETTO MODULE is not supported"),
        ("select 'open", "cannot read the query"),
        ("selec 1", "cannot parse the query"),
        ("", "expected a query, found nothing"),
    ] {
        let answer = answer(&small(), &[sql]);
        assert_ne!(answer.code, Some(0), "{sql}");
        assert!(answer.err.contains(said), "{sql}: {}", answer.err);
    }
}

#[test]
fn queries_only_read() {
    let folder = tempfile::tempdir().expect("a directory");
    let place = folder.path().join("out");
    let data = folder.path().join("data.csv");
    std::fs::write(&data, "a\n1\n").expect("room");
    let (place, data) = (place.to_str().expect("a name"), data.to_str().expect("a name"));
    for sql in [
        format!("COPY (SELECT 1) TO '{place}' STORED AS CSV"),
        format!("CREATE EXTERNAL TABLE t STORED AS CSV LOCATION '{data}'"),
        "CREATE TABLE t AS SELECT 1".to_owned(),
        "INSERT INTO event VALUES (1)".to_owned(),
        "DROP TABLE event".to_owned(),
        "SET datafusion.execution.batch_size = 1".to_owned(),
        "CREATE VIEW t AS SELECT 1; DROP VIEW t".to_owned(),
        format!("SELECT * FROM '{data}'"),
        format!("SELECT * FROM read_csv('{data}')"),
        format!("EXPLAIN ANALYZE COPY (SELECT 1) TO '{place}' STORED AS CSV"),
    ] {
        let answer = answer(&small(), &[&sql]);
        assert_eq!(answer.code, Some(1), "{sql}: {}{}", answer.out, answer.err);
    }
    assert_eq!(folder.path().read_dir().expect("it is there").count(), 1);
}

#[test]
fn a_name_of_several_tables_is_the_one_with_the_columns_of_the_query() {
    let ours = answer(&small(), &["-f", "csv", "select * from track limit 0"]).out;
    let theirs = answer(&small(), &["-f", "csv", "select id, type, parent_id from track limit 1"]);
    assert!(!ours.contains("parent_id"), "{ours}");
    assert!(theirs.err.contains("note: took `perfetto.track`"), "{}", theirs.err);
    assert!(theirs.out.contains("thread_track"), "{}", theirs.out);
    let raw = answer(&small(), &["-f", "csv", "select native_id from track limit 1"]);
    assert!(raw.err.contains("note: took `raw.track`"), "{}", raw.err);
}

#[test]
fn the_listing_names_every_table_and_its_columns() {
    let all = answer(&small(), &["--tables"]).out;
    for name in ["raw.event", "stats.op", "perfetto.slice", "nsys.CUPTI_ACTIVITY_KIND_KERNEL", "rocpd.kernels"] {
        assert!(all.lines().any(|line| line.split(' ').next() == Some(name)), "{name}\n{all}");
    }
    let event = answer(&small(), &["--tables=event"]).out;
    assert!(event.contains("self_ns") && event.contains("nanoseconds"), "{event}");
    assert!(answer(&small(), &["--tables=op"]).out.contains("self_ns"));
    assert!(answer(&small(), &["--tables=stringids"]).out.contains("value"));
    assert!(answer(&small(), &["--tables=evnt"]).err.contains("did you mean `event`"));
}

#[test]
fn memory_is_bounded() {
    let many =
        "(select a.row * 1000003 + b.row * 1009 + c.row as n from event a cross join event b cross join event c)";
    let sql = &format!("select count(*) from {many} x join {many} y on x.n = y.n");
    let answer = answer(&small(), &["--memory", "1MiB", "--threads", "1", sql]);
    assert_eq!(answer.code, Some(1), "{}", answer.out);
    assert!(answer.err.contains("needs more memory than it may have"), "{}", answer.err);
}

#[test]
fn an_interrupt_ends_it() {
    let sql = "select count(*) from event a, event b, event c, event d where a.dur_ns + b.dur_ns + c.dur_ns = d.dur_ns";
    let mut child = program()
        .arg(small())
        .args(["--timings", sql])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    let planned = lines.by_ref().map_while(Result::ok).any(|line| line.ends_with("to plan"));
    assert!(planned);
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill is there");
    assert!(sent.success());
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
}
