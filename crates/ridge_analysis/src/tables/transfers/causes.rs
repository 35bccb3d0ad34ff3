//! Who asked for transfers: the named range, the operation, the call, and the code around the call.

use super::columns::{columns, direction_column, size_columns};
use crate::models::transfers::sums::group;
use crate::models::transfers::{Copied, Transfers};
use crate::tables::time::table as build;
use crate::{Analysis, Owners};
use ridge_table::{Column, Rank, Subject, Table};
use ridge_trace::{EventKind, NONE, OpRow, StringId, Trace};

/// Enclosing events that are looked at for the code around a call.
const CLIMB: usize = 256;

/// Who asked for a transfer; names are string ids, [`NONE`] for what is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Asked {
    /// Name of the innermost range of the program.
    range: u32,
    /// Row of the operations table.
    op: u32,
    /// Name of the call that issued the copy.
    call: u32,
    /// Name of the innermost event around the call that is neither a call nor a named range.
    around: u32,
    /// Name of the innermost Python function around the call.
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

    /// What a copy of `kind` that it asked for is about: the most precise that is known.
    pub(crate) fn subject(&self, kind: EventKind) -> Subject {
        let call = || Some(self.call).filter(|call| *call != NONE).map(|call| Subject::Named(StringId(call)));
        let op = OpRow::known(self.op).map(Subject::Op);
        op.or_else(call).unwrap_or(Subject::Copies(kind))
    }

    /// The columns that say who asked, for one key a row.
    pub(crate) fn columns<'k>(analysis: &Analysis<'_>, asked: impl Iterator<Item = &'k Asked> + Clone) -> Vec<Column> {
        let text = |name: u32| (name != NONE).then(|| analysis.text(StringId(name)).to_owned());
        let op = |asked: &Asked| {
            let found = analysis.operation(asked.op).filter(|op| op.name != StringId(0))?;
            Some(analysis.text(found.name).to_owned())
        };
        let line = |asked: &Asked| {
            let (module, instruction) = analysis.instruction(asked.op)?;
            let frames = module.source_in_fusion(instruction);
            frames.first().map(|frame| format!("{}:{}", frame.file, frame.line))
        };
        vec![
            Column::text(
                "range",
                "Range",
                "innermost range of the program that caused it",
                asked.clone().map(|asked| text(asked.range)),
            )
            .ranked(Rank::Key),
            Column::text("op", "Operation", "operation it belongs to", asked.clone().map(op)),
            Column::text(
                "source",
                "Source",
                "source line of the operation, else the innermost Python function around the call",
                asked.clone().map(|asked| line(asked).or_else(|| text(asked.python))),
            ),
            Column::text("call", "Call", "host call that issued it", asked.clone().map(|asked| text(asked.call))),
            Column::text(
                "around",
                "Around the call",
                "innermost event around the call that is neither a call nor a range of the program",
                asked.map(|asked| text(asked.around)),
            )
            .ranked(Rank::Detail),
        ]
    }
}

impl Transfers {
    /// By direction and who asked, most time first.
    pub(crate) fn by_cause(&self, analysis: &Analysis<'_>) -> Table {
        let trace = analysis.trace;
        let rows = if self.copies.is_empty() {
            Vec::new()
        } else {
            let owners = analysis.owners();
            group(self, trace, |copy| (copy.kind(trace), Asked::of(trace, owners, copy)))
        };
        let mut shown = vec![direction_column(rows.iter().map(|((kind, _), _)| *kind))];
        shown.extend(Asked::columns(analysis, rows.iter().map(|((_, asked), _)| asked)));
        shown.extend(columns(&rows));
        shown.extend(size_columns(&rows));
        build("cause", "Who asked for transfers", shown)
            .about(rows.iter().map(|((kind, asked), _)| Some(asked.subject(*kind))))
    }
}
