//! The regions of a capture: connected sets of operations that could become one piece of hardware.
//!
//! Time is exclusive: every event counts in one region, so shares never add to more than all device work.
//! A compiled module is one region; a loop that takes a good part of it is one of its own. Where a whole has no
//! specification, such as a loop with an opaque call in it, its inner loops and the connected rest are looked at for
//! themselves, and what is opaque stays apart with the reason.

mod parts;

use crate::flow;
use crate::specification::{Source, refusal, refuses, workload};
use crate::workload::Workload;
use ridge_analysis::{Analysis, module_costs};
use ridge_hlo::cost::ModuleCosts;
use ridge_hlo::{ComputationId, HloModule, Instruction, InstructionId, Users};
use ridge_trace::{NONE, OpRow};
use rustc_hash::{FxHashMap, FxHashSet};

/// The part of a module's time from which on a loop is a region of its own.
const LOOP_SHARE: f64 = 0.1;

/// Loops inside one another that are looked into.
const DEEPEST: usize = 16;

/// What stands in [`Region::module`] of work that belongs to none.
pub const NO_MODULE: &str = "no module";

/// One region.
#[derive(Debug, Clone)]
pub struct Region {
    /// The function and line that it came from, with what is done there.
    pub name: String,
    /// The line, where one is known.
    pub location: Option<Location>,
    /// The scope path of the operation that names it; empty where none is known.
    pub scope: String,
    /// The compiled module.
    pub module: String,
    /// The loop that it is, where it is one.
    pub in_loop: Option<String>,
    /// The loop that it is in, called anew in each iteration.
    pub inside: Option<String>,
    /// The computation that `handoff` makes a bundle of for it; `None` without HLO.
    pub compiled: Option<Compiled>,
    /// Exclusive time of all calls, nanoseconds.
    pub self_ns: f64,
    /// That over all device work.
    pub share: f64,
    /// How often it ran.
    pub calls: f64,
    /// Its operations, most time first.
    pub ops: Vec<RegionOp>,
    /// What one call has to do, or why that cannot be said.
    pub specification: Result<Specification, String>,
}

/// The computation of a module that stands for a region: a loop's body, else the module's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compiled {
    /// The module among the capture's.
    pub hlo: u32,
    /// The computation in it.
    pub computation: ComputationId,
    /// Whether it has nothing that is not of the region.
    pub is_all: bool,
}

/// A line of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// The file, as the compiler names it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The function that it is in; may be empty.
    pub function: String,
    /// Whether the data flow says so, and no line of the program itself.
    pub is_inferred: bool,
}

/// An operation of a region.
#[derive(Debug, Clone)]
pub struct RegionOp {
    /// Its name.
    pub name: String,
    /// Row of the operations table; `None` for what none is known of.
    pub row: Option<OpRow>,
    /// Exclusive time of all its executions, nanoseconds.
    pub self_ns: f64,
    /// How often it ran.
    pub executions: f64,
    /// Arithmetic and traffic of one execution; `None` where it is not known.
    pub cost: Option<ridge_hlo::cost::Cost>,
    /// Compare-exchanges of one execution, where it is a short sort.
    pub exchanges: f64,
    /// Its device work: positions among the capture's groups.
    pub groups: Vec<usize>,
}

/// What one call has to do.
#[derive(Debug, Clone)]
pub struct Specification {
    /// All of it.
    pub workload: Workload,
    /// One iteration of the loop, where the region is one.
    pub opened: Option<Opened>,
    /// Bytes that memory has to carry at least with the operations as they are.
    pub compulsory_bytes: f64,
    /// Bytes as XLA counts them.
    pub xla_bytes: f64,
    /// Its parts for a cut: what each has to do alone, and what flows.
    pub nodes: Vec<Node>,
    /// What flows between them.
    pub values: Vec<Flow>,
}

/// A value that flows between nodes; a node past the last is the outside.
#[derive(Debug, Clone, PartialEq)]
pub struct Flow {
    /// The node that makes it.
    pub maker: usize,
    /// Those that read it.
    pub readers: Vec<usize>,
    /// Its bytes.
    pub bytes: f64,
    /// How often it is sent in a call, or of a loop in an iteration: less than once where a loop leaves it alone, or asks
    /// for it at the end only.
    pub times: f64,
}

/// One iteration of a loop.
#[derive(Debug, Clone)]
pub struct Opened {
    /// Iterations of one call.
    pub trips: f64,
    /// What one iteration has to do.
    pub workload: Workload,
}

/// A part of a region.
#[derive(Debug, Clone)]
pub struct Node {
    /// The instruction's name.
    pub name: String,
    /// Exclusive time of one call, nanoseconds.
    pub self_ns: f64,
    /// What it has to do.
    pub workload: Workload,
}

/// All regions, most time first, and what could not be made one.
pub fn regions(analysis: &Analysis<'_>) -> Vec<Region> {
    let total = (analysis.groups().total_self_ns() as f64).max(1.0);
    let mut found = Vec::new();
    // Where the regions of a module begin, by the number that the compiler gave it.
    let mut modules: Vec<(u64, usize)> = Vec::new();
    let by_module = ops_by_module(analysis);
    for (row, ops) in by_module {
        let number = row.and_then(|row| analysis.trace.modules.get(row as usize)).map(|module| module.program_id);
        modules.push((number.unwrap_or(u64::MAX), found.len()));
        let hlo = row.and_then(|row| analysis.trace.modules.get(row as usize)?.hlo);
        let module = hlo.and_then(|hlo| analysis.hlo.get(hlo as usize));
        let name =
            row.and_then(|row| analysis.trace.modules.get(row as usize)).map(|module| analysis.text(module.name));
        let name = name.unwrap_or("").to_owned();
        match module.zip(hlo).zip(hlo.and_then(|hlo| module_costs(analysis, hlo))) {
            Some(((module, hlo), costs)) => {
                let users = Users::new(module);
                let of = Module { analysis, module, hlo, costs: &costs, users: &users, name: &name, total };
                of.regions(ops, &mut found);
            }
            None => found.push(without_hlo(analysis, &name, row.is_some(), ops, total)),
        }
    }
    tell_apart(&mut found, &modules);
    found.retain(|region| region.self_ns > 0.0);
    found.sort_by(|one, other| other.self_ns.total_cmp(&one.self_ns));
    found
}

/// Numbers regions of one name from the second on, in the order in which the program compiled and holds them: by that the same region
/// has the same name in every recording, whatever takes most of its time.
fn tell_apart(regions: &mut [Region], modules: &[(u64, usize)]) {
    let ends = modules.iter().skip(1).map(|(_, begin)| *begin).chain([regions.len()]);
    let mut order: Vec<(u64, usize)> =
        modules.iter().zip(ends).flat_map(|((number, begin), end)| (*begin..end).map(|at| (*number, at))).collect();
    order.sort_unstable();
    let mut seen: FxHashMap<String, u32> = FxHashMap::default();
    for (_, at) in order {
        let count = seen.entry(regions[at].name.clone()).or_default();
        *count += 1;
        if *count > 1 {
            regions[at].name = format!("{} #{count}", regions[at].name);
        }
    }
}

/// Time of an operation: instruction, and what is shown of it.
struct Timed {
    instruction: Option<InstructionId>,
    op: RegionOp,
}

/// A module's row, where each of its operations is in the list, and the list.
type OfModule = (Option<u32>, FxHashMap<u32, usize>, Vec<Timed>);

/// Operations with their time, by row of the modules table, in the order of their first work.
fn ops_by_module(analysis: &Analysis<'_>) -> Vec<(Option<u32>, Vec<Timed>)> {
    let mut places: FxHashMap<Option<u32>, usize> = FxHashMap::default();
    let mut all: Vec<OfModule> = Vec::new();
    let mut counted: FxHashSet<(u32, u8)> = FxHashSet::default();
    let groups = analysis.groups().groups.iter().enumerate();
    for (position, group) in groups.filter(|(_, group)| group.self_ns > 0 || group.op != NONE) {
        let operation = analysis.operation(group.op);
        let module = operation.map(|op| op.module).filter(|module| *module != NONE);
        let place = *places.entry(module).or_insert_with(|| {
            all.push((module, FxHashMap::default(), Vec::new()));
            all.len() - 1
        });
        let (_, by_op, ops) = &mut all[place];
        let key = if operation.is_some() { group.op } else { group.name };
        let at = *by_op.entry(key).or_insert_with(|| {
            let name = operation
                .map_or_else(|| analysis.text(ridge_trace::StringId(group.name)), |op| analysis.text(op.name))
                .to_owned();
            let instruction = analysis.instruction(group.op).map(|(_, instruction)| instruction);
            let row = OpRow::known(group.op);
            let op =
                RegionOp { name, row, self_ns: 0.0, executions: 0.0, cost: None, exchanges: 0.0, groups: Vec::new() };
            ops.push(Timed { instruction, op });
            ops.len() - 1
        });
        ops[at].op.self_ns += group.self_ns as f64;
        ops[at].op.groups.push(position);
        if counted.insert((group.op, group.attribution as u8)) {
            ops[at].op.executions += analysis.executions().with_work(group.op, group.attribution) as f64;
        }
    }
    all.into_iter().map(|(module, _, ops)| (module, ops)).collect()
}

/// Work of which the capture has no compiled program.
fn without_hlo(analysis: &Analysis<'_>, module: &str, has_module: bool, ops: Vec<Timed>, total: f64) -> Region {
    let because = match has_module {
        true => "the capture has no HLO of its module; `ridgeline record` keeps it",
        false => "no compiled module of this work is known, so its computation is unknown",
    };
    let mut ops: Vec<RegionOp> = ops.into_iter().map(|timed| timed.op).collect();
    ops.sort_by(|one, other| other.self_ns.total_cmp(&one.self_ns));
    let self_ns: f64 = ops.iter().map(|op| op.self_ns).sum();
    let (location, scope) = place(analysis, ops.first());
    let (name, module) = if has_module { (module, module) } else { ("work without a module", NO_MODULE) };
    let calls = ops.iter().map(|op| op.executions).fold(1.0, f64::max);
    Region {
        name: name.to_owned(),
        location,
        scope,
        module: module.to_owned(),
        in_loop: None,
        inside: None,
        compiled: None,
        self_ns,
        share: self_ns / total,
        calls,
        ops,
        specification: Err(because.to_owned()),
    }
}

/// The operation that a region is named by, as its place in `ops`: what decides is what it does and its place in the program, and
/// not its time, so that the name stays the same at another size.
fn named_by(module: &HloModule, ops: &[Timed]) -> Option<usize> {
    let key = |timed: &Timed| {
        let id = timed.instruction?;
        Some((std::cmp::Reverse(weight(module, id)), id))
    };
    (0..ops.len()).min_by_key(|at| {
        let key = key(&ops[*at]);
        (key.is_none(), key)
    })
}

/// How much an instruction, or what is fused into it, says of a region: the rarer and the more work, the more.
fn weight(module: &HloModule, id: InstructionId) -> u8 {
    let instruction = module.instruction(id);
    let inside = instruction.called.iter().filter(|_| instruction.is_fusion());
    let fused = inside.flat_map(|called| module.instructions_of(*called)).map(weight_of_one);
    fused.fold(weight_of_one(instruction), u8::max)
}

/// XLA divides a long sum into windows and their sum, and a short one of the same program not: both are a sum. What it makes so has
/// no name of its own, or that of the sum.
fn weight_of_one(instruction: &Instruction) -> u8 {
    let scope = &instruction.metadata.op_name;
    let is_part_of_a_sum = instruction.opcode == "reduce-window"
        && done_in(scope).is_none_or(|done| done.starts_with("reduce_") && !done.starts_with("reduce_window"));
    weight_of(if is_part_of_a_sum { "reduce" } else { &instruction.opcode })
}

fn weight_of(opcode: &str) -> u8 {
    match opcode {
        "sort" => 7,
        "dot" | "convolution" | "fft" | "cholesky" | "triangular-solve" => 6,
        "custom-call" => 5,
        "scatter" | "reduce-window" | "select-and-scatter" => 4,
        "gather" => 3,
        "reduce" => 2,
        "parameter" | "constant" | "bitcast" | "copy" | "tuple" | "get-tuple-element" | "broadcast" | "fusion" => 0,
        _ => 1,
    }
}

/// What is done at the end of a scope: `sort` of `jit(f)/while/body/sort`.
fn done_in(scope: &str) -> Option<&str> {
    let last = scope.rsplit('/').next()?;
    let last = last.split(['[', '(', ';']).next().unwrap_or(last).trim_end_matches(':');
    Some(last).filter(|last| !last.is_empty())
}

/// Where an operation came from.
fn place(analysis: &Analysis<'_>, op: Option<&RegionOp>) -> (Option<Location>, String) {
    let Some(row) = op.and_then(|op| op.row) else { return (None, String::new()) };
    let scope = analysis.operation(row.0).map(|op| analysis.text(op.scope).to_owned()).unwrap_or_default();
    let lines = analysis.lines().of(row.0);
    let location = lines.and_then(|lines| {
        let line = lines.stack.first()?;
        Some(Location {
            file: line.file.clone(),
            line: line.line,
            function: line.function.clone(),
            is_inferred: lines.owed.is_some(),
        })
    });
    (location, scope)
}

/// One module that is being divided.
struct Module<'m, 'a> {
    analysis: &'m Analysis<'a>,
    module: &'m HloModule,
    hlo: u32,
    costs: &'m ModuleCosts,
    users: &'m Users,
    name: &'m str,
    total: f64,
}

/// Instructions of one computation that belong together.
struct Piece {
    members: Vec<InstructionId>,
    /// The loop that it is.
    of_loop: Option<InstructionId>,
    /// The loop whose body it is a part of.
    inside: Option<InstructionId>,
    because: Option<String>,
}

impl Module<'_, '_> {
    fn source(&self) -> Source<'_> {
        Source { module: self.module, costs: self.costs, users: self.users }
    }

    fn regions(&self, ops: Vec<Timed>, found: &mut Vec<Region>) {
        let mut times: FxHashMap<InstructionId, f64> = FxHashMap::default();
        for timed in &ops {
            if let Some(id) = timed.instruction {
                *times.entry(id).or_default() += timed.op.self_ns;
            }
        }
        let inside = self.times_inside(&times);
        let whole: f64 = times.values().sum();
        let mut pieces = Vec::new();
        match self.module.entry {
            Some(entry) => self.divide(entry, None, whole, &inside, &mut pieces, 0),
            None => return found.push(without_hlo(self.analysis, self.name, true, ops, self.total)),
        }
        // Each operation goes to the innermost piece that holds it, itself or through a loop.
        let mut owner: FxHashMap<InstructionId, usize> = FxHashMap::default();
        for (place, piece) in pieces.iter().enumerate() {
            piece.members.iter().for_each(|&id| self.own(id, place, &mut owner));
        }
        let mut by_piece: Vec<Vec<Timed>> = pieces.iter().map(|_| Vec::new()).collect();
        let mut rest = Vec::new();
        for timed in ops {
            match timed.instruction.and_then(|id| owner.get(&id)) {
                Some(&place) => by_piece[place].push(timed),
                None => rest.push(timed),
            }
        }
        let is_alone = pieces.len() == 1;
        for (piece, ops) in pieces.into_iter().zip(by_piece) {
            if ops.iter().any(|timed| timed.op.self_ns > 0.0) {
                let compiled = self.compiled(&piece, is_alone);
                found.push(Region { compiled, ..self.region(piece, ops) });
            }
        }
        if rest.iter().any(|timed| timed.op.self_ns > 0.0) {
            let mut region = without_hlo(self.analysis, self.name, true, rest, self.total);
            region.specification = Err("only the module of this work is known, and no operation in it".to_owned());
            found.push(region);
        }
    }

    /// Time of each instruction with all that it calls.
    fn times_inside(&self, times: &FxHashMap<InstructionId, f64>) -> FxHashMap<InstructionId, f64> {
        let mut inside: FxHashMap<InstructionId, f64> = FxHashMap::default();
        for (&id, &ns) in times {
            let mut at = Some(id);
            let mut seen = FxHashSet::default();
            while let Some(id) = at.filter(|id| seen.insert(*id)) {
                *inside.entry(id).or_default() += ns;
                at = self.module.computation(self.module.instruction(id).computation).callers.first().copied();
            }
        }
        inside
    }

    /// Divides a computation, which is the body of the loop `of`, into pieces that can be specified and those that cannot.
    fn divide(
        &self,
        computation: ComputationId,
        of: Option<InstructionId>,
        whole: f64,
        inside: &FxHashMap<InstructionId, f64>,
        pieces: &mut Vec<Piece>,
        depth: usize,
    ) {
        let (mut rest, mut loops) = (Vec::new(), Vec::new());
        for id in self.module.computation(computation).instruction_ids() {
            let is_loop = self.module.instruction(id).opcode == "while";
            let ns = inside.get(&id).copied().unwrap_or(0.0);
            let refused = refuses(self.source(), id);
            match (is_loop, refused) {
                (true, None) if ns >= LOOP_SHARE * whole => loops.push(id),
                (_, None) => {
                    if !flow::is_silent(self.module, id) {
                        rest.push(id);
                    }
                }
                (true, Some(_)) if depth < DEEPEST => {
                    for &called in &self.module.instruction(id).called {
                        self.divide(called, Some(id), whole, inside, pieces, depth + 1);
                    }
                    // The loop's own time stays with the loop.
                    let because = refuses(self.source(), id);
                    pieces.push(Piece { members: vec![id], of_loop: Some(id), inside: of, because });
                }
                (_, because) => pieces.push(Piece { members: vec![id], of_loop: None, inside: of, because }),
            }
        }
        for id in loops {
            pieces.push(Piece { members: vec![id], of_loop: Some(id), inside: of, because: None });
        }
        let is_cut = pieces.iter().any(|piece| piece.because.is_some());
        let sets = if is_cut { flow::components(self.module, &rest) } else { vec![rest] };
        pieces.extend(sets.into_iter().filter(|set| !set.is_empty()).map(|members| Piece {
            members,
            of_loop: None,
            inside: of,
            because: None,
        }));
    }

    /// Gives `id`, and all that it calls and nobody owns yet, to the piece at `place`.
    fn own(&self, id: InstructionId, place: usize, owner: &mut FxHashMap<InstructionId, usize>) {
        let mut open = vec![id];
        let mut seen: FxHashSet<ComputationId> = FxHashSet::default();
        while let Some(id) = open.pop() {
            owner.entry(id).or_insert(place);
            for &called in &self.module.instruction(id).called {
                if seen.insert(called) {
                    open.extend(self.module.computation(called).instruction_ids());
                }
            }
        }
    }

    fn region(&self, piece: Piece, mut ops: Vec<Timed>) -> Region {
        ops.sort_by(|one, other| other.op.self_ns.total_cmp(&one.op.self_ns));
        let calls = self.calls(&piece, &ops);
        let times: FxHashMap<InstructionId, f64> =
            ops.iter().filter_map(|timed| Some((timed.instruction?, timed.op.self_ns))).collect();
        for timed in &mut ops {
            let Some(id) = timed.instruction else { continue };
            let instruction = self.module.instruction(id);
            let runs_others = matches!(&*instruction.opcode, "while" | "conditional" | "call");
            let cost = self.costs.of(id);
            timed.op.cost = (!runs_others && cost.unknown.is_none()).then(|| cost.clone());
            if instruction.opcode == "sort" {
                let one = workload(self.source(), &[id], &flow::Boundary::default());
                timed.op.exchanges = one.count_of(crate::Operator::Exchange);
            }
        }
        let refused = piece.because.clone().or_else(|| refusal(self.source(), &piece.members));
        let specification = match refused {
            Some(because) => Err(because),
            None => Ok(self.specification(&piece, &times, calls)),
        };
        let in_loop = piece.of_loop.map(|id| self.module.instruction(id).name.clone());
        let self_ns: f64 = ops.iter().map(|timed| timed.op.self_ns).sum();
        let named = named_by(self.module, &ops).and_then(|at| ops.get(at));
        let (location, scope) = place(self.analysis, named.map(|timed| &timed.op));
        let name = self.name_of(&location, &scope, named);
        let ops: Vec<RegionOp> = ops.into_iter().map(|timed| timed.op).collect();
        Region {
            name,
            location,
            scope,
            module: self.name.to_owned(),
            in_loop,
            inside: piece.inside.map(|id| self.module.instruction(id).name.clone()),
            compiled: None,
            self_ns,
            share: self_ns / self.total,
            calls,
            ops,
            specification,
        }
    }

    /// What `handoff` makes a bundle of: of a loop its body, else the whole module, which the piece may be a part of.
    fn compiled(&self, piece: &Piece, is_alone: bool) -> Option<Compiled> {
        let body = piece.of_loop.map(|id| self.module.instruction(id).called.first().copied());
        let (computation, is_all) = match body {
            Some(body) => (body?, true),
            None => (self.module.entry?, is_alone && piece.inside.is_none()),
        };
        Some(Compiled { hlo: self.hlo, computation, is_all })
    }

    /// The function and line with what is done there: the compiler's own names differ from one size of a program to the next.
    fn name_of(&self, location: &Option<Location>, scope: &str, named: Option<&Timed>) -> String {
        let opcode = named.and_then(|timed| timed.instruction).map(|id| self.module.instruction(id).opcode.as_str());
        let called = named.map_or("", |timed| timed.op.name.as_str());
        let done = done_in(scope).or(opcode.filter(|opcode| *opcode != "fusion")).unwrap_or(called);
        let function = location
            .as_ref()
            .map(|at| (at.function.rsplit('.').next().unwrap_or("").trim_matches(['<', '>']), at.line));
        match function {
            Some((function, line)) if !["", "module", "lambda"].contains(&function) => {
                format!("{function}:{line} {done}")
            }
            Some((_, line)) => format!("{}:{line} {done}", self.name),
            None => format!("{}: {done}", self.name),
        }
    }

    /// How often the piece as a whole ran: as its members did that are no part of a loop, else as one.
    fn calls(&self, piece: &Piece, ops: &[Timed]) -> f64 {
        let executions: FxHashMap<InstructionId, f64> =
            ops.iter().filter_map(|timed| Some((timed.instruction?, timed.op.executions))).collect();
        let of_members = piece.members.iter().filter_map(|id| executions.get(id)).copied().fold(0.0, f64::max);
        if of_members >= 1.0 {
            return of_members;
        }
        // A loop without events of its own: what is in its body, by its trips.
        let trips = piece.of_loop.map_or(1.0, |id| self.costs.trips(id)).max(1.0);
        (executions.values().copied().fold(0.0, f64::max) / trips).max(1.0)
    }
}
