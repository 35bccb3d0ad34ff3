//! What an export of this project says beyond what Kineto's traces have: its devices, the kinds of its events, their
//! operations. So read back it is what was written.

use super::chunk::{Extra, Row, TrackKey};
use super::link::Placed;
use super::store::Store;
use crate::import::Import;
use crate::xla::operations::Operations;
use ridge_trace::{Attribution, EventKind, NONE, Step, StringId, TrackKind};
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
    let has_operations = rows.iter().any(|row| row.kind == EventKind::DeviceOp as u8);
    let kind = if has_operations { TrackKind::OperationLane } else { TrackKind::Stream };
    let find = |number: i64| import.builder.strings.find(&number.to_string());
    let name = find(pid).zip(find(id)).and_then(|thread| store.thread_names.get(&thread));
    let name = name.map_or_else(|| format!("Stream #{id}"), |name| import.builder.strings.get(*name).to_owned());
    Some(import.builder.add_track(process, Some(device), kind, &name, id))
}

/// Gives rows their causes, operations and step numbers.
pub(super) fn interpret(store: &Store, placed: &Placed, import: &mut Import) {
    import.builder.link_launches(placed.first_row);
    let mut operations = Operations::new(placed.process, import);
    let mut known: FxHashMap<[u32; 3], u32> = FxHashMap::default();
    for track in placed.threads().chain(placed.streams()) {
        for (row, stored) in track.rows.clone().zip(&track.stored) {
            let Some(Extra::Xla { op, module, scope, step, .. }) = store.extras.get(stored.extra as usize) else {
                continue;
            };
            if let Some(number) = step.filter(|_| stored.kind == EventKind::Step as u8) {
                import.builder.steps.push(Step { event: row, number });
            }
            let texts = [op.0, module.0, scope.0];
            let op = *known.entry(texts).or_insert_with(|| operations.of_texts(texts, import));
            let slices = import.builder.slices(row..row + 1);
            slices.op[0] = op;
            if op != NONE && EventKind::from_byte_is_work(slices.kind[0]) {
                slices.attribution[0] = Attribution::ByStat as u8;
            }
        }
    }
}
