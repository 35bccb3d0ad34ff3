//! Snapshots of PyTorch's device allocator (`torch.cuda.memory._dump_snapshot`): a pickle of plain data.
//!
//! A dedicated reader accepts only the opcodes of lists, tuples, dictionaries, numbers and text. It refuses every opcode that
//! names code or builds objects, so opening a snapshot never runs anything.
//! Blocks become a snapshot. The allocation history, if recorded, becomes allocator events, and blocks older than the history
//! are placed at its start.
//!
//! A snapshot written by `torch.save` is an archive with the same pickle, uncompressed, as its first member.
//!
//! The history has requested sizes, as the allocator records them; blocks also have their rounded sizes. A block is in use
//! until its free is completed.

mod member;
mod pickle;
mod read;

use crate::choice::InFolder;
use crate::formats::Format;
use crate::import::{Import, ImportError, Source};
use member::{MEMBER, pickle_in};
use ridge_redact::Redactor;

/// The snapshot format.
pub(super) struct TorchSnapshot;

impl Format for TorchSnapshot {
    fn name(&self) -> &'static str {
        "torch-snapshot"
    }

    fn in_folder(&self) -> InFolder {
        InFolder::Beside("memory", &[".pickle"])
    }

    fn sniff(&self, head: &[u8]) -> bool {
        // A snapshot is a dictionary whose first key is one of these.
        let keys: [&[u8]; 2] = [b"segments", b"device_traces"];
        let (_, head) = pickle_in(head);
        let begins = matches!(head, [0x80, 2..=5, ..]);
        let near = &head[..head.len().min(64)];
        begins && keys.iter().any(|key| near.windows(key.len()).any(|window| window == *key))
    }

    fn redactor(&self, head: &[u8]) -> Redactor {
        if head.starts_with(MEMBER) { Redactor::Archive } else { Redactor::Pickle }
    }

    fn import(&self, source: Source<'_>, import: &mut Import) -> Result<(), ImportError> {
        read::read(source, import)
    }
}
