//! Planned memory held against XLA's own `memory_analysis()`, of programs in `tests/plans/`.
//!
//! `tests/plans/make.py` made the modules and `expected.json`.

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use expect_test::expect;
use ridge_analysis::{Analysis, Prepared, Topic};
use ridge_import::{Imported, Source, import};
use ridge_table::Table;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plans")
}

fn read(path: &Path) -> Imported {
    let bytes = std::fs::read(path).expect("a module of the tests");
    import(&[Source { name: "module", bytes: &bytes }], None).expect("a module that XLA wrote")
}

/// Asks for tables of memory by the name of their view.
fn with_memory<T>(imported: &Imported, ask: impl FnOnce(&dyn Fn(&str) -> Table) -> T) -> T {
    let prepared = Prepared::default();
    let analysis: Analysis<'_> = prepared.analysis(&imported.trace, &imported.hlo);
    ask(&|view| analysis.table(Topic::Memory, view).expect("a view of memory"))
}

fn bytes(table: &Table, column: &str) -> u64 {
    table.batch.column_by_name(column).expect("a column of the table").as_primitive::<UInt64Type>().value(0)
}

fn sum(table: &Table, column: &str) -> u64 {
    table
        .batch
        .column_by_name(column)
        .expect("a column of the table")
        .as_primitive::<UInt64Type>()
        .values()
        .iter()
        .sum()
}

/// Arguments, results, aliases and temporaries are XLA's to the byte.
///
/// Its peak is not: where there are no heap traces, as on CPUs, `peak_memory_in_bytes` leaves the temporary memory out
/// although it is allocated for the whole run. Ours counts it.
#[test]
fn classes_are_xlas_to_the_byte() {
    let text = std::fs::read_to_string(folder().join("expected.json")).expect("XLA's numbers");
    let expected: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let programs = expected.as_object().expect("an object by program");
    assert_eq!(programs.len(), 7);
    for (name, said) in programs {
        let xla = |key: &str| said[key].as_u64().expect("bytes");
        let imported = read(&folder().join(format!("{name}.hlo.pb")));
        with_memory(&imported, |memory| {
            let table = memory("module");
            let ours = |column: &str| bytes(&table, column);
            let (donated, outputs) = (ours("donated_bytes"), ours("output_bytes"));
            assert_eq!(ours("parameter_bytes") + donated, xla("argument"), "{name}: arguments");
            assert_eq!(donated, xla("alias"), "{name}: aliases");
            assert_eq!(outputs + donated, xla("output"), "{name}: results");
            assert_eq!(ours("temporary_bytes"), xla("temp"), "{name}: temporaries");
            assert_eq!(ours("peak_bytes"), xla("peak") + xla("temp"), "{name}: peak");
            assert_eq!(sum(&memory("alive"), "bytes"), ours("peak_bytes"), "{name}: parts of the peak");
        });
    }
}

/// Three layers of weights of 64 KiB each could be donated; where they are, nothing is missed.
#[test]
fn donations_that_were_missed() {
    for (name, expected) in [("train", 3 * 128 * 128 * 4), ("train_donated", 0), ("dense", 0)] {
        let imported = read(&folder().join(format!("{name}.hlo.pb")));
        let missed = with_memory(&imported, |memory| bytes(&memory("module"), "missed_donation_bytes"));
        assert_eq!(missed, expected, "{name}");
    }
}

/// Without its buffer assignment a module's plan is modelled from the schedule: near XLA's, never below what must be.
#[test]
fn modelled_plans_are_near_the_compilers() {
    for name in ["dense", "loop", "train", "train_donated", "sort", "branch", "table"] {
        let mut imported = read(&folder().join(format!("{name}.hlo.pb")));
        let counted = with_memory(&imported, |memory| bytes(&memory("module"), "peak_bytes"));
        imported.hlo[0].buffers = None;
        let modelled = with_memory(&imported, |memory| {
            let table = memory("module");
            assert_eq!(sum(&memory("alive"), "bytes"), bytes(&table, "peak_bytes"), "{name}");
            bytes(&table, "peak_bytes")
        });
        let ratio = modelled as f64 / counted as f64;
        eprintln!("{name}: modelled {modelled}, counted {counted}, {ratio:.2}");
        assert!((0.7..1.35).contains(&ratio), "{name}: modelled {modelled}, counted {counted}");
    }
}

#[test]
fn the_peak_that_xprof_gives() {
    let imported = read(&ridge_test::real("xplane").join("mi300_conv_08.xplane.pb"));
    with_memory(&imported, |memory| {
        let table = memory("module");
        // XProf's memory viewer: 1104.4921875 MiB, without 192 bytes of its allocations.
        let peak = bytes(&table, "peak_bytes");
        assert_eq!(format!("{:.3}", peak as f64 / f64::from(1 << 20)), "1104.492");
        let alive = memory("alive");
        assert_eq!(sum(&alive, "bytes"), peak);
        expect![[r#"
            value                     class      bytes      padding_bytes  shape                             from_position  to_position  live_ns
            input_transpose_fusion    output     572026880  0              bf16[55862,5120]{1,0}             8              9            351120
            cudnn-conv.1{0}           temporary  572026880  0              bf16[1,5120,34,31,53]{4,3,2,1,0}  6              8            708921
            param                     parameter  6389760    0              bf16[1,32,60,104,16]{4,3,2,1,0}   1              4            31720
            input_transpose_fusion.1  temporary  6389760    0              bf16[16,199680]{1,0}              4              6            115000
            param.1                   parameter  655360     0              bf16[1,2,2,16,5120]{4,3,2,1,0}    0              2            4280
            loop_transpose_fusion     temporary  655360     0              bf16[5120,16,4]{2,1,0}            2              6            139360
            * the schedule has 10 positions; the peak is at position 6
        "#]].assert_eq(&ridge_test::render(
            &alive,
            &["value", "class", "bytes", "padding_bytes", "shape", "from_position", "to_position", "live_ns"],
        ));
    });
}
