//! Files that pyarrow wrote, of every kind that is read and of one that is not, whole and broken.

use super::*;

const SNAPPY: &[u8] = include_bytes!("../../tests/parquet/snappy.parquet");
const PLAIN_V2: &[u8] = include_bytes!("../../tests/parquet/plain_v2.parquet");
const GZIP_GROUPS: &[u8] = include_bytes!("../../tests/parquet/gzip_groups.parquet");
const ZSTD_V2: &[u8] = include_bytes!("../../tests/parquet/zstd_v2.parquet");
const BROTLI: &[u8] = include_bytes!("../../tests/parquet/brotli.parquet");

const COLUMNS: [&str; 10] =
    ["id", "small", "wide", "rate", "half", "is_last", "text", "nested", "after", "there is none"];

fn rows(bytes: &[u8], bound: &Bound) -> (Vec<String>, Option<ParquetError>) {
    let file = Parquet::open(bytes).expect("a Parquet file");
    let cell = |row: &Row<'_>, at: usize| match row.cells[at] {
        Cell::Text(_) => row.text(at).expect("a text").into_owned(),
        Cell::Null => "-".to_owned(),
        Cell::Int(value) => value.to_string(),
        other => format!("{other:?}"),
    };
    let line = |lines: &mut Vec<String>, row: &Row<'_>| {
        lines.push((0..COLUMNS.len()).map(|at| cell(row, at)).collect::<Vec<_>>().join(" "));
    };
    let found = file.scan(&COLUMNS, bound, line);
    (found.scanned.parts.into_iter().flatten().collect(), found.error)
}

#[test]
fn what_pyarrow_wrote_is_read() {
    let expected = [
        "1 7 4294967295 Real(0.5) Real(1.5) 0 a - 10 -",
        "-2 - 0 - Real(2.5) 0 bé - 20 -",
        "3 -9 - Real(-2.0) Real(3.5) - - - 30 -",
        "3 7 1 Real(0.5) - 1 a - 40 -",
    ];
    for (name, bytes) in [("snappy", SNAPPY), ("v2", PLAIN_V2), ("gzip", GZIP_GROUPS), ("zstd", ZSTD_V2)] {
        let (found, error) = rows(bytes, &Bound::new(1 << 20));
        assert_eq!((found, error), (expected.map(str::to_owned).to_vec(), None), "{name}");
    }
    let columns: Vec<String> = Parquet::open(SNAPPY).expect("a file").columns().map(str::to_owned).collect();
    assert_eq!(columns, ["id", "small", "wide", "rate", "half", "is_last", "text", "after"]);
}

#[test]
fn what_is_not_read_is_named() {
    let (found, error) = rows(BROTLI, &Bound::new(1 << 20));
    let message = error.expect("an error").to_string();
    assert!(found.is_empty() && message.contains("found compression Brotli at byte"), "{message}");
    let (found, error) = rows(SNAPPY, &Bound::new(40));
    let message = error.expect("an error").to_string();
    assert!(found.is_empty() && message.contains("unpacks to more than the limit of 40 B"), "{message}");
}

#[test]
fn cut_and_flipped_files_are_errors_or_rows() {
    for bytes in [SNAPPY, PLAIN_V2, GZIP_GROUPS, ZSTD_V2] {
        for cut in 0..bytes.len() {
            assert!(Parquet::open(&bytes[..cut]).is_err(), "a footer is at the end");
        }
        for at in 0..bytes.len() {
            for mask in [0x01, 0x80, 0xff] {
                let mut flipped = bytes.to_vec();
                flipped[at] ^= mask;
                if let Ok(file) = Parquet::open(&flipped) {
                    let bound = Bound::new(1 << 20);
                    let count = |count: &mut u64, _: &Row<'_>| *count += 1;
                    file.scan(&COLUMNS, &bound, count);
                }
            }
        }
    }
}
