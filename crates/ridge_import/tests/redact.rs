//! Copies of every fixture without what is private read like what they are copies of.

use flate2::Compression;
use flate2::write::GzEncoder;
use lzma_rust2::{XzOptions, XzWriter};
use ridge_import::{FORMATS, Foreign, Packed, Redacted, Source, import, learn, redact, sniff};
use ridge_redact::{RedactError, Removed, Words};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::io::Write as _;
use std::path::Path;

fn copied(bytes: &[u8], foreign: Foreign) -> Result<(Vec<u8>, Redacted), RedactError> {
    let mut out = Vec::new();
    let made = redact(Source { name: "given", bytes }, foreign, &Words::default(), &mut out)?;
    Ok((out, made))
}

fn copy(bytes: &[u8]) -> (Vec<u8>, Redacted) {
    copied(bytes, Foreign::Refused).expect("a sound capture")
}

/// What is read of a capture, as far as it does not depend on names.
fn numbers(bytes: &[u8]) -> (usize, i64, usize, usize) {
    let trace = import(&[Source { name: "given", bytes }], None).expect("it opens").trace;
    let total = trace.events.dur_ns.iter().sum();
    (trace.events.len(), total, trace.counters.value.len(), trace.tracks.len())
}

/// A copy of the capture at `path` holds the same numbers, and nothing to take out.
fn check(path: &Path) {
    let bytes = std::fs::read(path).expect("a fixture");
    let (clean, _) = copy(&bytes);
    assert_eq!(numbers(&clean), numbers(&bytes), "{}", path.display());
    let again = copy(&clean).1.removed;
    assert!(again.total() == 0, "{}: {again:?}", path.display());
}

#[test]
fn copies_of_every_format_hold_the_same_numbers() {
    for format in FORMATS {
        let mut files = ridge_test::files(&ridge_test::fixtures(format.name()), "");
        files.retain(|path| {
            std::fs::read(path).is_ok_and(|bytes| sniff(&bytes).is_some_and(|found| found.name() == format.name()))
        });
        assert!(!files.is_empty(), "no fixture of {}", format.name());
        files.iter().for_each(|path| check(path));
    }
}

#[test]
fn copies_of_real_captures_hold_the_same_numbers() {
    for (format, suffix) in [
        ("kineto", ".json.gz"),
        ("kineto", ".pickle"),
        ("kineto/v100_dlrm_8rank", "0.json.gz"),
        ("ncu", ".ncu-rep"),
        ("ncu", ".csv"),
        ("nsys", ".sqlite"),
        ("nsys-jax", ".zip"),
        ("xplane", ".xplane.pb"),
    ] {
        if let Some(folder) = ridge_test::corpus("copies_of_real_captures_hold_the_same_numbers", format) {
            ridge_test::files(&folder, suffix).iter().for_each(|path| check(path));
        }
    }
}

#[test]
fn secrets_of_archives_are_in_no_member() {
    let bytes = std::fs::read(ridge_test::fixtures("nsys-jax").join("one_process.zip")).expect("a fixture");
    let (clean, made) = copy(&bytes);
    // Its members are stored, and the tables in it are written without compression.
    for secret in [&b"secret-host"[..], b"secret-program", b"TOKEN=secret"] {
        assert!(memchr::memmem::find(&clean, secret).is_none(), "{}", String::from_utf8_lossy(secret));
    }
    assert!(
        memchr::memmem::find(&clean, b"XlaLauncher:#global=0").is_some(),
        "what is not private is there to be found"
    );
    assert!(made.removed.total() > 0);
    // A report that only NVIDIA's tools read, and the program's sources.
    let left_out: Vec<&str> = made.left_out.iter().map(|(name, _)| name.as_str()).collect();
    assert!(
        left_out.contains(&"one_process.nsys-rep") && left_out.contains(&"sources/tmp/programs/operations.py"),
        "{left_out:?}"
    );
}

/// `plain` in gzip, xz and Zstandard.
fn packed(plain: &[u8]) -> [Vec<u8>; 3] {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(plain).expect("memory");
    let mut xz = XzWriter::new(Vec::new(), XzOptions::with_preset(1)).expect("memory");
    xz.write_all(plain).expect("memory");
    let zstd = compress_to_vec(plain, CompressionLevel::Fastest);
    [gzip.finish().expect("memory"), xz.finish().expect("memory"), zstd]
}

#[test]
fn packed_stays_packed() {
    let text: &[u8] = br#"{"traceEvents": [{"ph": "X", "name": "/root/x", "ts": 1, "dur": 2}]}"#;
    let dump: &[u8] =
        b"HloModule f\n\nENTRY main {\n  ROOT p = f32[] parameter(0), metadata={source_file=\"/root/x\"}\n}\n";
    for plain in [text, dump] {
        for bytes in packed(plain) {
            let (clean, _) = copy(&bytes);
            assert_eq!(clean[..4], bytes[..4], "packed as before");
            let again = Packed::of(Source { name: "", bytes: &clean }, None).expect("still packed");
            let clean = String::from_utf8(again.head(4096)).expect("text");
            assert_eq!(clean, String::from_utf8_lossy(plain).replace("/root/x", "~/x"));
            assert!(copied(&bytes[..bytes.len() - 6], Foreign::Refused).is_err(), "what is cut is refused");
        }
    }
}

#[test]
fn what_is_no_capture_is_refused() {
    for foreign in [&b""[..], b"hello", b"{\"a\": 1}", b"SQLite format 3\0....", b"\x80\x04secret"] {
        assert!(copied(foreign, Foreign::Refused).is_err());
    }
    let (named, _) = copied(b"{\"a\": 1}", Foreign::JsonTaken).expect("JSON that somebody named");
    assert_eq!(named, b"{\"a\": 1}");
}

#[test]
fn names_are_learned_from_what_is_packed() {
    let text = br#"{"traceEvents": [{"ph": "X", "name": "f", "ts": 1, "dur": 2, "args": {"hostname": "vm7"}}]}"#;
    for bytes in packed(text) {
        let mut words = Words::default();
        learn(Source { name: "", bytes: &bytes }, &mut words);
        assert_eq!(words.clean("on vm7", &mut Removed::default()), "on <host>");
    }
}
