//! The HLO of modules that a process ran, where somebody kept it beside the capture.
//!
//! rocprofv3 names kernels and no modules. XLA names a kernel after its instruction, so a module with a kernel that ran is taken for
//! one that ran; whose each kernel is, is found later, by names that only one of them has.

use super::records::Work;
use crate::import::{Import, Source};
use crate::note::Severity;
use ridge_hlo::KernelFinder;
use ridge_trace::{EventKind, Module, StringId};
use std::collections::BTreeSet;

/// Adds the modules that were kept and have a kernel that `process` ran.
pub(super) fn join(work: &[&Work], process: u32, source: Source<'_>, import: &mut Import) {
    let kernels = work.iter().filter(|work| work.kind == EventKind::Kernel);
    let names: BTreeSet<StringId> = kernels.map(|work| work.name).collect();
    let ran = |at: &usize| {
        let finder = KernelFinder::new(&import.kept[*at]);
        names.iter().any(|name| finder.knows(import.builder.strings.get(*name)))
    };
    let found: Vec<usize> = (0..import.kept.len()).filter(ran).collect();
    for at in &found {
        let module = import.kept[*at].clone();
        let (name, program_id) = (import.builder.strings.intern(&module.name), module.id);
        import.hlo.push(module);
        let hlo = Some(import.hlo.len() as u32 - 1);
        import.builder.modules.push(Module { process, name, program_id, hlo });
    }
    if !found.is_empty() {
        let message = "modules are matched by kernel names, because rocprofv3 does not record which modules ran";
        import.note(Severity::Info, source.name, None, found.len() as u64, message.to_owned());
    }
}
