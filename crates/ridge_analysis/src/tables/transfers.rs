//! Views of transfers.

use crate::Analysis;
use crate::context::Need;
use crate::models::transfers::{Transfers, TransfersBy};
use crate::view::{Ask, Shown, Topic, View, has_events};
use ridge_table::{Section, Table};

fn table(analysis: &Analysis<'_>, ask: &Ask<'_>, by: TransfersBy) -> Table {
    match ask.devices {
        None => analysis.get::<Transfers>().table(analysis, by),
        Some(devices) => Transfers::new(analysis, Some(devices)).table(analysis, by),
    }
}

/// Copies by direction.
pub(crate) static BY_DIRECTION: View = View {
    topic: Topic::Transfers,
    id: "direction",
    about: "direction and kinds of memory",
    aliases: &[],
    shown: Shown::WithRows(1),
    needs: &[Need::of::<Transfers>()],
    answers: has_events,
    charts: None,
    make: |analysis, ask| table(analysis, ask, TransfersBy::Direction),
};

/// Copies by size.
pub(crate) static BY_SIZE: View = View {
    topic: Topic::Transfers,
    id: "size",
    about: "direction and size, in powers of two",
    aliases: &[],
    shown: Shown::WithRows(1),
    needs: &[Need::of::<Transfers>()],
    answers: has_events,
    charts: None,
    make: |analysis, ask| table(analysis, ask, TransfersBy::Size),
};

/// Copies by who asked for them.
pub(crate) static BY_CAUSE: View = View {
    topic: Topic::Transfers,
    id: "cause",
    about: "who asked for them",
    aliases: &[],
    shown: Shown::WithRows(1),
    needs: &[Need::of::<Transfers>()],
    answers: has_events,
    charts: None,
    make: |analysis, ask| table(analysis, ask, TransfersBy::Cause),
};

/// Copies that come more than once.
pub(crate) static REPEATS: View = View {
    topic: Topic::Transfers,
    id: "repeat",
    about: "those of one direction, size and cause that come more than once",
    aliases: &[],
    shown: Shown::WithRows(1),
    needs: &[Need::of::<Transfers>()],
    answers: has_events,
    charts: None,
    make: |analysis, ask| table(analysis, ask, TransfersBy::Repeat),
};

/// Copies and layout changes inside modules.
pub(crate) static LAYOUTS: View = View {
    topic: Topic::Transfers,
    id: "layout",
    about: "copies and layout changes on the device",
    aliases: &[],
    shown: Shown::WithRows(1),
    needs: &[Need::of::<Transfers>()],
    answers: has_events,
    charts: None,
    make: |analysis, ask| table(analysis, ask, TransfersBy::Layout),
};

/// The sums over the devices asked for.
pub(crate) fn sections(analysis: &Analysis<'_>, ask: &Ask<'_>) -> Vec<Section> {
    match ask.devices {
        None => analysis.get::<Transfers>().sections(analysis),
        Some(devices) => Transfers::new(analysis, Some(devices)).sections(analysis),
    }
}
