//! HLO dumps without a trace: `.hlo.pb` protos and module text, as written by `--xla_dump_to`.
//!
//! They have no times, so opening one shows its modules and empty tables.

use crate::choice::InFolder;
use crate::formats::Format;
use crate::import::{CaptureFacts, Import, ImportError, Source};
use crate::note::Severity;
use ridge_hlo::HloModule;
use ridge_hlo::wire::{Fields, Value};
use ridge_redact::Redactor;
use ridge_trace::Module;

/// The HLO dump format.
pub(super) struct HloDump;

impl Format for HloDump {
    fn name(&self) -> &'static str {
        "hlo"
    }

    fn in_folder(&self) -> InFolder {
        // XLA dumps modules as text, too, and once for each of its passes if it was asked to.
        InFolder::Alone(&[".hlo.pb"])
    }

    fn sniff(&self, head: &[u8]) -> bool {
        is_text(head) || is_proto(head)
    }

    fn redactor(&self, head: &[u8]) -> Redactor {
        if is_text(head) { Redactor::Text } else { Redactor::HloProto }
    }

    fn import(&self, source: Source<'_>, import: &mut Import) -> Result<(), ImportError> {
        let module = module(source)?;
        if let Some(first) = module.notes.first() {
            let message = format!("HLO module {}: {}", module.name, first.what);
            import.note(Severity::Partial, source.name, None, module.notes.len() as u64, message);
        }
        let process = import.builder.add_process(source.name, None);
        let name = import.builder.strings.intern(&module.name);
        let program_id = module.id;
        import.hlo.push(module);
        let hlo = Some(import.hlo.len() as u32 - 1);
        import.builder.modules.push(Module { process, name, program_id, hlo });
        import.captures.push(CaptureFacts {
            source: source.name.to_owned(),
            format: "hlo",
            bytes: source.bytes.len() as u64,
            ..CaptureFacts::default()
        });
        Ok(())
    }
}

/// The module of a dump.
///
/// # Errors
/// [`ImportError::Broken`] where it cannot be read.
pub(crate) fn module(source: Source<'_>) -> Result<HloModule, ImportError> {
    let parsed = match std::str::from_utf8(source.bytes) {
        Ok(text) if is_text(source.bytes) => HloModule::from_text(text),
        _ => HloModule::from_proto(source.bytes),
    };
    parsed.map_err(|error| ImportError::Broken {
        source_name: source.name.to_owned(),
        offset: 0,
        what: error.to_string(),
    })
}

fn is_text(head: &[u8]) -> bool {
    head.trim_ascii_start().starts_with(b"HloModule ")
}

/// An `HloProto` begins with its module, and that with its name.
fn is_proto(head: &[u8]) -> bool {
    let Some(inner) = head.strip_prefix(&[0x0a]) else { return false };
    let mut at = 0;
    if ridge_hlo::wire::varint(inner, &mut at).is_none() {
        return false;
    }
    let module = inner.get(at..).unwrap_or_default();
    // A plane begins with an id or with a name in field 2; a module with its name in field 1.
    let mut fields = Fields::new(module).map_while(Result::ok);
    let begins_with_name = matches!(fields.next(), Some((1, Value::Bytes(name))) if is_identifier(name));
    begins_with_name && matches!(fields.next(), Some((2, Value::Bytes(name))) if is_identifier(name))
}

fn is_identifier(name: &[u8]) -> bool {
    !name.is_empty() && name.iter().all(|byte| byte.is_ascii_graphic())
}
