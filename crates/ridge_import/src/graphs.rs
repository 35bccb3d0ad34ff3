//! What annotations say of the work of CUDA graphs: a replay has no calls of its own, so nothing else names its kernels.
//!
//! PyTorch's `mark_kernels` notes what each node of a graph is for while it is captured. Its file, or the trace itself where the
//! exporter put them in, names nodes by the id that kernels bear as `graph node id`. An id counts within its process alone.

use crate::note::Severity;
use crate::source::{Annotations, GraphWork, Import, Said};
use ridge_trace::{Attribution, NONE, Operation};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Gives work of graphs the operations that annotations name.
pub(crate) fn attribute(import: &mut Import) {
    let work = std::mem::take(&mut import.graph_work);
    let files = std::mem::take(&mut import.graph_annotations);
    let file = the_file(&work, &files, import);
    let mut operations: FxHashMap<Said, u32> = FxHashMap::default();
    let mut named = 0;
    for work in &work {
        let said = work.said.or_else(|| file?.nodes.get(&work.node).copied());
        let Some(said) = said else { continue };
        let op = *operations.entry(said).or_insert_with(|| {
            let empty = import.builder.strings.intern("");
            let name = if said.name == empty { said.scope } else { said.name };
            import.builder.operations.push(Operation { name, module: NONE, instruction: NONE, scope: said.scope });
            import.builder.operations.len() as u32 - 1
        });
        let slices = import.builder.slices(work.row..work.row + 1);
        slices.op[0] = op;
        slices.attribution[0] = Attribution::ByStat as u8;
        named += u64::from(work.said.is_none());
    }
    if let Some(file) = file.filter(|_| named == 0) {
        let message = "none of its nodes ran in the accompanying capture: it is from another run or rank";
        import.note(Severity::Partial, &file.source, None, file.nodes.len() as u64, message.to_owned());
    }
}

/// The file that is about `work`; `None` where there is none, or where it is not known whose it is.
fn the_file<'f>(work: &[GraphWork], files: &'f [Annotations], import: &mut Import) -> Option<&'f Annotations> {
    let first = files.first()?;
    let processes: BTreeSet<Option<u32>> = work.iter().map(|work| import.builder.process_of_row(work.row)).collect();
    let message = match (processes.len(), files.len()) {
        (0, _) => "it names CUDA graph nodes, but no accompanying capture has work with a `graph node id`",
        (1, 1) => return Some(first),
        _ => "it is not used: node ids are per process; open one rank's trace with that rank's annotations",
    };
    for file in files {
        import.note(Severity::Partial, &file.source, None, file.nodes.len() as u64, message.to_owned());
    }
    None
}
