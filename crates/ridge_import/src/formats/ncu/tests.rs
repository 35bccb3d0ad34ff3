//! The made-up report of `fixtures/ncu/` and its pages: each alone, together, and broken.

use super::Ncu;
use crate::formats::Format;
use crate::import::{Import, Imported, Source, import};
use expect_test::{Expect, expect};
use ridge_analysis::{Prepared, Topic};
use ridge_test::render;

const REPORT: &[u8] = include_bytes!("../../../../../fixtures/ncu/made_up.ncu-rep");
const RAW: &[u8] = include_bytes!("../../../../../fixtures/ncu/made_up.raw.csv");
const DETAILS: &[u8] = include_bytes!("../../../../../fixtures/ncu/made_up.details.csv");

fn open(sources: &[&[u8]]) -> Imported {
    let sources: Vec<Source<'_>> = sources.iter().map(|bytes| Source { name: "capture", bytes }).collect();
    import(&sources, None).expect("it can be read")
}

#[track_caller]
fn check(imported: &Imported, columns: &[&str], expected: Expect) {
    let prepared = Prepared::default();
    let analysis = prepared.analysis(&imported.trace, &imported.hlo);
    expected.assert_eq(&render(&analysis.table(Topic::Time, "profile").expect("a view"), columns));
}

const COLUMNS: [&str; 9] =
    ["kernel", "launch", "duration_ns", "bound", "dram_bytes", "l2_bytes", "flops_32", "occupancy", "rule"];

#[test]
fn the_report_and_its_page_say_the_same() {
    let expected = expect![[r#"
        kernel               launch  duration_ns  bound   dram_bytes  l2_bytes  flops_32  occupancy  rule
        scale(float *, int)  0       84480        memory  67108864    67108864  5500      0.79       Memory is used at over 80 % of its peak.
        offset(float *)      1       84480        memory  -           67108864  -         0.79       Memory is used at over 80 % of its peak.
        * not collected: L1 bytes, tensor operations, sectors per request; `ncu --set full` collects more
    "#]];
    check(&open(&[REPORT]), &COLUMNS, expected);
    // The raw page has no rules.
    check(
        &open(&[RAW]),
        &COLUMNS[..8],
        expect![[r#"
        kernel               launch  duration_ns  bound   dram_bytes  l2_bytes  flops_32  occupancy
        scale(float *, int)  0       84480        memory  67108864    67108864  5500      0.79
        offset(float *)      1       84480        memory  -           67108864  -         0.79
        * not collected: L1 bytes, tensor operations, sectors per request; `ncu --set full` collects more
    "#]],
    );
}

#[test]
fn every_metric_of_the_page_is_the_reports() {
    let metrics = |imported: &Imported| {
        let (profiles, strings) = (&imported.trace.profiles, &imported.trace.strings);
        let line = |row: usize| {
            let (metric, text) = (strings.get(profiles.metric[row]), strings.get(profiles.text[row]));
            format!(
                "{} {metric} {} {text} {}",
                profiles.profile[row],
                profiles.value[row],
                strings.get(profiles.unit[row])
            )
        };
        (0..profiles.value.len()).map(line).collect::<Vec<_>>()
    };
    let (report, page) = (metrics(&open(&[REPORT])), metrics(&open(&[RAW])));
    assert_eq!(report, page);
    assert_eq!(report.len(), 15 + 13);
}

#[test]
fn the_page_of_words_adds_its_estimates_to_the_report() {
    let both = open(&[REPORT, DETAILS]);
    assert_eq!(both.trace.profiles.launches.len(), 2);
    check(
        &both,
        &["kernel", "duration_ns", "speedup_pct", "rules", "rule"],
        expect![[r#"
        kernel               duration_ns  speedup_pct  rules  rule
        scale(float *, int)  84480        12.5         1      Memory is used at over 80 % of its peak.
        offset(float *)      84480        12.5         1      Memory is used at over 80 % of its peak.
        * not collected: L1 bytes, tensor operations, sectors per request; `ncu --set full` collects more
    "#]],
    );
    check(
        &open(&[DETAILS]),
        &["kernel", "duration_ns", "occupancy", "speedup_pct", "rules"],
        expect![[r#"
        kernel               duration_ns  occupancy  speedup_pct  rules
        scale(float *, int)  84480        0.79       12.5         1
        offset(float *)      84480        0.79       12.5         1
        * not collected: DRAM bytes, L2 bytes, L1 bytes, FP32 operations, tensor operations, sectors per request; `ncu --set full` collects more
    "#]],
    );
}

#[test]
fn the_device_is_described() {
    let imported = open(&[REPORT]);
    let device = &imported.trace.devices[0];
    // Two transfers a clock of 7001 MHz over 256 bits.
    let said = (device.model.as_deref(), device.clock_khz, device.memory_bytes_per_sec);
    assert_eq!(said, (Some("Made-up GPU"), Some(1_725_000), Some(448_064_000_000)));
}

#[test]
fn nothing_private_arrives() {
    for bytes in [REPORT, RAW, DETAILS] {
        let imported = open(&[bytes]);
        let everything = format!("{:?} {:?} {:?}", imported.trace, imported.notes, imported.captures);
        assert!(!everything.contains("secret"), "{everything}");
    }
}

#[test]
fn a_cut_report_shows_what_came_before() {
    let whole = open(&[REPORT]).trace.profiles.launches.len();
    let cut = &REPORT[..REPORT.len() - 10];
    let imported = open(&[cut]);
    assert!(imported.trace.profiles.launches.len() < whole);
    assert!(imported.notes[0].message.contains("ends within a block"), "{:?}", imported.notes);
    for cut in 0..REPORT.len() {
        let _ = Ncu.import(Source { name: "x", bytes: &REPORT[..cut] }, &mut Import::default());
    }
}

#[test]
fn other_versions_are_refused_by_number() {
    let mut newer = REPORT.to_vec();
    assert_eq!(&newer[8..10], [8, 7], "field 1 of the file header is the version");
    newer[9] = 9;
    let error = Ncu.import(Source { name: "x", bytes: &newer }, &mut Import::default());
    let expected = "expected an Nsight Compute report of file version 7, found 9 at byte 8";
    assert_eq!(error.map_err(|error| error.to_string()), Err(expected.to_owned()));
}

#[test]
fn a_page_cut_inside_a_cell_says_so_and_invents_no_number() {
    let cut_at = |end: usize| {
        let found = open(&[&RAW[..end]]);
        let said = found.notes.iter().any(|note| note.message.contains("ends inside a row"));
        (said, found.trace.profiles.value.clone())
    };
    let (whole_says, whole) = cut_at(RAW.len());
    assert!(!whole_says);
    // From the middle of the last row to its end.
    let last_row = RAW[..RAW.len() - 1].iter().rposition(|byte| *byte == b'\n').expect("it has rows") + 1;
    for end in last_row + 200..RAW.len() - 1 {
        let (says, values) = cut_at(end);
        assert!(says, "cut at {end}");
        assert!(values.iter().zip(&whole).all(|(cut, whole)| cut.to_bits() == whole.to_bits()), "cut at {end}");
    }
}
