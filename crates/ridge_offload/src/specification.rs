//! What a set of instructions has to do, or why it cannot be said.
//!
//! Arithmetic is that of the cost model. Besides that it finds windows (several slices of one array, convolutions), products,
//! tables that are read where data say, short sorts and what they are asked for, and the longest path of operators.
//! Loops are followed with their trips; values between the instructions stay on the chip where there is room.

use crate::constants::constants;
use crate::flow::{self, Boundary};
use crate::operators::{Format, Operator};
use crate::shapes;
use crate::workload::{Contraction, MergeSort, Operations, Table, Workload};
use crate::{Class, Family};
use ridge_hlo::cost::{Assumption, Cost, ModuleCosts, OpKind};
use ridge_hlo::{
    ComputationId, Elementwise, HloModule, Instruction, InstructionId, Opcode, OpcodeClass, Users, sorting_network,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// Instructions looked at for one region, over all its loops and fusions.
const MOST: usize = 200_000;

/// Loops and calls inside one another; only broken files have more.
const DEEPEST: usize = 64;

/// Windows are told from other slices by this part of the array.
const OVERLAPPING: f64 = 0.5;

/// The module that is looked at.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) module: &'a HloModule,
    pub(crate) costs: &'a ModuleCosts,
    pub(crate) users: &'a Users,
}

/// Why a set of instructions has no specification; the instruction stands for the rest.
pub(crate) fn refusal(source: Source<'_>, members: &[InstructionId]) -> Option<String> {
    members.iter().find_map(|&id| refuses(source, id))
}

/// Why one instruction, with all that it calls, has no specification.
pub(crate) fn refuses(source: Source<'_>, id: InstructionId) -> Option<String> {
    let Source { module, costs, .. } = source;
    let instruction = module.instruction(id);
    let cost = costs.of(id);
    if module.collective(id).is_some() || instruction.opcode.is_collective() {
        return Some(format!("`{}` exchanges data with other devices", instruction.name));
    }
    if let Some(unknown) = &cost.unknown {
        return Some(format!("{} is opaque: the HLO doesn't contain its computation", unknown.reason(module)));
    }
    if cost.assumptions.contains(Assumption::StatedEstimate) {
        let target = instruction.custom_call_target.as_deref().unwrap_or("a kernel");
        return Some(format!("custom call `{target}` is opaque: only its author's estimate of its work is known"));
    }
    if cost.assumptions.contains(Assumption::UpperBound) || shapes::is_dynamic(&instruction.shape) {
        return Some(format!("`{}` has dynamic shapes", instruction.name));
    }
    if cost.assumptions.contains(Assumption::TripCountUnknown) {
        return Some(format!("the trip count of a loop in `{}` is unknown", instruction.name));
    }
    matches!(&*instruction.opcode, "infeed" | "outfeed")
        .then(|| format!("`{}` exchanges data with the host while it runs", instruction.name))
}

/// What `members`, which are of one computation, have to do in one call.
pub(crate) fn workload(source: Source<'_>, members: &[InstructionId], boundary: &Boundary) -> Workload {
    let mut found = Found::new(source);
    let set: FxHashSet<InstructionId> = members.iter().copied().collect();
    members.iter().for_each(|&id| found.add(id, 1.0, 0));
    let path_clocks = found.path(members, 0);
    let (kept, spilled) = found.between(members, &set);
    let mut workload = Workload {
        operations: found.operations(),
        bytes: boundary.input.0 + boundary.output.0,
        kept_bytes: kept,
        spilled_bytes: spilled,
        line_buffer_bytes: found.line_buffers(),
        input: boundary.input,
        output: boundary.output,
        path_clocks,
        contractions: std::mem::take(&mut found.contractions),
        tables: std::mem::take(&mut found.tables),
        merge_sort: found.merge_sort,
        ..Workload::default()
    };
    workload.class = class(&workload, found.has_transform);
    workload
}

fn class(workload: &Workload, has_transform: bool) -> Class {
    let area = |wanted: fn(&Operations) -> bool| {
        let cost = |one: &Operations| {
            let cost = constants().operator(Family::Ultrascale, one.format, one.operator);
            cost.map_or(0.0, |cost| one.count * (cost.lut + 100.0 * cost.dsp))
        };
        workload.operations.iter().filter(|one| wanted(one)).map(cost).sum::<f64>()
    };
    let all = area(|_| true);
    let accessed: f64 = workload.tables.iter().map(|table| table.accesses * table.access_bytes).sum();
    match () {
        () if workload.merge_sort.is_some() => Class::Sort,
        () if area(|one| one.operator == Operator::Exchange) > 0.5 * all => Class::Sort,
        () if has_transform => Class::Transform,
        () if area(|one| one.operator == Operator::MultiplyAdd) > 0.5 * all => Class::Contraction,
        () if accessed > 0.25 * workload.bytes => Class::Gather,
        () if workload.line_buffer_bytes > 0.0 => Class::Window,
        () => Class::Stream,
    }
}

/// What was found so far.
struct Found<'a> {
    source: Source<'a>,
    counts: FxHashMap<(Operator, Format), f64>,
    contractions: Vec<Contraction>,
    tables: Vec<Table>,
    merge_sort: Option<MergeSort>,
    has_transform: bool,
    /// Slices of one array: the least and the greatest distance of their starts, bytes.
    slices: FxHashMap<InstructionId, (f64, f64)>,
    windows: f64,
    paths: FxHashMap<ComputationId, f64>,
    left: usize,
}

impl<'a> Found<'a> {
    fn new(source: Source<'a>) -> Found<'a> {
        Found {
            source,
            counts: FxHashMap::default(),
            contractions: Vec::new(),
            tables: Vec::new(),
            merge_sort: None,
            has_transform: false,
            slices: FxHashMap::default(),
            windows: 0.0,
            paths: FxHashMap::default(),
            left: MOST,
        }
    }

    /// Adds instruction `id`, run `times`.
    fn add(&mut self, id: InstructionId, times: f64, depth: usize) {
        if self.left == 0 || depth > DEEPEST {
            return;
        }
        self.left -= 1;
        let Source { module, costs, .. } = self.source;
        let instruction = module.instruction(id);
        match &*instruction.opcode {
            "while" => {
                let trips = costs.trips(id);
                for (&called, runs) in instruction.called.iter().zip([trips, trips + 1.0]) {
                    self.add_all(called, times * runs, depth + 1);
                }
            }
            "call" | "async-start" => {
                instruction.called.iter().for_each(|&called| self.add_all(called, times, depth + 1));
            }
            "fusion" => {
                // Its own count knows which part of each value is needed; what is inside tells windows and tables.
                self.count(costs.of(id), times, &[]);
                instruction.called.iter().for_each(|&called| self.structure_of(called, times, depth + 1));
            }
            "sort" => self.sort(id, instruction, times),
            _ => {
                self.count(costs.of(id), times, &[]);
                self.structure(id, instruction, times);
            }
        }
    }

    fn add_all(&mut self, computation: ComputationId, times: f64, depth: usize) {
        self.source.module.computation(computation).instruction_ids().for_each(|id| self.add(id, times, depth));
    }

    fn structure_of(&mut self, computation: ComputationId, times: f64, depth: usize) {
        for id in self.source.module.computation(computation).instruction_ids() {
            let instruction = self.source.module.instruction(id);
            if self.left == 0 || depth > DEEPEST {
                return;
            }
            self.left -= 1;
            if instruction.is_fusion() {
                instruction.called.iter().for_each(|&called| self.structure_of(called, times, depth + 1));
            }
            self.structure(id, instruction, times);
        }
    }

    fn count(&mut self, cost: &Cost, times: f64, without: &[OpKind]) {
        for item in cost.work.by().iter().filter(|item| !without.contains(&item.kind)) {
            let key = (Operator::of(item.kind), Format::of(item.element_type));
            *self.counts.entry(key).or_default() += item.count * times;
        }
    }

    fn operations(&self) -> Vec<Operations> {
        let counts = self.counts.iter().filter(|(_, count)| **count > 0.0);
        let mut all: Vec<Operations> =
            counts.map(|(&(operator, format), &count)| Operations { operator, format, count }).collect();
        all.sort_by_key(|one| (one.operator, one.format));
        all
    }

    /// Windows, products, tables and transforms.
    fn structure(&mut self, id: InstructionId, instruction: &Instruction, times: f64) {
        let module = self.source.module;
        let operand = |at: usize| instruction.operands.get(at).map(|&operand| &module.instruction(operand).shape);
        match &*instruction.opcode {
            "slice" => self.slice(id, instruction),
            "convolution" | "reduce-window" => {
                if let (Some(window), Some(shape)) = (&instruction.attributes().window, operand(0)) {
                    self.windows += shapes::window_bytes(shape, window);
                }
            }
            "gather" => {
                let Some(table) = operand(0) else { return };
                let sizes: f64 = instruction.attributes().gather.as_ref().map_or(1.0, |gather| {
                    gather.offset_dims.iter().map(|at| shapes::extent(&instruction.shape, &[*at])).product()
                });
                let accesses = shapes::elements(&instruction.shape) / sizes.max(1.0) * times;
                self.table(accesses, sizes * shapes::element_bytes(table), shapes::bytes(table), false);
            }
            "scatter" => {
                let arrays = instruction.operands.len().saturating_sub(1) / 2;
                let (Some(table), Some(updates)) = (operand(0), operand(arrays + 1)) else { return };
                let sizes: f64 = instruction.attributes().scatter.as_ref().map_or(1.0, |scatter| {
                    scatter.update_window_dims.iter().map(|at| shapes::extent(updates, &[*at])).product()
                });
                let accesses = shapes::elements(updates) / sizes.max(1.0) * times;
                self.table(accesses, sizes * shapes::element_bytes(table), shapes::bytes(table), true);
            }
            "dot" => self.dot(instruction, times),
            "fft" => self.has_transform = true,
            _ => {}
        }
    }

    fn table(&mut self, accesses: f64, access_bytes: f64, bytes: f64, is_updated: bool) {
        self.tables.push(Table { accesses, access_bytes, bytes, is_updated });
    }

    fn dot(&mut self, instruction: &Instruction, times: f64) {
        let module = self.source.module;
        let [left, right] = instruction.operands[..] else { return };
        let (left, right) = (&module.instruction(left).shape, &module.instruction(right).shape);
        let Some(dot) = &instruction.attributes().dot else { return };
        let (k, batch) = (shapes::extent(left, &dot.lhs_contracting), shapes::extent(left, &dot.lhs_batch));
        let inner = (k * batch).max(1.0);
        self.contractions.push(Contraction {
            m: (shapes::elements(left) / inner).max(1.0),
            n: (shapes::elements(right) / inner).max(1.0),
            k,
            batch: batch * times,
            element_bytes: shapes::element_bytes(left),
        });
    }

    /// A slice of most of an array is one of several shifted views of it.
    fn slice(&mut self, id: InstructionId, instruction: &Instruction) {
        let module = self.source.module;
        let Some(&operand) = instruction.operands.first() else { return };
        let shape = &module.instruction(operand).shape;
        if shapes::elements(&module.instruction(id).shape) < OVERLAPPING * shapes::elements(shape) {
            return;
        }
        let starts = instruction.attributes().slices.iter().map(|slice| slice.start as f64);
        let at: f64 = starts.zip(shapes::strides(shape)).map(|(start, stride)| start * stride).sum::<f64>();
        let at = at * shapes::element_bytes(shape);
        let known = self.slices.entry(operand).or_insert((0.0, 0.0));
        *known = (known.0.min(at), known.1.max(at));
    }

    fn line_buffers(&self) -> f64 {
        self.windows + self.slices.values().map(|(low, high)| high - low).sum::<f64>()
    }

    /// A short sort is a network, without what nobody asks of it; a long one merges.
    fn sort(&mut self, id: InstructionId, instruction: &Instruction, times: f64) {
        let shape = instruction.shape.leaves().first().map(|leaf| (*leaf).clone()).unwrap_or_default();
        let dimension = instruction.dimensions.first().copied().unwrap_or(0);
        let values = shapes::extent(&shape, &[dimension]);
        let all = shapes::elements(&shape) * times;
        let wanted = wanted_places(self.source, id, dimension);
        let network = (values <= sorting_network::LARGEST as f64)
            .then(|| sorting_network::exchanges(values as usize, wanted.as_deref()))
            .flatten();
        match network {
            Some(pairs) => {
                let key = (Operator::Exchange, Format::of(shape.element_type));
                *self.counts.entry(key).or_default() += pairs.len() as f64 * all / values.max(1.0);
            }
            None => {
                let bytes: f64 = instruction.shape.leaves().iter().map(|leaf| shapes::element_bytes(leaf)).sum();
                let known = self.merge_sort.get_or_insert(MergeSort { records: 0.0, record_bytes: bytes });
                known.records += all;
                known.record_bytes = known.record_bytes.max(bytes);
            }
        }
    }

    /// Clocks of the operators on the longest path through `members`, in file order.
    fn path(&mut self, members: &[InstructionId], depth: usize) -> f64 {
        let module = self.source.module;
        let mut ends: FxHashMap<InstructionId, f64> = FxHashMap::default();
        let mut longest: f64 = 0.0;
        let mut sorted = members.to_vec();
        sorted.sort_unstable();
        for id in sorted {
            let sources = module.instruction(id).operands.iter().flat_map(|&operand| {
                if ends.contains_key(&operand) { vec![(operand, None)] } else { flow::sources(module, operand) }
            });
            let start = sources.filter_map(|(source, _)| ends.get(&source)).copied().fold(0.0, f64::max);
            let end = start + self.latency(id, depth);
            longest = longest.max(end);
            ends.insert(id, end);
        }
        longest
    }

    fn path_of(&mut self, computation: ComputationId, depth: usize) -> f64 {
        if let Some(known) = self.paths.get(&computation) {
            return *known;
        }
        if depth > DEEPEST || self.left == 0 {
            return 0.0;
        }
        let members: Vec<InstructionId> = self.source.module.computation(computation).instruction_ids().collect();
        let path = self.path(&members, depth);
        self.paths.insert(computation, path);
        path
    }

    fn latency(&mut self, id: InstructionId, depth: usize) -> f64 {
        let Source { module, costs, .. } = self.source;
        let instruction = module.instruction(id);
        let called = instruction.called.first().copied();
        match &*instruction.opcode {
            "while" => costs.trips(id) * called.map_or(0.0, |body| self.path_of(body, depth + 1)),
            "fusion" | "call" | "conditional" | "async-start" => {
                let called = instruction.called.clone();
                called.into_iter().map(|called| self.path_of(called, depth + 1)).fold(0.0, f64::max)
            }
            "sort" => {
                let values = shapes::extent(&instruction.shape, &instruction.dimensions);
                sorting_network::layers(values.clamp(1.0, sorting_network::LARGEST as f64) as usize) as f64
            }
            _ => latency(instruction),
        }
    }

    /// Bytes of the values between `members` that have to be there as a whole, and what they cost where they are not.
    fn between(&self, members: &[InstructionId], set: &FxHashSet<InstructionId>) -> (f64, f64) {
        let Source { module, costs, .. } = self.source;
        let (mut kept, mut spilled) = (0.0, 0.0);
        let mut counted: FxHashSet<flow::Value> = FxHashSet::default();
        for &id in members {
            let instruction = module.instruction(id);
            if instruction.opcode == "while" {
                let body = instruction.called.first();
                kept += shapes::bytes(&instruction.shape);
                spilled += body.map_or(0.0, |&body| costs.boundary(body).total()) * costs.trips(id);
                continue;
            }
            if !needs_whole(module, id) {
                continue;
            }
            for &operand in &instruction.operands {
                for value in flow::sources(module, operand) {
                    if set.contains(&value.0) && counted.insert(value) {
                        let bytes = flow::value_bytes(module, value);
                        kept += bytes;
                        spilled += 2.0 * bytes;
                    }
                }
            }
        }
        (kept, spilled)
    }
}

/// Whether an instruction reads its operands in another order than they are made in.
fn needs_whole(module: &HloModule, id: InstructionId) -> bool {
    let whole = |opcode: &Opcode| {
        matches!(
            &**opcode,
            "transpose" | "gather" | "scatter" | "dot" | "convolution" | "fft" | "reverse" | "dynamic-slice"
        )
    };
    let instruction = module.instruction(id);
    let inside = instruction.called.first().filter(|_| instruction.is_fusion());
    let hero = inside.is_some_and(|&called| module.instructions_of(called).iter().any(|inner| whole(&inner.opcode)));
    let is_long_sort = instruction.opcode == "sort"
        && shapes::extent(&instruction.shape, &instruction.dimensions) > sorting_network::LARGEST as f64;
    hero || whole(&instruction.opcode) || is_long_sort
}

/// Clocks from operands to result.
fn latency(instruction: &Instruction) -> f64 {
    let format = Format::of(instruction.shape.leaves().first().map(|leaf| leaf.element_type).unwrap_or_default());
    let of = |operator| constants().operator(Family::Ultrascale, format, operator).map_or(1.0, |cost| cost.latency);
    // Partial sums hide the latency of an addition; in the end they are added up.
    let tail = || {
        let latency = constants().fixed("accumulate_latency").value;
        latency * latency.log2().ceil()
    };
    match instruction.opcode.class() {
        OpcodeClass::Elementwise(arithmetic) => match arithmetic {
            Elementwise::Add => of(Operator::Add),
            Elementwise::Multiply => of(Operator::Multiply),
            Elementwise::DivideSqrt => of(Operator::Divide),
            Elementwise::Transcendental => of(Operator::Function),
            Elementwise::Convert | Elementwise::Round => of(Operator::Convert),
            Elementwise::Compare | Elementwise::Logic | Elementwise::Map => 1.0,
            Elementwise::Parts => 0.0,
        },
        _ => match &*instruction.opcode {
            "dot" | "convolution" | "reduce" | "reduce-window" | "scatter" => of(Operator::MultiplyAdd) + tail(),
            "gather" | "dynamic-slice" | "dynamic-update-slice" => 3.0,
            _ => 0.0,
        },
    }
}

/// Which places of a sort along `dimension` somebody asks for; `None` for all.
fn wanted_places(source: Source<'_>, sort: InstructionId, dimension: i64) -> Option<Vec<usize>> {
    let mut places = Vec::new();
    for &user in source.users.of(sort) {
        let using = source.module.instruction(user);
        if using.opcode == "slice" {
            places.extend(sliced(using, dimension)?);
            continue;
        }
        if !using.is_fusion() {
            return None;
        }
        let body = source.module.computation(*using.called.first()?);
        let numbers: Vec<i64> =
            (0..).zip(&using.operands).filter(|(_, operand)| **operand == sort).map(|(at, _)| at).collect();
        for id in body.instruction_ids() {
            let is_it = source.module.instruction(id).parameter_number.is_some_and(|number| numbers.contains(&number));
            for &inner in if is_it { source.users.of(id) } else { &[] } {
                places.extend(sliced(source.module.instruction(inner), dimension)?);
            }
        }
    }
    places.sort_unstable();
    places.dedup();
    (!places.is_empty()).then_some(places)
}

/// The places that a slice takes along `dimension`; `None` for what is no slice.
fn sliced(instruction: &Instruction, dimension: i64) -> Option<Vec<usize>> {
    let slice = instruction.attributes().slices.get(usize::try_from(dimension).ok()?)?;
    let is_short = instruction.opcode == "slice" && (0..=sorting_network::LARGEST as i64).contains(&slice.limit);
    let step = usize::try_from(slice.stride.max(1)).ok()?;
    is_short.then(|| (slice.start.max(0) as usize..slice.limit as usize).step_by(step).collect())
}
