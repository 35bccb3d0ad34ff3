//! Arrays moved into another order in memory because products, convolutions or sums read them that way.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::orders::{moves_and_computes, only_moves};
use crate::programs::{Program, programs};
use crate::rule::{Find, Group, Rule};
use crate::words::{count, list, percent};
use ridge_analysis::{Lines, Need};
use ridge_hlo::{HloModule, InstructionId, OpcodeClass, Users};
use ridge_table::{Basis, Quantity, Unit};
use rustc_hash::FxHashMap;

pub(crate) static RULE: Rule = Rule {
    id: "layout-copies",
    group: Group::Structure,
    summary: "Layout-changing copies and transposes",
    document: include_str!("layout_copies.md"),
    asks: &[Question::Device, Question::Hlo],
    explains: &[],
    needs: &[Need::of::<Lines>()],
    find: Find::Causes(find),
};

/// Below this part of the time some change of layout is the price of the fastest products.
const LEAST: f64 = 0.05;
/// Below this part of the time a warning was as often wrong as right: products that run fastest on one order of their operands have
/// them moved whatever the program does.
const WORTH: f64 = 0.10;
/// Passes that compute, too, are slow where they move bytes at less than this part of the rate of those that do not.
const SLOW: f64 = 0.5;
/// Instructions that are looked at to find who reads a value.
const NEARBY: usize = 16;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    case.needs_hlo()?;
    let of_program = |program: Program<'_>| finding(case, &program);
    Ok(programs(case).into_iter().filter_map(of_program).collect())
}

fn finding(case: &Case<'_>, program: &Program<'_>) -> Option<Finding> {
    let module = program.module;
    let moves: Vec<InstructionId> = program.ran.keys().copied().filter(|id| only_moves(module, *id)).collect();
    if case.share(program.ns_of(&moves)) < LEAST {
        return None;
    }
    let uses = Users::new(module);
    let with_reader = |id: &InstructionId| Some((*id, reader(module, &uses, *id)?));
    let readers: FxHashMap<InstructionId, InstructionId> = moves.iter().filter_map(with_reader).collect();
    let moves = program.longest_first(&readers.keys().copied().collect::<Vec<_>>());
    let ns = program.ns_of(&moves);
    if case.share(ns) < LEAST {
        return None;
    }
    let mut kinds: Vec<&str> = moves.iter().filter_map(|id| readers.get(id)).map(|id| kind(module, *id)).collect();
    kinds.dedup();
    kinds.truncate(1);
    let mut claim = program.claim(&moves, 1.0);
    let edit = case.without(claim.iter().map(|(at, _)| *at));
    let moved = count(moves.len() as u64, "copy or transpose", "copies and transposes");
    let slowed = slowed(case, program, &readers, &moves);
    let lost_ns: f64 = slowed.iter().map(|(id, part)| f64::from(*part) * program.ns(*id) as f64).sum();
    let mut found = Finding::new(format!(
        "{} of the time goes to copying arrays of `{}` into the layout of {} that reads them{}",
        percent(case.share(ns.saturating_add(lost_ns as i64))),
        program.function(case),
        kinds.first().copied().unwrap_or("the operation"),
        if slowed.is_empty() { "" } else { ", and back" },
    ));
    found = program
        .located(case, found, moves.first().copied())
        .number(format!("in {moved}: {}", list(&program.names(&moves), 3)), case.per_unit(ns));
    for (id, part) in slowed {
        let rate = |ids: &[InstructionId]| Quantity::new(rate(program, ids), Unit::BytesPerSec, Basis::Modelled);
        let name = &program.module.instruction(id).name;
        found = found
            .number(format!("in `{name}`, which transposes while it computes"), case.per_unit(program.ns(id)))
            .number("achieved bandwidth", rate(&[id]))
            .number("in pure copies", rate(&moves));
        claim.extend(program.claim(&[id], part));
    }
    // Arrays that a library makes and reads are not the user's to make in another order.
    let is_of_library = |id: &InstructionId| {
        program.work(*id).first().is_some_and(|work| case.library_line_of_op(work.op).is_some())
    };
    let of_libraries: Vec<InstructionId> = moves.iter().copied().filter(is_of_library).collect();
    let is_librarys = 2 * program.ns_of(&of_libraries) > ns;
    if case.share(ns.saturating_add(lost_ns as i64)) < WORTH || is_librarys {
        found = found.information();
    }
    Some(
        found
            .why("the array is written in one layout and read in another, so every element is copied before the computation starts")
            .help("create the array in the layout its reader needs: contract dimensions in one `jnp.einsum` instead of `transpose` and `reshape`, keep convolutions in NHWC, and store weights in the layout they are used in")
            .edit(edit)
            .claims(claim),
    )
}

/// On processors, passes over what the readers make or read that also compute, and the part of their time that is beyond what
/// the same bytes take where they are only moved: there every element is fetched alone. Accelerators turn tiles of an array.
fn slowed(
    case: &Case<'_>,
    program: &Program<'_>,
    readers: &FxHashMap<InstructionId, InstructionId>,
    moves: &[InstructionId],
) -> Vec<(InstructionId, f32)> {
    let usual = rate(program, moves);
    if !case.is_on_processors() || usual <= 0.0 {
        return Vec::new();
    }
    let reads_result = |id: &InstructionId| {
        program.module.instruction(*id).operands.iter().any(|operand| readers.values().any(|reader| reader == operand))
    };
    let ids = program.ran.keys().copied().filter(|id| moves_and_computes(program.module, *id) && reads_result(id));
    let parts = ids.map(|id| (id, rate(program, &[id]) / usual));
    parts.filter(|(_, of_usual)| *of_usual < SLOW).map(|(id, of_usual)| (id, (1.0 - of_usual) as f32)).collect()
}

/// Bytes that instructions read and write in each second that they have of the devices' time.
fn rate(program: &Program<'_>, ids: &[InstructionId]) -> f64 {
    let bytes = |id: InstructionId| {
        let instruction = program.module.instruction(id);
        let shapes = instruction.operands.iter().map(|operand| program.module.instruction(*operand));
        shapes.chain([instruction]).filter_map(|of| of.shape.byte_size().ok()).fold(0_u64, u64::saturating_add)
    };
    let moved = ids.iter().map(|id| bytes(*id) as f64 * program.events(*id) as f64).sum::<f64>();
    let ns = program.ns_of(ids) as f64;
    if ns > 0.0 { 1e9 * moved / ns } else { 0.0 }
}

/// The product, convolution or sum that reads a value, through what only passes it by.
fn reader(module: &HloModule, uses: &Users, id: InstructionId) -> Option<InstructionId> {
    let mut open = vec![id];
    let mut seen = 0;
    while let Some(value) = open.pop() {
        for &user in uses.of(value) {
            seen += 1;
            if seen > NEARBY {
                return None;
            }
            let hero = module.instruction(module.hero(user));
            match &*hero.opcode {
                "dot" | "convolution" | "reduce" | "reduce-window" | "ragged-dot" | "scaled-dot" => return Some(user),
                "custom-call" if is_product(hero.custom_call_target.as_deref()) => return Some(user),
                _ if module.instruction(user).opcode.class() == OpcodeClass::PassesBy => open.push(user),
                _ => {}
            }
        }
    }
    None
}

/// Whether a custom call is a library's product, convolution or attention.
fn is_product(target: Option<&str>) -> bool {
    target.is_some_and(|target| target.starts_with("__cublas$") || target.starts_with("__cudnn$") || target.contains("matmul"))
}

fn kind(module: &HloModule, reader: InstructionId) -> &'static str {
    let hero = module.instruction(module.hero(reader));
    match &*hero.opcode {
        "convolution" => "the convolution",
        "reduce" | "reduce-window" => "the reduction",
        "custom-call" if hero.custom_call_target.as_deref().is_some_and(|target| target.starts_with("__cudnn$")) => {
            "the convolution or attention"
        }
        _ => "the matrix product",
    }
}
