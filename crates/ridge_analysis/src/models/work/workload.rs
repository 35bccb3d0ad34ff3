//! The work of every event, from the HLO of the modules that ran.
//!
//! Work is counted per execution; an execution may be several kernels, of which none can be told how much of the work
//! it did. The work of an operation is spread evenly over its events, so that it is right for every row that holds
//! whole executions, and rows that would split an execution say that they cannot know.

use super::costs::Costs;
use super::light::{Computes, Light, Products, light};
use super::of_calls::{CalledWork, Done};
use crate::context::groups::Key;
use crate::device::{Ceilings, Limit};
use crate::{Analysis, Group};
use ridge_hlo::cost::Cost;
use ridge_hlo::{ComputationId, HloModule, Instruction, InstructionId, OpcodeClass};
use ridge_trace::{Attribution, Device, EventKind, Events, NONE};
use rustc_hash::{FxHashMap, FxHashSet};

/// What starting a kernel costs where nothing measured says, seconds.
///
/// `kKernelLaunchOverhead` of openxla/xla, `xla/service/gpu/model/gpu_performance_model_base.h`.
const LAUNCH_SECS: f64 = 1e-6;

/// The work of one event.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct EventWork {
    pub(crate) flops: f64,
    pub(crate) bytes: f64,
    pub(crate) xla_bytes: f64,
    pub(crate) known: Known,
    /// Executions per event: under 1 where one execution is several kernels.
    executions: f64,
}

/// What is known of an event's work.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Known {
    /// It is counted; the time at the roof is there where the roofs are known.
    Counted(Option<Light>),
    /// It is not, with the reason as a sentence's part.
    Not(String),
}

/// What one operation, known one way, does on one kind of device.
#[derive(Debug, Clone, PartialEq)]
struct Entry {
    attribution: Attribution,
    class: u32,
    work: EventWork,
}

/// The work of all events of a trace.
#[derive(Debug, Clone, Default)]
pub struct Workload {
    /// The ceilings of each kind of device.
    pub(crate) classes: Vec<Ceilings>,
    class_of_device: Vec<u32>,
    entries: FxHashMap<u32, Vec<Entry>>,
    /// Of operators without a module, by device and what makes events alike.
    called: FxHashMap<(u32, Key), EventWork>,
    has_counts: bool,
}

impl Workload {
    /// Counts the work of every operation that ran.
    pub(crate) fn new(analysis: &Analysis<'_>) -> Workload {
        let mut workload = Workload::with_classes(analysis);
        let ran = Ran::new(analysis);
        let costs: &Costs = analysis.get();
        let counting = Counting { analysis, ran, costs, events: event_counts(analysis) };
        let called: &CalledWork = analysis.get();
        let mut seen: FxHashSet<(u32, u8, u32)> = FxHashSet::default();
        for group in analysis.groups().groups.iter().filter(|group| group.op != NONE) {
            let class = workload.class(group.device);
            let without_module = analysis.instruction_place(group.op).is_none();
            if let Some(done) = called.of(group.device, group.key()).filter(|_| without_module) {
                let work = EventWork::of_calls(done, group, &workload.classes[class as usize]);
                workload.has_counts |= matches!(work.known, Known::Counted(_));
                workload.called.insert((group.device, group.key()), work);
                continue;
            }
            if seen.insert((group.op, group.attribution as u8, class)) {
                let work = counting.event_work(group, &workload.classes[class as usize]);
                workload.has_counts |= matches!(work.known, Known::Counted(_));
                let entry = Entry { attribution: group.attribution, class, work };
                workload.entries.entry(group.op).or_default().push(entry);
            }
        }
        workload
    }

    /// Devices with the same ceilings are one class.
    fn with_classes(analysis: &Analysis<'_>) -> Workload {
        let mut workload = Workload::default();
        for device in 0..analysis.trace.devices.len() {
            let ceilings = analysis.ceilings.get(device).cloned().unwrap_or_default();
            let known = workload.classes.iter().position(|class| *class == ceilings);
            let class = known.unwrap_or_else(|| {
                workload.classes.push(ceilings);
                workload.classes.len() - 1
            });
            workload.class_of_device.push(class as u32);
        }
        workload
    }

    /// Whether the work of any operation is known: without it no table has columns of work.
    pub(crate) fn has_counts(&self) -> bool {
        self.has_counts
    }

    /// The class of a device.
    pub(crate) fn class(&self, device: u32) -> u32 {
        self.class_of_device.get(device as usize).copied().unwrap_or(0)
    }

    /// The work of the event at `row` on `device`.
    pub(crate) fn of_event(&self, events: &Events, row: usize, device: u32) -> Option<&EventWork> {
        let of_call = self.called.get(&(device, Key::of(events, row)));
        of_call.or_else(|| self.of(events.op[row], Attribution::from_byte(events.attribution[row]), device))
    }

    /// The work of an event of operation `op`, known by `attribution`, on `device`.
    fn of(&self, op: u32, attribution: Attribution, device: u32) -> Option<&EventWork> {
        let class = self.class(device);
        let entries = self.entries.get(&op)?;
        entries.iter().find(|entry| entry.attribution == attribution && entry.class == class).map(|entry| &entry.work)
    }

    /// The work of an event of `group`.
    pub(crate) fn of_group(&self, group: &Group) -> Option<&EventWork> {
        let of_call = self.called.get(&(group.device, group.key()));
        of_call.or_else(|| self.of(group.op, group.attribution, group.device))
    }
}

/// Which computations ran as operations of their own, and so are not part of who calls them.
struct Ran {
    /// HLO modules by position, with their instructions that ran.
    instructions: FxHashMap<u32, FxHashSet<InstructionId>>,
}

impl Ran {
    fn new(analysis: &Analysis<'_>) -> Ran {
        let mut instructions: FxHashMap<u32, FxHashSet<InstructionId>> = FxHashMap::default();
        for group in &analysis.groups().groups {
            if let Some((hlo, instruction)) = analysis.instruction_place(group.op) {
                instructions.entry(hlo).or_default().insert(instruction);
            }
        }
        Ran { instructions }
    }

    /// Whether what `instruction` calls ran as operations of their own, whose work and time are theirs.
    ///
    /// On lanes that is so of loops and conditionals even where nothing of it ran: a branch may have nothing to run.
    fn is_container(&self, hlo: u32, module: &HloModule, instruction: InstructionId, kind: EventKind) -> bool {
        let instruction = module.instruction(instruction);
        if kind == EventKind::DeviceOp && matches!(&*instruction.opcode, "while" | "conditional") {
            return true;
        }
        let Some(ran) = self.instructions.get(&hlo).filter(|_| calls(instruction)) else { return false };
        let mut open = instruction.called.clone();
        let mut seen: FxHashSet<ComputationId> = open.iter().copied().collect();
        while let Some(called) = open.pop() {
            if module.computation(called).instruction_ids().any(|id| ran.contains(&id)) {
                return true;
            }
            // A loop without events of its own may be all that a call holds.
            let inner = module.instructions_of(called).iter().filter(|inner| calls(inner));
            open.extend(inner.flat_map(|inner| &inner.called).filter(|called| seen.insert(**called)));
        }
        false
    }
}

/// Whether what `instruction` calls may run as operations of their own.
fn calls(instruction: &Instruction) -> bool {
    instruction.opcode.class() == OpcodeClass::Runs
}

/// Events of each operation and attribution, over all devices.
fn event_counts(analysis: &Analysis<'_>) -> FxHashMap<(u32, u8), u64> {
    let mut counts = FxHashMap::default();
    for group in &analysis.groups().groups {
        *counts.entry((group.op, group.attribution as u8)).or_default() += group.count();
    }
    counts
}

/// The counting of one trace's work.
struct Counting<'c, 'a> {
    analysis: &'c Analysis<'a>,
    ran: Ran,
    costs: &'c Costs,
    events: FxHashMap<(u32, u8), u64>,
}

impl Counting<'_, '_> {
    /// The work of an event of `group` on a device with `ceilings`.
    fn event_work(&self, group: &Group, ceilings: &Ceilings) -> EventWork {
        let Some((hlo, instruction)) = self.analysis.instruction_place(group.op) else {
            let is_torchs = !self.analysis.trace.operator_shapes.is_empty();
            let what = if is_torchs { "work of operators that no formula is known for" } else { "work without HLO" };
            return EventWork::without(Known::Not(what.to_owned()));
        };
        let module = &self.analysis.hlo[hlo as usize];
        if self.ran.is_container(hlo, module, instruction, group.kind) {
            return EventWork::without(Known::Counted(Some(Light::default())));
        }
        let cost = self.costs.at(hlo, instruction).expect("the module of work that ran has costs");
        if let Some(unknown) = &cost.unknown {
            return EventWork::without(Known::Not(unknown.reason(module)));
        }
        let executions = self.analysis.executions().with_work(group.op, group.attribution);
        if executions == 0 {
            return EventWork::without(Known::Not("parts of executions that are counted elsewhere".to_owned()));
        }
        let events = self.events[&(group.op, group.attribution as u8)];
        // A collective goes as fast as the links between devices, which no ceiling here is about.
        let is_collective = module.collective(instruction).is_some();
        let computes = computes(self.analysis, group.device, module, instruction);
        let light = if is_collective { None } else { light(ceilings, cost, products(module, instruction), computes) };
        EventWork::new(cost, light, executions as f64 / events as f64, launch_secs(ceilings, group.kind))
    }
}

impl EventWork {
    /// That of an event of `group`, whose events did `done` together.
    fn of_calls(done: &Done, group: &Group, ceilings: &Ceilings) -> EventWork {
        if done.unknown > 0 {
            return EventWork::without(Known::Not("work of operators that no formula is known for".to_owned()));
        }
        let events = (group.count() as f64).max(1.0);
        let light = done.light.map(|light| Light {
            compute_secs: light.compute_secs / events,
            memory_secs: light.memory_secs / events,
            launch_secs: if light.secs() > 0.0 { launch_secs(ceilings, group.kind) } else { 0.0 },
            roof: light.roof,
        });
        let executions = done.calls / events;
        let is_whole = (executions - 1.0).abs() < 1e-9;
        EventWork {
            flops: done.flops / events,
            bytes: done.bytes / events,
            xla_bytes: 0.0,
            known: Known::Counted(light),
            executions: if is_whole { 1.0 } else { executions },
        }
    }

    /// No work, for the reason or the lack of one in `known`.
    fn without(known: Known) -> EventWork {
        EventWork { flops: 0.0, bytes: 0.0, xla_bytes: 0.0, known, executions: 1.0 }
    }

    /// The work of one of `1 / executions` events that make one execution of `cost`, which takes `light` at the roof.
    fn new(cost: &Cost, light: Option<Light>, executions: f64, launch_secs: f64) -> EventWork {
        let light = light.map(|light| Light {
            compute_secs: light.compute_secs * executions,
            memory_secs: light.memory_secs * executions,
            // There is nothing to start where there is nothing to do.
            launch_secs: if light.secs() > 0.0 { launch_secs } else { 0.0 },
            roof: light.roof,
        });
        EventWork {
            flops: cost.counted_operations() * executions,
            bytes: cost.compulsory.total() * executions,
            xla_bytes: cost.bytes_accessed.total() * executions,
            known: Known::Counted(light),
            executions,
        }
    }

    /// Whether every event is an execution of its own, so that its work is its own too.
    pub(crate) fn is_whole(&self) -> bool {
        self.executions == 1.0
    }
}

/// The least time from one kernel to the next; operations of a CPU have none unless it was measured.
fn launch_secs(ceilings: &Ceilings, kind: EventKind) -> f64 {
    let usual = if kind == EventKind::Kernel { LAUNCH_SECS } else { 0.0 };
    ceilings.value(Limit::Launch).unwrap_or(usual)
}

/// What computes `instruction` on `device`.
fn computes(analysis: &Analysis<'_>, device: u32, module: &HloModule, instruction: InstructionId) -> Computes {
    let device = analysis.trace.devices.get(device as usize);
    if !device.is_some_and(Device::is_processor) {
        return Computes::Accelerator;
    }
    let sorts = &*module.instruction(module.hero(instruction)).opcode == "sort";
    if sorts { Computes::SortOnProcessor } else { Computes::Processor }
}

/// Whether the products of `instruction` may be shortened: unless the program asked for all of its operands' bits.
fn products(module: &HloModule, instruction: InstructionId) -> Products {
    let hero = module.instruction(module.hero(instruction));
    let operands = &hero.attributes().precision.operands;
    let asked = !operands.is_empty() && operands.iter().all(|precision| precision.eq_ignore_ascii_case("highest"));
    // Library calls keep what was asked in their configuration.
    let kept = hero.backend_config.raw.contains("\"HIGHEST\"");
    if asked || kept { Products::Full } else { Products::MayBeShort }
}
