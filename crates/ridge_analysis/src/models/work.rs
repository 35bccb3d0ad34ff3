//! Work: what operations had to compute and move, and the least time that takes on their device.

mod called;
mod costs;
mod light;
mod of_calls;
mod of_groups;
mod sums;
mod workload;

pub use costs::Costs;
pub use light::{Bound, least_secs};
pub use of_calls::CalledWork;
pub(crate) use of_groups::{Rows, add_event, of_classes, sums};
pub use sums::WorkSums;
pub(crate) use workload::Known;
pub use workload::Workload;

use crate::{Analysis, Executions, Need, Shared, WorkGroups};

impl Shared for Workload {
    const NEEDS: &'static [Need] =
        &[Need::of::<WorkGroups>(), Need::of::<Executions>(), Need::of::<Costs>(), Need::of::<CalledWork>()];

    fn make(analysis: &Analysis<'_>) -> Workload {
        Workload::new(analysis)
    }
}

impl<'a> Analysis<'a> {
    /// What the event at `row` had to compute and move in its `self_ns`; `None` for what is no work of a device.
    pub fn work_of_event(&self, row: u32, self_ns: i64) -> Option<WorkSums> {
        let device = self.trace.track_of(row)?.device?;
        let mut by_class = Vec::new();
        add_event(self, &mut by_class, row, self_ns, device);
        by_class.pop()
    }

    /// The work of the operations, from their HLO.
    pub fn workload(&self) -> &'a Workload {
        self.get()
    }
}
