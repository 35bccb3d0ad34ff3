//! Test: both readers make the same module of the same program.
//!
//! XLA dumps each module twice, as proto and as text. What the two readers make of them is compared through the HLO
//! text this crate prints, instruction by instruction; what one of the two files does not hold is left out.

#![allow(clippy::disallowed_methods, reason = "tests read fixtures and take the time")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::{HloModule, InstructionId};

/// `fixtures/hlo` of the workspace.
fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/hlo")
}

/// Every dump of the fixtures: name, proto, text.
fn dumps() -> Vec<(String, Vec<u8>, String)> {
    let mut dumps = Vec::new();
    for entry in std::fs::read_dir(fixtures()).expect("the fixtures are part of the project") {
        let path = entry.expect("a folder that can be listed").path();
        let name = path.file_name().expect("an entry has a name").to_string_lossy().into_owned();
        if let Some(stem) = name.strip_suffix(".hlo.pb") {
            let text = std::fs::read_to_string(fixtures().join(format!("{stem}.txt"))).expect("each proto has a text");
            dumps.push((stem.to_owned(), std::fs::read(&path).expect("a readable fixture"), text));
        }
    }
    dumps.sort();
    dumps
}

/// Leaves out what only one of the two files holds: header attributes, and values of constants cut by one reader.
fn comparable(mut module: HloModule) -> HloModule {
    module.header.clear();
    for instruction in &mut module.instructions {
        if let Some(literal) = instruction.literal.as_mut().filter(|literal| literal.is_cut) {
            literal.values.clear();
        }
        if let Some(attributes) = &mut instruction.attributes {
            attributes.other.clear();
        }
    }
    module
}

/// The text of each computation's head and of each instruction, by name.
fn parts(module: &HloModule) -> BTreeMap<String, String> {
    let mut parts = BTreeMap::new();
    for id in module.computation_ids() {
        let computation = module.computation(id);
        let root = computation.root.map(|root| module.instruction(root).name.as_str());
        let order: Option<Vec<&str>> = computation
            .schedule
            .as_ref()
            .map(|order| order.iter().map(|id| module.instruction(*id).name.as_str()).collect());
        let head = format!(
            "entry={} fusion={} thread={} root={root:?} schedule={order:?} callers={}",
            module.entry == Some(id),
            computation.is_fusion,
            computation.execution_thread,
            computation.callers.len()
        );
        parts.insert(format!("computation {}", computation.name), head);
    }
    for id in module.instruction_ids() {
        parts.insert(module.instruction(id).name.clone(), module.instruction_text(id));
    }
    parts
}

fn stack_text(module: &HloModule, id: InstructionId) -> String {
    module.source_stack(id).iter().map(ToString::to_string).collect::<Vec<_>>().join(" < ")
}

#[test]
fn proto_and_text_of_every_dump_make_the_same_module() {
    let mut differences = Vec::new();
    for (name, proto, text) in dumps() {
        let proto = comparable(HloModule::from_proto(&proto).expect("a proto"));
        let text = comparable(HloModule::from_text(&text).expect("a text"));
        for note in proto.notes.iter().chain(&text.notes) {
            differences.push(format!("{name}: note at {}: {}", note.offset, note.what));
        }
        let head = |module: &HloModule| {
            let HloModule { name, is_scheduled, input_output_aliases, frames, frontend_attributes, .. } = module;
            format!("{name} {is_scheduled} {input_output_aliases:?} {frontend_attributes:?} {frames:?}")
        };
        if head(&proto) != head(&text) {
            differences.push(format!("{name}:\n  proto {}\n  text  {}", head(&proto), head(&text)));
        }
        let (from_proto, from_text) = (parts(&proto), parts(&text));
        for key in from_proto.keys().chain(from_text.keys().filter(|key| !from_proto.contains_key(*key))) {
            if from_proto.get(key) != from_text.get(key) {
                differences.push(format!("{name} {key}:\n  {:?}\n  {:?}", from_proto.get(key), from_text.get(key)));
            }
        }
        for id in proto.instruction_ids() {
            let twin = text.instruction_named(&proto.instruction(id).name).expect("compared above");
            if stack_text(&proto, id) != stack_text(&text, twin) || proto.category(id) != text.category(twin) {
                differences.push(format!("{name} {}: source or category differ", proto.instruction(id).name));
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn printed_text_reads_back_as_the_same_module() {
    for (name, proto, _) in dumps() {
        let printed = HloModule::from_proto(&proto).expect("a proto").to_text();
        let again = HloModule::from_text(&printed).expect("printed text");
        assert_eq!(again.notes, [], "{name}");
        assert_eq!(again.to_text(), printed, "{name}");
    }
}
