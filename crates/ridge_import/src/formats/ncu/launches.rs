//! Profiled launches on their way into the trace, whatever they were read from.

use super::device;
use super::launch::{Launch, Metric, MetricValue, Rule};
use crate::import::{Import, Source};
use ridge_trace::{KernelProfile, KernelProfiles, ProfileRule, StringId};
use rustc_hash::FxHashMap;

/// What tells a launch from others: name, position, grid and block.
type LaunchKey = (StringId, u32, [u32; 3], [u32; 3]);

/// What is in the trace already.
#[derive(Default)]
struct Known {
    launches: FxHashMap<LaunchKey, u32>,
    /// Position of each rule's result by launch, rule and message.
    rules: FxHashMap<(u32, StringId, StringId), usize>,
}

impl Known {
    fn of(profiles: &KernelProfiles) -> Known {
        let launch =
            |(at, known): (usize, &KernelProfile)| ((known.name, known.launch, known.grid, known.block), at as u32);
        let rule = |(at, known): (usize, &ProfileRule)| ((known.profile, known.rule, known.message), at);
        Known {
            launches: profiles.launches.iter().enumerate().map(launch).collect(),
            rules: profiles.rules.iter().enumerate().map(rule).collect(),
        }
    }
}

/// Adds `launches` to the trace; a page of words adds to the launches that another source had in full.
pub(super) fn add(launches: Vec<Launch>, source: Source<'_>, import: &mut Import) {
    let process = import.builder.add_process(source.name, launches.first().and_then(|launch| launch.pid));
    let mut known = Known::of(&import.builder.profiles);
    for launch in &launches {
        device::describe(launch, process, import);
    }
    for launch in launches {
        let name = import.builder.strings.intern(&launch.name);
        let key = (name, launch.launch, launch.grid, launch.block);
        let row = known.launches.get(&key).copied().filter(|_| launch.is_summary);
        let row = row.unwrap_or_else(|| add_launch(&launch, name, process, import));
        add_rules(&launch.rules, row, &mut known, import);
    }
}

fn add_launch(launch: &Launch, name: StringId, process: u32, import: &mut Import) -> u32 {
    let builder = &mut import.builder;
    let row = builder.profiles.launches.len() as u32;
    let Launch { grid, block, device, stream, .. } = *launch;
    builder.profiles.launches.push(KernelProfile { process, name, launch: launch.launch, grid, block, device, stream });
    for Metric { name, value, unit } in &launch.metrics {
        let (name, unit) = (builder.strings.intern(name), builder.strings.intern(unit));
        let (number, text) = match value {
            MetricValue::Number(number) => (*number, StringId::default()),
            MetricValue::Text(text) => (f64::NAN, builder.strings.intern(text)),
        };
        builder.profiles.push(row, name, number, text, unit);
    }
    row
}

fn add_rules(rules: &[Rule], profile: u32, known: &mut Known, import: &mut Import) {
    for rule in rules {
        let (id, message) = (import.builder.strings.intern(&rule.id), import.builder.strings.intern(&rule.message));
        let results = &mut import.builder.profiles.rules;
        // Both a report and its page may say it; only the page has the estimate.
        let at = *known.rules.entry((profile, id, message)).or_insert(results.len());
        if at == results.len() {
            results.push(ProfileRule { profile, rule: id, kind: rule.kind, message, speedup_pct: None });
        }
        results[at].speedup_pct = results[at].speedup_pct.or(rule.speedup_pct);
    }
}
