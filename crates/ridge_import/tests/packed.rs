//! Compressed captures: the same trace as uncompressed, and bounds that hold.

use flate2::Compression;
use flate2::write::GzEncoder;
use ridge_import::{ImportOptions, Imported, Input, Severity, Source, import, import_inputs, sniff};
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
    let found = import_inputs(&[Input::File(Source { name: "x", bytes: &packed })], options).expect("a part");
    assert!(found.notes.iter().any(|note| note.message.contains("unpacks to more than")), "{:?}", found.notes);
}

#[test]
fn what_is_inside_must_be_known() {
    let error = import(&[Source { name: "x", bytes: &gzip(b"not a capture") }], None).expect_err("unknown");
    assert_eq!(error.to_string(), "unrecognized file format: the file begins with unpacked, \"not a capture\"");
    assert!(import(&[Source { name: "x", bytes: &[0x1f, 0x8b, 8, 0] }], None).is_err());
}

#[test]
fn text_in_utf_16_is_read() {
    let plain =
        "timestamp, index, name, power.draw [W]\r\n2024/01/02 03:04:05.678, 0, Tesla \u{1f680}, 61.5 W\r\n".repeat(400);
    let units = |marked: String| -> Vec<u16> { marked.encode_utf16().collect() };
    let little: Vec<u8> = units(format!("\u{feff}{plain}")).iter().flat_map(|unit| unit.to_le_bytes()).collect();
    let big: Vec<u8> = units(format!("\u{feff}{plain}")).iter().flat_map(|unit| unit.to_be_bytes()).collect();
    let expected = read(plain.as_bytes());
    assert_eq!(expected.trace.counters.value.len(), 400);
    for text in [little.as_slice(), &big] {
        let found = read(text);
        assert_eq!(found.trace.counters.value, expected.trace.counters.value);
        assert_eq!(found.trace.devices[0].model, expected.trace.devices[0].model);
    }
    let cut = read(&little[..little.len() - 1]);
    assert!(
        cut.notes.iter().any(|note| note.message.contains("UTF-16 data is damaged or cut short")),
        "{:?}",
        cut.notes
    );
}

#[test]
fn a_second_trace_in_one_file_is_said() {
    let trace = br#"{"traceEvents": [{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]}"#;
    let both = [gzip(trace), gzip(trace)].concat();
    for (bytes, is_lost) in [(gzip(trace), false), (both, true), (trace.repeat(2), true), (trace.to_vec(), false)] {
        let found = read(&bytes);
        assert_eq!(found.trace.events.len(), 1);
        let said =
            found.notes.iter().any(|note| note.severity == Severity::Lost && note.message.contains("after the end"));
        assert_eq!(said, is_lost, "{:?}", found.notes);
    }
}
