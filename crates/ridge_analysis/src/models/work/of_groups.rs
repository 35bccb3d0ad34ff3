//! The work of groups, of single events, and of each kind of device.

use super::WorkSums;
use crate::{Analysis, Group};

/// Which rows may have the work of their events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rows {
    /// Rows hold whole executions.
    WholeExecutions,
    /// Rows may hold some of an execution's kernels.
    SingleKernels,
}

/// The work of `groups`.
pub(crate) fn sums(analysis: &Analysis<'_>, groups: &[&Group], rows: Rows) -> WorkSums {
    let workload = analysis.workload();
    let mut sums = WorkSums::default();
    for group in groups {
        let self_ns = group.self_ns as f64;
        match workload.of_group(group) {
            Some(work) if rows == Rows::WholeExecutions || work.is_whole() => {
                sums.add(work, group.count() as f64, self_ns);
            }
            // Copies that no program asked for do no work, known or not.
            None if group.kind.is_copy() => {}
            _ => sums.add_unknown(self_ns),
        }
    }
    sums
}

/// Adds the work of the event at `row` to the sums of its device's class.
pub(crate) fn add_event(analysis: &Analysis<'_>, by_class: &mut Vec<WorkSums>, row: u32, self_ns: i64, device: u32) {
    let (workload, events) = (analysis.workload(), &analysis.trace.events);
    let class = workload.class(device) as usize;
    if by_class.len() <= class {
        by_class.resize(class + 1, WorkSums::default());
    }
    match workload.of_event(events, row as usize, device) {
        Some(work) => by_class[class].add(work, 1.0, self_ns as f64),
        None if events.kind(row as usize).is_compute() => by_class[class].add_unknown(self_ns as f64),
        None => {}
    }
}

/// The sums of all compute work on each class of device.
pub(crate) fn of_classes(analysis: &Analysis<'_>) -> Vec<WorkSums> {
    let workload = analysis.workload();
    let mut sums = vec![WorkSums::default(); workload.classes.len().max(1)];
    for group in analysis.groups().groups.iter() {
        let sums = &mut sums[workload.class(group.device) as usize];
        match workload.of_group(group) {
            Some(work) => sums.add(work, group.count() as f64, group.self_ns as f64),
            None if group.kind.is_compute() => sums.add_unknown(group.self_ns as f64),
            None => {}
        }
    }
    sums
}
