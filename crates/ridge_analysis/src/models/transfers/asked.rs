//! Who asked for a transfer: the named range, the operation, the call, and the code around the call.

use super::Copied;
use crate::{Analysis, Owners};
use ridge_table::Subject;
use ridge_trace::{EventKind, NONE, OpRow, StringId, Trace};

/// Enclosing events that are looked at for the code around a call.
const CLIMB: usize = 256;

/// Who asked for a transfer; names are string ids, [`NONE`] for what is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Asked {
    range: u32,
    /// Row of the operations table.
    op: u32,
    call: u32,
    around: u32,
    python: u32,
}

impl Asked {
    /// Who asked for `copy`.
    pub(crate) fn of(trace: &Trace, owners: &Owners, copy: &Copied) -> Asked {
        let events = &trace.events;
        let named = |row: u32| if row == NONE { NONE } else { events.name[row as usize] };
        let call = events.link[copy.row as usize];
        let (mut around, mut python) = (NONE, NONE);
        let mut next = call;
        for _ in 0..CLIMB {
            next = if next == NONE { NONE } else { events.parent[next as usize] };
            if next == NONE || python != NONE {
                break;
            }
            let kind = events.kind(next as usize);
            if kind == EventKind::PythonCall {
                python = next;
            }
            if around == NONE && !matches!(kind, EventKind::Launch | EventKind::Annotation | EventKind::Step) {
                around = next;
            }
        }
        Asked {
            range: named(owners.of(copy.row)),
            op: events.op[copy.row as usize],
            call: named(call),
            around: named(around),
            python: named(python),
        }
    }

    /// Name of the innermost range of the program.
    pub fn range(&self) -> Option<StringId> {
        name(self.range)
    }

    /// Name of the call that issued the copy.
    pub fn call(&self) -> Option<StringId> {
        name(self.call)
    }

    /// Name of the innermost event around the call that is neither a call nor a named range.
    pub fn around(&self) -> Option<StringId> {
        name(self.around)
    }

    /// Name of the operation that it belongs to.
    pub fn op(&self, analysis: &Analysis<'_>) -> Option<StringId> {
        analysis.operation(self.op).map(|op| op.name).filter(|name| *name != StringId(0))
    }

    /// Source line of the operation, else the innermost Python function around the call.
    pub fn source(&self, analysis: &Analysis<'_>) -> Option<String> {
        let line = analysis.line_of(self.op).map(|(file, line)| format!("{file}:{line}"));
        line.or_else(|| name(self.python).map(|python| analysis.text(python).to_owned()))
    }

    /// What a copy of `kind` that it asked for is about: the most precise that is known.
    pub fn subject(&self, kind: EventKind) -> Subject {
        let op = OpRow::known(self.op).map(Subject::Op);
        op.or_else(|| self.call().map(Subject::Named)).unwrap_or(Subject::Copies(kind))
    }
}

fn name(id: u32) -> Option<StringId> {
    (id != NONE).then_some(StringId(id))
}
