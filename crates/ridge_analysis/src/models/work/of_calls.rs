//! The work of device events by the calls of operators that they were for, where the capture has the sizes of their inputs.
//!
//! A call's work is divided among its pieces by how long they took. What pieces of one group did is added up, so it is exact
//! for every row that holds whole groups.

use super::called;
use super::light::{Computes, Light, Products, light};
use crate::context::groups::Key;
use crate::device::Ceilings;
use crate::models::each_work::{WorkRow, for_each_work};
use crate::{Analysis, Need, Shared};
use ridge_hlo::ElementType;
use ridge_hlo::cost::Cost;
use ridge_trace::{Device, EventKind, NONE, StringId};
use rustc_hash::FxHashMap;

/// Events around a launch that are looked at for its operator.
const NESTING: usize = 64;

/// What the pieces of a group did together.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Done {
    pub(super) flops: f64,
    pub(super) bytes: f64,
    /// Whole calls: under 1 for a piece that was not all of its call.
    pub(super) calls: f64,
    /// The time at the roofs; none where one of them is not known.
    pub(super) light: Option<Light>,
    /// Pieces of which nothing is known.
    pub(super) unknown: u64,
}

/// Work by row of the devices and what makes events alike.
#[derive(Debug, Default)]
pub struct CalledWork(FxHashMap<(u32, Key), Done>);

impl Shared for CalledWork {
    const NEEDS: &'static [Need] = &[];

    fn make(analysis: &Analysis<'_>) -> CalledWork {
        if analysis.trace.operator_shapes.is_empty() {
            return CalledWork::default();
        }
        CalledWork(by_group(analysis))
    }
}

impl CalledWork {
    /// What the pieces of work like that of `key` on `device` did.
    pub(super) fn of(&self, device: u32, key: Key) -> Option<&Done> {
        self.0.get(&(device, key))
    }
}

fn by_group(analysis: &Analysis<'_>) -> FxHashMap<(u32, Key), Done> {
    let trace = analysis.trace;
    let mut pieces: Vec<(WorkRow, u32)> = Vec::new();
    let mut whole: FxHashMap<u32, i64> = FxHashMap::default();
    for_each_work(trace, |work| {
        let call = call_of(analysis, work.row);
        pieces.push((work, call));
        if call != NONE {
            let sum = whole.entry(call).or_default();
            *sum = sum.saturating_add(work.self_ns);
        }
    });
    let mut costs: FxHashMap<(u32, u32), Option<Cost>> = FxHashMap::default();
    let mut found: FxHashMap<(u32, Key), Done> = FxHashMap::default();
    for (work, call) in pieces {
        let key = (work.device, Key::of(&trace.events, work.row as usize));
        let first = Done { light: Some(Light::default()), ..Done::default() };
        let done = found.entry(key).or_insert(first);
        let called = (call != NONE).then(|| (trace.events.name[call as usize], trace.events.detail[call as usize]));
        let cost = match called {
            Some(called) => costs.entry(called).or_insert_with(|| cost_of(analysis, called)).as_ref(),
            None => None,
        };
        let Some(cost) = cost else {
            done.unknown += 1;
            continue;
        };
        let all = whole.get(&call).copied().unwrap_or(0);
        let part = if all > 0 { work.self_ns as f64 / all as f64 } else { 1.0 };
        done.flops += cost.counted_operations() * part;
        done.bytes += cost.compulsory.total() * part;
        done.calls += part;
        let name = trace.name(work.row as usize);
        done.light =
            done.light.zip(light_of(analysis, work.device, name, cost)).map(|(sum, one)| added(sum, one, part));
    }
    found
}

/// The call of an operator that the work at `row` was for: of the one that it names, else the innermost.
fn call_of(analysis: &Analysis<'_>, row: u32) -> u32 {
    let (trace, events) = (analysis.trace, &analysis.trace.events);
    let named = trace.operation(row as usize).map(|operation| operation.name);
    let known = |row: u32| Some(row).filter(|row| *row != NONE);
    let around = std::iter::successors(known(events.link[row as usize]), |row| known(events.parent[*row as usize]));
    let mut operators = around.take(NESTING).filter(|row| events.kind[*row as usize] == EventKind::Operator as u8);
    operators.find(|row| named.is_none_or(|name| events.name[*row as usize] == name.0)).unwrap_or(NONE)
}

fn cost_of(analysis: &Analysis<'_>, (name, detail): (u32, u32)) -> Option<Cost> {
    let shape = analysis.trace.operator_shapes.get(detail as usize)?;
    let text = |id: StringId| analysis.text(id);
    called::cost(text(StringId(name)), text(shape.dims), text(shape.types), text(shape.values))
}

impl Analysis<'_> {
    /// What the operator of PyTorch at event `row` had to compute and move, by the shapes that it was called with; `None` where that
    /// is not known, as for operators that only call others.
    pub fn cost_of_operator(&self, row: u32) -> Option<Cost> {
        let events = &self.trace.events;
        let is_operator = events.kind(row as usize) == EventKind::Operator;
        is_operator.then(|| cost_of(self, (events.name[row as usize], events.detail[row as usize])))?
    }

    /// Whether the operator of PyTorch at event `row` was called with an array of `element`, single numbers aside.
    pub fn operator_takes(&self, row: u32, element: ElementType) -> bool {
        let shape = self.trace.operator_shape(row as usize);
        shape.is_some_and(|shape| called::takes(self.text(shape.dims), self.text(shape.types), element))
    }
}

fn light_of(analysis: &Analysis<'_>, device: u32, kernel: &str, cost: &Cost) -> Option<Light> {
    let ceilings: &Ceilings = analysis.ceilings.get(device as usize)?;
    let is_processor = analysis.trace.devices.get(device as usize).is_some_and(Device::is_processor);
    let computes = if is_processor { Computes::Processor } else { Computes::Accelerator };
    // PyTorch multiplies 32-bit numbers in full unless the program allows otherwise, which the kernel's name shows.
    let is_short = ["tf32", "s1688", "xf32"].iter().any(|word| kernel.contains(word));
    light(ceilings, cost, if is_short { Products::MayBeShort } else { Products::Full }, computes)
}

fn added(sum: Light, one: Light, part: f64) -> Light {
    let compute_secs = sum.compute_secs + one.compute_secs * part;
    let roof = if one.compute_secs * part > sum.compute_secs { one.roof } else { sum.roof.or(one.roof) };
    Light { compute_secs, memory_secs: sum.memory_secs + one.memory_secs * part, launch_secs: 0.0, roof }
}
