//! Arrays moved into another order in memory because products, convolutions or sums read them that way.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::programs::{Program, programs};
use crate::rule::{Find, Group, Rule};
use crate::words::{count, list, percent};
use ridge_analysis::{Lines, Need};
use ridge_hlo::{HloModule, InstructionId, OpcodeClass, Users};
use rustc_hash::FxHashMap;

pub(crate) static RULE: Rule = Rule {
    id: "layout-copies",
    group: Group::Structure,
    summary: "arrays are transposed or copied into the layout that the next operation reads",
    document: include_str!("layout_copies.md"),
    asks: &[Question::Device, Question::Hlo],
    explains: &[],
    needs: &[Need::of::<Lines>()],
    find: Find::Causes(find),
};

/// Below this part of the time some change of layout is the price of the fastest products.
const LEAST: f64 = 0.05;
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
    let claim = program.claim(&moves, 1.0);
    let moved = count(moves.len() as u64, "copy or transpose", "copies and transposes");
    let found = Finding::new(format!(
        "{} of the time moves arrays of `{}` into the layout of {} that reads them",
        percent(case.share(ns)),
        program.function(case),
        kinds.first().copied().unwrap_or("the operation"),
    ));
    Some(
        program
            .located(case, found, moves.first().copied())
            .number(format!("in {moved}: {}", list(&program.names(&moves), 3)), case.per_unit(ns))
            .why("the array is made in one order and read in another, so every element is moved before the work begins")
            .help("make it in the order in which it is read: name the contracted dimensions in one `jnp.einsum` instead of `transpose` and `reshape`, keep convolutions in NHWC, store weights as they are used")
            .edit(case.without(claim.iter().map(|(at, _)| *at)))
            .claims(claim),
    )
}

/// Whether an operation changes the order of elements in memory and does nothing else.
fn only_moves(module: &HloModule, id: InstructionId) -> bool {
    let instruction = module.instruction(id);
    let is_move = |id: &InstructionId| matches!(&*module.instruction(*id).opcode, "copy" | "transpose");
    if !instruction.is_fusion() {
        return is_move(&id) && changes_order(module, id);
    }
    let Some(body) = instruction.called.first() else { return false };
    let inside = || module.computation(*body).instruction_ids();
    // A transpose is often followed by the copy into the layout that makes it one.
    let moves_only = inside().all(|id| {
        let opcode = &*module.instruction(id).opcode;
        is_move(&id) || matches!(opcode, "parameter" | "bitcast" | "tuple" | "get-tuple-element")
    });
    moves_only && inside().filter(is_move).any(|id| changes_order(module, id))
}

/// Whether the elements of a copy or transpose lie in another order than its operand's, extents of one aside.
fn changes_order(module: &HloModule, id: InstructionId) -> bool {
    let instruction = module.instruction(id);
    let Some(&operand) = instruction.operands.first() else { return false };
    let order = |id: InstructionId| -> Option<Vec<i64>> {
        let shape = &module.instruction(id).shape;
        let order = shape.layout.as_ref()?.minor_to_major.iter().copied();
        let is_wide = |dimension: &i64| {
            usize::try_from(*dimension).ok().and_then(|at| shape.dimensions.get(at)).is_some_and(|extent| *extent > 1)
        };
        Some(order.filter(is_wide).collect())
    };
    let Some((from, to)) = order(operand).zip(order(id)) else { return false };
    if instruction.opcode != "transpose" {
        return from != to;
    }
    // Dimension i of the result is dimension `dimensions[i]` of the operand.
    let origin = |at: &i64| usize::try_from(*at).ok().and_then(|at| instruction.dimensions.get(at)).copied();
    to.iter().map(origin).collect::<Option<Vec<i64>>>().is_some_and(|to| to != from)
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
