//! XLA's dumps: the HLO of each module as it ran.

use super::replica::Replica;
use crate::import::Import;
use crate::note::Severity;
use ridge_hlo::HloModule;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Rows of the modules table after which no more are added: each process has its own.
const MAX_MODULES: usize = 1 << 20;

/// A module that was dumped.
#[derive(Debug, Clone)]
pub(super) struct Dumped {
    pub(super) program_id: u64,
    pub(super) name: String,
    /// Its place among the HLO of all captures.
    pub(super) hlo: u32,
}

/// The dumps of all processes; what several share is read once.
pub(super) struct Dumps<'f> {
    /// Program ids and names, without the process.
    names: BTreeSet<(u64, &'f str)>,
    read: FxHashMap<String, Option<Dumped>>,
}

impl<'f> Dumps<'f> {
    /// The dumps of optimized modules among files of these names.
    pub(super) fn new(names: &[&'f str]) -> Dumps<'f> {
        Dumps { names: names.iter().filter_map(|name| optimized(name)).collect(), read: FxHashMap::default() }
    }

    /// The optimized modules of one process.
    pub(super) fn read(&mut self, replica: &Replica<'_, '_>, import: &mut Import) -> Vec<Dumped> {
        let mut found = Vec::new();
        for (program_id, name) in &self.names {
            if import.builder.modules.len() + found.len() > MAX_MODULES {
                break;
            }
            let read = self.read.entry(replica.file(name)).or_insert_with(|| one(replica, *program_id, name, import));
            found.extend(read.clone());
        }
        found
    }
}

fn one(replica: &Replica<'_, '_>, program_id: u64, name: &str, import: &mut Import) -> Option<Dumped> {
    let content = replica.content(name, import)?;
    match HloModule::from_proto(&content.bytes) {
        Ok(module) => {
            if let Some(first) = module.notes.first() {
                let message = format!("HLO module {}: {}", module.name, first.what);
                import.note(Severity::Partial, &replica.name(), None, module.notes.len() as u64, message);
            }
            let name = module.name.clone();
            import.hlo.push(module);
            Some(Dumped { program_id, name, hlo: import.hlo.len() as u32 - 1 })
        }
        Err(error) => {
            import.note(Severity::Partial, &replica.name(), None, 1, format!("{name}: {error}"));
            None
        }
    }
}

/// The program id in the name of a dump of optimized HLO, and that name without the process it is of.
///
/// `dump/module_0040.jit_step.sm_8.0_gpu_after_optimizations.hlo.pb.xz`, in combined archives perhaps with `/rank3`.
fn optimized(file: &str) -> Option<(u64, &str)> {
    let (number, rest) = file.strip_prefix("dump/module_")?.split_once('.')?;
    let end = [".hlo.pb.xz", ".hlo.pb"].into_iter().find_map(|end| rest.find(end).map(|at| at + end.len()))?;
    let is_optimized = rest[..end].contains("after_optimizations");
    let is_whole = rest[end..].is_empty() || rest[end..].starts_with('/');
    let name = &file[..file.len() - rest.len() + end];
    Some((number.parse().ok()?, name)).filter(|_| is_optimized && is_whole)
}

#[cfg(test)]
mod tests {
    use super::optimized;

    #[test]
    fn dumps_are_told_by_their_names() {
        let whole = "dump/module_0040.jit_f.sm_8.0_gpu_after_optimizations.hlo.pb.xz";
        for (file, expected) in [
            (whole, Some((40, whole))),
            ("dump/module_0040.jit_f.sm_8.0_gpu_after_optimizations.hlo.pb.xz/rank3", Some((40, whole))),
            ("dump/module_0040.jit_f.before_optimizations.hlo.pb.xz", None),
            ("dump/module_0040.jit_f.sm_8.0_gpu_after_optimizations.hlo.pb.xzz", None),
            ("dump/module_x.jit_f.after_optimizations.hlo.pb", None),
            ("../dump/module_1.f.after_optimizations.hlo.pb", None),
        ] {
            assert_eq!(optimized(file), expected, "{file}");
        }
    }
}
