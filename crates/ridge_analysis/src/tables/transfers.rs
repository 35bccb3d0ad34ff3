//! Views of transfers.

mod sections;
#[cfg(test)]
mod tests;

use crate::context::Need;
use crate::context::partition::ratio;
use crate::models::transfers::{Asked, AskedRow, DirectionRow, MoveKey, RepeatRow, SizeRow, Sum, Transfers};
use crate::view::{Ask, Sheet, Shown, Topic, View, columns};
use crate::{Analysis, WorkRow};
use ridge_table::{Section, Subject};
use ridge_trace::EventKind;

/// The transfers of the devices asked for.
fn asked<T>(analysis: &Analysis<'_>, ask: &Ask<'_>, answer: impl FnOnce(&Transfers) -> T) -> T {
    match ask.devices {
        None => answer(analysis.get()),
        Some(devices) => answer(&analysis.get::<Transfers>().only(devices)),
    }
}

/// The sums over the devices asked for.
pub(crate) fn sections(analysis: &Analysis<'_>, ask: &Ask<'_>) -> Vec<Section> {
    asked(analysis, ask, |transfers| sections::sections(analysis, transfers))
}

/// What all of them have in common.
const OF_TRANSFERS: View =
    View { shown: Shown::WithRows(1), needs: &[Need::of::<Transfers>()], ..View::of(Topic::Transfers) };

/// By direction.
pub(crate) static BY_DIRECTION: View = View {
    id: "direction",
    about: "direction and kinds of memory",
    make: |analysis, ask| {
        asked(analysis, ask, |transfers| {
            let rows = transfers.by_direction(analysis);
            Sheet::over(analysis, &rows)
                .about(|_, row| Some(Subject::Copies(row.kind)))
                .show(DIRECTIONS)
                .part(SUMS, |row| &row.sum)
                .link(transfers, |row| &row.sum)
                .part(SIZES_OF, |row| &row.sum)
                .table("Transfers by direction")
        })
    },
    ..OF_TRANSFERS
};

/// By size.
pub(crate) static BY_SIZE: View = View {
    id: "size",
    about: "direction and size, in powers of two",
    make: |analysis, ask| {
        asked(analysis, ask, |transfers| {
            let rows = transfers.by_size(analysis);
            Sheet::over(analysis, &rows)
                .about(|_, row| Some(Subject::Copies(row.kind)))
                .show(SIZES)
                .part(SUMS, |row| &row.sum)
                .link(transfers, |row| &row.sum)
                .table("Transfers by size")
        })
    },
    ..OF_TRANSFERS
};

/// By who asked for them.
pub(crate) static BY_CAUSE: View = View {
    id: "cause",
    about: "the code that requested them",
    make: |analysis, ask| {
        asked(analysis, ask, |transfers| {
            let rows = transfers.by_cause(analysis);
            Sheet::over(analysis, &rows)
                .about(|_, row| Some(row.asked.subject(row.kind)))
                .show(CAUSES)
                .part(ASKED, |row| &row.asked)
                .part(SUMS, |row| &row.sum)
                .part(SIZES_OF, |row| &row.sum)
                .table("Causes of transfers")
        })
    },
    ..OF_TRANSFERS
};

/// Those that come more than once.
pub(crate) static REPEATS: View = View {
    id: "repeat",
    about: "copies with the same direction, size and cause that occur more than once",
    make: |analysis, ask| {
        asked(analysis, ask, |transfers| {
            let rows = transfers.repeats(analysis);
            let mut table = Sheet::over(analysis, &rows)
                .about(|_, row| Some(row.asked.subject(row.kind)))
                .show(REPEATED)
                .part(ASKED, |row| &row.asked)
                .part(SUMS, |row| &row.sum)
                .show(AGAIN)
                .table("Repeated transfers");
            if !rows.is_empty() {
                let note = "with the same direction, size and cause; a capture doesn't show whether their content was the same";
                table.footnotes.push(note.to_owned());
            }
            table
        })
    },
    ..OF_TRANSFERS
};

/// Copies and layout changes inside modules.
pub(crate) static LAYOUTS: View = View {
    id: "layout",
    about: "copies and layout changes on the device",
    make: |analysis, ask| {
        asked(analysis, ask, |transfers| {
            let rows = transfers.layouts(analysis);
            Sheet::over(analysis, &rows)
                .about(|at, row| Some(row.key.subject(at)))
                .show(LAID_OUT)
                .table("Copies and layout changes on the device")
        })
    },
    ..OF_TRANSFERS
};

impl<R> Sheet<'_, R> {
    /// What the link could do, and how much of it was achieved.
    fn link(self, transfers: &Transfers, sum: impl Fn(&R) -> &Sum) -> Self {
        let link = LINK.iter().map(|field| field.key);
        let basis = |sheet: Self, key| sheet.with(key, |column| column.basis(transfers.links_basis));
        link.fold(self.part(LINK, sum), basis)
    }
}

fn direction(kind: EventKind) -> &'static str {
    kind.name().strip_prefix("copy ").unwrap_or("not said")
}

columns! {
    DIRECTIONS: DirectionRow {
        direction: text Key "Direction", "from where to where", |_, row| direction(row.kind);
        from: text "From", "kind of memory read", |_, row| row.from;
        to: text "To", "kind of memory written", |_, row| row.to;
    }
    SIZES: SizeRow {
        direction: text Key "Direction", "from where to where", |_, row| direction(row.kind);
        from_bytes: bytes Key Counted "From",
            "smallest size in the row; unknown if the capture has no size", |_, row| row.bound(0);
        below_bytes: bytes Counted "Below", "sizes of the row are below this", |_, row| row.bound(1);
    }
    CAUSES: AskedRow {
        direction: text Key "Direction", "from where to where", |_, row| direction(row.kind);
    }
    ASKED: Asked {
        range: text Key "Range",
            "innermost range of the program that caused it", |at, asked| asked.range().map(|name| at.text(name));
        op: text "Operation", "operation it belongs to", |at, asked| asked.op(at).map(|name| at.text(name));
        source: text "Source",
            "source line of the operation, else the innermost Python function around the call",
            |at, asked| asked.source(at);
        call: text "Call", "host call that issued it", |at, asked| asked.call().map(|name| at.text(name));
        around: text Detail "Around the call",
            "innermost event around the call that is neither a call nor a range of the program",
            |at, asked| asked.around().map(|name| at.text(name));
    }
    REPEATED: RepeatRow {
        direction: text Key "Direction", "from where to where", |_, row| direction(row.kind);
        each_bytes: bytes Key Measured "Each", "size of each transfer", |_, row| row.each_bytes;
    }
    AGAIN: RepeatRow {
        again_bytes: bytes Counted "Again", "bytes of all transfers but the first", |_, row| row.again_bytes();
        per_step: count Counted "Per step",
            "transfers per step with transfers, if at least two steps have any and all have the same number",
            |_, row| row.per_step;
    }
    LAID_OUT: WorkRow<MoveKey> {
        op: text Key "Operation", "instruction, or the kernel's own name", |at, row| row.key.label(at);
        module: text "Module", "its module", |at, row| row.key.module(at);
        what: text Key "What", "how the bytes are moved", |_, row| row.key.moves.name();
        self_ns: nanos Key Measured "Self", "sum of self times", |_, row| row.time.self_ns;
        self_share: share Key Measured "Share",
            "part of all device work of the capture", |at, row| ratio(row.time.self_ns, at.groups().total_self_ns());
        events: count Counted "Events", "kernels and copies", |_, row| row.time.events;
        result_bytes: bytes Counted "Result",
            "size of the instruction's result, which each execution writes once; from its shape",
            |at, row| row.key.result_bytes(at);
        source: text "Source",
            "source line it came from", |at, row| row.key.line(at).map(|(file, line)| format!("{file}:{line}"));
    }
    SUMS: Sum {
        transfers: count Key Counted "Transfers", "copies", |_, sum| sum.transfers;
        bytes: bytes Key Measured "Bytes",
            "bytes moved, as recorded; unknown if not recorded", |_, sum| sum.known_bytes();
        total_ns: nanos Key Measured "Time", "sum of the copies' durations", |_, sum| sum.ns;
        exposed_ns: nanos Key Measured "Exposed",
            "part of that time in which the same device did not compute", |_, sum| sum.exposed_ns;
        exposed_share: share Detail Measured "Exposed share",
            "exposed time as a part of the copies' time", |_, sum| ratio(sum.exposed_ns, sum.ns);
        bytes_per_sec: real(BytesPerSec) Measured "Rate",
            "bytes over the time of the copies that moved them", |_, sum| sum.rate();
    }
    LINK: Sum {
        link_bytes_per_sec: real(BytesPerSec) Detail "Link",
            "peak rate of the link in one direction: measured if available, otherwise from the data sheet; for a copy within a device, half its memory bandwidth",
            |_, sum| sum.link();
        link_share: share "Of link", "part of the link's rate that the copies achieved", |_, sum| sum.link_share();
    }
    SIZES_OF: Sum {
        median_bytes: bytes Measured "Median size",
            "size that half of the transfers do not exceed", |_, sum| sum.size(0.5);
        max_bytes: bytes Detail Measured "Largest", "size of the largest transfer", |_, sum| sum.size(1.0);
        tiny: count Counted "Tiny", "transfers of at most 4 KiB: their time is latency", |_, sum| sum.tiny;
        synchronous: count Counted "Synchronous",
            "transfers that their call waited for, according to the copy record or the call's name",
            |_, sum| sum.synchronous;
    }
}
