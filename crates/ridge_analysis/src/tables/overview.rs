//! The first answer: how long the capture lasted, what filled that time, and how sure the attribution is.

use crate::Analysis;
use crate::context::coverage::{Coverage, DeviceCoverage};
use crate::context::partition::ratio;
use ridge_table::{Fact, FactValue, Section};
use ridge_trace::Attribution;

/// The sections of the overview.
pub fn overview(analysis: &Analysis<'_>) -> Vec<Section> {
    if analysis.trace.events.is_empty() {
        return vec![without_events(analysis)];
    }
    let coverage = Coverage::new(analysis.trace);
    let mut sections = vec![wall(analysis, &coverage)];
    sections.extend(devices(analysis, &coverage));
    sections.extend(attribution(analysis));
    sections
}

/// What a capture holds in which nothing has a time: a snapshot, a profiler's counters, modules alone.
fn without_events(analysis: &Analysis<'_>) -> Section {
    let trace = analysis.trace;
    let held = [
        ("profiled_launches", "Profiled launches", trace.profiles.launches.len(), "launches under a hardware profiler"),
        ("blocks", "Memory blocks", trace.memory.blocks.len(), "blocks of memory at the moment of a snapshot"),
        ("allocations", "Allocator events", trace.allocations.time_ns.len(), "memory allocated and freed"),
        ("samples", "Counter samples", trace.counters.time_ns.len(), "samples of a device monitor"),
        ("modules_with_hlo", "Modules with HLO", analysis.hlo.len(), "compiled programs"),
    ];
    let mut facts = vec![fact("events", "Events", FactValue::Count(0), None, "events of the capture")];
    facts.extend(
        (held.into_iter().filter(|(_, _, count, _)| *count > 0))
            .map(|(key, title, count, definition)| fact(key, title, FactValue::Count(count as u64), None, definition)),
    );
    Section { title: "Overview".to_owned(), facts }
}

/// The devices that worked, at most so many; of more, those that were busy longest.
const DEVICES_SHOWN: usize = 16;

fn devices(analysis: &Analysis<'_>, coverage: &Coverage) -> Vec<Section> {
    let mut worked: Vec<usize> =
        (0..coverage.devices.len()).filter(|device| coverage.devices[*device].window.is_some()).collect();
    let left_out = worked.len().saturating_sub(DEVICES_SHOWN);
    if left_out > 0 {
        worked.sort_by_key(|device| std::cmp::Reverse(coverage.devices[*device].busy.total_ns()));
        worked.truncate(DEVICES_SHOWN);
        worked.sort_unstable();
    }
    let mut sections: Vec<Section> = (worked.into_iter())
        .filter_map(|device| device_section(analysis, device as u32, &coverage.devices[device]))
        .collect();
    if left_out > 0 {
        let more = fact(
            "more_devices",
            "Devices not shown",
            FactValue::Count(left_out as u64),
            None,
            "less busy than those shown",
        );
        sections.push(Section { title: "More devices".to_owned(), facts: vec![more] });
    }
    sections
}

fn fact(key: &str, title: &str, value: FactValue, share: Option<f64>, definition: &str) -> Fact {
    Fact::observed(key, title, value, definition).share(share)
}

/// Wall time and its parts, which add up to it exactly.
fn wall(analysis: &Analysis<'_>, coverage: &Coverage) -> Section {
    let trace = analysis.trace;
    let wall = trace.wall_ns();
    let busy_ns = coverage.busy.total_ns();
    let ours_ns = coverage.busy_or_ours.total_ns() - busy_ns;
    let compile_ns = coverage.busy_or_compile.total_ns() - coverage.busy_or_ours.total_ns();
    let host_ns = coverage.recorded.total_ns() - coverage.busy_or_compile.total_ns();
    let whole_compile_ns = coverage.compile.total_ns();
    let self_ns = analysis.groups().total_self_ns();
    let part = |key, title, ns: i64, definition| fact(key, title, FactValue::Nanos(ns), ratio(ns, wall), definition);
    let mut facts = vec![
        fact(
            "wall_ns",
            "Wall time",
            FactValue::Nanos(wall),
            None,
            "from the first start to the last end of all events; time between captures that follow one another does not count",
        ),
        part("busy_ns", "Any device busy", busy_ns, "union of all device work over all devices"),
        part(
            "idle_compile_ns",
            "Idle, compiling",
            compile_ns,
            "no device busy while tracing, lowering or compiling went on",
        ),
        part(
            "idle_host_ns",
            "Idle, host busy",
            host_ns,
            "no device busy and no compilation while some host range was open",
        ),
        part(
            "idle_unknown_ns",
            "Idle, no host events",
            wall - coverage.recorded.total_ns(),
            "no event of any kind: the program's own code between the ranges that the profiler records",
        ),
        fact(
            "compile_ns",
            "Compile time",
            FactValue::Nanos(whole_compile_ns),
            ratio(whole_compile_ns, wall),
            "union of tracing, lowering and compiling on all threads",
        ),
        fact(
            "device_work_ns",
            "Device work",
            FactValue::Nanos(self_ns),
            None,
            "sum of self times of all device work; the tables add up to it",
        ),
        fact(
            "overlap_ns",
            "Overlap",
            FactValue::Nanos(self_ns - busy_ns),
            ratio(self_ns - busy_ns, self_ns),
            "device work that ran at the same time as other device work: device work less the busy time",
        ),
    ];
    if ours_ns > 0 {
        let definition =
            "no device busy while the recorder worked in the program's process: it is not the program's time";
        let after_busy = 2;
        facts.insert(after_busy, part("idle_recorder_ns", "Idle, recorder busy", ours_ns, definition));
    }
    let unseen = trace.processes_without_device_activity().iter().map(|(_, launches)| *launches).sum::<u64>();
    if unseen > 0 && busy_ns == 0 {
        // Without a record of any work, how long the devices were idle cannot be told.
        facts.retain(|fact| matches!(fact.key.as_str(), "wall_ns" | "compile_ns"));
        let definition = "no device activity was recorded, though work was launched: busy and idle times are unknown";
        facts.push(fact(
            "launches_unseen",
            "Launches without recorded work",
            FactValue::Count(unseen),
            None,
            definition,
        ));
    }
    facts.push(fact("events", "Events", FactValue::Count(trace.events.len() as u64), None, "events of the capture"));
    Section { title: "Overview".to_owned(), facts }
}

/// One device: busy, idle, compute and copies; `None` where it did nothing.
fn device_section(analysis: &Analysis<'_>, device: u32, covered: &DeviceCoverage) -> Option<Section> {
    let trace = analysis.trace;
    let (first, last) = covered.window?;
    let wall = trace.process_wall_ns(trace.devices[device as usize].process);
    let (busy_ns, window) = (covered.busy.total_ns(), last - first);
    let (compute, copies) = (covered.compute.total_ns(), covered.copies.total_ns());
    let groups = || analysis.groups().groups.iter().filter(|group| group.device == device);
    let kernels: u64 = groups().filter(|group| group.kind.is_compute()).map(crate::Group::count).sum();
    let transfers = || groups().filter(|group| group.kind.is_copy());
    let copied: u64 =
        transfers().filter_map(|group| Some(trace.transfers.get(group.detail as usize)?.bytes * group.count())).sum();
    let part =
        |key, title, ns: i64, whole, definition| fact(key, title, FactValue::Nanos(ns), ratio(ns, whole), definition);
    let mut facts = vec![
        part("busy_ns", "Busy", busy_ns, wall, "union of its device work; the share is of its process's wall time"),
        part("idle_ns", "Idle", wall - busy_ns, wall, "its process's wall time less busy time"),
        part("window_ns", "Active window", window, wall, "from its first work to its last"),
        part("compute_ns", "Compute", compute, wall, "union of kernels and operations"),
        part("copies_ns", "Copies", copies, wall, "union of copies; may overlap compute"),
        fact(
            "kernels",
            "Kernels and operations",
            FactValue::Count(kernels),
            None,
            "launched kernels and device operations",
        ),
    ];
    if copied > 0 {
        facts.push(fact("copied_bytes", "Copied", FactValue::Bytes(copied), None, "bytes of all copies, as recorded"));
    }
    let found = &trace.devices[device as usize];
    let model = found.model.as_deref().or(found.vendor.as_deref());
    let name = analysis.device_label(device);
    let title = model.map_or(name.to_owned(), |model| format!("{name} ({model})"));
    Some(Section { title, facts })
}

/// How the operations of kernels are known, by time and by events; copies need none.
fn attribution(analysis: &Analysis<'_>) -> Option<Section> {
    let parts = [
        (Attribution::ByStat, "by_stat", "Named by the capture", "the event's own stats name its operation"),
        (
            Attribution::ByLaunch,
            "by_launch",
            "Named by their launch",
            "the host call that launched them names the operation",
        ),
        (
            Attribution::ByModule,
            "by_module",
            "Found by module and name",
            "through the running module and the kernel's name",
        ),
        (
            Attribution::ByOrder,
            "by_order",
            "Found by module and order",
            "through the running module and the kernel's position among its graph's kernels found by name",
        ),
        (Attribution::ModuleOnly, "module_only", "Module known only", "the module is known, the operation is not"),
        (Attribution::Unattributed, "unattributed", "Unattributed", "the capture doesn't show the origin of the work"),
    ];
    let compute = || analysis.groups().groups.iter().filter(|group| group.kind.is_compute());
    let total: i64 = compute().map(|group| group.self_ns).sum();
    compute().next()?;
    let all_named = compute().all(|group| group.attribution == Attribution::ByStat);
    let mut facts = Vec::new();
    for (how, key, title, definition) in parts {
        let groups = || compute().filter(|group| group.attribution == how);
        let (events, ns): (u64, i64) =
            (groups().map(crate::Group::count).sum(), groups().map(|group| group.self_ns).sum());
        // The two ends are shown even where they are zero, which is an answer; all named needs one line alone.
        if events == 0 && (all_named || !matches!(how, Attribution::ByStat | Attribution::Unattributed)) {
            continue;
        }
        facts.push(fact(&format!("{key}_ns"), title, FactValue::Nanos(ns), ratio(ns, total), definition));
        if !all_named {
            facts.push(fact(&format!("{key}_events"), &format!("{title}, events"), FactValue::Count(events), None, ""));
        }
    }
    if all_named {
        return Some(Section { title: "Kernel attribution".to_owned(), facts });
    }
    let unnamed: u64 =
        compute().filter(|group| group.attribution != Attribution::ByStat).map(crate::Group::count).sum();
    facts.push(fact(
        "unnamed_events",
        "Events that name no operation",
        FactValue::Count(unnamed),
        None,
        "kernels without an operation in their own stats: all of the above except the first",
    ));
    Some(Section { title: "Kernel attribution".to_owned(), facts })
}
