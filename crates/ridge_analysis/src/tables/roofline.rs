//! Views of the roofline.

mod counters;
pub(crate) mod totals;
mod work;

use crate::Analysis;
use crate::context::Need;
use crate::models::ranges::Ranges;
use crate::models::roofline::{RooflineBy, charts};
use crate::models::steps::Steps;
use crate::view::{Shown, Topic, View, has_events};
use crate::{WorkGroups, Workload};
use ridge_table::Table;

/// The table behind the roofline by `by`.
pub(crate) fn table(analysis: &Analysis<'_>, by: RooflineBy) -> Table {
    match by {
        RooflineBy::Profile => counters::table(analysis, &crate::models::roofline::launches(analysis)),
        by => work::table(analysis, by, &crate::models::roofline::rows(analysis, by)),
    }
}

/// Roofline by operation.
pub(crate) static BY_OP: View = View {
    topic: Topic::Roofline,
    id: "op",
    about: "HLO operation",
    aliases: &[],
    shown: Shown::InReport,
    needs: &[Need::of::<WorkGroups>(), Need::of::<Workload>()],
    answers: has_events,
    charts: Some(|analysis| charts(analysis, RooflineBy::Op)),
    make: |analysis, _| table(analysis, RooflineBy::Op),
};

/// Roofline by kernel.
pub(crate) static BY_KERNEL: View = View {
    topic: Topic::Roofline,
    id: "kernel",
    about: "kernel on the device",
    aliases: &[],
    shown: Shown::WhenNamed,
    needs: &[Need::of::<WorkGroups>(), Need::of::<Workload>()],
    answers: has_events,
    charts: Some(|analysis| charts(analysis, RooflineBy::Kernel)),
    make: |analysis, _| table(analysis, RooflineBy::Kernel),
};

/// Roofline by module.
pub(crate) static BY_MODULE: View = View {
    topic: Topic::Roofline,
    id: "module",
    about: "compiled module",
    aliases: &[],
    shown: Shown::WhenNamed,
    needs: &[Need::of::<WorkGroups>(), Need::of::<Workload>()],
    answers: has_events,
    charts: Some(|analysis| charts(analysis, RooflineBy::Module)),
    make: |analysis, _| table(analysis, RooflineBy::Module),
};

/// Roofline by step.
pub(crate) static BY_STEP: View = View {
    topic: Topic::Roofline,
    id: "step",
    about: "step (StepTraceAnnotation)",
    aliases: &[],
    shown: Shown::WhenNamed,
    needs: &[Need::of::<Steps>()],
    answers: has_events,
    charts: Some(|analysis| charts(analysis, RooflineBy::Step)),
    make: |analysis, _| table(analysis, RooflineBy::Step),
};

/// Roofline by range.
pub(crate) static BY_RANGE: View = View {
    topic: Topic::Roofline,
    id: "range",
    about: "range that the program named (TraceAnnotation), with all work it caused",
    aliases: &["operation"],
    shown: Shown::WhenNamed,
    needs: &[Need::of::<Ranges>()],
    answers: has_events,
    charts: Some(|analysis| charts(analysis, RooflineBy::Range)),
    make: |analysis, _| table(analysis, RooflineBy::Range),
};

/// Roofline by profiled launch.
pub(crate) static BY_PROFILE: View = View {
    topic: Topic::Roofline,
    id: "profile",
    about: "launch under a hardware profiler (Nsight Compute): L1, L2 and DRAM by its counters",
    aliases: &[],
    shown: Shown::WhenNamed,
    needs: &[],
    answers: |analysis| !analysis.trace.profiles.is_empty(),
    charts: Some(|analysis| charts(analysis, RooflineBy::Profile)),
    make: |analysis, _| table(analysis, RooflineBy::Profile),
};
