//! Exports of Nsight Systems that were worked in (`databases/make.py`): what is private is in no byte of the copy.

use ridge_redact::{RedactError, Redactor, Removed, Words};
use ridge_sqlite::Database;

const SMALL_PAGES: &[u8] = include_bytes!("../databases/small_pages.sqlite");
const WIDE_TEXT: &[u8] = include_bytes!("../databases/wide_text.sqlite");
const MADE_UP: &[u8] = include_bytes!("../../../fixtures/nsys/two_processes.sqlite");

fn redact(bytes: &[u8], words: &Words, out: &mut Vec<u8>) -> Result<Removed, RedactError> {
    Redactor::Nsys.redact(bytes, words, out)
}

fn redacted(bytes: &[u8]) -> (Vec<u8>, Removed) {
    let mut out = Vec::new();
    let removed = redact(bytes, &Words::default(), &mut out).expect("a sound export");
    (out, removed)
}

fn holds(bytes: &[u8], text: &str) -> bool {
    let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    [text.as_bytes(), &wide].iter().any(|text| bytes.windows(text.len()).any(|window| window == *text))
}

/// The texts of a column, one a line.
fn texts(bytes: &[u8], table: &str, column: &str) -> String {
    let database = Database::open(bytes).expect("a sound database");
    let schema = database.table(table).expect("it is there");
    let found = database.scan(schema, &schema.columns_called(&[column]), |texts: &mut Vec<String>, row| {
        texts.push(row.text(0).map_or("-".to_owned(), |text| text.chars().take(40).collect()));
    });
    assert_eq!(found.damaged, 0, "{table}");
    found.parts.concat().join("|")
}

#[test]
fn private_texts_are_in_no_byte() {
    for bytes in [SMALL_PAGES, WIDE_TEXT] {
        let (copy, removed) = redacted(bytes);
        assert_eq!(copy.len(), bytes.len());
        // The range called `secret-range` is named by the program: a process of the same name does not take it away.
        for private in [
            "/home/ada",
            "A_TOKEN",
            "secret.py",
            "secret-program",
            "secret-short-lived",
            "secret output",
            "secret note",
            "ada-box",
            "secret that was",
            "GPU-secret",
            "/srv/secret",
            "ada/model",
            "NAME=secret",
        ] {
            assert!(holds(bytes, private), "{private} has to be there first");
            assert!(!holds(&copy, private), "{private}");
        }
        for public in ["saxpy(int)", "adagrad", "3.13.2", "NVIDIA H100", "a range", "secret-range", "worker", "1000"] {
            assert!(holds(&copy, public), "{public}");
        }
        assert!(removed.total() > 10, "{removed:?}");
        let again = redacted(&copy);
        assert!(again.0 == copy && again.1.total() == 0, "{:?}", again.1);
    }
}

#[test]
fn texts_keep_their_length_and_their_place() {
    for bytes in [SMALL_PAGES, WIDE_TEXT] {
        let (copy, _) = redacted(bytes);
        assert_eq!(texts(&copy, "NVTX_EVENTS", "text"), "train ***/model on *******|-|adagrad|-");
        assert_eq!(texts(&copy, "META_DATA_CAPTURE", "value"), format!("<redacted>{:30}|false|1000", ""));
        assert_eq!(texts(&copy, "META_DATA_EXPORT", "value"), "3.13.2|<redacted> |***");
        assert_eq!(texts(&copy, "DIAGNOSTIC_EVENT", "text"), "Not read: /***/****** ****=******");
    }
    let (copy, removed) = redacted(MADE_UP);
    assert_eq!(texts(&copy, "META_DATA_EXPORT", "value"), "made by hand|3.13.2|<redacted> |<redacted> ");
    assert!(!holds(&copy, "secret") && holds(MADE_UP, "secret"), "{removed:?}");
}

#[test]
fn an_order_of_private_texts_is_refused() {
    let with_index = include_bytes!("../databases/indexed.sqlite");
    let error = redact(with_index, &Words::default(), &mut Vec::new()).expect_err("its index holds a private text");
    assert_eq!(
        error.to_string(),
        "expected a capture that can be redacted, found a database with an index over private text"
    );
    assert!(error.hint().is_some_and(|hint| hint.contains("DROP INDEX")));
}

#[test]
fn damage_is_refused_with_its_place() {
    let error =
        redact(&SMALL_PAGES[..SMALL_PAGES.len() - 100], &Words::default(), &mut Vec::new()).expect_err("it is cut");
    assert!(
        error.to_string().starts_with("expected whole pages of 512 bytes, found the end of the file at byte "),
        "{error}"
    );
    for at in (0..SMALL_PAGES.len()).step_by(11) {
        let mut broken = SMALL_PAGES.to_vec();
        broken[at] ^= 0xff;
        let mut copy = Vec::new();
        if redact(&broken, &Words::default(), &mut copy).is_ok() {
            assert_eq!(copy.len(), broken.len(), "{at}");
        }
    }
}
