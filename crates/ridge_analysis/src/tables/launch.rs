//! From call to kernel: how long the call took, how long the kernel waited in its queue, how long it ran.

use crate::context::Need;
use crate::models::launches::{LaunchRow, Launches};
use crate::view::{Sheet, Topic, View, columns};
use ridge_table::Subject;

/// The view.
pub(crate) static VIEW: View = View {
    id: "launch",
    about: "call and the kernel that it launched, with the time in between",
    aliases: &["cuda_kern_exec_sum", "kernexecsum"],
    needs: &[Need::of::<Launches>()],
    make: |analysis, _| {
        let Launches { rows, unlinked } = analysis.get();
        let about = |_: &_, row: &LaunchRow| Some(Subject::Named(row.kernel));
        let mut table = Sheet::over(analysis, rows).about(about).show(COLUMNS).table("Launches");
        if *unlinked > 0 {
            table.footnotes.push(format!("left out, with no call in the capture: {unlinked}"));
        }
        table
    },
    ..View::of(Topic::Time)
};

columns! {
    COLUMNS: LaunchRow {
        kernel: text Key "Kernel", "name of the kernel", |at, row| at.text(row.kernel);
        call: text "Call", "call that launched it", |at, row| at.text(row.call);
        count: count Counted "Count", "how many", |_, row| row.total.count;
        mean_total_ns: nanos Key Measured "Mean total",
            "from the call's start to the kernel's end", |_, row| row.total.mean_ns;
        mean_call_ns: nanos Measured "Mean call", "duration of the call", |_, row| row.calls.mean_ns;
        mean_queue_ns: nanos Key Measured "Mean queue",
            "from the call's end to the kernel's start; 0 if the kernel started before", |_, row| row.queue.mean_ns;
        mean_kernel_ns: nanos Measured "Mean kernel", "duration of the kernel", |_, row| row.kernels.mean_ns;
        median_queue_ns: nanos Detail Measured "Median queue",
            "queue time that half of them do not exceed", |_, row| row.queue.median_ns;
        max_queue_ns: nanos Detail Measured "Max queue", "longest queue time", |_, row| row.queue.max_ns;
    }
}
