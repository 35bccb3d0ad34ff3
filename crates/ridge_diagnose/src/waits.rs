//! Calls in which the host waits for a device, and the idle time that comes of them.
//!
//! While the host waits it prepares nothing, so when the device is done nothing is queued, and the device waits in turn.
//! Without the wait the host would have prepared the next work in the time that it waited: of what it took after the call,
//! no more than that time would have been hidden.

use crate::case::Case;
use crate::finding::{Finding, Place};
use crate::known::Known;
use crate::words::{percent, short};
use ridge_analysis::models::idle::IdlePart;
use ridge_analysis::{Activity, Analysis, Breakdown, Cause, IdleGaps, Need, Shared, TimeOwner};
use ridge_replay::{Action, Edit};
use ridge_table::{Basis, Quantity, Subject, Unit};
use ridge_trace::{DeviceRow, EventKind, EventRow, StringId};
use rustc_hash::{FxHashMap, FxHashSet};

/// A call that waited for the device until it had nothing to do.
#[derive(Debug, Clone)]
pub(crate) struct Wait {
    /// The call.
    pub(crate) row: u32,
    /// Rows of the breakdown with the time of each that would go, nanoseconds; none where the call is outside the judged time.
    pub(crate) held: Vec<(usize, i64)>,
}

impl Wait {
    /// The idle time that would go, nanoseconds.
    pub(crate) fn ns(&self) -> i64 {
        self.held.iter().fold(0, |sum, (_, ns)| sum.saturating_add(*ns))
    }
}

/// Whether a call of that name returns when a device has done what it was given; locks, files and times are others' waits.
pub(crate) fn waits_for_device(name: &str) -> bool {
    const WORDS: [&str; 7] = [
        "Synchronize",
        "block_until_ready",
        "BlockUntil",
        "BlockHost",
        "np.asarray(jax.Array)",
        "_local_scalar_dense",
        "aten::item",
    ];
    copies_and_waits(name) || WORDS.iter().any(|word| name.contains(word))
}

/// Whether a call of that name is a copy that returns when it is done.
pub(crate) fn copies_and_waits(name: &str) -> bool {
    name.contains("Memcpy") && !name.contains("Async")
}

/// Every call after which a device was idle because the host had waited for it.
#[derive(Debug)]
pub(crate) struct DeviceWaits(Vec<Wait>);

impl Shared for DeviceWaits {
    const NEEDS: &'static [Need] = &[Need::of::<Breakdown>(), Need::of::<IdleGaps>()];

    fn make(analysis: &Analysis<'_>) -> DeviceWaits {
        DeviceWaits(Case { analysis: *analysis, known: &Known::default() }.waits())
    }
}

impl Case<'_> {
    fn waits(&self) -> Vec<Wait> {
        let (trace, idle) = (self.trace(), self.analysis.get::<IdleGaps>());
        // Most captures of a device that nobody waits for are told by their names alone.
        if !trace.strings.iter().any(waits_for_device) {
            return Vec::new();
        }
        let add = |device: u32, waits: &mut Vec<Wait>, gap: &[IdlePart]| {
            let is_outside = |part: &IdlePart| matches!(part.cause, Cause::BeforeFirst | Cause::AfterLast);
            if !gap.first().is_none_or(is_outside) {
                waits.extend(self.wait_before(device, gap));
            }
        };
        let devices = idle.devices.iter().map(|device| device.device).enumerate();
        devices
            .flat_map(|(position, device)| {
                idle.visit(trace, position, 0, Vec::new, |waits, gap| add(device, waits, gap))
            })
            .flatten()
            .collect()
    }

    /// The call that the host was in when the gap began, with what of the gap comes of it.
    fn wait_before(&self, device: u32, gap: &[IdlePart]) -> Option<Wait> {
        let (trace, start) = (self.trace(), gap.first()?.start_ns);
        let spans = self.analyzed().spans.get(trace.devices.get(device as usize)?.process as usize)?;
        let is_wait = |part: &&IdlePart| {
            part.activity == Activity::Blocking && matches!(part.cause, Cause::HostLate | Cause::Run)
        };
        let row = gap.first().filter(is_wait)?.row?;
        let began = *trace.events.start_ns.get(row.index())?;
        let is_call = trace.events.kind(row.index()) <= EventKind::Operator;
        if !is_call || began >= start || !waits_for_device(trace.name(row.index())) {
            return None;
        }
        let ended = trace.events.end_ns(row.index());
        let mut hidden = start.saturating_sub(began);
        let mut held = Vec::new();
        for part in gap.iter().filter(|part| is_hosts(part)) {
            let is_inside = part.start_ns < ended && part.row == Some(row);
            let ns = if is_inside { part.ns } else { part.ns.min(hidden) };
            hidden = if is_inside { hidden } else { hidden.saturating_sub(ns) };
            let within = spans.within_ns(part.start_ns, part.start_ns.saturating_add(ns));
            let owner = TimeOwner::Idle { cause: part.cause, activity: part.activity, name: part.name };
            if let Some(at) = self.breakdown().place(DeviceRow(device), owner).filter(|_| within > 0) {
                held.push((at, within));
            }
        }
        Some(Wait { row: row.0, held })
    }

    /// The rows of the breakdown that `waits` hold, each with the part of it.
    pub(crate) fn claim_of_waits<'w>(&self, waits: impl IntoIterator<Item = &'w Wait>) -> Vec<(usize, f32)> {
        self.parts_of(waits.into_iter().flat_map(|wait| &wait.held).map(|(at, ns)| (*at, *ns as f64)))
    }

    /// The part of each row of the breakdown that comes of calls that wait, where those of one line hold enough to be found.
    pub(crate) fn waited_part(&self) -> FxHashMap<usize, f32> {
        let groups = self.waits_by_line(|_| true);
        let told = groups.iter().filter(|waits| self.share(waits.ns) >= self.least_of_waits());
        self.claim_of_waits(told.flat_map(|waits| waits.all.iter().copied())).into_iter().collect()
    }

    /// The outermost operator of a framework around the host's event `row`.
    pub(crate) fn operator_around(&self, row: u32) -> Option<&str> {
        let trace = self.trace();
        let operators = self.around(row).filter(|row| trace.events.kind(*row as usize) == EventKind::Operator);
        operators.last().map(|row| trace.name(row as usize))
    }
}

/// The waits of one kind of call on one line of the program.
#[derive(Debug)]
pub(crate) struct Waits<'a> {
    /// Name of the call.
    pub(crate) name: &'a str,
    /// The line, where one is known.
    pub(crate) place: Option<Place>,
    /// The waits, those first that hold most.
    pub(crate) all: Vec<&'a Wait>,
    /// The idle time that would go, nanoseconds.
    pub(crate) ns: i64,
}

impl<'a> Case<'a> {
    /// The waits in calls whose name `wanted` takes, by line and name, what holds most first.
    pub(crate) fn waits_by_line(&self, wanted: impl Fn(&str) -> bool) -> Vec<Waits<'a>> {
        let trace = self.trace();
        let mut groups: FxHashMap<(Option<Place>, StringId), Vec<&'a Wait>> = FxHashMap::default();
        let all = self.analysis.get::<DeviceWaits>().0.iter();
        for wait in all.filter(|wait| wanted(trace.name(wait.row as usize))) {
            let name = StringId(trace.events.name[wait.row as usize]);
            groups.entry((self.line_of_row(wait.row), name)).or_default().push(wait);
        }
        let of_group = |((place, name), mut all): ((Option<Place>, StringId), Vec<&'a Wait>)| {
            all.sort_by_key(|wait| (std::cmp::Reverse(wait.ns()), wait.row));
            let ns = all.iter().fold(0_i64, |sum, wait| sum.saturating_add(wait.ns()));
            Waits { name: trace.strings.get(name), place, all, ns }
        };
        let mut found: Vec<Waits<'a>> = groups.into_iter().map(of_group).collect();
        found.sort_by(|a, b| b.ns.cmp(&a.ns).then_with(|| (&a.place, a.name).cmp(&(&b.place, b.name))));
        found
    }

    /// All calls of the group's name on its line, those that made no idle time with them, and the calls around and within
    /// them that wait for the same.
    pub(crate) fn calls_of(&self, waits: &Waits<'_>) -> Vec<u32> {
        let waiting = self.host_rows(|kind, name| kind <= EventKind::Operator && waits_for_device(name));
        let is_of_line =
            |row: &u32| self.trace().name(*row as usize) == waits.name && self.line_of_row(*row) == waits.place;
        let outer = |row: u32| self.around(row).skip(1).take(NESTED);
        let mut rows: FxHashSet<u32> = waiting.iter().copied().filter(is_of_line).collect();
        // Rows of a thread stand in order of start, so what is around a row comes before it.
        for row in &waiting {
            if outer(*row).any(|around| rows.contains(&around)) {
                rows.insert(*row);
            }
        }
        let all: FxHashSet<u32> = waiting.into_iter().collect();
        for row in rows.iter().copied().collect::<Vec<u32>>() {
            rows.extend(outer(row).filter(|around| all.contains(around)));
        }
        let mut rows: Vec<u32> = rows.into_iter().collect();
        rows.sort_unstable();
        rows
    }
}

/// Less of the time than this is lost by every program that looks at its results.
const LEAST: f64 = 0.02;
/// The same on processors, where what could go on at the same time shares the cores anyway.
const LEAST_ON_PROCESSORS: f64 = 0.10;
/// Lines that are named, those that hold most.
const MOST: usize = 4;

impl<'a> Case<'a> {
    /// Waits that cost less are not spoken of.
    fn least_of_waits(&self) -> f64 {
        if self.is_on_processors() { LEAST_ON_PROCESSORS } else { LEAST }
    }

    /// A finding for each line whose calls that `wanted` takes cost enough to speak of: `message` of it, `says` what the idle
    /// time after them is; `action` mends the calls.
    pub(crate) fn findings_of_waits(
        &self,
        wanted: impl Fn(&str) -> bool,
        message: impl Fn(&str, &str) -> String,
        says: &str,
        action: Action,
    ) -> impl Iterator<Item = (Waits<'a>, Finding)> {
        let mut groups = self.waits_by_line(wanted);
        groups.retain(|waits| self.share(waits.ns) >= self.least_of_waits());
        groups.into_iter().take(MOST).map(move |waits| {
            let calls = waits.all.iter().filter(|wait| wait.ns() > 0).count() as u64;
            let longest = waits.all.first().and_then(|wait| EventRow::known(wait.row));
            let seen = waits.place.is_none().then(|| self.seen_during(waits.all.iter().map(|wait| wait.row))).flatten();
            let finding = Finding::new(message(&short(waits.name), &percent(self.share(waits.ns))))
                .at(waits.place.clone())
                .seen(seen.as_ref())
                .about(longest.map(Subject::Event))
                .number(says, self.per_unit(waits.ns))
                .number("blocking calls in the analyzed time", Quantity::new(calls as f64, Unit::Count, Basis::Counted))
                .claims(self.claim_of_waits(waits.all.iter().copied()))
                .edit(Edit { rows: self.calls_of(&waits), action });
            (waits, finding)
        })
    }
}

/// Ranges around a call that are looked at.
const NESTED: usize = 16;

/// Whether the host could have spent the part earlier.
fn is_hosts(part: &IdlePart) -> bool {
    let of_host =
        matches!(part.cause, Cause::HostLate | Cause::LaunchCall | Cause::LaunchLatency | Cause::Copy | Cause::Run);
    of_host && !matches!(part.activity, Activity::Loading | Activity::Compiling | Activity::Profiler)
}
