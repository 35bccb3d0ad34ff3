//! What a bundle knows of its core: no more than its ledger says was done.

use ridge_handoff::bundle::{Check, CheckState, Files, MANIFEST, Source, files, manifest, write};
use ridge_handoff::verify::{Opened, open};
use ridge_handoff::{CellCounts, Design, lower};
use ridge_hlo::HloModule;
use serde_json::json;
use std::fs;

/// Sums of neighbors: a window.
const SUMS: &str = "HloModule sums\n\nENTRY %main (x: f32[40]) -> f32[39] {\n  %x = f32[40]{0} parameter(0)\n  %a = f32[39]{0} slice(%x), slice={[0:39]}\n  %b = f32[39]{0} slice(%x), slice={[1:40]}\n  ROOT %y = f32[39]{0} add(%a, %b)\n}\n";

/// A transposed matrix: an engine.
const TURNED: &str = "HloModule turned\n\nENTRY %main (x: f32[40,50]) -> f32[50,40] {\n  %x = f32[40,50]{1,0} parameter(0)\n  ROOT %y = f32[50,40]{1,0} transpose(%x), dimensions={1,0}\n}\n";

/// Quotients of neighbors.
const QUOTIENTS: &str = "HloModule quotients\n\nENTRY %main (x: f32[40]) -> f32[39] {\n  %x = f32[40]{0} parameter(0)\n  %a = f32[39]{0} slice(%x), slice={[0:39]}\n  %b = f32[39]{0} slice(%x), slice={[1:40]}\n  ROOT %y = f32[39]{0} divide(%a, %b)\n}\n";

fn made(text: &str) -> (Files, Source) {
    let module = HloModule::from_text(text).expect("HLO");
    let source = Source {
        module: module.name.clone(),
        computation: "main".to_owned(),
        is_whole: true,
        hlo: module.to_text(),
        region_hlo: module.to_text(),
        ..Source::default()
    };
    let program = lower(&module, module.entry.expect("an entry")).expect("a program");
    let formats = ["fixed<24,12>", "fixed<16,8>"].map(|text| text.parse().expect("a format"));
    (files(&program, &source, &formats, &mut |_| {}).expect("files"), source)
}

/// A bundle of `text` with this ledger, opened again.
fn bundle(text: &str, ledger: &[Check]) -> Opened {
    let folder = tempfile::tempdir().expect("a folder");
    let (files, source) = made(text);
    write(&files, folder.path()).expect("written");
    let document = manifest(&files, &source, None, &json!({}), ledger);
    fs::write(folder.path().join(MANIFEST), document).expect("written");
    open(folder.path()).expect("a bundle")
}

fn check(name: &str, state: CheckState, figures: &[(&'static str, f64)]) -> Check {
    Check {
        name: name.to_owned(),
        state,
        found: String::new(),
        command: String::new(),
        version: format!("version of {name}"),
        wall_s: 1.0,
        figures: figures.to_vec(),
    }
}

/// Cells as a check of Yosys tells them.
fn cells(name: &str, times: f64) -> Check {
    let figures = [
        ("look_up_tables", 300.0),
        ("registers", 200.0),
        ("shift_registers", 20.0),
        ("carry_chains", 10.0),
        ("multipliers", 2.0),
        ("block_rams", 1.5),
        ("look_up_tables_as_memory", 8.0),
    ];
    check(name, CheckState::Passed, &figures.map(|(name, value)| (name, value * times)))
}

#[test]
fn without_a_ledger_there_are_the_generators_counts_alone() {
    let found = Design::of(&bundle(SUMS, &[])).expect("a core");
    assert_eq!((found.format.as_str(), found.is_engine), ("fixed<16,8>", false));
    // An item per clock, and the way through the pipeline.
    assert_eq!(found.period_clocks, 40);
    assert!((41..60).contains(&found.call_clocks), "{found:?}");
    // Slots of 16 bits in beats of 64.
    assert_eq!((found.input_bytes, found.output_bytes), (80, 80));
    assert_eq!((found.simulated_by, found.datapath, found.rest, found.synthesized_by), (None, None, None, None));
    assert!(!found.divides_in_one_clock);
    assert!(Design::of(&bundle(QUOTIENTS, &[])).expect("a core").divides_in_one_clock);
}

#[test]
fn what_failed_or_did_not_end_counts_for_nothing() {
    for state in [CheckState::Failed, CheckState::NotFinished, CheckState::NotRun] {
        let ledger = [check("Verilator core", state, &[]), Check { state, ..cells("Yosys core", 1.0) }];
        let found = Design::of(&bundle(SUMS, &ledger)).expect("a core");
        assert_eq!((found.simulated_by, found.rest), (None, None), "{}", state.name());
    }
    // A ledger from before figures were kept in it.
    let found = Design::of(&bundle(SUMS, &[check("Yosys core", CheckState::Passed, &[])])).expect("a core");
    assert_eq!(found.rest, None);
}

#[test]
fn cells_are_those_of_the_datapath_and_of_the_rest() {
    let ledger = [cells("Yosys", 2.0), check("Verilator core", CheckState::Passed, &[]), cells("Yosys core", 1.0)];
    let rest = CellCounts { look_up_tables: 328.0, registers: 200.0, multipliers: 2.0, block_rams: 1.5 };
    let window = Design::of(&bundle(SUMS, &ledger)).expect("a core");
    assert_eq!(window.simulated_by.as_deref(), Some("version of Verilator core"));
    assert_eq!(window.rest, Some(rest));
    assert_eq!(window.datapath.map(|cells| cells.look_up_tables), Some(656.0));
    // An engine has no datapath, even where one was made beside it.
    let engine = Design::of(&bundle(TURNED, &ledger)).expect("a core");
    assert!(engine.is_engine);
    assert_eq!((engine.datapath, engine.rest), (None, Some(rest)));
    assert!(engine.counted_block_rams.is_some_and(|blocks| blocks >= 1.0), "{engine:?}");
}

#[test]
fn a_bundle_without_a_core_says_why() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut files, source) = made(SUMS);
    files.retain(|path, _| !path.starts_with("rtl/"));
    files.insert("spec/verilog.txt".to_owned(), b"no Verilog, because it is a test\n".to_vec());
    write(&files, folder.path()).expect("written");
    fs::write(folder.path().join(MANIFEST), manifest(&files, &source, None, &json!({}), &[])).expect("written");
    let why = Design::of(&open(folder.path()).expect("a bundle")).expect_err("no core");
    assert_eq!(why, "no Verilog, because it is a test");
}
