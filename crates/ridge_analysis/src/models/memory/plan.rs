//! The memory that one compiled program needs: how much at most, of which class, and what is alive then.
//!
//! Where the module carries the compiler's buffer assignment that is the plan, and its heap traces are replayed.
//! Where it does not, the plan is modelled from the schedule: every value has memory of its own while it lives.
//! Both are about one run on one device; what a run really used is in allocator events.

use ridge_hlo::memory::{Liveness, Schedule, Value};
use ridge_hlo::{Allocation, AssignedBuffer, BufferAssignment, HloModule, InstructionId, LogicalBuffer};
use ridge_table::Basis;
use rustc_hash::{FxHashMap, FxHashSet};

/// What memory is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// An argument that the caller keeps.
    Parameter,
    /// An argument whose memory is also a result's.
    Donated,
    /// A result.
    Output,
    /// A constant of the program.
    Constant,
    /// Needed only while the program runs.
    Temporary,
    /// Planned, but holding nothing at the peak: what alignment and reuse leave over.
    Unused,
}

impl Class {
    /// Every class, in the order that they are stacked.
    pub const ALL: [Class; 6] =
        [Class::Parameter, Class::Donated, Class::Output, Class::Constant, Class::Temporary, Class::Unused];

    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Class::Parameter => "parameter",
            Class::Donated => "donated parameter",
            Class::Output => "output",
            Class::Constant => "constant",
            Class::Temporary => "temporary",
            Class::Unused => "unused",
        }
    }
}

/// Memory that is taken at the peak.
#[derive(Debug, Clone, PartialEq)]
pub struct Held {
    /// What it is for.
    pub class: Class,
    /// The instruction that makes the value, where there is one.
    pub at: Option<InstructionId>,
    /// Path of tuple positions in that instruction's value.
    pub index: Vec<i64>,
    /// Bytes that are set aside for it.
    pub bytes: u64,
    /// First and last position in the schedule, where known.
    pub lives: Option<(u32, u32)>,
}

/// The memory that one program needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// [`Basis::Counted`] from the compiler's buffer assignment, else [`Basis::Modelled`].
    pub basis: Basis,
    /// Most bytes at one time.
    pub peak_bytes: u64,
    /// Bytes by class over the whole program: what is set aside, not what is alive at the peak.
    pub class_bytes: FxHashMap<Class, u64>,
    /// The instruction at which the peak is reached, where known.
    pub peak_at: Option<InstructionId>,
    /// What is taken at the peak, largest first; sums to `peak_bytes`.
    pub held: Vec<Held>,
}

impl Plan {
    /// The plan of `module`; `None` where it has no instruction to run.
    pub(crate) fn new(module: &HloModule, schedule: &Schedule, liveness: &Liveness) -> Option<Plan> {
        if schedule.is_empty() {
            return None;
        }
        let planner = Planner { module, schedule, liveness };
        let mut plan = match &module.buffers {
            Some(buffers) if !buffers.allocations.is_empty() => planner.assigned(buffers),
            _ => planner.modelled(),
        };
        plan.held.retain(|held| held.bytes > 0);
        plan.held.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| (a.class, a.lives).cmp(&(b.class, b.lives))));
        Some(plan)
    }

    /// Everything that takes memory at some time, each with its first and last position in the schedule, largest first.
    pub(crate) fn course(module: &HloModule, schedule: &Schedule, liveness: &Liveness) -> Vec<Held> {
        let mut all = Planner { module, schedule, liveness }.course();
        all.retain(|held| held.bytes > 0 && held.lives.is_some());
        all.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| (a.class, a.lives).cmp(&(b.class, b.lives))));
        all
    }

    /// Bytes of `class` over the whole program.
    pub fn bytes_of(&self, class: Class) -> u64 {
        self.class_bytes.get(&class).copied().unwrap_or(0)
    }
}

struct Planner<'a> {
    module: &'a HloModule,
    schedule: &'a Schedule,
    liveness: &'a Liveness,
}

/// A value placed in an allocation.
type Placed<'b> = (&'b AssignedBuffer, &'b LogicalBuffer);

impl Planner<'_> {
    /// The compiler's plan, of the default memory space.
    fn assigned(&self, buffers: &BufferAssignment) -> Plan {
        let peak = buffers.replay_peak();
        let by_id: FxHashMap<i64, &LogicalBuffer> = buffers.buffers.iter().map(|buffer| (buffer.id, buffer)).collect();
        let traced: FxHashSet<i64> = buffers.heap_traces.iter().map(|trace| trace.allocation).collect();
        let class_of: FxHashMap<i64, Class> = buffers.allocations.iter().flat_map(classes_of_buffers).collect();
        let untraced: Vec<&Allocation> =
            counted(buffers).filter(|allocation| !traced.contains(&allocation.index)).collect();
        let moment = peak.at.and_then(|at| self.schedule.position(at)).or_else(|| self.busiest(&untraced, &by_id));
        let mut held: Vec<Held> = peak
            .alive
            .iter()
            .filter_map(|id| Some(self.held(class_of.get(id).copied()?, by_id.get(id)?, None)))
            .collect();
        for allocation in &untraced {
            self.in_allocation(allocation, &by_id, moment, &mut held);
        }
        let shown: u64 = held.iter().fold(0, |sum, held| sum.saturating_add(held.bytes));
        held.push(unused(peak.bytes.saturating_sub(shown)));
        let mut class_bytes: FxHashMap<Class, u64> = FxHashMap::default();
        for allocation in counted(buffers) {
            let bytes = class_bytes.entry(class_of_allocation(allocation)).or_default();
            *bytes = bytes.saturating_add(bytes_of(allocation.size));
        }
        let peak_at = peak.at.or_else(|| moment.map(|moment| self.schedule.order[moment as usize]));
        Plan { basis: Basis::Counted, peak_bytes: peak.bytes, class_bytes, peak_at, held }
    }

    /// What an allocation that no heap trace is about holds at `moment`; its bytes count throughout.
    fn in_allocation(
        &self,
        allocation: &Allocation,
        by_id: &FxHashMap<i64, &LogicalBuffer>,
        moment: Option<u32>,
        held: &mut Vec<Held>,
    ) {
        let class = class_of_allocation(allocation);
        let mut placed = placed(allocation, by_id);
        if class != Class::Temporary {
            // Its memory is one thing to the caller, whichever values pass through it: the first names it.
            placed.sort_by_key(|(_, buffer)| self.value(buffer).map_or(u32::MAX, |value| value.from));
            let name = if class == Class::Output { placed.last() } else { placed.first() };
            let bytes = Some(bytes_of(allocation.size));
            held.push(name.map_or_else(
                || Held { class, ..unused(bytes_of(allocation.size)) },
                |(_, buffer)| self.held(class, buffer, bytes),
            ));
            return;
        }
        let mut taken: Vec<(u64, u64)> = Vec::new();
        for (place, buffer) in placed.iter().filter(|(_, buffer)| self.is_alive(buffer, moment)) {
            let (first, last) = (bytes_of(place.offset), bytes_of(place.offset).saturating_add(bytes_of(place.size)));
            // Values that share memory are one: the first is shown.
            if taken.iter().all(|(from, to)| last <= *from || first >= *to) {
                taken.push((first, last));
                held.push(self.held(class, buffer, Some(bytes_of(place.size))));
            }
        }
        let used: u64 = taken.iter().fold(0, |sum, (first, last)| sum.saturating_add(last - first));
        held.push(unused(bytes_of(allocation.size).saturating_sub(used)));
    }

    /// The position at which most bytes of these allocations are in use.
    fn busiest(&self, allocations: &[&Allocation], by_id: &FxHashMap<i64, &LogicalBuffer>) -> Option<u32> {
        let temporary = allocations.iter().filter(|allocation| class_of_allocation(allocation) == Class::Temporary);
        let ranges = temporary.flat_map(|allocation| placed(allocation, by_id)).filter_map(|(place, buffer)| {
            let value = self.value(buffer)?;
            Some((value.from, value.to, bytes_of(place.size)))
        });
        busiest(ranges, self.schedule.len()).map(|(position, _)| position)
    }

    fn value(&self, buffer: &LogicalBuffer) -> Option<&Value> {
        let at = buffer.defined_at.instruction?;
        self.liveness.value_at(self.module, at, &buffer.defined_at.shape_index)
    }

    fn is_alive(&self, buffer: &LogicalBuffer, moment: Option<u32>) -> bool {
        let Some((value, moment)) = self.value(buffer).zip(moment) else { return false };
        (value.from..=value.to).contains(&moment)
    }

    /// A value of the compiler's plan; `bytes` where its allocation says more than the value does.
    fn held(&self, class: Class, buffer: &LogicalBuffer, bytes: Option<u64>) -> Held {
        Held {
            class,
            at: buffer.defined_at.instruction,
            index: buffer.defined_at.shape_index.clone(),
            bytes: bytes.unwrap_or(bytes_of(buffer.size)),
            lives: self.value(buffer).map(|value| (value.from, value.to)),
        }
    }

    /// Everything that takes memory at some time, with its first and last position in the schedule.
    fn course(&self) -> Vec<Held> {
        let Some(buffers) = self.module.buffers.as_ref().filter(|buffers| !buffers.allocations.is_empty()) else {
            return self.modelled_values().iter().map(|(class, value)| self.held_value(*class, value)).collect();
        };
        let by_id: FxHashMap<i64, &LogicalBuffer> = buffers.buffers.iter().map(|buffer| (buffer.id, buffer)).collect();
        let throughout = Some((0, self.schedule.len().saturating_sub(1)));
        let mut all: Vec<Held> = Vec::new();
        for allocation in counted(buffers) {
            if class_of_allocation(allocation) != Class::Temporary {
                self.in_allocation(allocation, &by_id, None, &mut all);
                all.iter_mut().rev().take(1).for_each(|held| held.lives = throughout);
                continue;
            }
            let mut places: Vec<(i64, i64, Held)> = placed(allocation, &by_id)
                .into_iter()
                .map(|(place, buffer)| {
                    (place.offset, place.size, self.held(Class::Temporary, buffer, Some(bytes_of(place.size))))
                })
                .filter(|(_, _, held)| held.lives.is_some())
                .collect();
            places.sort_by_key(|(offset, size, held)| (*offset, *size, held.lives));
            // Values that have the same memory one upon the other, as what is updated in place, are one.
            let mut last: Option<(i64, i64)> = None;
            for (offset, size, held) in places {
                let lives = held.lives.unwrap_or_default();
                match all.last_mut().filter(|_| last == Some((offset, size))).and_then(|before| before.lives.as_mut()) {
                    Some(before) if lives.0 <= before.1 => before.1 = before.1.max(lives.1),
                    _ => all.push(held),
                }
                last = Some((offset, size));
            }
        }
        all
    }

    /// Every value while it lives; what is not temporary throughout.
    fn modelled_values(&self) -> Vec<(Class, Value)> {
        let end = self.schedule.len().saturating_sub(1);
        let with_class = |value: &Value| {
            let class = self.class_of(value);
            let lives = if class == Class::Temporary { (value.from, value.to) } else { (0, end) };
            (class, Value { from: lives.0, to: lives.1, ..*value })
        };
        self.liveness.values().map(with_class).collect()
    }

    /// The plan where the compiler's is not known: what is alive takes memory, and so do parameters throughout.
    fn modelled(&self) -> Plan {
        let values = self.modelled_values();
        let ranges = values.iter().map(|(_, value)| (value.from, value.to, value.bytes));
        let (moment, peak_bytes) = busiest(ranges, self.schedule.len()).unwrap_or((0, 0));
        let mut class_bytes: FxHashMap<Class, u64> = FxHashMap::default();
        for (class, value) in values.iter().filter(|(class, _)| *class != Class::Temporary) {
            let bytes = class_bytes.entry(*class).or_default();
            *bytes = bytes.saturating_add(value.bytes);
        }
        let always = class_bytes.values().fold(0u64, |sum, bytes| sum.saturating_add(*bytes));
        class_bytes.insert(Class::Temporary, peak_bytes.saturating_sub(always));
        let alive = values.iter().filter(|(_, value)| (value.from..=value.to).contains(&moment));
        let held = alive.map(|(class, value)| self.held_value(*class, value)).collect();
        let peak_at = self.schedule.order.get(moment as usize).copied();
        Plan { basis: Basis::Modelled, peak_bytes, class_bytes, peak_at, held }
    }

    fn held_value(&self, class: Class, value: &Value) -> Held {
        let shape = &self.module.instruction(value.at).shape;
        Held {
            class,
            at: Some(value.at),
            index: shape.path_of(value.leaf as usize),
            bytes: value.bytes,
            lives: Some((value.from, value.to)),
        }
    }

    fn class_of(&self, value: &Value) -> Class {
        let maker = self.module.instruction(value.at);
        let is_argument = maker.opcode == "parameter" && self.module.entry == Some(maker.computation);
        match (is_argument, value.is_output, maker.opcode == "constant") {
            (true, true, _) => Class::Donated,
            (true, false, _) => Class::Parameter,
            (_, true, _) => Class::Output,
            (_, _, true) => Class::Constant,
            _ => Class::Temporary,
        }
    }
}

/// Position and bytes of the moment at which most of `ranges` (first, last, bytes) is taken.
fn busiest(ranges: impl Iterator<Item = (u32, u32, u64)>, positions: u32) -> Option<(u32, u64)> {
    let mut change = vec![0i128; positions as usize + 1];
    for (from, to, bytes) in ranges {
        change[from.min(positions) as usize] += i128::from(bytes);
        change[(to.saturating_add(1)).min(positions) as usize] -= i128::from(bytes);
    }
    let mut bytes = 0;
    let sums = change.iter().take(positions as usize).map(|change| {
        bytes += change;
        bytes
    });
    let (position, most) =
        sums.enumerate().reduce(|best, other| if other.1 > best.1 { other } else { best }).filter(|best| best.1 > 0)?;
    Some((position as u32, u64::try_from(most).unwrap_or(u64::MAX)))
}

/// Allocations of the default memory space that count: a thread's own are counted by nobody, XLA included.
fn counted(buffers: &BufferAssignment) -> impl Iterator<Item = &Allocation> {
    buffers.allocations.iter().filter(|allocation| allocation.color == 0 && !allocation.is_thread_local)
}

fn class_of_allocation(allocation: &Allocation) -> Class {
    let is_result = allocation.maybe_live_out || allocation.is_parameter_aliased_with_output;
    match (allocation.is_parameter, is_result, allocation.is_constant) {
        (true, true, _) => Class::Donated,
        (true, false, _) => Class::Parameter,
        (_, _, true) => Class::Constant,
        (_, true, _) => Class::Output,
        _ => Class::Temporary,
    }
}

/// The class of each value in an allocation, by number.
fn classes_of_buffers(allocation: &Allocation) -> impl Iterator<Item = (i64, Class)> + '_ {
    let class = class_of_allocation(allocation);
    allocation.assigned.iter().map(move |place| (place.buffer, class))
}

fn placed<'b>(allocation: &'b Allocation, by_id: &FxHashMap<i64, &'b LogicalBuffer>) -> Vec<Placed<'b>> {
    allocation.assigned.iter().filter_map(|place| Some((place, *by_id.get(&place.buffer)?))).collect()
}

fn unused(bytes: u64) -> Held {
    Held { class: Class::Unused, at: None, index: Vec::new(), bytes, lives: None }
}

fn bytes_of(size: i64) -> u64 {
    u64::try_from(size).unwrap_or(0)
}
