//! The work of a compiled module: each thunk that does some, what it is, and how long it would take.

use super::files::Files;
use super::loop_trips::ModuleTrips;
use ridge_analysis::{Ceilings, Limit, least_secs};
use ridge_compile::{
    Branches, Coalescing, Code, Launch, Occupancy, Target, Thunk, Usage, coalescing, emitter, library, occupancy,
    thunks,
};
use ridge_hlo::cost::{Assumption, ModuleCosts};
use ridge_hlo::{HloModule, InstructionId};
use ridge_offload::gpus::launch_width;
use ridge_offload::{LaunchGpu, LaunchTime, LaunchWork, launch_time};

/// What a thunk does on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Does {
    /// It starts a kernel of XLA's own.
    Kernel,
    /// It copies within the device.
    Copy,
    /// It sets memory.
    Set,
    /// It calls a library, or code of another program.
    Calls,
}

/// One thunk that does work.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictedKernel {
    /// The instruction, by its name in the module.
    pub instruction: String,
    /// The kernel's name, or the library's.
    pub name: String,
    /// What it does.
    pub does: Does,
    /// How it was made, in words.
    pub emitter: String,
    /// How often one run of the module starts it; a loop whose trips nobody knows counts once.
    pub runs: f64,
    /// How the trips of the loops around it are known.
    pub trips: Trips,
    /// How it is launched.
    pub launch: Option<Launch>,
    /// What the assembler says of it.
    pub usage: Option<Usage>,
    /// What its code holds.
    pub code: Option<Code>,
    /// What its branches depend on.
    pub branches: Option<Branches>,
    /// How it fills the GPU.
    pub occupancy: Option<Occupancy>,
    /// How its threads touch memory, where it is an elementwise loop.
    pub coalescing: Option<Coalescing>,
    /// Whether it computes a matrix product.
    pub is_product: bool,
    /// Bytes that it must move.
    pub bytes: Option<f64>,
    /// Its time; `None` where its work is not known, or no roof is.
    pub time: Option<LaunchTime>,
    /// What its time is made of.
    pub roofs: Option<Roofs>,
    /// What XLA's own model says, seconds.
    pub xla_s: Option<f64>,
}

/// How trips are known, the surest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Trips {
    /// By the compiler or the loop's counter, or there is no loop.
    #[default]
    Known,
    /// From the recording of another device, where the loop may have gone round more or less often.
    Recorded,
    /// Not at all: one trip is counted.
    Unknown,
}

/// What the likeliest time of a launch is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Roofs {
    /// Its arithmetic at the roof of the whole GPU, seconds.
    pub compute_s: f64,
    /// Its traffic at the roof of the memory, seconds.
    pub memory_s: f64,
    /// The likeliest time of a grid that fills the GPU evenly, seconds.
    pub even_s: f64,
}

/// A compiled module.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictedModule {
    /// The name of its folder.
    pub folder: String,
    /// Its name.
    pub name: String,
    /// Its number in the proto.
    pub program_id: u64,
    /// Fusions of its HLO, those in loops once.
    pub fusions: usize,
    /// Command buffers (CUDA graphs).
    pub command_buffers: usize,
    /// Whether XLA's list of thunks is there; without it, nothing is known of its launches.
    pub has_thunks: bool,
    /// Its work, in order, loops once.
    pub kernels: Vec<PredictedKernel>,
    /// The order in which it runs: places in `kernels`, and loops around them.
    pub(super) order: Vec<Step>,
    /// Loops whose trips nobody knows.
    pub unknown_trips: usize,
    /// Loops whose trips are those of a recording.
    pub recorded_trips: usize,
    /// Conditionals, of which the first branch is taken.
    pub conditionals: usize,
    /// Its text, where the run folder has no proto that a reader of the timeline would find.
    pub(super) hlo_text: Option<String>,
}

/// A part of the order.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    /// The kernel at this place.
    One(usize),
    /// Steps that run so often.
    Loop(f64, Vec<Step>),
}

impl PredictedModule {
    /// Launches of one run, with those of every trip.
    pub fn launches(&self) -> f64 {
        self.kernels.iter().map(|kernel| kernel.runs).sum()
    }

    /// How the trips of its loops are known, of the least sure.
    pub fn trips(&self) -> Trips {
        match (self.unknown_trips, self.recorded_trips) {
            (0, 0) => Trips::Known,
            (0, _) => Trips::Recorded,
            _ => Trips::Unknown,
        }
    }

    /// The time of one run, kernels one after the other; `None` where one of them has none.
    pub fn time(&self) -> Option<LaunchTime> {
        if !self.has_thunks && self.fusions > 0 {
            return None;
        }
        let mut all = LaunchTime { low_s: 0.0, mid_s: 0.0, high_s: 0.0 };
        for kernel in &self.kernels {
            let time = kernel.time?;
            all.low_s += time.low_s * kernel.runs;
            all.mid_s += time.mid_s * kernel.runs;
            all.high_s += time.high_s * kernel.runs;
        }
        Some(all)
    }
}

/// What `files` say of their module on `target`, its loops as often as `recorded` where nothing surer tells.
pub(super) fn predicted(
    files: &Files,
    target: &Target,
    ceilings: &Ceilings,
    recorded: Option<&ModuleTrips>,
) -> PredictedModule {
    let trips = |id: InstructionId| recorded.and_then(|recorded| recorded.for_loop(&files.hlo, id));
    let mut walk = Walk {
        files,
        target,
        ceilings,
        costs: ModuleCosts::with_observed(&files.hlo, &trips),
        module: PredictedModule {
            folder: files.folder.clone(),
            name: files.hlo.name.clone(),
            program_id: files.hlo.id,
            fusions: files.hlo.instruction_ids().filter(|id| files.hlo.instruction(*id).is_fusion()).count(),
            command_buffers: 0,
            has_thunks: !files.thunks.0.trim().is_empty(),
            kernels: Vec::new(),
            order: Vec::new(),
            unknown_trips: 0,
            recorded_trips: 0,
            conditionals: 0,
            hlo_text: files.hlo_text.clone(),
        },
    };
    let (sequence, metadata) = &files.thunks;
    walk.module.order = walk.steps(&thunks(sequence, metadata), 1.0, Trips::Known);
    walk.module
}

struct Walk<'a> {
    files: &'a Files,
    target: &'a Target,
    ceilings: &'a Ceilings,
    costs: ModuleCosts,
    module: PredictedModule,
}

impl Walk<'_> {
    fn steps(&mut self, thunks: &[Thunk], runs: f64, around: Trips) -> Vec<Step> {
        let mut steps = Vec::new();
        for thunk in thunks {
            match thunk.kind.as_str() {
                "kWhile" => {
                    let (trips, how) = self.trips(&thunk.instruction);
                    let parts = thunk.inside.iter();
                    let inside: Vec<Step> =
                        parts.flat_map(|part| self.steps(&part.thunks, runs * trips, how.max(around))).collect();
                    steps.push(Step::Loop(trips, inside));
                }
                "kConditional" => {
                    self.module.conditionals += 1;
                    let first = thunk.inside.first().map(|part| self.steps(&part.thunks, runs, around));
                    steps.extend(first.into_iter().flatten());
                }
                kind => {
                    self.module.command_buffers += usize::from(kind == "kCommandBuffer");
                    if let Some(does) = does(thunk) {
                        let kernel = PredictedKernel { trips: around, ..self.kernel(thunk, does, runs) };
                        self.module.kernels.push(kernel);
                        steps.push(Step::One(self.module.kernels.len() - 1));
                    }
                    for part in &thunk.inside {
                        let inside = self.steps(&part.thunks, runs, around);
                        steps.extend(inside);
                    }
                }
            }
        }
        steps
    }

    fn trips(&mut self, instruction: &str) -> (f64, Trips) {
        let known = self.files.hlo.instruction_named(instruction).and_then(|id| self.costs.known_trips(id));
        let (trips, how) = match known {
            None => (1.0, Trips::Unknown),
            Some((trips, Some(Assumption::TripCountObserved))) => (trips, Trips::Recorded),
            Some((trips, _)) => (trips, Trips::Known),
        };
        self.module.unknown_trips += usize::from(how == Trips::Unknown);
        self.module.recorded_trips += usize::from(how == Trips::Recorded);
        (trips, how)
    }

    fn kernel(&self, thunk: &Thunk, does: Does, runs: f64) -> PredictedKernel {
        let (hlo, name) = (&self.files.hlo, thunk.launch.as_ref().map(|launch| launch.kernel.as_str()));
        let by_kernel = || hlo.kernel_instruction(name?);
        let id = hlo.instruction_named(&thunk.instruction).or_else(by_kernel);
        let usage = name.and_then(|name| self.files.usage.get(name)).copied();
        let filled = thunk.launch.as_ref().zip(usage).and_then(|(launch, usage)| occupancy(self.target, launch, usage));
        let bytes = id.map(|id| match does {
            // A copy of a fusion's operand moves what the fusion's result is, there and back.
            Does::Copy => 2.0 * self.costs.of(id).compulsory.written,
            Does::Set => self.costs.of(id).compulsory.written,
            _ => self.costs.of(id).compulsory.total(),
        });
        let timed = id.and_then(|id| self.time(id, thunk, does, bytes?, filled));
        PredictedKernel {
            instruction: id.map(|id| hlo.instruction(id).name.clone()).unwrap_or_else(|| thunk.instruction.clone()),
            name: name.map(str::to_owned).or_else(|| called(hlo, id)).unwrap_or_else(|| thunk.kind.clone()),
            does,
            emitter: match (does, id) {
                (Does::Copy, _) => "copy".to_owned(),
                (Does::Set, _) => "memory set".to_owned(),
                (_, Some(id)) => emitter(hlo, id),
                (_, None) => thunk.kind.clone(),
            },
            runs,
            trips: Trips::Known,
            launch: thunk.launch.clone(),
            usage,
            code: name.and_then(|name| self.files.code.get(name)).copied(),
            branches: name.and_then(|name| self.files.branches.get(name)).copied(),
            occupancy: filled,
            coalescing: id.and_then(|id| coalescing(hlo, id, threads(thunk.launch.as_ref()?))),
            is_product: id.is_some_and(|id| is_product(hlo, id)),
            bytes,
            time: timed.map(|(time, _)| time),
            roofs: timed.map(|(_, roofs)| roofs),
            xla_s: id.and_then(|id| modelled_by_xla(hlo, id)),
        }
    }

    fn time(
        &self,
        id: InstructionId,
        thunk: &Thunk,
        does: Does,
        bytes: f64,
        filled: Option<Occupancy>,
    ) -> Option<(LaunchTime, Roofs)> {
        let memory = self.ceilings.value(Limit::Memory)?;
        let (compute_s, memory_s) = match does {
            Does::Copy | Does::Set => (0.0, bytes / memory),
            _ => {
                let cost = self.costs.of(id);
                if cost.unknown.is_some() {
                    return None;
                }
                least_secs(self.ceilings, cost)?
            }
        };
        let cores = f64::from(self.target.cores);
        let blocks = thunk.launch.as_ref().zip(filled).map(|(launch, filled)| {
            (launch.grid.iter().map(|size| f64::from(*size)).product(), f64::from(filled.blocks) * cores)
        });
        let gpu = LaunchGpu { cores, clock_hz: self.target.clock_ghz * 1e9, memory_bytes_per_s: memory };
        let of = |blocks| launch_time(LaunchWork { compute_s, memory_s, blocks }, gpu, launch_width());
        Some((of(blocks), Roofs { compute_s, memory_s, even_s: of(None).mid_s }))
    }
}

/// Threads of a launch.
fn threads(launch: &Launch) -> u64 {
    launch.grid.iter().chain(&launch.block).fold(1, |all, size| u64::from(*size).saturating_mul(all))
}

/// Whether an instruction is a matrix product, or a fusion that holds one.
fn is_product(hlo: &HloModule, id: InstructionId) -> bool {
    let instruction = hlo.instruction(id);
    let inside = instruction.called.iter().filter(|_| instruction.is_fusion());
    instruction.opcode == "dot"
        || inside.flat_map(|called| hlo.instructions_of(*called)).any(|inner| inner.opcode == "dot")
}

/// What a thunk does; `None` of one that only holds others, or waits.
fn does(thunk: &Thunk) -> Option<Does> {
    Some(match thunk.kind.as_str() {
        "kKernel" | "kCustomKernel" => Does::Kernel,
        "kCopy" | "kDynamicMemcpy" | "kMemcpyDeviceToDevice" => Does::Copy,
        "kMemset32BitValue" | "kMemzero" => Does::Set,
        "kGemm"
        | "kCublasLtMatmul"
        | "kConvolution"
        | "kCuDnn"
        | "kCustomCall"
        | "kFft"
        | "kCholesky"
        | "kTriangularSolve"
        | "kCubSort"
        | "kSelectK"
        | "kNorm"
        | "kConvolutionReorder" => Does::Calls,
        _ => return None,
    })
}

/// What a library call names.
fn called(hlo: &HloModule, id: Option<InstructionId>) -> Option<String> {
    let target = hlo.instruction(id?).custom_call_target.clone()?;
    Some(library(&target).map_or(target.clone(), |library| format!("{library}: {target}")))
}

/// The time that XLA's analytical model leaves in an instruction's configuration, seconds; with
/// `--xla_gpu_collect_cost_model_stats`.
fn modelled_by_xla(hlo: &HloModule, id: InstructionId) -> Option<f64> {
    let config = hlo.instruction(id).backend_config.value("/reification_cost/0/exec_time_us")?;
    config.as_f64().map(|micros| micros * 1e-6)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Loops of every kind, one in another.
    const HLO: &str = r#"HloModule jit_f

%goes (s: (f32[])) -> pred[] {
  %s = (f32[]) parameter(0)
  ROOT %yes = pred[] constant(true)
}

%body (r: (f32[])) -> (f32[]) {
  ROOT %r = (f32[]) parameter(0)
}

%outer_body (o: (f32[])) -> (f32[]) {
  %o = (f32[]) parameter(0)
  ROOT %while.4 = (f32[]) while(%o), condition=%goes, body=%body, backend_config={"known_trip_count":{"n":"5"}}
}

ENTRY %main (p: (f32[])) -> (f32[]) {
  %p = (f32[]) parameter(0)
  %while.1 = (f32[]) while(%p), condition=%goes, body=%body, backend_config={"known_trip_count":{"n":"5"}}
  %while.2 = (f32[]) while(%while.1), condition=%goes, body=%body, metadata={op_name="jit(f)/never seen"}
  ROOT %while.3 = (f32[]) while(%while.2), condition=%goes, body=%outer_body, metadata={op_name="jit(f)/solve"}
}
"#;

    const THUNKS: &str = "\
000: kCustomKernel [source] alone grid: [1, 1, 1] threads: [1, 1, 1] shared_memory: 0 bytes
001: kWhile [source]
\x20 body:
\x20   011: kCustomKernel [source] in_known grid: [1, 1, 1] threads: [1, 1, 1] shared_memory: 0 bytes
002: kWhile [source]
\x20 body:
\x20   012: kCustomKernel [source] in_unknown grid: [1, 1, 1] threads: [1, 1, 1] shared_memory: 0 bytes
003: kWhile [source]
\x20 body:
\x20   013: kCustomKernel [source] in_recorded grid: [1, 1, 1] threads: [1, 1, 1] shared_memory: 0 bytes
\x20   004: kWhile [source]
\x20     body:
\x20       014: kCustomKernel [source] in_both grid: [1, 1, 1] threads: [1, 1, 1] shared_memory: 0 bytes
";

    /// The kernels of [`HLO`], whose loop `jit(f)/solve` went round as often as `recorded`.
    fn ran(recorded: Option<f64>) -> (Vec<String>, [usize; 2]) {
        let hlo = || HloModule::from_text(HLO).expect("HLO text of the test");
        let metadata: String = (1..=4)
            .map(|number| {
                format!(
                    "thunk_metadata {{\n  profile_annotation: \"while.{number}\"\n  thunk_id: {number}\n  thunk_kind: \"kWhile\"\n}}\n"
                )
            })
            .collect();
        let files = Files {
            folder: "jit_f.1".to_owned(),
            hlo: hlo(),
            hlo_text: None,
            thunks: (THUNKS.to_owned(), metadata),
            usage: Default::default(),
            code: Default::default(),
            branches: Default::default(),
        };
        let source = hlo();
        let solve = source.instruction_named("while.3");
        let costs = ModuleCosts::with_observed(&source, &|id: InstructionId| recorded.filter(|_| Some(id) == solve));
        let trips = ModuleTrips::of(&source, &costs);
        let target = Target::named("h100").expect("a target");
        let module = predicted(&files, target, &Ceilings::default(), Some(&trips));
        let kernels = module.kernels.iter().map(|kernel| format!("{} {} {:?}", kernel.name, kernel.runs, kernel.trips));
        (kernels.collect(), [module.recorded_trips, module.unknown_trips])
    }

    #[test]
    fn kernels_run_as_often_as_the_loops_around_them() {
        let (kernels, counts) = ran(Some(40.0));
        assert_eq!(
            kernels,
            [
                "alone 1 Known",
                "in_known 5 Known",
                "in_unknown 1 Unknown",
                "in_recorded 40 Recorded",
                "in_both 200 Recorded"
            ]
        );
        assert_eq!(counts, [1, 1]);
        let (kernels, counts) = ran(None);
        assert_eq!(
            kernels,
            ["alone 1 Known", "in_known 5 Known", "in_unknown 1 Unknown", "in_recorded 1 Unknown", "in_both 5 Unknown"]
        );
        assert_eq!(counts, [0, 2]);
    }
}
