//! From HLO text to a bundle: what is generated holds, what was changed is found, what cannot be specified is refused.

mod modules;

use modules::{CHOSEN, DRAWN, MEDIAN, MIXED, NESTED, PLACED, RELAXED, SCATTERED, SORTED, STENCIL, SUMS};
use ridge_handoff::bundle::{Check, CheckState, Files, MANIFEST, Source, files, manifest, write};
use ridge_handoff::verify::{Place, Running, of_code, open, verify};
use ridge_handoff::{Fixed, lower};
use ridge_hlo::HloModule;
use serde_json::json;
use std::fs;
use std::path::Path;

fn formats() -> Vec<Fixed> {
    ["fixed<24,12>", "fixed<16,8>"].iter().map(|text| text.parse().expect("a format")).collect()
}

fn source(text: &str) -> (HloModule, Source) {
    let module = HloModule::from_text(text).expect("HLO");
    let source = Source {
        region: "test".to_owned(),
        module: module.name.clone(),
        computation: "main".to_owned(),
        is_whole: true,
        hlo: module.to_text(),
        region_hlo: module.to_text(),
        ..Source::default()
    };
    (module, source)
}

fn made(text: &str) -> (Files, Source) {
    let (module, source) = source(text);
    let program = lower(&module, module.entry.expect("an entry")).expect("a program");
    (files(&program, &source, &formats(), &mut |_| {}).expect("files"), source)
}

fn written(text: &str, folder: &Path) -> Files {
    let (files, source) = made(text);
    put(&files, &source, folder);
    files
}

/// Writes files with a manifest that fits them.
fn put(files: &Files, source: &Source, folder: &Path) {
    write(files, folder).expect("written");
    fs::write(folder.join(MANIFEST), manifest(files, source, None, &json!({}), &[])).expect("written");
}

/// That a check fails where code of a bundle is replaced by other code.
fn fails(test: &str, check: &str, text: &str, path: &str, from: &str, to: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut files, source) = made(text);
    let code = String::from_utf8(files[path].clone()).expect("text");
    assert!(code.contains(from), "{path} lacks {from}");
    files.insert(path.to_owned(), code.replace(from, to).into_bytes());
    // Other designs would only take time.
    files.retain(|name, _| {
        ["rtl/", "rtl_f32/", "xls/"].iter().all(|other| path.starts_with(other) || !name.starts_with(other))
    });
    put(&files, &source, folder.path());
    let ledger = verify(&open(folder.path()).expect("a bundle"), Running::Everything, |_| {});
    let check = ledger.iter().find(|one| one.name == check).expect("the check");
    if check.state == CheckState::NotRun {
        println!("skipped: {test}: {}", check.found);
    } else {
        assert_eq!(check.state, CheckState::Failed, "{}", check.found);
    }
}

/// The checks that did not pass, as lines; those that lack a tool are skipped aloud.
fn problems(test: &str, ledger: &[Check]) -> Vec<String> {
    let must_run = std::env::var_os("RIDGELINE_HARDWARE").is_some();
    // Those need a Python with JAX or XLS, and are asked when a bundle is made.
    let engines = |check: &&Check| !check.name.ends_with("within the bound") && !check.name.contains("XLS");
    // Debian has no package of cocotb.
    let has_tool = |check: &&Check| check.name != "cocotb core" || check.state != CheckState::NotRun;
    // No tool that could be installed has a model of these multipliers.
    let proven = |check: &&Check| check.name != "netlist proof" || !check.found.contains("DSP48E2");
    let mut found = Vec::new();
    for check in
        ledger.iter().filter(engines).filter(has_tool).filter(proven).filter(|check| check.state != CheckState::Passed)
    {
        if check.state == CheckState::NotRun && !must_run {
            println!("skipped: {test}: {}: {}", check.name, check.found);
        } else {
            found.push(format!("{} {}: {}", check.name, check.state.name(), check.found));
        }
    }
    found
}

#[test]
fn a_window_holds_in_every_language() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = written(MEDIAN, folder.path());
    assert!(
        files.contains_key("rtl/kernel.v"),
        "{:?}",
        files.get("spec/verilog.txt").map(|why| String::from_utf8_lossy(why))
    );
    let ledger = verify(&open(folder.path()).expect("a bundle"), Running::Everything, |_| {});
    assert_eq!(problems("a_window_holds_in_every_language", &ledger), Vec::<String>::new());
    assert!(ledger.iter().any(|check| check.name == "interpreter" && check.state == CheckState::Passed));
}

/// The median of three by three, or of three by three by three, neighbors; zeros lie around the input.
fn medians(extents: &[usize]) -> String {
    let dims = |extents: &[usize]| extents.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let (own, rank) = (dims(extents), extents.len());
    let around: Vec<usize> = extents.iter().map(|extent| extent + 2).collect();
    let lines = 3_usize.pow(rank as u32);
    let mut text = format!(
        "HloModule medians\n\n%less (a: f32[], b: f32[]) -> pred[] {{\n  %a = f32[] parameter(0)\n  %b = f32[] parameter(1)\n  ROOT %lt = pred[] compare(%a, %b), direction=LT\n}}\n\nENTRY %main (x: f32[{own}]) -> f32[{own}] {{\n  %x = f32[{own}] parameter(0)\n  %zero = f32[] constant(0)\n  %p = f32[{}] pad(%x, %zero), padding={}\n",
        dims(&around),
        vec!["1_1"; rank].join("x")
    );
    let mut names = Vec::new();
    for number in 0..lines {
        let ranges = extents.iter().enumerate().map(|(dim, extent)| {
            let off = number / 3_usize.pow(dim as u32) % 3;
            format!("[{off}:{}]", off + extent)
        });
        let ranges: Vec<String> = ranges.collect();
        text += &format!("  %s{number} = f32[{own}] slice(%p), slice={{{}}}\n", ranges.join(", "));
        text += &format!("  %r{number} = f32[1,{own}] reshape(%s{number})\n");
        names.push(format!("%r{number}"));
    }
    let whole: Vec<String> = extents.iter().map(|extent| format!("[0:{extent}]")).collect();
    let (middle, after) = (lines / 2, lines / 2 + 1);
    text += &format!("  %all = f32[{lines},{own}] concatenate({}), dimensions={{0}}\n", names.join(", "));
    text += &format!("  %sorted = f32[{lines},{own}] sort(%all), dimensions={{0}}, to_apply=%less\n");
    text += &format!("  %mid = f32[1,{own}] slice(%sorted), slice={{[{middle}:{after}], {}}}\n", whole.join(", "));
    text + &format!("  ROOT %y = f32[{own}] reshape(%mid)\n}}\n")
}

/// What these checks find in a bundle with a core.
fn core_of(text: &str, checks: &[&str], change: impl FnOnce(&mut Files)) -> Vec<Check> {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut files, source) = made(text);
    assert!(
        files.contains_key("rtl/core.v"),
        "{:?}",
        files.get("spec/core.txt").map(|why| String::from_utf8_lossy(why))
    );
    change(&mut files);
    put(&files, &source, folder.path());
    let bundle = open(folder.path()).expect("a bundle");
    let place = Place::new(&bundle, Running::Everything);
    let jobs = of_code(&bundle, &place).into_iter().filter(|job| checks.contains(&job.name.as_str()));
    let found: Vec<Check> = jobs.flat_map(|job| (job.run)()).collect();
    assert_eq!(found.len(), checks.len());
    found
}

#[test]
fn a_core_gives_the_golden_vectors_under_stalls_and_resets() {
    let quick = ["Icarus Verilog core", "core proof"];
    let all =
        ["Icarus Verilog core", "Verilator core", "core proof", "Yosys core", "host program on the simulated card"];
    for (extents, checks) in [
        (vec![5, 7], quick.as_slice()),
        (vec![1, 13], &quick),
        (vec![9, 4], &quick),
        (vec![3, 4, 5], &all),
        (vec![3, 7, 3], &quick),
        // Yosys 0.23 has no rule for the delays of 32 items in here.
        (vec![3, 34], &["Yosys core"]),
    ] {
        let ledger = core_of(&medians(&extents), checks, |_| {});
        let problems = problems("a_core_gives_the_golden_vectors_under_stalls_and_resets", &ledger);
        assert_eq!(problems, Vec::<String>::new(), "{extents:?}");
    }
}

#[test]
fn faults_of_a_card_are_found() {
    let faults = [
        // Bursts that cross a page.
        ("rtl/mover.v", "beats_left < to_page ? beats_left : to_page", "beats_left"),
        // Beats that are asked for without a place.
        ("rtl/mover.v", "taken + burst <= PLACES", "1'b1"),
        // A burst that begins before its results are there.
        ("rtl/mover.v", "used >= burst", "used != 0"),
        // Results that are said to be there before they are.
        ("rtl/card.v", "!is_reading && !is_writing", "!is_reading"),
    ];
    for (path, from, to) in faults {
        let ledger = core_of(&medians(&[31, 33]), &["host program on the simulated card"], |files| {
            let code = String::from_utf8(files[path].clone()).expect("text");
            assert!(code.contains(from), "{path} lacks {from}");
            files.insert(path.to_owned(), code.replace(from, to).into_bytes());
        });
        for check in ledger {
            if check.state == CheckState::NotRun {
                println!("skipped: faults_of_a_card_are_found: {}", check.found);
            } else {
                assert_eq!(check.state, CheckState::Failed, "{from}: {}", check.found);
            }
        }
    }
}

#[test]
fn faults_of_a_core_are_found() {
    const SIMULATED: &str = "Icarus Verilog core";
    const PROVEN: &str = "core proof";
    let faults = [
        // A border that takes what lies beyond it.
        ("rtl/core.v", "at0_0 <= b0 == 0", "at0_0 <= b0 == 1", SIMULATED),
        // An item that comes while the core waits.
        ("rtl/core.v", "assign s_axis_tready = may && wants", "assign s_axis_tready = wants", SIMULATED),
        // A line that is a step too long.
        ("rtl/stream.v", "PLACES = DELAY - 1", "PLACES = DELAY", SIMULATED),
        // The last results of the last frame wait for ever.
        ("rtl/core.v", "takes || is_home && !is_drained", "takes", SIMULATED),
        // More results under way than the queue has places for.
        ("rtl/stream.v", "lent_then < PLACES", "1'b1", PROVEN),
        ("rtl/stream.v", "lent_then < PLACES", "1'b1", SIMULATED),
        // A result that does not wait for its receiver.
        ("rtl/stream.v", "leaves = m_tvalid && m_tready", "leaves = m_tvalid", PROVEN),
        ("rtl/stream.v", "leaves = m_tvalid && m_tready", "leaves = m_tvalid", SIMULATED),
        // A reset that leaves results of the frame before it on their way.
        ("rtl/stream.v", "      on_way <= 0;\n", "", PROVEN),
    ];
    for (path, from, to, check) in faults {
        let ledger = core_of(&medians(&[5, 7]), &[check], |files| {
            let code = String::from_utf8(files[path].clone()).expect("text");
            assert!(code.contains(from), "{path} lacks {from}");
            files.insert(path.to_owned(), code.replace(from, to).into_bytes());
        });
        for check in ledger {
            if check.state == CheckState::NotRun {
                println!("skipped: faults_of_a_core_are_found: {}", check.found);
            } else {
                assert_eq!(check.state, CheckState::Failed, "{from} as {to}: {}", check.found);
            }
        }
    }
}

#[test]
fn an_engine_gives_the_golden_vectors_under_stalls_and_resets() {
    let test = "an_engine_gives_the_golden_vectors_under_stalls_and_resets";
    let quick = ["Icarus Verilog core"];
    let all =
        ["Icarus Verilog core", "Verilator core", "Yosys core", "host program on the simulated card", "cocotb core"];
    for (name, text, checks) in [
        ("mixed", MIXED, quick.as_slice()),
        ("scattered", SCATTERED, &all),
        ("placed", PLACED, &quick),
        ("sums", SUMS, &quick),
        ("sorted", SORTED, &quick),
        ("chosen", CHOSEN, &quick),
    ] {
        let ledger = core_of(text, checks, |files| assert!(files.contains_key("rtl/engine.v"), "{name}"));
        assert_eq!(problems(test, &ledger), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn faults_of_an_engine_are_found() {
    let faults = [
        // A value that is written a clock before it is read is taken from the memory, which does not have it yet.
        (SCATTERED, "rtl/engine.v", "has_last && last_wa == wa ? last_wd : ", ""),
        // An update outside of the array.
        (SCATTERED, "rtl/engine.v", " >= 33'sd0 && h", " >= -33'sd1 && h"),
        // A sum that goes on from the one before it.
        (MIXED, "rtl/engine.v", "wire signed [15:0] was = n", "wire signed [15:0] was = 1'b0 && n"),
        // A stage that begins before the last write of the one before it.
        (SCATTERED, "rtl/core.v", "drain <= drains", "drain <= 0"),
        // A loop that ends a trip early.
        (SCATTERED, "rtl/core.v", "trip0 != 2 ?", "trip0 != 1 ?"),
        // Words of a table.
        (MIXED, "rtl/table_sine_0.hex", "0\n", "1\n"),
    ];
    for (text, path, from, to) in faults {
        let ledger = core_of(text, &["Icarus Verilog core"], |files| {
            let code = String::from_utf8(files[path].clone()).expect("text");
            assert!(code.contains(from), "{path} lacks {from}");
            files.insert(path.to_owned(), code.replace(from, to).into_bytes());
        });
        for check in ledger {
            if check.state == CheckState::NotRun {
                println!("skipped: faults_of_an_engine_are_found: {}", check.found);
            } else {
                assert_eq!(check.state, CheckState::Failed, "{from} as {to}: {}", check.found);
            }
        }
    }
}

#[test]
fn single_precision_holds_bit_by_bit() {
    for (name, text) in [("stencil", STENCIL), ("median", MEDIAN)] {
        let folder = tempfile::tempdir().expect("a folder");
        let files = written(text, folder.path());
        assert!(files.contains_key("rtl_f32/kernel.v") && files.contains_key("xls/kernel.x"), "{name}");
        let mut told = Vec::new();
        let opened = open(folder.path()).expect("a bundle");
        let ledger = verify(&opened, Running::Everything, |progress| told.push(progress.clone()));
        assert_eq!(problems("single_precision_holds_bit_by_bit", &ledger), Vec::<String>::new(), "{name}");
        assert!(ledger.iter().any(|check| check.name == "Icarus Verilog f32"), "{name}");
        let last = told.last().expect("something was told");
        assert!(last.done == last.of && last.of < ledger.len() && last.running.is_empty(), "{last:?}");
    }
}

#[test]
fn wrong_single_precision_fails_its_check() {
    // Rounding ties away from even.
    let (from, to) = ("up = s[23] && (s[22:0] != 0 || lost || s[24]);", "up = s[23];");
    fails("wrong_single_precision_fails_its_check", "Icarus Verilog f32", STENCIL, "rtl_f32/kernel.v", from, to);
}

#[test]
fn xls_gives_the_bits_of_an_interpreter_that_flushes() {
    let test = "xls_gives_the_bits_of_an_interpreter_that_flushes";
    let folder = tempfile::tempdir().expect("a folder");
    let mut files = written(STENCIL, folder.path());
    let python = std::env::var_os("RIDGELINE_XLS_PYTHON").unwrap_or_else(|| "python3".into());
    let said = ridge_handoff::xls::run(Path::new(&python), folder.path());
    let Ok(design) = fs::read(folder.path().join("xls/kernel.v")) else {
        println!("skipped: {test}: {}", said["why"].as_str().unwrap_or("XLS made nothing"));
        return;
    };
    files.insert("xls/kernel.v".to_owned(), design);
    files.insert("xls/plain.v".to_owned(), fs::read(folder.path().join("xls/plain.v")).expect("the code in one stage"));
    let (_, source) = source(STENCIL);
    let text = manifest(&files, &source, None, &json!({ "xls": said }), &[]);
    fs::write(folder.path().join(MANIFEST), text).expect("written");
    let ledger = verify(&open(folder.path()).expect("a bundle"), Running::Everything, |_| {});
    for name in ["Icarus Verilog XLS", "XLS stages proof"] {
        let check = ledger.iter().find(|check| check.name == name).expect("the check");
        if check.state == CheckState::NotRun {
            println!("skipped: {test}: {}", check.found);
        } else {
            assert_eq!(check.state, CheckState::Passed, "{}", check.found);
        }
    }
}

#[test]
fn loops_hold_in_every_language() {
    for (name, text, trips) in [("relaxed", RELAXED, vec![5]), ("nested", NESTED, vec![3, 4])] {
        let folder = tempfile::tempdir().expect("a folder");
        let files = written(text, folder.path());
        let ledger = verify(&open(folder.path()).expect("a bundle"), Running::Everything, |_| {});
        assert_eq!(problems("loops_hold_in_every_language", &ledger), Vec::<String>::new(), "{name}");
        let kernel = String::from_utf8_lossy(&files["hls/kernel.cpp"]).into_owned();
        for trips in trips {
            assert!(kernel.contains(&format!(" < {trips}; ++t")), "{name}: {kernel}");
        }
        // Unrolled, with the counter known at every trip.
        for design in ["rtl/kernel.v", "rtl_f32/kernel.v"] {
            assert!(files.contains_key(design), "{name} has no {design}");
        }
    }
}

#[test]
fn what_nothing_else_reads_is_updated_in_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = written(SUMS, folder.path());
    let ledger = verify(&open(folder.path()).expect("a bundle"), Running::Everything, |_| {});
    assert_eq!(problems("what_nothing_else_reads_is_updated_in_place", &ledger), Vec::<String>::new());
    let kernel = String::from_utf8_lossy(&files["hls/kernel.cpp"]).into_owned();
    // The array is filled once, before the loop, and written to once in a trip; in NESTED another one reads it.
    assert_eq!(kernel.matches("i < 6; ++i) s").count(), 0, "{kernel}");
    let nested = String::from_utf8_lossy(&made(NESTED).0["hls/kernel.cpp"]).into_owned();
    assert_eq!(nested.matches("i < 8; ++i) s").count(), 2, "{nested}");
}

#[test]
fn what_is_scattered_holds_in_cpp() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = written(SCATTERED, folder.path());
    let ledger = verify(&open(folder.path()).expect("a bundle"), Running::Everything, |_| {});
    assert_eq!(problems("what_is_scattered_holds_in_cpp", &ledger), Vec::<String>::new());
    // Places inside the arrays have a set of their own, and the loop adds to its state where it is.
    assert!(files.contains_key("golden/places/strict.out0.bin"));
    let kernel = String::from_utf8_lossy(&files["hls/kernel.cpp"]).into_owned();
    assert_eq!(kernel.matches("[9]").count(), 1, "{kernel}");
}

#[test]
fn updates_add_up_and_those_outside_are_left_out() {
    let files = made(PLACED).0;
    let numbers = |name: &str| -> Vec<f32> {
        let bytes = &files[&format!("golden/random/{name}.bin")];
        bytes.chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().expect("four bytes"))).collect()
    };
    assert_eq!(numbers("strict.out0"), [15.0, 20.0, 32.0]);
    assert_eq!(numbers("strict.out1"), [0.0, 1.0, 2.0, 0.0]);
}

#[test]
fn real_numbers_by_their_bits_hold_in_every_format() {
    let folder = tempfile::tempdir().expect("a folder");
    written(DRAWN, folder.path());
    let ledger = verify(&open(folder.path()).expect("a bundle"), Running::Everything, |_| {});
    assert_eq!(problems("real_numbers_by_their_bits_hold_in_every_format", &ledger), Vec::<String>::new());
}

#[test]
fn one_of_several_branches_is_chosen() {
    let files = made(CHOSEN).0;
    let numbers = |name: &str| -> Vec<f32> {
        let bytes = &files[&format!("golden/{name}.bin")];
        bytes.chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().expect("four bytes"))).collect()
    };
    // The number is 1 and the truth holds in `impulse`; elsewhere the number is none of a branch, which is the last.
    assert_eq!(numbers("impulse/strict.out0"), [-0.0, -0.0, -1.0, -0.0]);
    assert_eq!(numbers("impulse/strict.out1"), [0.0, 0.0, 2.0, 0.0]);
    assert_eq!(numbers("random/strict.out0"), numbers("random/in0"));
}

#[test]
fn wrong_scatters_fail_their_check() {
    let test = "wrong_scatters_fail_their_check";
    fails(test, "c++", SCATTERED, "hls/kernel.cpp", "p0 >= 0", "p0 >= 1");
}

#[test]
fn wrong_loops_fail_their_check() {
    fails("wrong_loops_fail_their_check", "c++", RELAXED, "hls/kernel.cpp", " < 5; ++t", " < 4; ++t");
}

#[test]
fn loops_that_data_end_are_refused() {
    for (from, to, expected) in [
        (
            "ROOT %less = pred[] compare(%i, %five), direction=LT",
            "%x = f32[16]{0} get-tuple-element(%p), index=1\n  %one = f32[1]{0} slice(%x), slice={[0:1]}\n  %scalar = f32[] reshape(%one)\n  %most = f32[] constant(9)\n  ROOT %less = pred[] compare(%scalar, %most), direction=LT",
            "`loop` is a loop with a data-dependent trip count; hand over its body with `--op loop`",
        ),
        (
            "%next = s32[] add(%i, %one)",
            "%next = s32[] multiply(%i, %one)",
            "counting the iterations of `loop` takes too long; hand over its body with `--op loop`",
        ),
        (
            "%next = s32[] add(%i, %one)",
            "%whole = s32[16]{0} convert(%x)\n  %cut = s32[1]{0} slice(%whole), slice={[0:1]}\n  %next = s32[] reshape(%cut)",
            "`loop` is a loop with a data-dependent trip count; hand over its body with `--op loop`",
        ),
        (
            "tuple(%zero, %x, %x, %pull)",
            "tuple(%x, %zero, %x, %pull)",
            "computation `condition` does not match its operands",
        ),
        ("tuple(%next, %moved, %x, %pull)", "tuple(%moved, %next, %x, %pull)", "`loop` does not match its operands"),
        ("constant(5)", "constant(-5)", ""),
    ] {
        assert!(RELAXED.contains(from), "{from}");
        let module = HloModule::from_text(&RELAXED.replace(from, to)).expect("HLO");
        let found = lower(&module, module.entry.expect("an entry"));
        match expected {
            // Not even once.
            "" => assert_eq!(found.expect("a program").nodes.len(), 3),
            expected => assert_eq!(found.expect_err(expected).to_string(), expected, "{to}"),
        }
    }
}

#[test]
fn the_picture_of_a_graph_holds_every_operation_and_line() {
    let (files, _) = made(STENCIL);
    let picture = String::from_utf8(files["spec/dataflow.svg"].clone()).expect("text");
    let graph: serde_json::Value = serde_json::from_slice(&files["spec/dataflow.json"]).expect("JSON");
    let count = |key: &str| graph[key].as_array().map_or(0, Vec::len);
    assert_eq!(picture.matches("<g>").count(), count("nodes"));
    assert_eq!(picture.matches("<path").count(), count("edges"));
    // Lines lead down.
    for line in picture.lines().filter(|line| line.starts_with("<path")) {
        let numbers: Vec<f64> = line.split(['M', 'C', ' ', '"']).filter_map(|word| word.parse().ok()).collect();
        assert!(numbers[1] < numbers[7], "{line}");
    }
}

#[test]
fn all_that_is_generated_matches_the_interpreter() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = written(MIXED, folder.path());
    let why = String::from_utf8_lossy(&files["spec/verilog.txt"]).into_owned();
    assert_eq!(
        why,
        "no datapath that gives a result a clock, because it has several results; rtl/core.v is an engine instead\n"
    );
    let ledger = verify(&open(folder.path()).expect("a bundle"), Running::Everything, |_| {});
    assert_eq!(problems("all_that_is_generated_matches_the_interpreter", &ledger), Vec::<String>::new());
}

#[test]
fn wrong_code_fails_its_check() {
    fails("wrong_code_fails_its_check", "c++", MEDIAN, "hls/kernel.cpp", "hlo::add(", "hlo::subtract(");
}

#[test]
fn one_flipped_bit_in_any_file_is_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = written(MEDIAN, folder.path());
    let all: Vec<String> = files.keys().cloned().chain([MANIFEST.to_owned()]).collect();
    for name in all {
        let path = folder.path().join(&name);
        let bytes = fs::read(&path).expect("read");
        for at in [0, bytes.len() / 2, bytes.len() - 1] {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1;
            fs::write(&path, &flipped).expect("written");
            assert!(open(folder.path()).is_err(), "bit 0 of byte {at} of {name}");
        }
        fs::write(&path, &bytes).expect("written");
    }
    open(folder.path()).expect("whole again");
}

#[test]
fn hostile_bundles_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    written(MEDIAN, folder.path());
    let said = || open(folder.path()).expect_err("refused").to_string();
    fs::write(folder.path().join("hls/more.h"), "").expect("written");
    assert_eq!(said(), "hls/more.h is in the directory but not in MANIFEST.json");
    fs::remove_file(folder.path().join("hls/more.h")).expect("removed");

    #[cfg(unix)]
    {
        let kernel = folder.path().join("hls/kernel.h");
        let bytes = fs::read(&kernel).expect("read");
        let outside = tempfile::tempdir().expect("a folder");
        fs::write(outside.path().join("kernel.h"), &bytes).expect("written");
        fs::remove_file(&kernel).expect("removed");
        std::os::unix::fs::symlink(outside.path().join("kernel.h"), &kernel).expect("linked");
        assert_eq!(said(), "hls/kernel.h is a link, or reached through one");
        fs::remove_file(&kernel).expect("removed");
        fs::write(&kernel, bytes).expect("written");
    }

    let (_, source) = source(MEDIAN);
    for (path, expected) in [
        ("../outside", "a path that is not plain"),
        ("/etc/hosts", "a path that is not plain"),
        ("hls/$(x)", "a path that is not plain"),
    ] {
        let files = Files::from([(path.to_owned(), b"x".to_vec())]);
        fs::write(folder.path().join(MANIFEST), manifest(&files, &source, None, &json!({}), &[])).expect("written");
        assert!(said().contains(expected), "{path}: {}", said());
    }
    fs::write(folder.path().join(MANIFEST), "{").expect("written");
    assert!(said().contains("is no JSON"), "{}", said());
    fs::remove_file(folder.path().join(MANIFEST)).expect("removed");
    assert!(said().starts_with("MANIFEST.json: "), "{}", said());
}

#[test]
fn what_cannot_be_specified_is_refused_by_name() {
    let module = |line: &str| {
        format!("HloModule m\n\nENTRY %main (x: f32[8]) -> f32[8] {{\n  %x = f32[8]{{0}} parameter(0)\n  {line}\n}}\n")
    };
    for (line, expected) in [
        (
            "ROOT %y = f32[8]{0} custom-call(%x), custom_call_target=\"__gpu$xla.gpu.triton\"",
            "`y` is an opaque custom call of `__gpu$xla.gpu.triton`",
        ),
        ("ROOT %y = f32[<=8]{0} negate(%x)", "`y` has a dynamic shape"),
        ("ROOT %y = bf16[8]{0} convert(%x)", "`y` is of type bf16"),
        ("ROOT %y = f32[8]{0} all-reduce(%x), to_apply=%main", "`y` is an unsupported operation, `all-reduce`"),
        ("ROOT %y = f32[9]{0} negate(%x)", "`y` does not match its operands"),
        ("ROOT %y = f32[8]{0} slice(%x), slice={[4:12]}", "`y` does not match its operands"),
        ("ROOT %y = f32[8]{0} transpose(%x), dimensions={3}", "`y` names a dimension that does not exist"),
        ("ROOT %y = f32[9999999999]{0} broadcast(%x), dimensions={0}", "`y` has more than 67108864 elements"),
    ] {
        let module = HloModule::from_text(&module(line)).expect("HLO");
        let refusal = lower(&module, module.entry.expect("an entry")).expect_err(line);
        assert_eq!(refusal.to_string(), expected, "{line}");
    }
}
