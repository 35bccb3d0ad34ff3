//! A directory that `--xla_dump_to` left, without a run: `compile` makes a recording of it, which the other commands read.

mod run;

use run::run;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// A module before its optimization, as XLA writes it.
const BEFORE: &str = "HloModule jit_step, entry_computation_layout={(f32[8]{0})->f32[8]{0}}\n\n\
    ENTRY main.3 {\n  x.1 = f32[8]{0} parameter(0)\n  ROOT neg.2 = f32[8]{0} negate(x.1)\n}\n";

/// Writes the dump of a module for an H100, of the text that a compilation kept.
fn dump(folder: &Path) {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ridge_report/tests/compiled/hlo/step.1");
    let read = |name: &str| fs::read_to_string(kept.join(name)).expect("a file of the compilation");
    for (ending, text) in [
        ("before_optimizations.txt", BEFORE.to_owned()),
        ("sm_9.0a_gpu_after_optimizations.txt", read("after.txt")),
        ("thunk_sequence.txt", read("thunks.txt")),
        ("gpu_target_config.pbtxt", "device_description_str: \"NVIDIA H100 80GB HBM3\"\n".to_owned()),
    ] {
        fs::write(folder.join(format!("module_0001.jit_step.{ending}")), text).expect("written");
    }
}

#[test]
fn a_dump_alone_has_both_states_costs_candidates_and_emitters() {
    let folder = tempfile::tempdir().expect("a folder");
    dump(folder.path());
    let out = folder.path().join("out");
    let [dump, out] = [folder.path(), &out].map(|path| path.to_str().expect("a path of letters"));
    let h100 = format!("{out}/h100");
    let told = |arguments: &[&str]| {
        let ran = run(arguments);
        assert_eq!(ran.code, Some(0), "{arguments:?}: {}", ran.stderr);
        ran.stdout
    };
    let document = |arguments: &[&str]| -> Value { serde_json::from_str(&told(arguments)).expect("JSON") };
    let rows = |document: &Value, table: &str| -> Vec<Value> {
        let tables = document["tables"].as_array().expect("tables").iter();
        let of_it = tables.filter(|one| one["name"] == table).filter_map(|one| one["rows"].as_array());
        of_it.flatten().cloned().collect()
    };

    let emitters: Vec<Value> = rows(&document(&["compile", dump, "-o", out, "-f", "json"]), "launches")
        .iter()
        .map(|row| row["emitter"].clone())
        .collect();
    assert_eq!(emitters, ["scatter", "elementwise loop", "elementwise loop"]);
    assert!(told(&["hlo", &h100, "--stage", "before"]).contains("ROOT neg.2"));
    assert!(told(&["hlo", &h100, "--stage", "after"]).contains("input_scatter_fusion"));
    let intensities: Vec<bool> = rows(&document(&["roofline", &h100, "-f", "json"]), "roofline")
        .iter()
        .map(|row| row["intensity"].as_f64().is_some())
        .collect();
    assert!(intensities.len() >= 2 && intensities.iter().any(|is_known| *is_known), "{intensities:?}");
    let regions = document(&["offload", &h100, "-f", "json"])["regions"].clone();
    assert_eq!(regions[0]["name"], "step:6 scatter-add");
}
