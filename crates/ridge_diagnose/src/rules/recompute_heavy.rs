//! Work that is done again in the backward pass, to save memory.

use crate::case::{Case, Framework};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::programs::{Program, programs};
use crate::rule::{Find, Group, Rule};
use crate::words::{list, percent};
use ridge_analysis::{Lines, Need, PythonLooks};
use ridge_hlo::{InstructionId, OpcodeClass};
use ridge_table::{Basis, Quantity, Unit};
use ridge_trace::PythonPlace;
use rustc_hash::FxHashMap;

pub(crate) static RULE: Rule = Rule {
    id: "recompute-heavy",
    group: Group::Structure,
    summary: "Rematerialization despite free memory",
    document: include_str!("recompute_heavy.md"),
    asks: &[Question::Device],
    explains: &["kernel-hotspot", "unfused-eager"],
    needs: &[Need::of::<Lines>(), Need::of::<PythonLooks>()],
    find: Find::Causes(find),
};

/// The least part of the judged time.
const LEAST: f64 = 0.10;
/// Fewer looks at Python tell no part.
const FEWEST: u64 = 50;
/// A program that needs less than this part of the memory leaves room to keep what it computed.
const ROOMY: f64 = 0.5;
/// What JAX puts into the scope of work that `jax.checkpoint` does again.
const SCOPE: &str = "rematted_computation";

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    if case.framework() == Framework::Torch {
        return Ok(of_checkpoints(case).into_iter().collect());
    }
    case.needs_hlo()?;
    let of_program = |program: Program<'_>| finding(case, &program);
    Ok(programs(case).into_iter().filter_map(of_program).collect())
}

fn finding(case: &Case<'_>, program: &Program<'_>) -> Option<Finding> {
    let module = program.module;
    let is_again = |id: &InstructionId| {
        let is_container = module.instruction(*id).opcode.class() == OpcodeClass::Runs;
        !is_container && module.op_name_in_fusion(*id).contains(SCOPE)
    };
    let again = program.longest_first(&program.ran.keys().copied().filter(is_again).collect::<Vec<_>>());
    let ns = program.ns_of(&again);
    if case.share(ns) < LEAST {
        return None;
    }
    let device = again.first().and_then(|id| program.work(*id).first()).map(|work| work.row.device.index())?;
    let memory = case.trace().devices.get(device).and_then(|device| device.memory_bytes);
    let memory = memory.or(case.known.main_memory_bytes.filter(|_| case.is_on_processors()));
    let needed = module.buffers.as_ref().map(|buffers| buffers.replay_peak().bytes).filter(|bytes| *bytes > 0);
    let message =
        format!("{} of the time goes to recomputing values that `{}` had already computed", percent(case.share(ns)), program.function(case));
    let mut found = program
        .located(case, Finding::new(message), again.first().copied())
        .number(format!("in {}", list(&program.names(&again), 3)), case.per_unit(ns))
        .why("`jax.checkpoint` keeps only part of what the backward pass needs, and recomputes the rest")
        .help("keep what is expensive to compute: `jax.checkpoint(f, policy=jax.checkpoint_policies.dots_saveable)`, or checkpoint fewer layers");
    let bytes = |bytes: u64, basis| Quantity::new(bytes as f64, Unit::Bytes, basis);
    let Some((memory, needed)) = memory.zip(needed) else { return Some(found.information()) };
    found = found
        .number("needed at the program's peak", bytes(needed, Basis::Counted))
        .number("of the device's memory", bytes(memory, Basis::Capture));
    if needed as f64 > ROOMY * memory as f64 {
        return Some(found.information());
    }
    let claim = program.claim(&again, 1.0);
    Some(found.edit(case.without(claim.iter().map(|(at, _)| *at))).claims(claim))
}

/// What autograd runs of the program's forward pass within a backward pass, which is where PyTorch's checkpoints recompute. On a
/// processor both are in one thread, so that looks at Python see the one under the other.
fn of_checkpoints(case: &Case<'_>) -> Option<Finding> {
    let (trace, mut all, mut again) = (case.trace(), 0, 0);
    let mut checkpoints: FxHashMap<PythonPlace, u64> = FxHashMap::default();
    let text = |id| trace.strings.get(id);
    let last = |id| text(id).rsplit('.').next().unwrap_or_default();
    for (stack, count) in case.analysis.get::<PythonLooks>().all() {
        let Some(stack) = trace.python.stacks.get(*stack as usize) else { continue };
        let places = stack.places.iter().filter_map(|row| trace.python.places.get(*row as usize));
        let places: Vec<&PythonPlace> = places.collect();
        all += count;
        let checkpoint = places.iter().find(|place| ["checkpoint", "checkpoint_sequential"].contains(&last(place.call)));
        if let Some(place) = checkpoint {
            *checkpoints.entry(**place).or_default() += count;
        }
        // A function with a backward pass of its own computes no forward pass in it.
        let is_forward = |place: &&PythonPlace| !text(place.function).contains("backward") && !text(place.function).contains("hook");
        let below = places.iter().position(|place| last(place.call) == "backward").unwrap_or(0);
        again += if below > 0 && places[..below].iter().all(is_forward) { *count } else { 0 };
    }
    let share = again as f64 / all.max(1) as f64;
    let (place, _) = checkpoints.into_iter().max_by_key(|(place, count)| (*count, place.line))?;
    let part = share / case.busy_share().filter(|busy| *busy > 0.0)?;
    (all >= FEWEST && share >= LEAST).then(|| {
        let claim = case.work().map(|work| (work.at, part.min(1.0) as f32));
        Finding::new(format!("{} of the time goes to recomputing the forward pass of checkpoints during the backward pass; fewer checkpoints would avoid it", percent(share)))
            .at(Some(case.place_of_python(&place)))
            .number("samples in the forward pass during a backward pass", Quantity::new(again as f64, Unit::Count, Basis::Counted))
            .number("of all samples", Quantity::new(all as f64, Unit::Count, Basis::Counted))
            .why("`torch.utils.checkpoint` keeps only the inputs of what it wraps, and computes it again for the gradient")
            .help("if the activations fit in memory, call the layer directly, without `checkpoint`; otherwise checkpoint fewer layers, or keep matrix products with `context_fn=create_selective_checkpoint_contexts`")
            .claims(claim)
            .priced(share * 0.8, (share * 1.3).min(1.0))
    })
}
