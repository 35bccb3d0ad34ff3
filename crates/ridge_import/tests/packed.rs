//! Compressed captures: the same trace as uncompressed, and bounds that hold.

use flate2::Compression;
use flate2::write::GzEncoder;
use ridge_import::{ImportOptions, Imported, Severity, Source, import, import_with, sniff};
use std::io::Write as _;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).expect("memory takes all");
    encoder.finish().expect("memory takes all")
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

fn capture() -> Vec<u8> {
    std::fs::read(ridge_test::fixtures("xplane").join("train_steps.xplane.pb")).expect("a fixture")
}

fn read(bytes: &[u8]) -> Imported {
    import(&[Source { name: "x", bytes }], None).expect("a capture")
}

#[test]
fn packed_captures_are_recognized_and_read_the_same() {
    let plain = capture();
    let expected = read(&plain);
    let half = plain.len() / 2;
    let members = [gzip(&plain[..half]), gzip(&plain[half..])].concat();
    let frames = [zstd(&plain[..half]), zstd(&plain[half..])].concat();
    for packed in [gzip(&plain), members, zstd(&plain), frames] {
        assert_eq!(sniff(&packed).map(|format| format.name()), Some("xplane"));
        let found = read(&packed);
        assert_eq!(found.trace.events.start_ns, expected.trace.events.start_ns);
        assert!(found.notes.len() == expected.notes.len());
    }
}

#[test]
fn what_came_before_the_damage_is_read() {
    let packed = gzip(&capture());
    let found = read(&packed[..packed.len() * 3 / 4]);
    assert!(!found.trace.events.is_empty());
    let first = &found.notes[0];
    assert_eq!(first.severity, Severity::Lost);
    let texts: Vec<&str> = found.notes.iter().map(|note| note.message.as_str()).collect();
    assert!(texts.iter().any(|text| text.contains("gzip data is damaged or cut short")), "{texts:?}");
}

#[test]
fn growth_is_bounded_and_the_bound_can_be_chosen() {
    let packed = gzip(&capture());
    let options = ImportOptions { max_unpacked_bytes: Some(10_000), ..ImportOptions::default() };
    let found = import_with(&[Source { name: "x", bytes: &packed }], options).expect("a part");
    assert!(found.notes.iter().any(|note| note.message.contains("unpacks to more than")), "{:?}", found.notes);
}

#[test]
fn what_is_inside_must_be_known() {
    let error = import(&[Source { name: "x", bytes: &gzip(b"not a capture") }], None).expect_err("unknown");
    assert_eq!(error.to_string(), "no known capture format: the file begins with unpacked, \"not a capture\"");
    assert!(import(&[Source { name: "x", bytes: &[0x1f, 0x8b, 8, 0] }], None).is_err());
}
