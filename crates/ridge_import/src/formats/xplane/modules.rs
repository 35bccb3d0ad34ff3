//! The compiled programs inside a capture: HLO protos of `/host:metadata`.

use super::plane::{Plane, StatTable, first_text};
use super::stats::{StatValue, stat};
use crate::import::{Import, Source};
use crate::note::Severity;
use rayon::prelude::*;
use ridge_hlo::HloModule;
use ridge_hlo::wire::{Fields, Value, text};
use ridge_trace::Module;
use rustc_hash::FxHashSet;

/// A module as its metadata entry has it.
struct Entry<'a> {
    name: &'a [u8],
    program_id: u64,
    proto: Option<&'a [u8]>,
    /// Whether it says anything of a module: not a compiler's table of symbols, nor a mere name.
    is_module: bool,
}

/// Reads every HLO module of the capture; a broken one becomes a note and keeps its name.
pub(super) fn read_modules(planes: &[Plane<'_>], source: &Source<'_>, process: u32, import: &mut Import) {
    let metadata = planes.iter().filter(|plane| plane.name == b"/host:metadata");
    let mut entries: Vec<Entry<'_>> = metadata.flat_map(plane_entries).collect();
    let known = known_modules(process, import);
    entries.retain(|entry| known.is_empty() || !known.contains(&(entry.program_id, &*bare_name(entry.name))));
    drop(known);
    let read = |entry: &Entry<'_>| entry.proto.map(HloModule::from_proto);
    // Threads cost more than a handful of modules.
    let bytes: usize = entries.iter().filter_map(|entry| entry.proto).map(<[u8]>::len).sum();
    let modules: Vec<_> =
        if bytes < 1 << 18 { entries.iter().map(read).collect() } else { entries.par_iter().map(read).collect() };
    for (entry, module) in entries.iter().zip(modules) {
        let offset = entry.proto.map(|proto| source.offset_of(proto));
        let hlo = match module {
            Some(Ok(module)) => {
                if let Some(first) = module.notes.first() {
                    let message = format!("HLO module {}: {}", text(entry.name), first.what);
                    import.note(Severity::Partial, source.name, offset, module.notes.len() as u64, message);
                }
                import.hlo.push(module);
                Some(import.hlo.len() as u32 - 1)
            }
            Some(Err(error)) => {
                let message = format!("HLO module {} could not be read: {error}", text(entry.name));
                import.note(Severity::Partial, source.name, offset, 1, message);
                None
            }
            None => None,
        };
        let name = import.builder.strings.intern(&bare_name(entry.name));
        import.builder.modules.push(Module { process, name, program_id: entry.program_id, hlo });
    }
}

/// The modules that earlier windows of the process have brought, by program id and name.
fn known_modules(process: u32, import: &Import) -> FxHashSet<(u64, &str)> {
    let modules = import.builder.modules.iter().filter(|module| module.process == process && module.hlo.is_some());
    modules.map(|module| (module.program_id, import.builder.strings.get(module.name))).collect()
}

fn plane_entries<'a>(plane: &Plane<'a>) -> Vec<Entry<'a>> {
    let table = StatTable::new(&plane.stat_names);
    let entries = plane.event_metadata.iter().map(|(id, message)| entry(*id, message, &table));
    // TPUs keep their compiler's symbol tables among the modules.
    entries.filter(|entry| entry.is_module).collect()
}

/// The program id is the stat of that name, else the metadata's id (before jaxlib 0.10), else the number in
/// parentheses after the name (XLA's `hlo_proto_map.cc` and `xplane_hlo_fixer.cc` prefer them in this order).
fn entry<'a>(id: u64, message: &'a [u8], table: &StatTable<'a>) -> Entry<'a> {
    let mut found = Entry { name: first_text(message, 2), program_id: id, proto: None, is_module: false };
    let (mut said_id, mut is_symbols) = (None, false);
    for field in Fields::new(message).map_while(Result::ok) {
        let (5, Value::Bytes(bytes)) = field else { continue };
        let Some((stat_id, value)) = stat(bytes) else { continue };
        found.is_module = true;
        match (table.name(stat_id), value) {
            (Some(b"Hlo Proto" | b"HLO Proto" | b"hlo_proto"), StatValue::Bytes(proto)) => found.proto = Some(proto),
            (Some(b"symbol_type"), _) => is_symbols = true,
            (Some(b"program_id"), value) => said_id = value.integer(),
            _ => {}
        }
    }
    found.is_module &= !is_symbols;
    found.program_id = said_id.or((id != 0).then_some(id)).or_else(|| number_in_name(found.name)).unwrap_or(0);
    found
}

pub(super) fn number_in_name(name: &[u8]) -> Option<u64> {
    let name = std::str::from_utf8(name).ok()?;
    name.strip_suffix(')')?.rsplit_once('(')?.1.parse().ok()
}

/// `jit_f(15)` → `jit_f`.
pub(super) fn bare_name(name: &[u8]) -> String {
    let name = text(name);
    match name.rsplit_once('(') {
        Some((bare, rest)) if rest.ends_with(')') && rest.len() > 1 => bare.to_owned(),
        _ => name.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_their_program_id() {
        for (name, bare, number) in
            [(&b"jit_f(15)"[..], "jit_f", Some(15)), (b"jit_f", "jit_f", None), (b"f(x)", "f", None)]
        {
            assert_eq!((bare_name(name).as_str(), number_in_name(name)), (bare, number));
        }
    }
}
