//! Snapshots of PyTorch's device allocator (`torch.cuda.memory._dump_snapshot`): a pickle of plain data.
//!
//! The pickle is read by a reader of its own that knows the opcodes of lists, tuples, dictionaries, numbers and text.
//! An opcode that names code or builds objects is refused, so that opening a snapshot never runs anything.
//! The blocks become a snapshot; the history of allocations, where one was recorded, becomes allocator events, and
//! blocks that are older than the history are put at its start.
//!
//! A snapshot that `torch.save` wrote is an archive whose first member is the same pickle, not compressed.
//!
//! Sizes of the history are those that were asked for, which is how the allocator records them; sizes of blocks are
//! also known as they were rounded. A block counts as in use until its free is completed.

mod pickle;
mod read;

use crate::choice::InFolder;
use crate::formats::Format;
use crate::import::{Import, ImportError, Source};
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

/// How the members of a zip archive begin (APPNOTE.TXT of PKWARE, section 4.3.7).
const MEMBER: &[u8] = b"PK\x03\x04";
/// Bytes of a member's header before its name.
const MEMBER_HEADER: usize = 30;

/// The pickle in what `torch.save` wrote, and where it begins; other bytes as they are.
///
/// torch stores its members as they are (method 0) and `data.pkl` first; the pickle says itself where it ends.
fn pickle_in(bytes: &[u8]) -> (usize, &[u8]) {
    let member = || {
        let header = bytes.get(..MEMBER_HEADER).filter(|header| header.starts_with(MEMBER))?;
        let short = |at: usize| usize::from(u16::from_le_bytes([header[at], header[at + 1]]));
        let (method, name, extra) = (short(8), short(26), short(28));
        let called = bytes.get(MEMBER_HEADER..MEMBER_HEADER + name)?;
        let start = MEMBER_HEADER + name + extra;
        let pickle = bytes.get(start..)?;
        (method == 0 && called.ends_with(b"/data.pkl")).then_some((start, pickle))
    };
    member().unwrap_or((0, bytes))
}
