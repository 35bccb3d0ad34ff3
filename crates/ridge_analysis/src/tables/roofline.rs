//! Views of the roofline.

mod counters;
pub(crate) mod totals;
mod work;

use crate::Analysis;
use crate::context::Need;
use crate::models::ranges::Ranges;
use crate::models::roofline::{RooflineBy, charts};
use crate::models::steps::Steps;
use crate::view::{Shown, Topic, View};
use crate::{WorkGroups, Workload};
use ridge_table::Table;

/// The table behind the roofline by `by`.
pub(crate) fn table(analysis: &Analysis<'_>, by: RooflineBy) -> Table {
    match by {
        RooflineBy::Profile => counters::table(analysis, &crate::models::roofline::launches(analysis)),
        by => work::table(analysis, by, &crate::models::roofline::rows(analysis, by)),
    }
}

/// What all of them have in common.
const OF_WORK: View = View {
    documented: Some("roofline"),
    needs: &[Need::of::<WorkGroups>(), Need::of::<Workload>()],
    ..View::of(Topic::Roofline)
};

/// Roofline by operation.
pub(crate) static BY_OP: View = View {
    id: "op",
    about: "HLO operation",
    shown: Shown::InReport,
    charts: Some(|analysis| charts(analysis, RooflineBy::Op)),
    make: |analysis, _| table(analysis, RooflineBy::Op),
    ..OF_WORK
};

/// Roofline by kernel.
pub(crate) static BY_KERNEL: View = View {
    id: "kernel",
    about: "kernel on the device",
    charts: Some(|analysis| charts(analysis, RooflineBy::Kernel)),
    make: |analysis, _| table(analysis, RooflineBy::Kernel),
    ..OF_WORK
};

/// Roofline by module.
pub(crate) static BY_MODULE: View = View {
    id: "module",
    about: "compiled module",
    charts: Some(|analysis| charts(analysis, RooflineBy::Module)),
    make: |analysis, _| table(analysis, RooflineBy::Module),
    ..OF_WORK
};

/// Roofline by step.
pub(crate) static BY_STEP: View = View {
    id: "step",
    about: "step (StepTraceAnnotation)",
    needs: &[Need::of::<Steps>()],
    charts: Some(|analysis| charts(analysis, RooflineBy::Step)),
    make: |analysis, _| table(analysis, RooflineBy::Step),
    ..OF_WORK
};

/// Roofline by range.
pub(crate) static BY_RANGE: View = View {
    id: "range",
    about: "range that the program named (TraceAnnotation), with all work it caused",
    aliases: &["operation"],
    needs: &[Need::of::<Ranges>()],
    charts: Some(|analysis| charts(analysis, RooflineBy::Range)),
    make: |analysis, _| table(analysis, RooflineBy::Range),
    ..OF_WORK
};

/// Roofline by profiled launch.
pub(crate) static BY_PROFILE: View = View {
    id: "profile",
    about: "launch under a hardware profiler (Nsight Compute, rocprofv3): L1, L2 and DRAM by its counters",
    needs: &[],
    answers: |analysis| !analysis.trace.profiles.is_empty(),
    charts: Some(|analysis| charts(analysis, RooflineBy::Profile)),
    make: |analysis, _| table(analysis, RooflineBy::Profile),
    ..OF_WORK
};
