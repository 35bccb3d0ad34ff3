//! Loops on the device whose body is so small that running the loop takes longer than its work.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::programs::{Program, programs, reached};
use crate::rule::{Find, Group, Rule};
use crate::words::{percent, short};
use ridge_analysis::{Cause, Lines, Need};
use ridge_hlo::InstructionId;
use ridge_table::{Basis, Quantity, Unit};
use ridge_trace::{EventKind, TrackKind};
use ridge_units::Nanos;
use rustc_hash::FxHashMap;

pub(crate) static RULE: Rule = Rule {
    id: "serial-while-small-body",
    group: Group::Structure,
    summary: "Device loop with a tiny body",
    document: include_str!("serial_while_small_body.md"),
    asks: &[Question::Device, Question::Hlo],
    explains: &["host-bound-dispatch"],
    needs: &[Need::of::<Lines>()],
    find: Find::Causes(find),
};

/// Iterations of a loop that is worth unrolling.
const FEWEST_TRIPS: u64 = 8;
/// The longest iteration that is tiny, nanoseconds.
const TINY_NS: u64 = 100_000;
/// The least part of the loop's time that is not work.
const LEAST_OF_LOOP: f64 = 0.30;
/// The least part of the judged time.
const LEAST: f64 = 0.05;
/// What four iterations per body leave of the time between iterations.
const LEFT: f32 = 0.25;
/// A gap between kernels of one loop that is longer is no part of the loop: another run began.
const LONGEST_GAP_NS: i64 = 50_000;

/// Idle time of one device between the work of one loop, with the most of it that idle rows of the breakdown can have.
type Gaps = FxHashMap<(u32, InstructionId), Vec<(u32, i64)>>;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    case.needs_hlo()?;
    let programs = programs(case);
    let loops: Vec<FxHashMap<InstructionId, InstructionId>> = programs.iter().map(innermost_loops).collect();
    let gaps = gaps(case, &programs, &loops);
    let mut findings = Vec::new();
    for (program, inside) in programs.iter().zip(&loops) {
        let mut bodies: FxHashMap<InstructionId, Vec<InstructionId>> = FxHashMap::default();
        inside.iter().for_each(|(id, of)| bodies.entry(*of).or_default().push(*id));
        let mut bodies: Vec<(InstructionId, Vec<InstructionId>)> = bodies.into_iter().collect();
        bodies.sort_unstable();
        findings.extend(bodies.into_iter().filter_map(|(id, body)| finding(case, program, id, &body, &gaps)));
    }
    Ok(findings)
}

/// The innermost loop around each instruction that ran.
fn innermost_loops(program: &Program<'_>) -> FxHashMap<InstructionId, InstructionId> {
    let module = program.module;
    let mut of_computation: FxHashMap<_, (usize, InstructionId)> = FxHashMap::default();
    for id in module.instruction_ids().filter(|id| module.instruction(*id).opcode == "while") {
        let called = &module.instruction(id).called;
        let inside: Vec<_> = called.iter().flat_map(|called| reached(module, *called)).collect();
        for computation in &inside {
            let known = of_computation.entry(*computation).or_insert((inside.len(), id));
            // What is within an inner loop reaches fewer computations from there.
            *known = (*known).min((inside.len(), id));
        }
    }
    let of = |id: &InstructionId| {
        let (_, around) = of_computation.get(&module.instruction(*id).computation)?;
        Some((*id, *around))
    };
    program.ran.keys().filter_map(of).collect()
}

/// Idle time between kernels of the same loop, by program and loop.
fn gaps(case: &Case<'_>, programs: &[Program<'_>], loops: &[FxHashMap<InstructionId, InstructionId>]) -> Gaps {
    let trace = case.trace();
    let mut loop_of: FxHashMap<u32, (u32, InstructionId)> = FxHashMap::default();
    for (program, inside) in programs.iter().zip(loops) {
        for (id, around) in inside {
            program.work(*id).iter().for_each(|work| {
                loop_of.insert(work.op, (program.row.0, *around));
            });
        }
    }
    let mut gaps = Gaps::default();
    if loop_of.is_empty() {
        return gaps;
    }
    for track in trace.device_tracks().filter(|track| track.kind == TrackKind::Stream) {
        let Some((device, spans)) = track.device.zip(case.analyzed().spans.get(track.process as usize)) else { continue };
        let mut before: Option<((u32, InstructionId), i64)> = None;
        for row in track.rows.clone().map(|row| row as usize) {
            if !EventKind::from_byte_is_work(trace.events.kind[row]) {
                continue;
            }
            let (start, end) = (trace.events.start_ns[row], trace.events.end_ns(row));
            let here = loop_of.get(&trace.events.op[row]).copied();
            if let (Some((last, until)), Some(here)) = (before, here) {
                let gap = start.saturating_sub(until);
                if last == here && (1..=LONGEST_GAP_NS).contains(&gap) {
                    let devices = gaps.entry(here).or_default();
                    let ns = spans.within_ns(until, start);
                    match devices.iter_mut().find(|(known, _)| *known == device) {
                        Some((_, sum)) => *sum = sum.saturating_add(ns),
                        None => devices.push((device, ns)),
                    }
                }
            }
            before = here.map(|here| (here, before.map_or(end, |(_, until)| until.max(end))));
        }
    }
    gaps
}

fn finding(
    case: &Case<'_>,
    program: &Program<'_>,
    id: InstructionId,
    body: &[InstructionId],
    gaps: &Gaps,
) -> Option<Finding> {
    let instruction = program.module.instruction(id);
    let work_ns = program.ns_of(body);
    let own_ns = program.ns(id);
    let idle = gaps.get(&(program.row.0, id)).map_or(&[][..], |gaps| gaps);
    let idle_ns = idle.iter().fold(0_i64, |sum, (_, ns)| sum.saturating_add(*ns));
    let direct = body.iter().filter(|inside| {
        instruction.called.first() == Some(&program.module.instruction(**inside).computation)
    });
    let iterations = direct.map(|inside| program.events(*inside)).max()?;
    let runs = match (instruction.known_trip_count(), program.events(id)) {
        (_, events @ 1..) => events,
        (Some(trips), _) => (iterations / trips.max(1)).max(1),
        (None, _) => 1,
    };
    let trips = iterations / runs;
    let between = own_ns.saturating_add(idle_ns);
    let whole = between.saturating_add(work_ns);
    let per_trip = u64::try_from(whole).ok()? / iterations.max(1);
    let is_small = trips >= FEWEST_TRIPS && per_trip <= TINY_NS && between as f64 >= LEAST_OF_LOOP * whole as f64;
    if !is_small || case.share(between) < LEAST {
        return None;
    }
    let mut claim = program.claim(&[id], 1.0 - LEFT);
    claim.extend(idle.iter().flat_map(|(device, ns)| idle_rows(case, *device, *ns)));
    let lines = Some(id).filter(|id| program.ran.contains_key(id)).or_else(|| program.longest_first(body).first().copied());
    let name = short(&instruction.name);
    let found = Finding::new(format!(
        "`{name}` runs {trips} loop iterations of {} each, and {} of that time is overhead",
        Nanos(i64::try_from(per_trip).unwrap_or(i64::MAX)),
        percent(between as f64 / whole.max(1) as f64),
    ));
    let on_processors = case.is_on_processors();
    let help = if on_processors {
        "do more per iteration: batch independent systems with `jax.vmap`, or replace the loop with an array operation or `jax.lax.associative_scan`"
    } else {
        "do more per iteration: use `jax.lax.scan(..., unroll=8)`, batch independent systems with `jax.vmap`, or replace the loop with an array operation or `jax.lax.associative_scan`"
    };
    let found =
        program
            .located(case, found, lines)
            .number("between the operations of the loop", case.per_unit(between))
            .number("in the operations of the loop body", case.per_unit(work_ns))
            .number("operations per iteration", Quantity::new(body.len() as f64, Unit::Count, Basis::Counted))
            .why("each iteration launches its operations one by one and then evaluates the loop condition, and the next iteration waits for it")
            .help(help)
            .claims(claim);
    // Recording an operation of a processor takes longer than starting it does.
    Some(if on_processors { found.information() } else { found })
}

/// The rows of idle time on a device that gaps of a loop are in, each with the part that they would lose.
fn idle_rows(case: &Case<'_>, device: u32, ns: i64) -> Vec<(usize, f32)> {
    let within = [Cause::Run, Cause::Graph, Cause::Queued, Cause::LaunchLatency, Cause::LaunchCall, Cause::HostLate];
    let rows: Vec<_> =
        case.idle().filter(|idle| idle.row.device.0 == device && within.contains(&idle.cause)).collect();
    let all = rows.iter().fold(0_i64, |sum, idle| sum.saturating_add(idle.row.ns));
    let part = if all > 0 { (ns as f64 / all as f64).min(1.0) as f32 * (1.0 - LEFT) } else { 0.0 };
    rows.into_iter().map(|idle| (idle.at, part)).collect()
}
