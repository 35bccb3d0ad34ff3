//! The HLO of modules that a process ran, where somebody kept it beside the export.
//!
//! A module is known by its name and program id, as in the dumps of an `nsys-jax` archive. An id counts within its process
//! alone; where none fits, the module of that name is taken which has every operation that ran, if there is just one.

use super::rows::EventRow;
use super::xla_ranges::{Ranges, sweep};
use crate::import::{Import, Source};
use crate::note::Severity;
use crate::xla::command_buffer::is_command_buffer;
use crate::xla::ranges::XlaRange;
use ridge_hlo::HloModule;
use ridge_trace::Module;
use std::collections::{BTreeMap, BTreeSet};

/// The modules that ran by name and program id, with the operations of each that did.
#[derive(Debug, Default)]
pub(super) struct Ran<'r>(BTreeMap<(&'r str, Option<u64>), BTreeSet<&'r str>>);

impl<'r> Ran<'r> {
    pub(super) fn of<'t>(lanes: impl Iterator<Item = &'t [EventRow]>, ranges: &'r Ranges) -> Ran<'r> {
        let mut ran = Ran::default();
        for rows in lanes {
            sweep(rows, ranges, |_, around, _| {
                let Some(XlaRange::Module { name, program_id }) = around.module else { return };
                let operations = ran.0.entry((name, *program_id)).or_default();
                if let Some(XlaRange::Thunk { op, .. }) = around.thunk.filter(|thunk| !stands_for_many(thunk)) {
                    operations.insert(op);
                }
            });
        }
        ran
    }
}

fn stands_for_many(thunk: &XlaRange) -> bool {
    matches!(thunk, XlaRange::Thunk { op, .. } if op.is_empty() || is_command_buffer(op))
}

/// Adds the modules that `process` ran and of which the HLO was kept.
pub(super) fn join(ran: &Ran<'_>, process: u32, source: Source<'_>, import: &mut Import) {
    if import.kept.is_empty() {
        return;
    }
    let (mut by_name, mut without) = (0, 0);
    for ((name, program_id), operations) in &ran.0 {
        let Some((found, is_its_id)) = kept(name, *program_id, operations, &import.kept) else {
            without += 1;
            continue;
        };
        by_name += u64::from(!is_its_id);
        let module = import.kept[found].clone();
        let name = import.builder.strings.intern(name);
        import.hlo.push(module);
        let hlo = Some(import.hlo.len() as u32 - 1);
        import.builder.modules.push(Module { process, name, program_id: program_id.unwrap_or(0), hlo });
    }
    if by_name > 0 {
        let message = "modules were matched by name, because no program ids match: each has every operation that ran";
        import.note(Severity::Info, source.name, None, by_name, message.to_owned());
    }
    if without > 0 {
        let message =
            "modules ran without HLO, or with several candidates for it: the work of their operations is unknown";
        import.note(Severity::Info, source.name, None, without, message.to_owned());
    }
}

/// Which of the `kept` modules it is, and whether by its program id.
fn kept(name: &str, program_id: Option<u64>, operations: &BTreeSet<&str>, kept: &[HloModule]) -> Option<(usize, bool)> {
    let named = || kept.iter().enumerate().filter(|(_, module)| module.name == name);
    let has_all = |module: &HloModule| operations.iter().all(|name| module.instruction_named(name).is_some());
    let fitting: Vec<usize> = named().filter(|(_, module)| has_all(module)).map(|(at, _)| at).collect();
    let by_id = |at: &&usize| program_id == Some(kept[**at].id);
    if let Some(at) = fitting.iter().find(by_id) {
        return Some((*at, true));
    }
    match fitting[..] {
        [at] => Some((at, false)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_is_known_by_its_id_or_by_what_ran_of_it() {
        let module = |name: &str, id: u64, root: &str| {
            let text = format!(
                "HloModule {name}\n\nENTRY %main {{\n  ROOT %{root} = f32[8]{{0}} iota(), iota_dimension=0\n}}\n"
            );
            let mut module = HloModule::from_text(&text).expect("HLO text of the test");
            module.id = id;
            module
        };
        let all = [
            module("f", 4, "dot.1"),
            module("f", 9, "add.1"),
            module("g", 5, "dot.1"),
            module("h", 1, "x"),
            module("h", 2, "x"),
        ];
        for (name, id, ran, expected) in [
            ("f", Some(4), "dot.1", Some((0, true))),
            ("f", Some(9), "add.1", Some((1, true))),
            // The id of another process's module: what ran is in one of that name.
            ("f", Some(9), "dot.1", Some((0, false))),
            ("g", None, "dot.1", Some((2, false))),
            ("g", Some(5), "mul.1", None),
            // Nothing tells the two apart.
            ("h", Some(7), "x", None),
            ("i", Some(4), "dot.1", None),
        ] {
            assert_eq!(kept(name, id, &BTreeSet::from([ran]), &all), expected, "{name} {id:?} {ran}");
        }
    }
}
