//! Idle time in rows: by device and cause, by what the host did, and by the work that came next.

use super::activity::{Activity, DoingKey};
use super::before::{Before, BeforeBy};
use super::cause::Cause;
use super::sums::{Sum, Sums};
use super::{DeviceIdle, Idle};
use crate::Analysis;
use crate::context::partition::ratio;
use ridge_table::Subject;
use ridge_trace::{DeviceRow, NONE, OpRow, StringId};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::hash::Hash;

/// Idle time of one device for one cause.
#[derive(Debug, Clone, PartialEq)]
pub struct CauseRow {
    /// The device.
    pub device: DeviceRow,
    /// The cause.
    pub cause: Cause,
    /// Its time.
    pub sum: Sum,
    /// Its part of the device's capture window.
    pub share: Option<f64>,
}

/// Idle time for one cause during which the host did one thing.
#[derive(Debug, Clone, PartialEq)]
pub struct HostRow {
    /// Name of the innermost event of the thread that launched the next work; of a wait the event that explains it.
    pub name: Option<StringId>,
    /// What kind of event that is, or what encloses it.
    pub activity: Activity,
    /// The cause.
    pub cause: Cause,
    /// Its time.
    pub sum: Sum,
    /// Its part of all idle time, heads and tails included, over all devices.
    pub share: Option<f64>,
}

/// Idle time before work of one operation, range or source line.
#[derive(Debug, Clone)]
pub struct NextRow {
    /// What the next work is called.
    pub name: String,
    /// Its module, where it is an operation.
    pub module: Option<String>,
    /// What it is, where the trace knows it.
    pub subject: Option<Subject>,
    /// The gaps before it.
    pub before: Before,
    /// Their part of the idle time between work, over all devices.
    pub share: Option<f64>,
}

impl Idle {
    /// The devices that worked, idle longest first.
    pub fn by_device(&self) -> Vec<&DeviceIdle> {
        let mut devices: Vec<&DeviceIdle> = self.devices.iter().map(AsRef::as_ref).collect();
        devices.sort_by_key(|device| (Reverse(device.idle_ns()), device.device));
        devices
    }

    /// A row for each device and cause, most time first.
    pub fn by_cause(&self) -> Vec<CauseRow> {
        let rows = self.devices.iter().flat_map(|device| {
            let row = |cause: Cause| {
                let sum = device.sums.causes[cause as usize];
                CauseRow { device: DeviceRow(device.device), cause, sum, share: ratio(sum.ns, device.capture_ns()) }
            };
            Cause::ALL.into_iter().map(row).filter(|row| row.sum.ns > 0)
        });
        let mut rows: Vec<CauseRow> = rows.collect();
        rows.sort_by_key(|row| (Reverse(row.sum.ns), row.device, row.cause));
        rows
    }

    /// A row for each cause and thing that the host did meanwhile, over all devices, most time first.
    pub fn by_host(&self, analysis: &Analysis<'_>) -> Vec<HostRow> {
        let mut sums: FxHashMap<(Cause, Activity, u32), Sum> = FxHashMap::default();
        for ((cause, key), sum) in self.devices.iter().flat_map(|device| &device.sums.doings) {
            let DoingKey { name, .. } = *key;
            let activity = key.activity(analysis.text(StringId(name)));
            sums.entry((*cause, activity, name)).or_default().merge(sum);
        }
        let all: i64 = sums.values().fold(0, |all, sum| all.saturating_add(sum.ns));
        let mut sums: Vec<_> = sums.into_iter().collect();
        sums.sort_by_key(|(key, sum)| (Reverse(sum.ns), *key));
        let row = |((cause, activity, name), sum): (_, Sum)| {
            let name = (name != 0).then_some(StringId(name));
            HostRow { name, activity, cause, sum, share: ratio(sum.ns, all) }
        };
        sums.into_iter().map(row).collect()
    }

    /// By the operation of the next work; what has no operation goes by its own name.
    pub fn by_op(&self, analysis: &Analysis<'_>) -> Vec<NextRow> {
        let known = |op: u32| analysis.operation(op).filter(|op| op.name != StringId(0));
        // Kernels of one operation are one row.
        let name = |&(op, name): &(u32, u32)| {
            let Some(found) = known(op) else { return (analysis.text(StringId(name)).to_owned(), None) };
            let module = analysis.trace.modules.get(found.module as usize);
            (analysis.text(found.name).to_owned(), module.map(|module| analysis.text(module.name).to_owned()))
        };
        let subject =
            |(op, name): (u32, u32)| Some(known(op).map_or(Subject::Named(StringId(name)), |_| Subject::Op(OpRow(op))));
        self.regrouped(|sums| &sums.by_work, name, subject)
    }

    /// By the innermost named range that caused the next work.
    pub fn by_range(&self, analysis: &Analysis<'_>) -> Vec<NextRow> {
        let name = |name: &u32| match *name {
            NONE => ("(outside every range)".to_owned(), None),
            name => (without_number(analysis.text(StringId(name))), None),
        };
        self.regrouped(|sums| &sums.by_range, name, |name| (name != NONE).then_some(Subject::Range(StringId(name))))
    }

    /// By the line of the program that the next work came from.
    pub fn by_source(&self, analysis: &Analysis<'_>) -> Vec<NextRow> {
        let name = |(op, _): &(u32, u32)| match analysis.line_of(*op) {
            Some((file, line)) => (format!("{file}:{line}"), None),
            None => ("(no source line known)".to_owned(), None),
        };
        let subject = |(op, _): (u32, u32)| analysis.line_of(op).map(|(file, line)| Subject::Source(file.into(), line));
        self.regrouped(|sums| &sums.by_work, name, subject)
    }

    /// Rows that a name makes one, over all devices, most idle time first; each is about the least of the keys that it
    /// is made of.
    fn regrouped<K: Hash + Ord + Copy>(
        &self,
        sums: impl Fn(&Sums) -> &BeforeBy<K>,
        name: impl Fn(&K) -> (String, Option<String>),
        subject: impl Fn(K) -> Option<Subject>,
    ) -> Vec<NextRow> {
        let mut whole = BeforeBy::default();
        self.devices.iter().for_each(|device| whole.merge(sums(&device.sums)));
        let mut named: FxHashMap<(String, Option<String>), (K, Before)> = FxHashMap::default();
        for (key, before) in whole.iter() {
            let (least, sum) = named.entry(name(key)).or_insert((*key, Before::default()));
            *least = (*least).min(*key);
            sum.merge(before);
        }
        let all = self.devices.iter().fold(0_i64, |sum, device| sum.saturating_add(device.idle_ns()));
        let row = |((name, module), (key, before)): (_, (K, Before))| NextRow {
            name,
            module,
            subject: subject(key),
            share: ratio(before.idle_ns(), all),
            before,
        };
        let mut rows: Vec<NextRow> = named.into_iter().map(row).collect();
        rows.sort_by(|one, other| {
            let order = |row: &NextRow| Reverse(row.before.idle_ns());
            (order(one), &one.name, &one.module).cmp(&(order(other), &other.name, &other.module))
        });
        rows
    }
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
