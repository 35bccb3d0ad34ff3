//! What a loop over a sequence does step by step, though it needs nothing of the step before: the input layers of a recurrent network.

use super::site::{Product, Site};
use ridge_hlo::{InstructionId, OpcodeClass};
use rustc_hash::FxHashSet;

/// Iterations for each run of a loop that are worth doing at once.
const FEWEST: u64 = 8;
/// Rows of a product from which on one step is enough for a device.
const ROWS: f64 = 64.0;
/// Values that are followed.
const MOST: usize = 512;

/// Layers of one loop that need only its inputs.
pub(crate) struct Layers {
    /// The products with their weights.
    pub(crate) products: Vec<InstructionId>,
    /// What ran for nothing but the inputs, the products among it, with the gradients of these layers.
    pub(crate) ran: Vec<InstructionId>,
    pub(crate) iterations: u64,
}

/// The layers of each loop.
pub(super) fn layers(site: &Site<'_, '_>) -> Vec<Layers> {
    let products = site.products();
    let loops = site.module.instruction_ids().filter(|id| site.instruction(*id).opcode == "while");
    loops.filter_map(|id| of_loop(site, id, &products)).collect()
}

fn of_loop(site: &Site<'_, '_>, around: InstructionId, products: &[Product]) -> Option<Layers> {
    let iterations = site.instruction(around).known_trip_count().filter(|trips| *trips >= FEWEST)?;
    let inside = products.iter().filter(|product| site.flow.loop_around(product.at) == Some(around));
    let layers: Vec<InstructionId> =
        inside.filter(|product| is_layer(site, product, around)).map(|product| product.at).collect();
    if layers.is_empty() {
        return None;
    }
    let body = site.module.computation(*site.instruction(around).called.first()?);
    let is_for_inputs = |id: &InstructionId| {
        let is_array = site.elements(*id) > 1.0;
        is_array && site.program.ran.contains_key(id) && is_made_of_inputs(site, *id, around)
    };
    let mut ran: Vec<InstructionId> = body.instruction_ids().filter(is_for_inputs).collect();
    ran.extend(
        products.iter().filter(|product| is_gradient(site, product, around)).filter_map(|product| site.ran(product.at)),
    );
    ran.sort_unstable();
    ran.dedup();
    Some(Layers { products: layers, ran, iterations })
}

/// A product of weights, the same in all iterations, with a few rows that come in from the sequence.
fn is_layer(site: &Site<'_, '_>, product: &Product, around: InstructionId) -> bool {
    let sides = [(product.lhs, product.rhs, product.m), (product.rhs, product.lhs, product.n)];
    let unchanged = |id: InstructionId| site.flow.is_unchanged_in(id, around);
    sides.into_iter().any(|(rows, weights, count)| {
        product.batch <= 1.0
            && count <= ROWS
            && unchanged(weights)
            && !unchanged(rows)
            && is_of_sequence(site, rows, around)
    })
}

/// Whether an operation makes its result, or the rows that it writes into arrays, of the loop's inputs alone.
fn is_made_of_inputs(site: &Site<'_, '_>, id: InstructionId, around: InstructionId) -> bool {
    let made = site.flow.source(id);
    let update = site.instruction(made);
    match (&*update.opcode, update.operands.get(1)) {
        ("dynamic-update-slice", Some(part)) => {
            !site.flow.is_unchanged_in(*part, around) && is_of_sequence(site, *part, around)
        }
        ("while" | "get-tuple-element" | "parameter" | "tuple", _) => false,
        _ => !site.flow.is_unchanged_in(made, around) && is_of_sequence(site, made, around),
    }
}

/// Whether a product is part of the gradient of a layer of the inputs in the loop `forward`: each iteration of the loop that goes back
/// adds it to what it hands on.
fn is_gradient(site: &Site<'_, '_>, product: &Product, forward: InstructionId) -> bool {
    let Some(around) = site.flow.loop_around(product.at).filter(|around| *around != forward) else { return false };
    let adds_to = |operand: &InstructionId| is_of_state(site, site.flow.source(*operand));
    let is_added = || {
        let [reader] = site.flow.readers(product.at)?[..] else { return None };
        let sum = site.instruction(reader);
        Some(sum.opcode == "add" && sum.operands.iter().any(adds_to))
    };
    let is_input = |side: &InstructionId| {
        !site.flow.is_unchanged_in(*side, around)
            && is_of_sequence(site, *side, around)
            && is_of_inputs(site, *side, forward)
    };
    [product.lhs, product.rhs].iter().any(is_input) && is_added().unwrap_or(false)
}

/// Whether the rows that an iteration takes of an array are inputs of a layer in the loop `forward`: of an array that comes from
/// outside, or that this loop wrote without its state.
fn is_of_inputs(site: &Site<'_, '_>, side: InstructionId, forward: InstructionId) -> bool {
    let slice = site.instruction(site.flow.content(side));
    let array =
        slice.operands.first().filter(|_| slice.opcode == "dynamic-slice").map(|array| site.flow.source(*array));
    let Some(array) = array else { return false };
    let Some(before) = site.loop_of(array) else { return true };
    let part = || {
        let index = usize::try_from(site.instruction(array).tuple_index?).ok()?;
        let body = site.module.computation(*site.instruction(before).called.first()?);
        let write = site.instruction(site.flow.source(*site.instruction(body.root?).operands.get(index)?));
        write.operands.get(1).copied().filter(|_| write.opcode == "dynamic-update-slice")
    };
    before == forward && part().is_some_and(|part| is_of_sequence(site, part, before))
}

/// Whether a value in the loop `around` is made of its counters and of what it doesn't change alone.
fn is_of_sequence(site: &Site<'_, '_>, id: InstructionId, around: InstructionId) -> bool {
    let (mut open, mut seen) = (vec![site.flow.source(id)], FxHashSet::default());
    while let Some(at) = open.pop() {
        if !seen.insert(at) || !site.flow.is_within(at, around) {
            continue;
        }
        let instruction = site.instruction(at);
        let is_known = match &*instruction.opcode {
            "constant" | "iota" | "dot" | "reduce" | "convolution" => true,
            // A counter of the loop's state.
            "get-tuple-element" => {
                if site.elements(at) <= 1.0 && site.number(at).is_integer() && is_of_state(site, at) {
                    continue;
                }
                false
            }
            _ => matches!(instruction.opcode.class(), OpcodeClass::Elementwise(_) | OpcodeClass::Moves),
        };
        if !is_known || seen.len() > MOST {
            return false;
        }
        open.extend(site.flow.inputs(at));
    }
    true
}

fn is_of_state(site: &Site<'_, '_>, id: InstructionId) -> bool {
    let instruction = site.instruction(id);
    let of = instruction.operands.first().filter(|_| instruction.opcode == "get-tuple-element");
    of.is_some_and(|of| site.instruction(*of).opcode == "parameter")
}
