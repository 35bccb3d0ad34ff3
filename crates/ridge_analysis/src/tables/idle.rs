//! Views of idle time.

use crate::context::Need;
use crate::models::idle::{Idle, IdleBy};
use crate::view::{Ask, Shown, Topic, View, has_events};
use crate::{Analysis, Owners};
use ridge_table::{Section, Table};

fn table(analysis: &Analysis<'_>, ask: &Ask<'_>, by: IdleBy) -> Table {
    let rows = ask.rows.unwrap_or(usize::MAX);
    match ask.devices {
        None => analysis.get::<Idle>().table(analysis, by, rows),
        Some(devices) => Idle::new(analysis, Some(devices)).table(analysis, by, rows),
    }
}

/// Idle time by device.
pub(crate) static BY_DEVICE: View = View {
    topic: Topic::Idle,
    id: "device",
    about: "device",
    aliases: &[],
    shown: Shown::WithRows(2),
    needs: &[Need::of::<Owners>(), Need::of::<Idle>()],
    answers: has_events,
    charts: None,
    make: |analysis, ask| table(analysis, ask, IdleBy::Device),
};

/// Idle time by cause.
pub(crate) static BY_CAUSE: View = View {
    topic: Topic::Idle,
    id: "cause",
    about: "cause",
    aliases: &[],
    shown: Shown::WhenNamed,
    needs: &[Need::of::<Owners>(), Need::of::<Idle>()],
    answers: has_events,
    charts: None,
    make: |analysis, ask| table(analysis, ask, IdleBy::Cause),
};

/// Idle time by what the host did.
pub(crate) static BY_HOST: View = View {
    topic: Topic::Idle,
    id: "host",
    about: "what the host did meanwhile",
    aliases: &[],
    shown: Shown::WithRows(1),
    needs: &[Need::of::<Owners>(), Need::of::<Idle>()],
    answers: has_events,
    charts: None,
    make: |analysis, ask| table(analysis, ask, IdleBy::Host),
};

/// Idle time by the next operation.
pub(crate) static BY_OP: View = View {
    topic: Topic::Idle,
    id: "op",
    about: "operation of the next work",
    aliases: &[],
    shown: Shown::WithRows(1),
    needs: &[Need::of::<Owners>(), Need::of::<Idle>()],
    answers: has_events,
    charts: None,
    make: |analysis, ask| table(analysis, ask, IdleBy::Op),
};

/// Idle time by range of the next work.
pub(crate) static BY_RANGE: View = View {
    topic: Topic::Idle,
    id: "annotation",
    about: "named range (TraceAnnotation) that caused the next work",
    aliases: &["range"],
    shown: Shown::WithRows(1),
    needs: &[Need::of::<Owners>(), Need::of::<Idle>()],
    answers: has_events,
    charts: None,
    make: |analysis, ask| table(analysis, ask, IdleBy::Annotation),
};

/// Idle time by source line of the next work.
pub(crate) static BY_SOURCE: View = View {
    topic: Topic::Idle,
    id: "source",
    about: "source line of the next work",
    aliases: &[],
    shown: Shown::WhenNamed,
    needs: &[Need::of::<Owners>(), Need::of::<Idle>()],
    answers: has_events,
    charts: None,
    make: |analysis, ask| table(analysis, ask, IdleBy::Source),
};

/// The gaps, longest first.
pub(crate) static GAPS: View = View {
    topic: Topic::Idle,
    id: "gap",
    about: "each gap by itself",
    aliases: &[],
    shown: Shown::WithRows(1),
    needs: &[Need::of::<Owners>(), Need::of::<Idle>()],
    answers: has_events,
    charts: None,
    make: |analysis, ask| table(analysis, ask, IdleBy::Gap),
};

/// A section for each device.
pub(crate) fn sections(analysis: &Analysis<'_>, ask: &Ask<'_>) -> Vec<Section> {
    match ask.devices {
        None => analysis.get::<Idle>().sections(analysis),
        Some(devices) => Idle::new(analysis, Some(devices)).sections(analysis),
    }
}
