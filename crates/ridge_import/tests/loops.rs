//! Observed trips of the loops of `fixtures/xplane/data_loops.xplane.pb`, whose program printed how often each went round.

use ridge_analysis::Prepared;
use ridge_analysis::scaling::capture_work;
use ridge_hlo::HloModule;
use ridge_hlo::cost::ModuleCosts;
use ridge_import::{Imported, Source, import};

/// Two runs: the outer loop went round 4 and 7 times, the inner one 6 and 14 times in all.
const RUNS: f64 = 2.0;
const OUTER_TRIPS: f64 = 4.0 + 7.0;
const INNER_TRIPS: f64 = 6.0 + 14.0;

fn open() -> Imported {
    let bytes = std::fs::read(ridge_test::fixtures("xplane").join("data_loops.xplane.pb")).expect("a fixture");
    import(&[Source { name: "data_loops", bytes: &bytes }], None).expect("an intact capture")
}

/// The loops that the entry computation and the one in it run.
fn is_outer(module: &HloModule, name: &str) -> bool {
    let id = module.instruction_named(name).expect("a loop of the module");
    Some(module.instruction(id).computation) == module.entry
}

/// Operations of all runs, each loop with the trips that `of_outer` and `of_inner` say.
fn flops(module: &HloModule, outer_trips: f64, inner_trips: f64) -> f64 {
    let trips = |id| {
        let name = &module.instruction(id).name;
        Some(if is_outer(module, name) { outer_trips } else { inner_trips })
    };
    RUNS * ModuleCosts::with_observed(module, &trips).total().work.flops()
}

#[test]
fn loops_went_round_as_often_as_the_program_counted() {
    let imported = open();
    let prepared = Prepared::default();
    let analysis = prepared.analysis(&imported.trace, &imported.hlo);
    let module = imported.hlo.iter().find(|module| module.name == "jit_settle").expect("the program's module");
    let found = capture_work(&analysis).expect("a module ran");
    let counted = flops(module, OUTER_TRIPS / RUNS, INNER_TRIPS / OUTER_TRIPS);
    assert!((found.flops / counted - 1.0).abs() < 1e-12, "{} of {counted}", found.flops);
    assert!(found.is_whole);
    // Whole trips a run, the nearest to the means, would be more.
    let rounded = flops(module, 6.0, 2.0);
    assert!(rounded / counted > 1.05, "{rounded} of {counted}");
}
