//! Databases that Python's `sqlite3` wrote (`databases/make.py`), row by row; and the same ones broken.

use super::*;

const SMALL_PAGES: &[u8] = include_bytes!("../databases/small_pages.sqlite");
const WIDE_TEXT: &[u8] = include_bytes!("../databases/wide_text.sqlite");

/// Row id, `first`, `text`, `real` and `late` of every row of the table `a b`.
type Rows = Vec<(Option<i64>, Option<i64>, Option<String>, Option<f64>, Option<i64>)>;

fn rows(database: &Database<'_>) -> Scanned<Rows> {
    let table = database.table("A B").expect("names are found without case");
    let columns = table.columns_called(&["id", "first", "TEXT", "real", "late"]);
    database.scan(table, &columns, |rows: &mut Rows, row| {
        rows.push((row.int(0), row.int(1), row.text(2).map(|text| text.into_owned()), row.real(3), row.int(4)));
    })
}

#[track_caller]
fn check(bytes: &[u8], count: usize, longest: usize) {
    let database = Database::open(bytes).expect("a sound database");
    let scanned = rows(&database);
    assert_eq!((scanned.rows, scanned.damaged), (count as u64, 0));
    let found: Rows = scanned.parts.into_iter().flatten().collect();
    let expected = (0..count).map(|row| {
        let text = "é".repeat(row * longest / count);
        (Some(10 * row as i64), Some(-(row as i64)), Some(text), Some(row as f64 / 4.0), None)
    });
    assert_eq!(found, expected.collect::<Rows>());
}

#[test]
fn rows_arrive_whatever_the_page_and_the_encoding() {
    check(SMALL_PAGES, 60, 700);
    check(WIDE_TEXT, 12, 900);
}

#[test]
fn integers_of_every_width() {
    let database = Database::open(SMALL_PAGES).expect("a sound database");
    let table = database.table("plain").expect("it is there");
    let scanned = database.scan(table, &[Some(0)], |values: &mut Vec<i64>, row| values.extend(row.int(0)));
    let (byte, short, three, word, six) = (1 << 7, 1 << 15, 1 << 23, 1_i64 << 31, 1_i64 << 47);
    let wide = [byte, short, three, word, six].into_iter().flat_map(|edge| [edge - 1, -edge]);
    let expected: Vec<i64> = [0, 1, -1].into_iter().chain(wide).chain([i64::MAX]).collect();
    assert_eq!(scanned.parts.concat(), expected);
}

#[test]
fn what_was_read_is_given_back() {
    // A constant may be in memory more than once.
    let bytes = SMALL_PAGES;
    let database = Database::open(bytes).expect("a sound database");
    let table = database.table("a b").expect("it is there");
    let released = std::sync::Mutex::new(0);
    let mut values = Vec::new();
    let counts = database.scan_each(
        table,
        &[table.row_id],
        |ids: &mut Vec<i64>, row| ids.extend(row.int(0)),
        |read| {
            assert!(bytes.as_ptr_range().contains(&read.as_ptr()));
            *released.lock().expect("no other panic") += read.len();
        },
        |ids| values.extend(ids),
    );
    assert_eq!((counts.rows, values.len()), (60, 60));
    // All leaves, some of which have pages of other tables between them.
    let released = released.into_inner().expect("no panic");
    assert!((60 * 100..=bytes.len()).contains(&released), "{released}");
}

#[test]
fn columns_are_those_that_rows_store() {
    let database = Database::open(WIDE_TEXT).expect("a sound database");
    let table = database.table("a b").expect("it is there");
    assert_eq!(table.columns, ["first", "id", "text", "real", "blob", "late"]);
    assert_eq!(table.row_id, Some(1));
    let keyed = database.table("keyed").expect("it is there");
    assert!(keyed.without_row_id && !table.without_row_id);
    assert_eq!(database.table_names().collect::<Vec<_>>(), ["a b", "plain", "keyed"]);
}

#[test]
fn a_key_may_stand_behind_the_columns() {
    let parsed = |sql: &str| schema::parse("t", 2, sql);
    let table = parsed("CREATE TABLE t(a TEXT, b integer, PRIMARY KEY(b))");
    assert_eq!((table.columns.len(), table.row_id), (2, Some(1)));
    for other in [
        "CREATE TABLE t(a INTEGER, b INTEGER, PRIMARY KEY(a, b))",
        "CREATE TABLE t(a INT PRIMARY KEY, b)",
        "CREATE TABLE t(a INTEGER PRIMARY KEY DESC, b)",
        "CREATE TABLE t(a TEXT, b, CONSTRAINT k PRIMARY KEY (a))",
    ] {
        let table = parsed(other);
        assert_eq!((table.columns.len(), table.row_id), (2, None), "{other}");
    }
    for broken in ["", "CREATE TABLE", "CREATE TABLE t(", "CREATE TABLE t('", "CREATE TABLE t(,,((("] {
        parsed(broken);
    }
}

#[test]
fn a_page_that_names_itself_is_walked_once() {
    let mut bytes = SMALL_PAGES.to_vec();
    let database = Database::open(SMALL_PAGES).expect("a sound database");
    let root = database.table("a b").expect("it is there").root;
    let page = (root as usize - 1) * 512;
    // The rightmost child of the root becomes the root.
    bytes[page + 8..page + 12].copy_from_slice(&root.to_be_bytes());
    let scanned = rows(&Database::open(&bytes).expect("the header is sound"));
    assert_eq!(scanned.damaged, 1);
    assert_eq!(scanned.first_damage, Some(page as u64));
    assert!(scanned.rows > 0 && scanned.rows < 60);
}

#[test]
fn overflow_that_turns_in_circles_ends() {
    // Every page that is no tree page becomes its own successor.
    let mut bytes = SMALL_PAGES.to_vec();
    for page in 1..bytes.len() / 512 {
        if bytes[page * 512] == 0 {
            let itself = (page as u32 + 1).to_be_bytes();
            bytes[page * 512..page * 512 + 4].copy_from_slice(&itself);
        }
    }
    let scanned = rows(&Database::open(&bytes).expect("the header is sound"));
    assert_eq!(scanned.rows + scanned.damaged, 60);
}

#[test]
fn every_cut_and_every_flipped_byte_is_met() {
    for bytes in [SMALL_PAGES, WIDE_TEXT] {
        for cut in (0..bytes.len()).step_by(61) {
            if let Ok(database) = Database::open(&bytes[..cut]) {
                let read = database.table("a b").map_or(0, |_| rows(&database).rows);
                assert!(read <= 60);
            }
        }
        for at in (0..bytes.len()).step_by(7) {
            let mut broken = bytes.to_vec();
            broken[at] ^= 0xff;
            let Ok(database) = Database::open(&broken) else { continue };
            if database.table("a b").is_some() {
                rows(&database);
            }
        }
    }
}

#[test]
fn headers_that_make_no_sense_are_refused() {
    #[track_caller]
    fn check(at: usize, value: u8, expected: &str) {
        let mut bytes = SMALL_PAGES.to_vec();
        bytes[at] = value;
        assert_eq!(Database::open(&bytes).expect_err("it is broken").to_string(), expected);
    }
    check(0, b'T', "expected a SQLite header of 100 bytes, found none at byte 0");
    check(17, 3, "expected a page size from 512 to 65536, a power of two, found 515 at byte 16");
    check(20, 200, "expected at least 480 usable bytes a page, found 312 at byte 20");
    check(59, 9, "expected text encoding 1, 2 or 3, found 9 at byte 56");
    assert!(Database::open(b"SQLite format 3\0").is_err());
}

/// Every text of `bytes` with the places that `layout` names for it, and the rest of the file as zeros.
fn with_zeros(bytes: &[u8]) -> (Vec<u8>, usize) {
    let mut texts = 0;
    let unused = layout::walk(bytes, |tree, encoding, row| {
        for at in 0..row.values.len() {
            let placed: Vec<u8> = row
                .places(at)
                .into_iter()
                .flat_map(|place| bytes[place.start as usize..place.end as usize].to_vec())
                .collect();
            assert_eq!(placed, row.bytes(at), "{} {:?} {at}", tree.table.name, row.row_id);
            texts += usize::from(row.values[at].0 == layout::Kind::Text);
            let _ = encoding.decoded(&placed);
        }
    });
    let mut zeroed = bytes.to_vec();
    for range in unused.expect("a sound database") {
        zeroed[range.start as usize..range.end as usize].fill(0);
    }
    (zeroed, texts)
}

#[test]
fn what_holds_nothing_can_be_zeroed() {
    for (bytes, rows, longest) in [(SMALL_PAGES, 60, 700), (WIDE_TEXT, 12, 900)] {
        let (zeroed, texts) = with_zeros(bytes);
        // Of the schema: four tables and indexes with three texts each, two of them without a statement; a text a row.
        assert!(texts > rows, "{texts}");
        assert_eq!(zeroed.len(), bytes.len());
        check(&zeroed, rows, longest);
        assert_eq!(with_zeros(&zeroed).0, zeroed);
    }
}

#[test]
fn a_layout_forgives_nothing() {
    let error = |bytes: &[u8]| layout::walk(bytes, |_, _, _| {}).expect_err("it is broken").to_string();
    assert_eq!(
        error(&SMALL_PAGES[..1000]),
        "expected whole pages of 512 bytes, found the end of the file at byte 1000"
    );
    let mut bytes = SMALL_PAGES.to_vec();
    let root = Database::open(SMALL_PAGES).expect("a sound database").table("a b").expect("it is there").root as usize;
    let page = (root - 1) * 512;
    bytes[page + 8..page + 12].copy_from_slice(&(root as u32).to_be_bytes());
    assert_eq!(error(&bytes), format!("expected a page that nothing else uses, found page {root} at byte {page}"));
    for at in (0..SMALL_PAGES.len()).step_by(7) {
        let mut broken = SMALL_PAGES.to_vec();
        broken[at] ^= 0xff;
        if let Ok(unused) = layout::walk(&broken, |_, _, _| {}) {
            assert!(unused.windows(2).all(|pair| pair[0].end <= pair[1].start), "{at}");
        }
    }
}
