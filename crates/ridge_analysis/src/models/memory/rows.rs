//! Memory in rows: values at a module's peak, missed donations, allocators and who held what of them, use over time.

use super::allocators::whole;
use super::{Allocator, FirstRuns, Growth, Held, Holder, Holding, Memory, PlannedModule, Point};
use crate::Analysis;
use ridge_hlo::memory::MissedDonation;
use ridge_hlo::{HloModule, InstructionId, Shape};
use ridge_table::Subject;
use ridge_trace::{ModuleRow, SegmentRow, StackRow, StringId, Trace};
use std::cmp::Reverse;

/// A value that is alive at the peak of a module.
#[derive(Debug, Clone)]
pub struct AliveRow {
    module: usize,
    /// The value.
    pub held: Held,
    /// Its size as a part of the module's peak.
    pub share: f64,
    /// Device time from the first event that makes or first follows it to the end of the last one that needs it, in the
    /// first run of the capture, nanoseconds.
    pub live_ns: Option<i64>,
}

impl AliveRow {
    /// The module.
    pub fn module<'a>(&self, analysis: &Analysis<'a>) -> &'a PlannedModule {
        &analysis.memory().modules[self.module]
    }

    /// The instruction that makes it, and its module.
    pub fn made_by<'a>(&self, analysis: &Analysis<'a>) -> Option<(&'a HloModule, InstructionId)> {
        Some((self.module(analysis).hlo(analysis), self.held.at?))
    }

    /// Its type and extents.
    pub fn shape<'a>(&self, analysis: &Analysis<'a>) -> Option<&'a Shape> {
        let (hlo, at) = self.made_by(analysis)?;
        part(&hlo.instruction(at).shape, &self.held.index)
    }

    /// Bytes set aside beyond those of its elements: layout tiles, and the rest of its allocation.
    pub fn padding_bytes(&self, analysis: &Analysis<'_>) -> Option<u64> {
        Some(self.held.bytes.saturating_sub(self.shape(analysis)?.byte_size().ok()?))
    }
}

/// A parameter of a module that could have been donated.
#[derive(Debug, Clone)]
pub struct DonationRow {
    module: usize,
    /// What could have been donated, and to which result.
    pub missed: MissedDonation,
}

impl DonationRow {
    /// The module.
    pub fn module<'a>(&self, analysis: &Analysis<'a>) -> &'a PlannedModule {
        &analysis.memory().modules[self.module]
    }

    /// Its HLO.
    pub fn hlo<'a>(&self, analysis: &Analysis<'a>) -> &'a HloModule {
        self.module(analysis).hlo(analysis)
    }

    /// Type and extents of the parameter and the result.
    pub fn shape<'a>(&self, analysis: &Analysis<'a>) -> Option<&'a Shape> {
        part(&self.hlo(analysis).instruction(self.missed.parameter).shape, &self.missed.parameter_index)
    }
}

/// The part of a value that is at `index`.
fn part<'s>(shape: &'s Shape, index: &[i64]) -> Option<&'s Shape> {
    shape.at(index).or_else(|| shape.leaves().get(shape.leaf_at(index)?).copied())
}

/// What one holder has of an allocator's peak.
#[derive(Debug, Clone, Copy)]
pub struct HolderRow {
    allocator: usize,
    /// Who holds it; `None` for what was allocated before the capture.
    pub holder: Option<Holder>,
    /// What is held.
    pub holding: Holding,
    /// Its bytes as a part of the peak.
    pub share: f64,
}

impl HolderRow {
    /// The allocator.
    pub fn allocator<'a>(&self, analysis: &Analysis<'a>) -> &'a Allocator {
        &analysis.memory().allocators[self.allocator]
    }

    /// The call stack that asked for it.
    pub fn stack(&self) -> Option<StackRow> {
        self.holder?.stack
    }

    /// The call stack, else the allocator.
    pub fn subject(&self, analysis: &Analysis<'_>) -> Subject {
        let Allocator { process, name, .. } = *self.allocator(analysis);
        self.stack().map_or(Subject::Allocator(process, name), Subject::Stack)
    }
}

/// A stretch of time of an allocator, or of one of its owners.
#[derive(Debug, Clone, Copy)]
pub struct UsageRow {
    allocator: usize,
    /// The category whose use it is; all use of the allocator where there is none.
    pub owner: Option<StringId>,
    /// Use within the stretch.
    pub point: Point,
}

impl UsageRow {
    /// The allocator.
    pub fn allocator<'a>(&self, analysis: &Analysis<'a>) -> &'a Allocator {
        &analysis.memory().allocators[self.allocator]
    }
}

/// A segment that an allocator took from its driver or gave back, or a request that could not be met.
#[derive(Debug, Clone, Copy)]
pub struct SegmentEventRow {
    allocator: usize,
    /// The event.
    pub row: SegmentRow,
}

impl SegmentEventRow {
    /// The allocator.
    pub fn allocator<'a>(&self, analysis: &Analysis<'a>) -> &'a Allocator {
        &analysis.memory().allocators[self.allocator]
    }

    /// The call stack that asked for it.
    pub fn stack(&self, trace: &Trace) -> Option<StackRow> {
        StackRow::known(trace.memory.segments.stack[self.row.index()])
    }
}

/// An allocator with what takes a walk over its events.
#[derive(Debug, Clone, Copy)]
pub struct AllocatorRow {
    allocator: usize,
    /// Bytes in use at the peak beyond those that were asked for, of blocks allocated within the capture.
    pub rounding_bytes: Option<u64>,
    /// How its use changes from step to step.
    pub growth: Option<Growth>,
}

impl AllocatorRow {
    /// The allocator.
    pub fn of<'a>(&self, analysis: &Analysis<'a>) -> &'a Allocator {
        &analysis.memory().allocators[self.allocator]
    }
}

impl Memory {
    /// What is alive at the peak of `module`, most bytes first; of the one with the largest peak where none is named.
    pub fn alive(&self, analysis: &Analysis<'_>, module: Option<ModuleRow>) -> Vec<AliveRow> {
        let found = self.modules.iter().position(|planned| module.is_none_or(|row| planned.row == row));
        let Some((at, module)) = found.and_then(|at| Some((at, self.modules.get(at)?))) else { return Vec::new() };
        let runs = FirstRuns::new(analysis.trace, module.row, &module.schedule);
        let peak = module.plan.peak_bytes;
        let row = |held: &Held| AliveRow {
            module: at,
            held: held.clone(),
            share: if peak == 0 { 0.0 } else { held.bytes as f64 / peak as f64 },
            live_ns: held.lives.and_then(|lives| runs.between(lives)),
        };
        module.plan.held.iter().map(row).collect()
    }

    /// Parameters that could have been donated, over all modules, most bytes first.
    pub fn donations(&self) -> Vec<DonationRow> {
        let row = |(module, missed): (usize, &MissedDonation)| DonationRow { module, missed: missed.clone() };
        let modules = self.modules.iter().enumerate();
        let missed = modules.flat_map(|(at, module)| module.missed.iter().map(move |missed| (at, missed)));
        let mut rows: Vec<DonationRow> = missed.map(row).collect();
        rows.sort_by_key(|row| Reverse(row.missed.bytes));
        rows
    }

    /// Every allocator, most bytes at its peak first.
    pub fn allocator_rows(&self, trace: &Trace) -> Vec<AllocatorRow> {
        let row = |(at, allocator): (usize, &Allocator)| AllocatorRow {
            allocator: at,
            rounding_bytes: rounding(&allocator.alive_at_peak(trace).0),
            growth: allocator.growth(trace),
        };
        self.allocators.iter().enumerate().map(row).collect()
    }

    /// Who held memory at the peak of each allocator, most bytes first.
    pub fn holders(&self, trace: &Trace) -> Vec<HolderRow> {
        let mut rows: Vec<HolderRow> = Vec::new();
        for (at, allocator) in self.allocators.iter().enumerate() {
            let (held, unknown) = allocator.alive_at_peak(trace);
            let peak = allocator.peak_bytes(trace);
            let row = |holder, holding: Holding| {
                let share = if peak == 0 { 0.0 } else { holding.bytes as f64 / peak as f64 };
                HolderRow { allocator: at, holder, holding, share }
            };
            rows.extend(held.into_iter().map(|(holder, holding)| row(Some(holder), holding)));
            if unknown > 0 {
                let bytes = i64::try_from(unknown).unwrap_or(i64::MAX);
                rows.push(row(None, Holding { bytes, ..Holding::default() }));
            }
        }
        rows.sort_by_key(|row| Reverse(row.holding.bytes));
        rows
    }

    /// Use over time by allocator, then by owner where events say no address, then in order of time.
    pub fn usage(&self, trace: &Trace) -> Vec<UsageRow> {
        let of = |(at, allocator): (usize, &Allocator)| {
            let row = move |owner| move |point| UsageRow { allocator: at, owner, point };
            let mut rows: Vec<UsageRow> = allocator.line(trace).into_iter().map(row(None)).collect();
            for (owner, points) in allocator.lines_of_owners(trace) {
                rows.extend(points.into_iter().map(row(Some(owner))));
            }
            rows
        };
        self.allocators.iter().enumerate().flat_map(of).collect()
    }

    /// Requests that could not be met, and what allocators took from their drivers, in order of time.
    pub fn segment_events(&self, trace: &Trace) -> Vec<SegmentEventRow> {
        let of = |(allocator, found): (usize, &Allocator)| {
            found.segment_events(trace).into_iter().map(move |row| SegmentEventRow { allocator, row })
        };
        let mut rows: Vec<SegmentEventRow> = self.allocators.iter().enumerate().flat_map(of).collect();
        rows.sort_by_key(|row| trace.memory.segments.time_ns[row.row.index()]);
        rows
    }
}

fn rounding(held: &[(Holder, Holding)]) -> Option<u64> {
    let asked = held.iter().filter(|(_, holding)| holding.requested > 0);
    let waste = asked.map(|(_, holding)| whole(holding.bytes.saturating_sub(holding.requested)));
    waste.reduce(u64::saturating_add)
}
