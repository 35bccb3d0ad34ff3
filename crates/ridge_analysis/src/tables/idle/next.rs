//! Idle time by what came next, and the gaps themselves.

use super::summary::{idle_column, sorted};
use crate::Analysis;
use crate::context::labels::{device_label, process_labels};
use crate::context::partition::ratio;
use crate::models::idle::activity::DoingKey;
use crate::models::idle::attribute::{Attributor, Doing, Gap, Part, by_cause};
use crate::models::idle::before::{Before, BeforeBy};
use crate::models::idle::cause::Cause;
use crate::models::idle::context::Context;
use crate::models::idle::sums::Sums;
use crate::models::idle::{DeviceIdle, Idle};
use crate::tables::time::table as build;
use rayon::prelude::*;
use ridge_table::{Basis, Column, Rank, Subject, Table, Unit};
use ridge_trace::{EventRow, NONE, OpRow, StringId};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::hash::Hash;

/// Gaps shown by one task.
const GAPS_PER_TASK: usize = 1 << 15;
/// Half the gaps that are kept before the longest are selected, where fewer are asked for.
const SELECTED_AT_ONCE: usize = 1 << 10;

/// How many enclosing events of the host are shown for a gap.
const ENCLOSING_SHOWN: usize = 3;

impl Idle {
    /// Idle time by the operation of the next work.
    pub(crate) fn by_op(&self, analysis: &Analysis<'_>) -> Table {
        // Kernels of one operation are one row; what has no operation goes by its own name.
        let name = |&(op, name): &(u32, u32)| match analysis.operation(op) {
            Some(found) if found.name != StringId(0) => {
                let module = analysis.trace.modules.get(found.module as usize);
                let module = module.map(|module| analysis.text(module.name).to_owned());
                (analysis.text(found.name).to_owned(), module)
            }
            _ => (analysis.text(StringId(name)).to_owned(), None),
        };
        let rows = self.regrouped(|sums| &sums.by_work, name);
        let names = rows.iter().map(|(((name, _), _), _)| name.clone()).collect();
        let modules = rows.iter().map(|(((_, module), _), _)| module.clone()).collect::<Vec<_>>();
        let subject = |(op, name): (u32, u32)| match analysis.operation(op) {
            Some(found) if found.name != StringId(0) => Subject::Op(OpRow(op)),
            _ => Subject::Named(StringId(name)),
        };
        let first = vec![
            next_column("op", "Next operation", "operation or kernel whose start ended the gap", names),
            Column::text("module", "Module", "its module", modules),
        ];
        self.before_table("op", "Idle time by next operation", first, &rows)
            .about(rows.iter().map(|((_, key), _)| Some(subject(*key))))
    }

    /// Idle time by the innermost named range that caused the next work.
    pub(crate) fn by_annotation(&self, analysis: &Analysis<'_>) -> Table {
        let name = |name: &u32| match *name {
            NONE => "(outside every range)".to_owned(),
            name => without_number(analysis.text(StringId(name))),
        };
        let rows = self.regrouped(|sums| &sums.by_range, name);
        let names = rows.iter().map(|((name, _), _)| name.clone()).collect();
        let first = vec![next_column("annotation", "Range", "innermost range that caused the next work", names)];
        self.before_table("annotation", "Idle time by range of the next work", first, &rows)
            .about(rows.iter().map(|((_, name), _)| (*name != NONE).then_some(Subject::Range(StringId(*name)))))
    }

    /// Idle time by the line of the program that the next work came from.
    pub(crate) fn by_source(&self, analysis: &Analysis<'_>) -> Table {
        let line = |op: u32| {
            let (module, instruction) = analysis.instruction(op)?;
            let frame = *module.source_in_fusion(instruction).first()?;
            Some((frame.file, frame.line))
        };
        let name = |(op, _): &(u32, u32)| match line(*op) {
            Some((file, line)) => format!("{file}:{line}"),
            None => "(no source line known)".to_owned(),
        };
        let rows = self.regrouped(|sums| &sums.by_work, name);
        let names = rows.iter().map(|((name, _), _)| name.clone()).collect();
        let subject = |(op, _): (u32, u32)| line(op).map(|(file, line)| Subject::Source(file.into(), line));
        let first = vec![next_column("source", "Line", "innermost source line of the next work's operation", names)];
        self.before_table("source", "Idle time by source line of the next work", first, &rows)
            .about(rows.iter().map(|((_, key), _)| subject(*key)))
    }

    /// The gaps, longest first, at most `rows` of them.
    pub(crate) fn gaps(&self, analysis: &Analysis<'_>, rows: usize) -> Table {
        let of = |device: usize, stretch: usize| {
            let found = self.devices[device].gaps.of_stretch(analysis.trace, stretch);
            longest(found.zip(0..).map(|(gap, at)| GapPlace { gap, device, stretch, at }), rows)
        };
        let mut gaps = self.map_stretches(of).concat();
        select(&mut gaps, rows);
        gaps.sort_unstable_by_key(GapPlace::order);
        let show = |place: &GapPlace| self.show(analysis, &self.devices[place.device], place.gap);
        let shown: Vec<ShownGap> = gaps.par_iter().with_min_len(GAPS_PER_TASK).map(show).collect();
        let mut table = gap_table(analysis, &self.context, &shown);
        table.rows_total = self.gap_count();
        table
    }

    /// Rows that a name makes one, over all devices, most idle time first; each with the least of the keys that it is made of.
    fn regrouped<K: Hash + Ord + Copy, N: Hash + Ord + Clone>(
        &self,
        sums: impl Fn(&Sums) -> &BeforeBy<K>,
        name: impl Fn(&K) -> N,
    ) -> Vec<((N, K), Before)> {
        let mut whole = BeforeBy::default();
        self.devices.iter().for_each(|device| whole.merge(sums(&device.sums)));
        let mut named: FxHashMap<N, (K, Before)> = FxHashMap::default();
        for (key, before) in whole.iter() {
            let (least, sum) = named.entry(name(key)).or_insert((*key, Before::default()));
            *least = (*least).min(*key);
            sum.merge(before);
        }
        let rows = named.into_iter().map(|(name, (key, before))| ((name, key), before)).collect();
        sorted(rows, |((name, _), before)| (before.idle_ns(), name.clone()))
    }

    fn before_table<K>(&self, name: &'static str, title: &str, first: Vec<Column>, rows: &[(K, Before)]) -> Table {
        let all = self.devices.iter().fold(0_i64, |sum, device| sum.saturating_add(device.idle_ns()));
        let sum = |key, title, definition, causes: &'static [Cause]| {
            Column::nanos(key, title, definition, rows.iter().map(|(_, before)| before.ns(causes)))
                .basis(Basis::Measured)
        };
        let mut columns = first;
        columns.extend([
            idle_column(rows.iter().map(|(_, before)| before.idle_ns())),
            Column::real(
                "idle_share",
                "Share",
                "part of the idle time between work, over all devices",
                Unit::Share,
                rows.iter().map(|(_, before)| ratio(before.idle_ns(), all)),
            )
            .basis(Basis::Measured)
            .ranked(Rank::Key),
            Column::whole("gaps", "Gaps", "gaps before it", Unit::Count, rows.iter().map(|(_, before)| before.gaps))
                .basis(Basis::Counted),
            sum("host_late_ns", "Host late", Cause::HostLate.definition(), &[Cause::HostLate]),
            sum(
                "launch_ns",
                "Launch",
                "idle in the launch call, by launch latency, or between queued work",
                &[Cause::LaunchCall, Cause::LaunchLatency, Cause::Queued],
            ),
            sum(
                "wait_ns",
                "Waits",
                "idle waiting for a copy, another stream or a collective",
                &[Cause::Copy, Cause::OtherStream],
            ),
            sum("inside_ns", "Inside", "idle inside a graph replay or a program run", &[Cause::Graph, Cause::Run]),
            sum(
                "other_ns",
                "Other",
                "idle by the profiler's own overhead, or for a cause that is unknown",
                &[Cause::Profiler, Cause::Unknown],
            ),
            Column::nanos("longest_ns", "Longest", "longest gap", rows.iter().map(|(_, before)| before.longest_ns))
                .basis(Basis::Measured),
        ]);
        build(name, title, columns)
    }

    fn show(&self, analysis: &Analysis<'_>, device: &DeviceIdle, gap: Gap) -> ShownGap {
        let mut attributor = Attributor::new(analysis.trace, &self.context, device.device);
        let parts = attributor.parts(&gap);
        let causes = by_cause(parts);
        let greatest = Cause::ALL.into_iter().max_by_key(|cause| (causes[*cause as usize], Reverse(*cause)));
        let cause = greatest.unwrap_or(Cause::Unknown);
        let doing = longest_doing(parts, cause);
        ShownGap { device: device.device, gap, cause, cause_ns: causes[cause as usize], doing }
    }
}

/// A gap, and where it is: the position of its device among those asked for, its stretch of time, its place there.
#[derive(Debug, Clone, Copy)]
struct GapPlace {
    gap: Gap,
    device: usize,
    stretch: usize,
    at: usize,
}

impl GapPlace {
    /// Longest first; ties in the order of devices, then of time.
    fn order(&self) -> (Reverse<i64>, usize, usize, usize) {
        (Reverse(self.gap.length()), self.device, self.stretch, self.at)
    }
}

/// The `rows` first of `gaps` by [`GapPlace::order`], in no order; `gaps` come in the order of ties.
fn longest(gaps: impl Iterator<Item = GapPlace>, rows: usize) -> Vec<GapPlace> {
    let mut kept = Vec::new();
    let mut beyond_ns = i64::MIN;
    for place in gaps {
        if place.gap.length() <= beyond_ns {
            continue;
        }
        kept.push(place);
        if kept.len() / 2 >= rows.max(SELECTED_AT_ONCE) {
            // Of those that are still to come, what is no longer than the first one left out is behind it.
            beyond_ns = select(&mut kept, rows).unwrap_or(beyond_ns);
        }
    }
    select(&mut kept, rows);
    kept
}

/// Leaves the `rows` first; gives the length of the first one left out, nanoseconds.
fn select(gaps: &mut Vec<GapPlace>, rows: usize) -> Option<i64> {
    if rows >= gaps.len() {
        return None;
    }
    let (_, beyond, _) = gaps.select_nth_unstable_by_key(rows, GapPlace::order);
    let length = beyond.gap.length();
    gaps.truncate(rows);
    Some(length)
}

/// A gap with what a row of the table needs.
#[derive(Debug)]
struct ShownGap {
    device: u32,
    gap: Gap,
    cause: Cause,
    cause_ns: i64,
    doing: Option<Doing>,
}

/// What the host did for longest in the parts of `cause`, those of one event taken together.
fn longest_doing(parts: &[Part], cause: Cause) -> Option<Doing> {
    let mut sums: FxHashMap<Doing, i64> = FxHashMap::default();
    for part in parts.iter().filter(|part| part.cause == cause) {
        *sums.entry(part.doing).or_default() += part.ns;
    }
    let longest = sums.into_iter().max_by_key(|(doing, ns)| (*ns, doing.row()));
    longest.map(|(doing, _)| doing)
}

/// A range's name without its number, as PyTorch shows its steps: `ProfilerStep#7` is `ProfilerStep#*`.
fn without_number(name: &str) -> String {
    match name.rsplit_once('#') {
        Some((step, number)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("{step}#*")
        }
        _ => name.to_owned(),
    }
}

fn next_column(key: &'static str, title: &'static str, definition: &'static str, names: Vec<String>) -> Column {
    Column::text(key, title, definition, names).ranked(Rank::Key)
}

fn gap_table(analysis: &Analysis<'_>, context: &Context, gaps: &[ShownGap]) -> Table {
    let trace = analysis.trace;
    let labels = process_labels(trace);
    let events = &trace.events;
    let host = |shown: &ShownGap| shown.doing.and_then(Doing::row);
    let enclosing = |row: u32| {
        let parents = std::iter::successors(Some(row), |row| {
            let parent = events.parent[*row as usize];
            (parent != NONE).then_some(parent)
        });
        let names: Vec<&str> = parents.take(ENCLOSING_SHOWN).map(|row| trace.name(row as usize)).collect();
        names.join(" < ")
    };
    let launch = |shown: &ShownGap| {
        let link = events.link[shown.gap.next as usize];
        (link != NONE).then(|| trace.name(link as usize).to_owned())
    };
    let next_op = |shown: &ShownGap| {
        let op = trace.operation(shown.gap.next as usize)?;
        (op.name != StringId(0)).then(|| analysis.text(op.name).to_owned())
    };
    let activity = |shown: &ShownGap| {
        let doing = shown.doing?;
        let row = doing.row();
        let name = row.map_or("", |row| trace.name(row as usize));
        Some(DoingKey::of(trace, context, doing).activity(name).name().to_owned())
    };
    build(
        "gap",
        "Longest gaps",
        vec![
            Column::nanos(
                "start_ns",
                "Start",
                "start of the gap on the trace clock",
                gaps.iter().map(|shown| shown.gap.start),
            )
            .basis(Basis::Measured)
            .ranked(Rank::Key),
            Column::nanos(
                "length_ns",
                "Length",
                "how long the device was idle",
                gaps.iter().map(|shown| shown.gap.length()),
            )
            .basis(Basis::Measured)
            .ranked(Rank::Key),
            Column::text(
                "device",
                "Device",
                "the device",
                gaps.iter().map(|shown| device_label(trace, &labels, shown.device)),
            ),
            Column::text(
                "cause",
                "Cause",
                "the cause with the most time of the gap",
                gaps.iter().map(|shown| shown.cause.name().to_owned()),
            )
            .ranked(Rank::Key),
            Column::nanos(
                "cause_ns",
                "From this cause",
                "time of the gap with that cause",
                gaps.iter().map(|shown| shown.cause_ns),
            )
            .basis(Basis::Measured),
            Column::text(
                "host",
                "Host",
                "what the host did for the longest part of that time, innermost event first, then what encloses it",
                gaps.iter().map(|shown| host(shown).map(enclosing)),
            )
            .ranked(Rank::Key),
            Column::text("activity", "Activity", "what kind of event that is", gaps.iter().map(activity))
                .ranked(Rank::Detail),
            Column::text(
                "next",
                "Next work",
                "the work whose start ended the gap",
                gaps.iter().map(|shown| trace.name(shown.gap.next as usize).to_owned()),
            ),
            Column::text("next_op", "Its operation", "operation of the next work", gaps.iter().map(next_op))
                .ranked(Rank::Detail),
            Column::text("launch", "Its launch", "the call that launched the next work", gaps.iter().map(launch))
                .ranked(Rank::Detail),
            Column::text(
                "previous",
                "Work before",
                "the work whose end began the gap",
                gaps.iter().map(|shown| trace.name(shown.gap.prev as usize).to_owned()),
            )
            .ranked(Rank::Detail),
        ],
    )
    .about(gaps.iter().map(|shown| {
        let (prev, next) = (EventRow(shown.gap.prev), EventRow(shown.gap.next));
        Some(Subject::Gap { prev, next })
    }))
}
