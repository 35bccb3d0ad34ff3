//! The operations that events name in their stats.

use super::decode::{OpKey, OpScope};
use super::plane::StatTable;
use super::stats::TextKey;
use crate::import::Import;
use crate::xla::command_buffer::is_command_buffer;
use crate::xla::operations::{Operations, Ran};
use ridge_hlo::wire::text;
use ridge_trace::NONE;
use std::borrow::Cow;

/// The row of an operation known by the stats of an event, or [`NONE`] where they name none.
pub(super) fn resolve(
    operations: &mut Operations,
    key: &OpKey<'_>,
    scope: &OpScope<'_>,
    stats: &StatTable<'_>,
    import: &mut Import,
) -> u32 {
    let hlo_op = key_text(key.hlo_op, stats);
    if hlo_op.is_empty() {
        return framework_operation(operations, &key_text(key.framework_op, stats), import);
    }
    let name = innermost(&hlo_op).to_owned();
    let module_name = key_text(key.hlo_module, stats);
    // Asynchronous copies of TPUs say their instruction alone.
    let only = if key.program_id.is_none() && module_name.is_empty() {
        operations.only_module_with(&name, import)
    } else {
        None
    };
    let module = only.unwrap_or_else(|| operations.module(key.program_id, &module_name, import));
    let path = format!("{}{}", key_text(scope.prefix, stats), key_text(scope.name, stats));
    operations.operation(module, &name, path.trim_end_matches(':'), import)
}

/// Adds the module and the operation that an event names to those that ran.
pub(super) fn add_ran(ran: &mut Ran, key: &OpKey<'_>, stats: &StatTable<'_>) {
    let (op, module) = (key_text(key.hlo_op, stats), key_text(key.hlo_module, stats));
    if let Some(program_id) = key.program_id.filter(|_| !op.is_empty() && !module.is_empty()) {
        let operations = ran.entry((program_id, module.into_owned())).or_default();
        // A command buffer is no instruction.
        if !is_command_buffer(innermost(&op)) {
            operations.insert(innermost(&op).to_owned());
        }
    }
}

/// Nested operations are written outermost first: `a::b::c`.
fn innermost(op: &str) -> &str {
    op.rsplit("::").next().unwrap_or(op)
}

/// TensorFlow names `scope/op:Type#attributes#`; JAX's outermost annotation, the module, names no operation.
fn framework_operation(operations: &mut Operations, annotation: &str, import: &mut Import) -> u32 {
    let innermost = annotation.rsplit("::").next().unwrap_or(annotation);
    let path = innermost.split('#').next().unwrap_or_default();
    if path.is_empty() || path.starts_with("XlaModule") || path.starts_with("Thunk") {
        return NONE;
    }
    let name = path.rsplit_once(':').map_or(path, |(name, _)| name);
    if name.is_empty() {
        return NONE;
    }
    operations.operation(NONE, name, path, import)
}

fn key_text<'a>(key: TextKey<'a>, stats: &StatTable<'a>) -> Cow<'a, str> {
    match key {
        TextKey::None => Cow::Borrowed(""),
        TextKey::Inline(bytes) => text(bytes),
        TextKey::Ref(id) => text(stats.name(id).unwrap_or_default()),
    }
}
