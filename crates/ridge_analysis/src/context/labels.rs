//! What things are called: processes, devices, modules, operations.

use super::{Analysis, Shared};
use ridge_trace::{StringId, Trace};
use rustc_hash::FxHashSet;

/// A label for every process: the parts of its source's path that tell it from the others; empty where there is one.
pub fn process_labels(trace: &Trace) -> Vec<String> {
    let names: Vec<Vec<&str>> =
        (trace.processes.iter()).map(|process| trace.strings.get(process.name).split('/').collect()).collect();
    let Some((first, rest)) = names.split_first().filter(|(_, rest)| !rest.is_empty()) else {
        return vec![String::new(); names.len()];
    };
    let common = |ends: fn(&Vec<&str>) -> Vec<String>| {
        let wanted = ends(first);
        let same = |name: &Vec<&str>| ends(name).iter().zip(&wanted).take_while(|(a, b)| a == b).count();
        rest.iter().map(same).min().unwrap_or(0).min(wanted.len().saturating_sub(1))
    };
    let head = common(|name| name.iter().map(|part| (*part).to_owned()).collect());
    let tail = common(|name| name.iter().rev().map(|part| (*part).to_owned()).collect());
    let short = |name: &Vec<&str>| {
        let end = name.len().saturating_sub(tail).max(head + 1).min(name.len());
        name[head.min(end)..end].join("/")
    };
    names.iter().map(short).collect()
}

/// Name of a device, with its process where that is needed to tell it from others.
fn device_label(trace: &Trace, labels: &[String], device: u32) -> String {
    let found = &trace.devices[device as usize];
    match labels.get(found.process as usize).filter(|label| !label.is_empty()) {
        Some(label) => format!("{} {label}", found.plane),
        None => found.plane.clone(),
    }
}

/// The name of each device of `trace` in tables: its plane's, with its process where that is needed.
pub fn device_labels(trace: &Trace) -> Vec<String> {
    let labels = process_labels(trace);
    (0..trace.devices.len()).map(|device| device_label(trace, &labels, device as u32)).collect()
}

/// [`device_labels`] of the trace.
#[derive(Debug)]
pub(crate) struct DeviceLabels(Vec<String>);

impl Shared for DeviceLabels {
    fn make(analysis: &Analysis<'_>) -> DeviceLabels {
        DeviceLabels(device_labels(analysis.trace))
    }
}

impl<'a> Analysis<'a> {
    /// The name of the device at row `device` in tables.
    pub(crate) fn device_label(&self, device: u32) -> &'a str {
        &self.get::<DeviceLabels>().0[device as usize]
    }
}

impl<'a> Analysis<'a> {
    /// The file and line that the operation at row `op` is from, the innermost one, where its HLO says it.
    pub(crate) fn line_of(&self, op: u32) -> Option<(&'a str, u32)> {
        let (module, instruction) = self.instruction(op)?;
        let frame = *module.source_in_fusion(instruction).first()?;
        Some((frame.file, frame.line))
    }
}

/// The name of an operation in tables.
pub(crate) fn op_name(analysis: &Analysis<'_>, op: u32) -> String {
    match analysis.operation(op).map(|op| analysis.text(op.name)) {
        None => "(unattributed)".to_owned(),
        Some("") => "(module known, operation not)".to_owned(),
        Some(name) => name.to_owned(),
    }
}

/// Names that several modules have.
#[derive(Debug)]
struct SharedNames(FxHashSet<StringId>);

impl Shared for SharedNames {
    fn make(analysis: &Analysis<'_>) -> SharedNames {
        let mut seen = FxHashSet::default();
        let names = analysis.trace.modules.iter().map(|module| module.name);
        SharedNames(names.filter(|name| !seen.insert(*name)).collect())
    }
}

/// The name of an operation's module.
pub fn op_module(analysis: &Analysis<'_>, op: u32) -> Option<String> {
    let row = analysis.operation(op)?.module;
    let module = analysis.trace.modules.get(row as usize)?;
    let name = analysis.text(module.name);
    // Programs compiled for several shapes share a name; then the id tells them apart.
    Some(if analysis.get::<SharedNames>().0.contains(&module.name) {
        format!("{name}({})", module.program_id)
    } else {
        name.to_owned()
    })
}

/// The name of the module at row `module`.
pub(crate) fn module_name(analysis: &Analysis<'_>, module: u32) -> String {
    let found = analysis.trace.modules.get(module as usize);
    found.map_or("(no module)".to_owned(), |module| analysis.text(module.name).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ridge_trace::TraceBuilder;

    #[track_caller]
    fn check(sources: &[&str], expected: &[&str]) {
        let mut builder = TraceBuilder::new();
        for source in sources {
            builder.add_process(source, None);
        }
        assert_eq!(process_labels(&builder.finish()), expected);
    }

    #[test]
    fn labels_are_what_differs() {
        check(&["run/trace/host0.xplane.pb"], &[""]);
        check(
            &["b/32/trace/add/h.pb", "b/32/trace/mul/h.pb", "b/64/trace/add/h.pb"],
            &["32/trace/add", "32/trace/mul", "64/trace/add"],
        );
        check(&["log/host0.pb", "log/host1.pb"], &["host0.pb", "host1.pb"]);
        check(&["same", "same"], &["same", "same"]);
    }
}
