//! Broken input for every reader.
//!
//! A [`Target`] takes any bytes and uses everything that a reader makes of them; it must neither panic nor work more than
//! in proportion to the bytes.
//! Two drivers feed the same targets: the program beside this library, which needs no compiler but Rust's and runs in
//! the tests, and libFuzzer (`fuzz_targets/`), which follows coverage and runs for hours.
//!
//! Nothing here judges the answers: whether they are right is for the tests beside each reader.

pub mod growth;
pub mod mutate;
pub mod seeds;

use ridge_analysis::{Ask, Prepared, Topic, VIEWS, instructions, modules, sections};
use ridge_diagnose::{Case, Known, Selection, diagnose};
use ridge_diff::{Change, Options, SuiteRow, Summaries, Summary, Unit, compare, suite};
use ridge_documents::read;
use ridge_hlo::cost::ModuleCosts;
use ridge_hlo::{HloModule, InstructionId};
use ridge_import::{Foreign, Source, import};
use ridge_redact::Words;
use std::collections::BTreeSet;

/// One reader under test.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name on the command line and in the folders of seeds and artifacts.
    pub name: &'static str,
    /// Reads `bytes` and walks all that came of them.
    pub run: fn(&[u8]),
    /// How the names of its seed files end.
    pub seeds_end_with: &'static str,
}

/// Every target.
pub const TARGETS: &[Target] = &[
    Target { name: "xplane", run: xplane, seeds_end_with: ".xplane.pb" },
    Target { name: "chrome", run: chrome, seeds_end_with: ".json" },
    Target { name: "nsys", run: nsys, seeds_end_with: ".sqlite" },
    Target { name: "nsys_jax", run: nsys_jax, seeds_end_with: ".zip" },
    Target { name: "ncu", run: ncu, seeds_end_with: ".ncu-rep" },
    Target { name: "ncu_page", run: ncu, seeds_end_with: ".csv" },
    Target { name: "rocprof", run: rocprof, seeds_end_with: "_results.json" },
    Target { name: "rocpd", run: rocprof, seeds_end_with: "_0.sqlite" },
    Target { name: "perfetto", run: perfetto, seeds_end_with: ".pftrace" },
    Target { name: "pprof", run: pprof, seeds_end_with: "_arrays.pb" },
    Target { name: "torch_snapshot", run: torch_snapshot, seeds_end_with: ".pickle" },
    Target { name: "memory_timeline", run: memory_timeline, seeds_end_with: ".raw.json" },
    Target { name: "hlo_proto", run: hlo_proto, seeds_end_with: ".hlo.pb" },
    Target { name: "hlo_text", run: hlo_text, seeds_end_with: ".txt" },
    Target { name: "summary", run: summary, seeds_end_with: ".summary.json" },
    Target { name: "redact", run: redact, seeds_end_with: "" },
    Target { name: "redact_sqlite", run: redact, seeds_end_with: ".sqlite" },
];

/// An XPlane capture, and every table of it.
pub fn xplane(bytes: &[u8]) {
    capture(bytes, "xplane");
}

/// A trace in Chrome's JSON format, and every table of it.
pub fn chrome(bytes: &[u8]) {
    capture(bytes, "chrome");
}

/// A SQLite export of Nsight Systems, and every table of it.
pub fn nsys(bytes: &[u8]) {
    capture(bytes, "nsys");
}

/// An archive of nsys-jax, and every table of it: zip, xz, Parquet.
pub fn nsys_jax(bytes: &[u8]) {
    capture(bytes, "nsys-jax");
}

/// A report of Nsight Compute or a page of one, and every table of it.
pub fn ncu(bytes: &[u8]) {
    capture(bytes, "ncu");
}

/// The JSON of rocprofv3 or one of its databases, and every table of it.
pub fn rocprof(bytes: &[u8]) {
    capture(bytes, "rocprof");
}

/// A trace of Perfetto, and every table of it.
pub fn perfetto(bytes: &[u8]) {
    capture(bytes, "perfetto");
}

/// A device memory profile of JAX, and every table of it.
pub fn pprof(bytes: &[u8]) {
    capture(bytes, "pprof");
}

/// A snapshot of PyTorch's allocator, and every table of it.
pub fn torch_snapshot(bytes: &[u8]) {
    capture(bytes, "torch-snapshot");
}

/// A memory timeline of PyTorch, and every table of it.
pub fn memory_timeline(bytes: &[u8]) {
    capture(bytes, "memory-timeline");
}

/// A capture read as `format`, and every table of it.
fn capture(bytes: &[u8], format: &str) {
    let source = [Source { name: "fuzz", bytes }];
    // The guess runs too, so that no sniffer panics.
    let _ = ridge_import::sniff(bytes);
    let Ok(imported) = import(&source, Some(format)) else { return };
    let prepared = Prepared::default();
    let analysis = prepared.analysis(&imported.trace, &imported.hlo);
    Topic::ALL.iter().for_each(|topic| drop(sections(&analysis, *topic, &Ask::default())));
    for view in VIEWS {
        view.table(&analysis, &Ask::default());
        view.charts.map(|charts| charts(&analysis));
    }
    diagnose(&Case { analysis, known: &Known::default() }, &Selection::default());
    modules(&analysis);
    for module in 0..imported.trace.modules.len().min(4) {
        instructions(&analysis, module as u32);
    }
}

/// A file that stands for recordings, beside a sound one and beside itself.
pub fn summary(bytes: &[u8]) {
    let one = read::<Summary>(bytes).map(|found| vec![found.document.sound()]);
    let Ok(runs) = one.or_else(|_| read::<Summaries>(bytes).map(|found| found.document.sound())) else { return };
    let suite = suite(&[SuiteRow { name: "project @ 32".to_owned(), runs_ns: vec![100, 101, 99] }]);
    if runs.is_empty() {
        return;
    }
    for other in [&runs, &vec![suite]] {
        let found = compare(&runs, other, &Options::default());
        for (_, rows) in &found.changes {
            let sum = |of: fn(&Change) -> i64| rows.iter().map(|row| i128::from(of(row))).sum::<i128>();
            let whole = |runs: &[Summary]| runs.iter().map(|run| i128::from(run.whole_ns)).sum::<i128>();
            // Beyond what a clock can show, sums end at the largest number.
            let is_shown = |ns: i128| ns.abs() < i128::from(i64::MAX / 4);
            let items =
                |runs: &[Summary]| runs.iter().flat_map(|run| &run.items).map(|item| i128::from(item.ns)).sum::<i128>();
            if is_shown(whole(&runs)) && is_shown(items(&runs)) && found.unit != Some(Unit::Suite) {
                assert_eq!(sum(|row| row.before_total_ns), whole(&runs), "the rows add up to the whole");
            }
        }
    }
}

/// Anything that a copy without what is private is asked of.
///
/// Of a database the copy is as long, and nothing private is left for a second copy to find.
pub fn redact(bytes: &[u8]) {
    let words = Words::of("/home/ada", "ada", "vm.lab");
    let mut copy = Vec::new();
    let redact = |bytes: &[u8], copy: &mut Vec<u8>| {
        ridge_import::redact(Source { name: "fuzz", bytes }, Foreign::JsonTaken, &words, copy)
    };
    let made = redact(bytes, &mut copy);
    if made.is_err() || !bytes.starts_with(b"SQLite format 3\0") {
        return;
    }
    let mut again = Vec::new();
    let made = redact(&copy, &mut again).expect("the copy of a sound database is sound");
    assert!(copy.len() == bytes.len() && again == copy && made.removed.total() == 0, "the copy is private still");
}

/// An HLO module or snapshot as XLA serializes it.
pub fn hlo_proto(bytes: &[u8]) {
    if let Ok(module) = HloModule::from_proto(bytes) {
        walk(&module);
    }
}

/// An HLO module as XLA prints it.
pub fn hlo_text(bytes: &[u8]) {
    if let Ok(module) = HloModule::from_text(&String::from_utf8_lossy(bytes)) {
        walk(&module);
    }
}

/// Kernels that a walk asks a module for.
const KERNELS_ASKED_FOR: usize = 64;

/// Uses everything that follows references inside a module.
fn walk(module: &HloModule) {
    // Each of these walks the module, and readers ask for a name once, by `KernelFinder`.
    let names: BTreeSet<String> =
        module.instruction_ids().map(|id| module.instruction(id).name.replace('.', "_")).collect();
    names.iter().take(KERNELS_ASKED_FOR).for_each(|name| drop(module.kernel_candidates(name)));
    for id in module.instruction_ids() {
        module.hero(id);
        module.category(id);
        module.source_in_fusion(id);
        module.op_name_in_fusion(id);
        let instruction = module.instruction(id);
        let _ = (instruction.shape.byte_size(), instruction.known_trip_count(), instruction.backend_config.json());
    }
    let observed = |id: InstructionId| Some(f64::from_bits(u64::MAX >> (id.0 % 64)));
    let costs = ModuleCosts::with_observed(module, &observed);
    assert!(costs.total().work.flops().is_finite() && costs.total().compulsory.total().is_finite());
    module.to_text();
    module.to_dot(None);
    if let Some(buffers) = &module.buffers {
        buffers.replay_peak();
    }
}
