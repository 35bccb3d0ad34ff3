//! What an export of this project says beyond what Kineto's traces have: its devices, the kinds of its events, their
//! operations. So read back it is what was written.

use super::placed::Placed;
use super::row::{Extra, Row, TrackKey};
use super::store::Store;
use crate::import::Import;
use crate::note::Severity;
use crate::xla::operations::Operations;
use ridge_hlo::HloModule;
use ridge_trace::{Attribution, EventKind, Module, NONE, Step, StringId, TrackKind};
use rustc_hash::FxHashMap;
use serde_json::Value;

/// The track of a device that `rows` were on; `None` for those of the host.
pub(super) fn home_of(
    key: TrackKey<StringId>,
    rows: &[Row],
    devices: &[Value],
    store: &Store,
    process: u32,
    import: &mut Import,
) -> Option<u32> {
    let TrackKey::Stream(pid, id) = key else { return None };
    let said = devices.get(usize::try_from(pid).ok()?)?;
    let text = |key: &str| said[key].as_str().map(str::to_owned);
    let device = import.builder.device(process, &text("plane")?);
    let known = import.builder.device_mut(device);
    (known.vendor, known.model) = (text("vendor"), text("model"));
    (known.cores, known.clock_khz) = (said["cores"].as_u64(), said["clock_khz"].as_u64());
    (known.memory_bytes, known.memory_bytes_per_sec) =
        (said["memory_bytes"].as_u64(), said["memory_bytes_per_sec"].as_u64());
    let version = |at: usize| said["compute_capability"][at].as_u64().and_then(|part| u32::try_from(part).ok());
    known.compute_capability = version(0).zip(version(1));
    // Exports before they named the streams had operations on lanes alone.
    let is_stream = match said["streams"].as_array() {
        Some(streams) => streams.iter().any(|stream| stream.as_i64() == Some(id)),
        None => !rows.iter().any(|row| row.kind == EventKind::DeviceOp as u8),
    };
    let kind = if is_stream { TrackKind::Stream } else { TrackKind::OperationLane };
    let find = |number: i64| import.builder.strings.find(&number.to_string());
    let name = find(pid).zip(find(id)).and_then(|thread| store.thread_names.get(&thread));
    let name = name.map_or_else(|| format!("Stream #{id}"), |name| import.builder.strings.get(*name).to_owned());
    Some(import.builder.add_track(process, Some(device), kind, &name, id))
}

/// Gives rows their causes, operations and step numbers; `modules` are those that the file brings along.
pub(super) fn interpret(store: &Store, placed: &Placed, modules: &[Value], source: &str, import: &mut Import) {
    import.builder.link_launches(placed.first_row);
    let modules = add_modules(modules, placed.process, source, import);
    let mut operations = Operations::new(placed.process, import);
    let mut known: FxHashMap<([u32; 3], Option<u32>), u32> = FxHashMap::default();
    for track in placed.threads().chain(placed.streams()) {
        for (row, stored) in track.rows.clone().zip(&track.stored) {
            let Some(Extra::Own { op, module, module_id, scope, step, attribution }) =
                store.extras.get(stored.extra as usize)
            else {
                continue;
            };
            if let Some(number) = step.filter(|_| stored.kind == EventKind::Step as u8) {
                import.builder.steps.push(Step { event: row, number });
            }
            let texts = [op.0, module.0, scope.0];
            let op = *known.entry((texts, *module_id)).or_insert_with(|| {
                let numbered = module_id.and_then(|id| modules.get(&id)).copied();
                operation(texts, numbered, &mut operations, import)
            });
            let is_named = !import.builder.strings.get(StringId(texts[0])).is_empty();
            let usual = if is_named { Attribution::ByStat } else { Attribution::ModuleOnly } as u8;
            let slices = import.builder.slices(row..row + 1);
            slices.op[0] = op;
            if op != NONE && EventKind::from_byte_is_work(slices.kind[0]) {
                slices.attribution[0] = attribution.unwrap_or(usual);
            }
        }
    }
}

/// The row of the operation of these texts, its name, its module's and its scope, in the module at row `numbered` where
/// its name alone does not say which; one without a name stands for the module as a whole.
fn operation(texts: [u32; 3], numbered: Option<u32>, operations: &mut Operations, import: &mut Import) -> u32 {
    let [name, module, scope] = texts.map(|text| import.builder.strings.get(StringId(text)).to_owned());
    let module = match numbered {
        Some(row) => row,
        None if module.is_empty() => NONE,
        None => operations.module(None, &module, import),
    };
    if name.is_empty() && module == NONE { NONE } else { operations.operation(module, &name, &scope, import) }
}

/// Adds what the file says of modules; their rows by their numbers in it.
fn add_modules(modules: &[Value], process: u32, source: &str, import: &mut Import) -> FxHashMap<u32, u32> {
    let mut rows = FxHashMap::default();
    for said in modules {
        let Some(id) = said["id"].as_u64().and_then(|id| u32::try_from(id).ok()) else { continue };
        let name = said["name"].as_str().unwrap_or_default();
        let hlo = said["hlo"].as_str().and_then(|text| match HloModule::from_text(text) {
            Ok(module) => {
                import.hlo.push(module);
                Some(import.hlo.len() as u32 - 1)
            }
            Err(error) => {
                import.note(Severity::Partial, source, None, 1, format!("the HLO of {name} cannot be read: {error}"));
                None
            }
        });
        let hlo = hlo.or_else(|| kept(name, said["program_id"].as_u64()?, import));
        rows.insert(id, import.builder.modules.len() as u32);
        let (name, program_id) = (import.builder.strings.intern(name), said["program_id"].as_u64().unwrap_or(0));
        import.builder.modules.push(Module { process, name, program_id, hlo });
    }
    rows
}

/// The module of this name and number among those that were kept beside the file.
fn kept(name: &str, program_id: u64, import: &mut Import) -> Option<u32> {
    let found = import.kept.iter().find(|module| module.name == name && module.id == program_id)?.clone();
    import.hlo.push(found);
    Some(import.hlo.len() as u32 - 1)
}
