//! Views of transfers.

mod causes;
mod columns;
mod directions;
mod layouts;
mod repeats;
mod sections;
mod sizes;

use crate::Analysis;
use crate::context::Need;
use crate::models::transfers::Transfers;
use crate::view::{Ask, Shown, Topic, View, has_events};
use ridge_table::Section;

/// The transfers of the devices asked for.
fn asked<T>(analysis: &Analysis<'_>, ask: &Ask<'_>, answer: impl FnOnce(&Transfers) -> T) -> T {
    match ask.devices {
        None => answer(analysis.get()),
        Some(devices) => answer(&analysis.get::<Transfers>().only(devices)),
    }
}

/// What all of them have in common.
const OF_TRANSFERS: View = View {
    topic: Topic::Transfers,
    id: "",
    about: "",
    aliases: &[],
    shown: Shown::WithRows(1),
    needs: &[Need::of::<Transfers>()],
    answers: has_events,
    charts: None,
    make: |_, _| unreachable!("every view makes its own"),
};

/// Copies by direction.
pub(crate) static BY_DIRECTION: View = View {
    id: "direction",
    about: "direction and kinds of memory",
    make: |analysis, ask| asked(analysis, ask, |transfers| transfers.by_direction(analysis)),
    ..OF_TRANSFERS
};

/// Copies by size.
pub(crate) static BY_SIZE: View = View {
    id: "size",
    about: "direction and size, in powers of two",
    make: |analysis, ask| asked(analysis, ask, |transfers| transfers.by_size(analysis)),
    ..OF_TRANSFERS
};

/// Copies by who asked for them.
pub(crate) static BY_CAUSE: View = View {
    id: "cause",
    about: "who asked for them",
    make: |analysis, ask| asked(analysis, ask, |transfers| transfers.by_cause(analysis)),
    ..OF_TRANSFERS
};

/// Copies that come more than once.
pub(crate) static REPEATS: View = View {
    id: "repeat",
    about: "those of one direction, size and cause that come more than once",
    make: |analysis, ask| asked(analysis, ask, |transfers| transfers.repeats(analysis)),
    ..OF_TRANSFERS
};

/// Copies and layout changes inside modules.
pub(crate) static LAYOUTS: View = View {
    id: "layout",
    about: "copies and layout changes on the device",
    make: |analysis, ask| asked(analysis, ask, |transfers| transfers.layouts(analysis)),
    ..OF_TRANSFERS
};

/// The sums over the devices asked for.
pub(crate) fn sections(analysis: &Analysis<'_>, ask: &Ask<'_>) -> Vec<Section> {
    asked(analysis, ask, |transfers| transfers.sections(analysis))
}
