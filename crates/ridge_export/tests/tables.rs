//! Tables of captures: what they hold is what other forms and other tables say.

mod parquet_rows;

use arrow_array::Array as _;
use arrow_array::cast::AsArray as _;
use arrow_array::types::Int64Type;
use ridge_export::tables::{DIALECTS, RAW_TABLES, RawTable, Tables, write_events, write_folder};
use ridge_export::{Form, Privacy, export};
use ridgeline::trace::EventKind;
use ridgeline::{OpenOptions, Session, Topic};
use std::path::Path;

/// Columns of the CSV.
const CSV_COLUMNS: usize = 13;

const SMALL: &str = "
    module jit_f 15
    thread python
      1000 +9000 train step=3
      1500 +200 cudaLaunchKernel launch id=7 as=l
      1800 +0 mark instant
    stream 7 on gpu
      2000 +1001 gemm op=dot.1 in=jit_f scope=jit(f)/dot id=7 grid=2,1,1 block=64,1,1
      2500 +1000 relu
      4000 +10 MemcpyH2D h2d bytes=1024";

/// The capture that `text` describes, by way of a file.
fn reopened(text: &str) -> Session {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("capture.pftrace");
    let mut bytes = Vec::new();
    export(&ridge_test::trace(text), &|_| None, Form::Perfetto, Privacy::Kept, &mut bytes, &mut |_| {})
        .expect("memory");
    std::fs::write(&path, bytes).expect("room");
    open(&path)
}

fn open(path: &Path) -> Session {
    Session::open(&[path.to_owned()], &OpenOptions::default()).expect("a capture")
}

fn parquet(session: &Session, privacy: Privacy<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    write_events(&Tables::new(session, privacy), &mut out, &mut |_| {}).expect("memory");
    out
}

#[test]
fn parquet_holds_what_csv_holds() {
    // More events than are made at once, and names that come back in a later part.
    let mut many = String::from("module jit_f 15\n");
    for stream in 0..2 {
        many.push_str(&format!("stream {stream} on gpu\n"));
        for at in 0..70_000 {
            many.push_str(&format!("{} +7 k{} op=dot.{} in=jit_f\n", at * 10, at % 97, at % 13));
        }
    }
    for text in [SMALL, many.as_str(), "thread t\n 0 +1 \"a, b\""] {
        let session = reopened(text);
        let mut csv = Vec::new();
        export(session.trace(), &|_| None, Form::Csv, Privacy::Removed, &mut csv, &mut |_| {}).expect("memory");
        let rows = parquet_rows::as_csv(&parquet(&session, Privacy::Removed), CSV_COLUMNS);
        assert!(rows.as_bytes() == csv, "{}", &rows[..rows.len().min(1000)]);
    }
}

#[test]
fn what_is_private_stays_only_if_asked() {
    let session = reopened("thread t\n 0 +1 /home/ada/train.py:3 python\n 2 +1 hf_abcdefghijklmnopqrst0123");
    let held = |privacy| String::from_utf8_lossy(&parquet(&session, privacy)).into_owned();
    let (removed, kept) = (held(Privacy::Removed), held(Privacy::Kept));
    assert!(removed.contains("~/train.py:3") && !removed.contains("ada") && !removed.contains("hf_abc"));
    assert!(kept.contains("/home/ada/train.py:3") && kept.contains("hf_abc"));
}

/// The numbers of a column of every row, 0 for null.
fn numbers(tables: &Tables<'_>, table: &RawTable, name: &str) -> Vec<i64> {
    let at = table.columns.iter().position(|column| column.name == name).expect("a column");
    let parts = tables.parts(table).into_iter();
    let columns = parts.map(|part| tables.batch(table, &[at], part).column(0).as_primitive::<Int64Type>().clone());
    columns.flat_map(|column| column.iter().map(Option::unwrap_or_default).collect::<Vec<_>>()).collect()
}

fn sum(session: &Session, topic: Topic, view: &str, column: &str) -> i64 {
    let table = session.table(topic, view).expect("a view");
    let column = table.batch.column_by_name(column).expect("a column");
    column.as_primitive::<Int64Type>().iter().flatten().sum()
}

#[test]
fn numbers_of_events_are_those_of_tables() {
    let event = RAW_TABLES[0];
    let mut seen = (0, 0, 0);
    for path in ridge_test::every_capture() {
        let Ok(session) = Session::open(std::slice::from_ref(&path), &OpenOptions::default()) else { continue };
        let tables = Tables::new(&session, Privacy::Kept);
        for table in RAW_TABLES {
            let columns: Vec<usize> = (0..table.columns.len()).collect();
            let rows: usize =
                tables.parts(table).into_iter().map(|part| tables.batch(table, &columns, part).num_rows()).sum();
            assert_eq!(rows, tables.rows(table), "{} of {}", table.name, path.display());
        }
        let (kinds, own) = (numbers(&tables, event, "kind_id"), numbers(&tables, event, "self_ns"));
        let is_work = |kind: i64| u8::try_from(kind).is_ok_and(EventKind::from_byte_is_work);
        let work: i64 = kinds.iter().zip(&own).filter(|(kind, _)| is_work(**kind)).map(|(_, own)| own).sum();
        if session.trace().device_tracks().next().is_some() {
            assert_eq!(work, sum(&session, Topic::Time, "category", "self_ns"), "{}", path.display());
            seen.0 += i64::from(work > 0);
        }
        // Of each step, what the table of steps says.
        if !session.trace().steps.is_empty() {
            let table = session.table(Topic::Time, "step").expect("a view");
            let device: i64 = table
                .batch
                .column_by_name("device_ns")
                .map_or(0, |column| column.as_primitive::<Int64Type>().iter().flatten().sum());
            let at = event.columns.iter().position(|column| column.name == "step").expect("a column");
            let mut in_steps = 0;
            let mut row = 0;
            for part in tables.parts(event) {
                let steps = tables.batch(event, &[at], part);
                for at in 0..steps.num_rows() {
                    in_steps += if steps.column(0).is_valid(at) && is_work(kinds[row]) { own[row] } else { 0 };
                    row += 1;
                }
            }
            assert_eq!(in_steps, device, "steps of {}", path.display());
            seen.1 += 1;
        }
        seen.2 += 1;
    }
    assert!(seen.0 > 5 && seen.1 > 0 && seen.2 > 10, "{seen:?}");
}

#[test]
fn a_folder_holds_every_table_and_the_views_of_other_tools() {
    let session = reopened(SMALL);
    let folder = tempfile::tempdir().expect("a directory");
    write_folder(&session, &Tables::new(&session, Privacy::Removed), folder.path(), &mut |_| {}).expect("room");
    let script = std::fs::read_to_string(folder.path().join("views.sql")).expect("a script");
    for line in script.lines().filter_map(|line| line.split_once(" AS SELECT * FROM '")) {
        assert!(folder.path().join(line.1.trim_end_matches("';")).is_file(), "{}", line.1);
    }
    for name in
        ["raw.event AS", "stats.op AS", "perfetto.slice AS", "CREATE VIEW slice AS SELECT * FROM perfetto.slice"]
    {
        assert!(script.contains(name), "{name}");
    }
    // A name alone is a view's first, then another tool's.
    assert!(script.contains("CREATE VIEW track AS SELECT * FROM stats.track;"));
    let names: Vec<&str> = DIALECTS.iter().flat_map(|dialect| dialect.views().map(|(name, _)| name)).collect();
    assert!(names.contains(&"CUPTI_ACTIVITY_KIND_KERNEL") && names.contains(&"kernels"));
}
