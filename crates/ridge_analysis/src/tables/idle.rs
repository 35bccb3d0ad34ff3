//! Views of idle time.

mod next;
mod sections;
mod summary;

use crate::context::Need;
use crate::models::idle::Idle;
use crate::view::{Ask, Shown, Topic, View, has_events};
use crate::{Analysis, Owners};
use ridge_table::Section;

/// The idle time of the devices asked for.
fn asked<T>(analysis: &Analysis<'_>, ask: &Ask<'_>, answer: impl FnOnce(&Idle) -> T) -> T {
    match ask.devices {
        None => answer(analysis.get()),
        Some(devices) => answer(&analysis.get::<Idle>().only(devices)),
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
    make: |analysis, ask| asked(analysis, ask, |idle| idle.by_device(analysis)),
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
    make: |analysis, ask| asked(analysis, ask, |idle| idle.by_cause(analysis)),
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
    make: |analysis, ask| asked(analysis, ask, |idle| idle.by_host(analysis)),
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
    make: |analysis, ask| asked(analysis, ask, |idle| idle.by_op(analysis)),
};

/// Idle time by range of the next work.
pub(crate) static BY_RANGE: View = View {
    topic: Topic::Idle,
    id: "range",
    about: "named range (TraceAnnotation) that caused the next work",
    aliases: &["annotation"],
    shown: Shown::WithRows(1),
    needs: &[Need::of::<Owners>(), Need::of::<Idle>()],
    answers: has_events,
    charts: None,
    make: |analysis, ask| asked(analysis, ask, |idle| idle.by_annotation(analysis)),
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
    make: |analysis, ask| asked(analysis, ask, |idle| idle.by_source(analysis)),
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
    make: |analysis, ask| asked(analysis, ask, |idle| idle.gaps(analysis, ask.rows.unwrap_or(usize::MAX))),
};

/// A section for each device.
pub(crate) fn sections(analysis: &Analysis<'_>, ask: &Ask<'_>) -> Vec<Section> {
    asked(analysis, ask, |idle| idle.sections(analysis))
}
