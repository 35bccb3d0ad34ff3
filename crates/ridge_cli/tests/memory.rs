//! `ridgeline memory` on the project's own fixtures: what is shown, what is refused.

mod run;

use run::run;
use std::path::Path;

fn fixture(path: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(path).display().to_string()
}

#[test]
fn a_snapshot_of_torch_says_what_ran_out_and_who_held_memory() {
    let snapshot = fixture("torch-snapshot/train_step.pickle");
    let ran = run(&["memory", &snapshot, "--width", "140", "--ascii"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    for words in ["Out of memory", "Allocator cuda:0", "/work/net.py:21 forward", "(allocated before the capture)"] {
        let expected = !words.starts_with('(');
        assert_eq!(ran.stdout.contains(words), expected, "{words}: {}", ran.stdout);
    }
    let csv = run(&["memory", &snapshot, "--by", "snapshot", "-f", "csv"]);
    let row = csv.stdout.lines().nth(1).expect("a row below the heading");
    assert!(row.contains(",cuda:0,44040192,8389120,4194304,31456768,"), "{row}");
}

#[test]
fn one_table_for_forms_that_hold_one() {
    let profile = fixture("pprof/held_arrays.pb");
    let refused = run(&["memory", &profile, "-f", "csv"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("--by module"), "{}", refused.stderr);
    let same = run(&["memory", &profile, "--diff", &profile, "-f", "csv"]);
    assert_eq!((same.code, same.stdout.lines().count()), (Some(0), 1), "nothing changed: {}", same.stdout);
    let unknown = run(&["memory", &profile, "--module", "jit_step"]);
    assert_eq!(unknown.code, Some(1));
    assert!(unknown.stderr.contains("no module is called `jit_step`"), "{}", unknown.stderr);
}

#[test]
fn stats_of_what_has_no_times_says_where_to_look() {
    let rows: [(&str, &str, &str); 4] = [
        ("torch-snapshot/train_step.pickle", "Memory blocks", "`ridgeline memory` shows the memory in use"),
        ("hlo/loop.after.hlo.pb", "Modules with HLO", "`ridgeline hlo` shows the modules"),
        ("monitor/query.csv", "Counter samples", "utilization.gpu [%]"),
        ("ncu/made_up.ncu-rep", "Profiled launches", "Profiled kernels"),
    ];
    for (file, held, advice) in rows {
        let ran = run(&["stats", &fixture(file)]);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{file}");
        for words in [held, advice] {
            assert!(ran.stdout.contains(words), "{file}, {words}: {}", ran.stdout);
        }
        assert!(!ran.stdout.contains("Wall time"), "{file}: {}", ran.stdout);
    }
}
