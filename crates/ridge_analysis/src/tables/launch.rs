//! From call to kernel: how long the call took, how long the kernel waited in its queue, how long it ran.

use crate::Analysis;
use crate::tables::spread::Spread;
use crate::tables::time::table as build;
use crate::view::{Shown, Topic, View, has_events};
use ridge_table::{Basis, Column, Rank, Subject, Table, Unit};
use ridge_trace::{NONE, StringId};
use rustc_hash::FxHashMap;

/// The view.
pub(crate) static VIEW: View = View {
    topic: Topic::Time,
    id: "launch",
    about: "call and the kernel that it launched, with the time in between",
    aliases: &["cuda_kern_exec_sum", "kernexecsum"],
    shown: Shown::WhenNamed,
    needs: &[],
    answers: has_events,
    charts: None,
    make: |analysis, _| table(analysis),
};

/// The parts of like launches.
#[derive(Debug, Default)]
struct Launches {
    call: Spread,
    queue: Spread,
    kernel: Spread,
    total: Spread,
}

/// Launched kernels by call and kernel, longest in all first; kernels whose call is not in the capture are left out.
pub(crate) fn table(analysis: &Analysis<'_>) -> Table {
    let (trace, events) = (analysis.trace, &analysis.trace.events);
    let mut found: FxHashMap<(u32, u32), Launches> = FxHashMap::default();
    let mut unlinked = 0_u64;
    for row in trace.device_tracks().flat_map(|track| track.rows.clone()).map(|row| row as usize) {
        if !events.kind(row).is_compute() {
            continue;
        }
        let link = events.link[row];
        if link == NONE {
            unlinked += 1;
            continue;
        }
        let call = link as usize;
        let launches = found.entry((events.name[call], events.name[row])).or_default();
        launches.call.push(events.dur_ns[call]);
        // A kernel may begin before its call returns: then it waited for nothing.
        launches.queue.push(events.start_ns[row].saturating_sub(events.end_ns(call)).max(0));
        launches.kernel.push(events.dur_ns[row]);
        launches.total.push(events.end_ns(row).saturating_sub(events.start_ns[call]));
    }
    let mut rows: Vec<((u32, u32), Launches)> = found.into_iter().collect();
    for (_, launches) in &mut rows {
        let Launches { call, queue, kernel, total } = launches;
        [call, queue, kernel, total].into_iter().for_each(Spread::sort);
    }
    rows.sort_by_key(|(key, launches)| (std::cmp::Reverse(launches.total.total_ns()), *key));
    let text = |id: u32| analysis.text(StringId(id)).to_owned();
    let nanos = |key, title, definition, value: fn(&Launches) -> Option<i64>| {
        Column::nanos(key, title, definition, rows.iter().map(|(_, launches)| value(launches))).basis(Basis::Measured)
    };
    let columns = vec![
        Column::text("kernel", "Kernel", "name of the kernel", rows.iter().map(|(key, _)| text(key.1)))
            .ranked(Rank::Key),
        Column::text("call", "Call", "call that launched it", rows.iter().map(|(key, _)| text(key.0))),
        Column::whole(
            "count",
            "Count",
            "how many",
            Unit::Count,
            rows.iter().map(|(_, launches)| launches.total.count()),
        )
        .basis(Basis::Counted),
        nanos("mean_total_ns", "Mean total", "from the call's start to the kernel's end", |all| all.total.mean_ns())
            .ranked(Rank::Key),
        nanos("mean_call_ns", "Mean call", "duration of the call", |all| all.call.mean_ns()),
        nanos(
            "mean_queue_ns",
            "Mean queue",
            "from the call's end to the kernel's start; 0 where it began before",
            |all| all.queue.mean_ns(),
        )
        .ranked(Rank::Key),
        nanos("mean_kernel_ns", "Mean kernel", "duration of the kernel", |all| all.kernel.mean_ns()),
        nanos("median_queue_ns", "Median queue", "queue time that half of them do not exceed", |all| all.queue.at(0.5))
            .ranked(Rank::Detail),
        nanos("max_queue_ns", "Max queue", "longest queue time", |all| all.queue.at(1.0)).ranked(Rank::Detail),
    ];
    let subjects = rows.iter().map(|(key, _)| Some(Subject::Named(StringId(key.1))));
    let mut table = build("launch", "Launches", columns).about(subjects);
    if unlinked > 0 {
        table.footnotes.push(format!("left out, with no call in the capture: {unlinked}"));
    }
    table
}
