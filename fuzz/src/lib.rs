//! Broken input for every reader.
//!
//! A [`Target`] takes any bytes and uses everything that a reader makes of them; it must neither panic nor run long.
//! Two drivers feed the same targets: the program beside this library, which needs no compiler but Rust's and runs in
//! the tests, and libFuzzer (`fuzz_targets/`), which follows coverage and runs for hours.
//!
//! Nothing here judges the answers: whether they are right is for the tests beside each reader.

pub mod mutate;
pub mod seeds;

use ridge_analysis::{Analysis, By, WorkGroups, overview};
use ridge_hlo::HloModule;
use ridge_import::{Source, import};
use std::sync::OnceLock;

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
    Target { name: "hlo_proto", run: hlo_proto, seeds_end_with: ".hlo.pb" },
    Target { name: "hlo_text", run: hlo_text, seeds_end_with: ".txt" },
];

/// A capture of any known format (XPlane where the content does not say), and every table of it.
pub fn xplane(bytes: &[u8]) {
    let source = [Source { name: "fuzz", bytes }];
    // The guess runs too, so that no sniffer panics.
    let _ = ridge_import::sniff(bytes);
    let Ok(imported) = import(&source, Some("xplane")) else { return };
    let (groups, owners) = (WorkGroups::new(&imported.trace), OnceLock::new());
    let analysis = Analysis { trace: &imported.trace, hlo: &imported.hlo, groups: &groups, owners: &owners };
    overview(&analysis);
    for by in By::ALL {
        analysis.table(by);
    }
    analysis.modules_table();
    for module in 0..imported.trace.modules.len().min(4) {
        analysis.instructions_table(module as u32);
    }
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

/// Uses everything that follows references inside a module.
fn walk(module: &HloModule) {
    for id in module.instruction_ids() {
        module.hero(id);
        module.category(id);
        module.source_in_fusion(id);
        module.op_name_in_fusion(id);
        let instruction = module.instruction(id);
        let _ = (instruction.shape.byte_size(), instruction.known_trip_count(), instruction.backend_config.json());
        module.kernel_candidates(&instruction.name.replace('.', "_"));
    }
    module.to_text();
    module.to_dot(None);
    if let Some(buffers) = &module.buffers {
        buffers.replay_peak();
    }
}
