//! Predicted launches as a capture: an export as this project writes them, which says that nobody measured it.

use super::kernels::{Does, PredictedKernel, PredictedModule, Step};
use ridge_compile::Target;
use ridge_units::counted;
use rustc_hash::FxHashMap;
use serde_json::{Value, json};

/// How often modules of a recording ran, by the names of their folders (`jit_step.3`).
pub type ModuleRuns = FxHashMap<String, u64>;

/// Launches of a timeline; loops that would have more are cut.
const MOST_LAUNCHES: usize = 200_000;

/// The number of the one stream that there is.
const STREAM: u32 = 1;

/// How the times came about, in the note at the head of every report.
const HOW: &str = "nothing ran on a GPU; each launch is assumed to reach 60% of the data sheet's roofs, and to take at least 3 µs; \
                   `ridgeline compile` prints the intervals";

/// The capture as text, and what a reader must know.
pub(super) fn written(
    target: &Target,
    modules: &[PredictedModule],
    runs: Option<&ModuleRuns>,
) -> (String, Vec<String>) {
    let (times, said) = times(modules, runs);
    let mut writer = Writer { events: Vec::new(), now_ns: 0, is_cut: false, untimed: 0 };
    for (row, (module, times)) in modules.iter().zip(times).enumerate() {
        for _ in 0..times {
            let before = writer.events.len();
            writer.steps(&module.order, row, module);
            if writer.events.len() == before {
                break;
            }
        }
    }
    let mut notes = said;
    if writer.is_cut {
        notes.push(format!("the timeline ends after {MOST_LAUNCHES} launches: loops with more are cut"));
    }
    if writer.untimed > 0 {
        let launches = counted(writer.untimed as u64, "launch", "launches");
        notes.push(format!("{launches} of unknown work: not in the timeline"));
    }
    let unknown: usize = modules.iter().map(|module| module.unknown_trips).sum();
    if unknown > 0 {
        let loops = counted(unknown as u64, "loop", "loops");
        notes.push(format!("{loops} with an unknown trip count: launches and times are of one trip"));
    }
    let recorded: usize = modules.iter().map(|module| module.recorded_trips).sum();
    if recorded > 0 {
        let loops = counted(recorded as u64, "loop", "loops");
        notes.push(format!("{loops} with as many trips as in the recording (inferred)"));
    }
    let conditionals: usize = modules.iter().map(|module| module.conditionals).sum();
    if conditionals > 0 {
        let all = counted(conditionals as u64, "conditional", "conditionals");
        notes.push(format!("{all}: the first branch is assumed"));
    }
    let how = std::iter::once(HOW.to_owned()).chain(notes.iter().cloned()).collect::<Vec<_>>().join("; ");
    let device = json!({
        "plane": "/device:GPU:0",
        "vendor": "NVIDIA",
        "model": target.name,
        "cores": target.cores,
        "clock_khz": (target.clock_ghz * 1e6).round() as u64,
        "memory_bytes": target.memory_bytes,
        "memory_bytes_per_sec": target.memory_bytes_per_s as u64,
        "compute_capability": target.compute_capability,
        "streams": [STREAM],
    });
    let named = modules.iter().enumerate().map(
        |(id, module)| json!({"id": id, "program_id": module.program_id, "name": module.name, "hlo": module.hlo_text}),
    );
    let document = json!({
        "displayTimeUnit": "ns",
        "ridgeline": {"devices": [device], "predicted": how},
        "traceEvents": writer.events,
        "ridgeline modules": named.collect::<Vec<_>>(),
    });
    (document.to_string(), notes)
}

/// How often each module stands in the timeline, and what a reader must know of that.
///
/// Calls that would fill the timeline are thinned alike, so that modules keep their shares.
fn times(modules: &[PredictedModule], runs: Option<&ModuleRuns>) -> (Vec<u64>, Vec<String>) {
    let Some(runs) = runs else { return (vec![1; modules.len()], Vec::new()) };
    let of = |module: &PredictedModule| runs.get(&module.folder).copied().unwrap_or(0);
    let all: f64 = modules.iter().map(|module| module.launches() * of(module) as f64).sum();
    let thinner = (all / MOST_LAUNCHES as f64).ceil().max(1.0);
    let times: Vec<u64> = modules.iter().map(|module| (of(module) as f64 / thinner).ceil() as u64).collect();
    let mut said = vec!["each module runs as often as in the recording, one after the other".to_owned()];
    let never = times.iter().filter(|times| **times == 0).count();
    if never > 0 {
        said.push(format!("{never} modules that the recording did not see run are left out"));
    }
    if thinner > 1.0 {
        said.push(format!("one of {thinner} calls is shown"));
    }
    (times, said)
}

struct Writer {
    events: Vec<Value>,
    now_ns: u64,
    is_cut: bool,
    untimed: usize,
}

impl Writer {
    fn steps(&mut self, steps: &[Step], row: usize, module: &PredictedModule) {
        for step in steps {
            match step {
                Step::One(at) => self.launch(&module.kernels[*at], row, module),
                Step::Loop(trips, inside) => {
                    let mut left = *trips;
                    // A mean of trips that vary is rounded.
                    while left >= 0.5 && !inside.is_empty() && !self.is_cut {
                        let before = self.events.len();
                        self.steps(inside, row, module);
                        // A loop of which nothing is timed would run for nothing.
                        left = if self.events.len() == before { 0.0 } else { left - 1.0 };
                    }
                }
            }
        }
    }

    fn launch(&mut self, kernel: &PredictedKernel, row: usize, module: &PredictedModule) {
        if self.events.len() >= MOST_LAUNCHES {
            self.is_cut = true;
            return;
        }
        let Some(time) = kernel.time else {
            self.untimed += 1;
            return;
        };
        let dur_ns = (time.mid_s * 1e9).round().max(1.0) as u64;
        let (category, kind) = match kernel.does {
            Does::Kernel | Does::Calls => ("kernel", "kernel"),
            Does::Copy => ("gpu_memcpy", "copy device to device"),
            Does::Set => ("gpu_memset", "memset"),
        };
        let mut args = json!({
            "device": 0, "stream": STREAM, "event kind": kind,
            "operation": kernel.instruction, "module": module.name, "module id": row,
        });
        if let Some(launch) = &kernel.launch {
            args["grid"] = json!(launch.grid);
            args["block"] = json!(launch.block);
            args["dynamic shared memory"] = json!(launch.dynamic_shared_bytes);
        }
        if let Some(usage) = &kernel.usage {
            args["registers per thread"] = json!(usage.registers);
            args["static shared memory"] = json!(usage.static_shared_bytes);
        }
        if let Some(filled) = &kernel.occupancy {
            args["theoretical occupancy %"] = json!(filled.share * 100.0);
        }
        if let Some(bytes) = kernel.bytes.filter(|_| matches!(kernel.does, Does::Copy | Does::Set)) {
            args["bytes"] = json!(if kernel.does == Does::Copy { bytes / 2.0 } else { bytes } as u64);
            args["source"] = json!("device");
            args["destination"] = json!("device");
        }
        let name = if kernel.does == Does::Copy { "Memcpy DtoD" } else { &kernel.name };
        self.events.push(json!({
            "ph": "X", "cat": category, "name": name, "pid": 0, "tid": STREAM,
            "ts": self.now_ns as f64 / 1e3, "dur": dur_ns as f64 / 1e3, "args": args,
        }));
        self.now_ns = self.now_ns.saturating_add(dur_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::super::kernels::Trips;
    use super::*;
    use ridge_offload::LaunchTime;

    fn module(folder: &str, launches: f64) -> PredictedModule {
        let kernel = PredictedKernel {
            instruction: "f".to_owned(),
            name: "f".to_owned(),
            does: Does::Kernel,
            emitter: String::new(),
            runs: launches,
            trips: Trips::Known,
            launch: None,
            usage: None,
            code: None,
            branches: None,
            occupancy: None,
            coalescing: None,
            is_product: false,
            bytes: None,
            time: None,
            roofs: None,
            xla_s: None,
        };
        PredictedModule {
            folder: folder.to_owned(),
            name: folder.to_owned(),
            program_id: 1,
            fusions: 1,
            command_buffers: 0,
            has_thunks: true,
            kernels: vec![kernel],
            order: vec![Step::One(0)],
            unknown_trips: 0,
            recorded_trips: 0,
            conditionals: 0,
            hlo_text: None,
        }
    }

    #[test]
    fn loops_go_round_as_often_as_the_mean_rounded() {
        for (trips, launches) in [(0.0, 0), (0.4, 0), (1.0, 1), (2.4, 2), (2.5, 3), (40.0, 40)] {
            let mut solver = module("a.1", trips);
            solver.kernels[0].time = Some(LaunchTime { low_s: 2e-6, mid_s: 3e-6, high_s: 4e-6 });
            solver.order = vec![Step::Loop(trips, vec![Step::One(0)])];
            let target = Target::named("h100").expect("a target");
            let (text, _) = written(target, &[solver], None);
            assert_eq!(text.matches("\"ph\":\"X\"").count(), launches, "{trips} trips");
        }
    }

    #[test]
    fn modules_run_as_often_as_recorded_and_are_thinned_alike() {
        let modules = [module("a.1", 100.0), module("b.2", 1.0), module("c.3", 1.0)];
        let runs: ModuleRuns = [("a.1".to_owned(), 3), ("b.2".to_owned(), 7)].into_iter().collect();
        let (counts, said) = times(&modules, Some(&runs));
        assert_eq!((counts, said.len()), (vec![3, 7, 0], 2));
        let many: ModuleRuns = [("a.1".to_owned(), 4000), ("b.2".to_owned(), 4000)].into_iter().collect();
        let (counts, said) = times(&modules, Some(&many));
        assert_eq!((counts, said[2].as_str()), (vec![1334, 1334, 0], "one of 3 calls is shown"));
        assert_eq!(times(&modules, None), (vec![1, 1, 1], Vec::new()));
    }
}
