//! One matrix that a whole batch shares, factorized and solved with again for each of its members.

use super::site::{Rewrite, Site, Slack};
use crate::factors::is_factor;
use crate::pricing::Work;
use ridge_hlo::{InstructionId, OpcodeClass};
use rustc_hash::FxHashMap;

/// Copies of a matrix that are worth a word.
const FEWEST: f64 = 4.0;
/// Steps from a result to the sum over the batch.
const LONGEST: usize = 24;
/// Values that are looked at to see whether one is the same for a whole batch.
const MOST: usize = 4096;

pub(super) fn find(site: &Site<'_, '_>) -> Vec<Rewrite> {
    let mut same = Sameness { site, known: FxHashMap::default() };
    let (mut old, mut better) = (Vec::new(), Work::default());
    for id in site.program.ran.keys().copied() {
        let Some(work) = same.shared(id) else { continue };
        old.push(id);
        better = better.plus(work.times(site.program.events(id) as f64));
    }
    let longest = |ids: &[InstructionId]| ids.iter().copied().max_by_key(|id| site.program.ns(*id));
    let factors: Vec<InstructionId> = old.iter().copied().filter(|id| is_factor(site.module, *id)).collect();
    let Some(at) = longest(&factors).or_else(|| longest(&old)) else { return Vec::new() };
    // A solution alone whose matrix is shared is only a narrower form of what a library does by itself.
    if factors.is_empty() {
        return Vec::new();
    }
    vec![Rewrite {
        does: "goes to factorizing the same matrix again for every member of a batch, and solving with each copy",
        instead: "one factorization and one solve with all right-hand sides",
        why: "the matrix was repeated along the batch (by `tile`, `repeat`, `broadcast_to` or `vmap`), and the compiler doesn't recognize the identical copies",
        help: "factorize the matrix once and broadcast the factor: use `scale_tril=jnp.linalg.cholesky(cov)` for a distribution, `in_axes=None` for `vmap`, and all right-hand sides as columns of one `cho_solve` or `solve_triangular`",
        at,
        old,
        better,
        slack: Slack::Alike,
    }]
}

fn is_solve(site: &Site<'_, '_>, id: InstructionId) -> bool {
    let instruction = site.instruction(id);
    instruction.opcode == "triangular-solve"
        || instruction.custom_call_target.as_deref().is_some_and(|target| target.contains("trsm"))
}

/// Which values are the same along which of their dimensions.
struct Sameness<'s, 'a, 'p> {
    site: &'s Site<'a, 'p>,
    known: FxHashMap<(InstructionId, usize), bool>,
}

impl Sameness<'_, '_, '_> {
    /// What one execution of `id` takes where what its batch shares is done once; `None` where it shares no matrix.
    fn shared(&mut self, id: InstructionId) -> Option<Work> {
        let (site, instruction) = (self.site, self.site.instruction(id));
        let matrix = *instruction.operands.first()?;
        let extents = &site.instruction(matrix).shape.dimensions;
        let batches = extents.len().checked_sub(2)?;
        let copies: f64 = extents.iter().take(batches).map(|extent| *extent as f64).product();
        let n = *extents.last()? as f64;
        if copies < FEWEST || !(is_factor(site.module, id) || is_solve(site, id)) {
            return None;
        }
        if !(0..batches).all(|dimension| self.is_same(matrix, dimension)) {
            return None;
        }
        if is_factor(site.module, id) {
            return Some(Work::of(site.cost(id)?)?.times(1.0 / copies));
        }
        let right = *instruction.operands.get(1)?;
        let columns = site.elements(right) / (copies * n).max(1.0);
        // What is only added up over the batch may be added up before it is solved for.
        let is_summed = (0..batches).all(|dimension| self.is_summed(id, dimension, 0));
        let rights = columns * if is_summed { 1.0 } else { copies };
        let width = site.width(id);
        Some(Work { matrix: n * n * rights, bytes: width * (n * n / 2.0 + 2.0 * n * rights), ..Work::default() })
    }

    /// Whether a value is the same for every place along `dimension`.
    fn is_same(&mut self, id: InstructionId, dimension: usize) -> bool {
        let source = self.site.flow.source(id);
        // Of a tuple, as factors with their pivots are, the first array.
        let [of_value, of_source] = [id, source].map(|id| self.site.instruction(id).shape.leaves());
        let [extents, of_source] =
            [&of_value, &of_source].map(|leaves| leaves.first().map_or(&[][..], |shape| &shape.dimensions[..]));
        // Where the shape changed on the way, the dimensions up to this one must be what they were.
        if extents.get(..=dimension).is_none() || extents.get(..=dimension) != of_source.get(..=dimension) {
            return self.site.constant(source).is_some();
        }
        if let Some(known) = self.known.get(&(source, dimension)) {
            return *known;
        }
        if self.known.len() > MOST {
            return false;
        }
        // What reads itself is taken to differ.
        self.known.insert((source, dimension), false);
        let is_same = self.is_same_here(source, dimension);
        self.known.insert((source, dimension), is_same);
        is_same
    }

    fn is_same_here(&mut self, id: InstructionId, dimension: usize) -> bool {
        let instruction = self.site.instruction(id);
        let mapped = |dimensions: &[i64]| dimensions.iter().position(|to| usize::try_from(*to) == Ok(dimension));
        let first = instruction.operands.first().copied();
        let rank = |id: InstructionId| self.site.instruction(id).shape.dimensions.len();
        match &*instruction.opcode {
            "constant" => self.site.constant(id).is_some(),
            "iota" => mapped(&instruction.dimensions).is_none(),
            "broadcast" => match (mapped(&instruction.dimensions), first) {
                (Some(from), Some(operand)) => self.is_same(operand, from),
                _ => true,
            },
            "transpose" => {
                let from = instruction.dimensions.get(dimension).and_then(|from| usize::try_from(*from).ok());
                first.zip(from).is_some_and(|(operand, from)| self.is_same(operand, from))
            }
            "reshape" | "slice" | "get-tuple-element" => first.is_some_and(|operand| self.is_same(operand, dimension)),
            "custom-call" | "triangular-solve" | "cholesky" => {
                let is_known = is_factor(self.site.module, id) || is_solve(self.site, id);
                let operands: Vec<InstructionId> = instruction.operands.clone();
                is_known && operands.into_iter().all(|operand| self.is_same(operand, dimension))
            }
            _ if matches!(instruction.opcode.class(), OpcodeClass::Elementwise(_)) => {
                let operands: Vec<(InstructionId, bool)> =
                    instruction.operands.iter().map(|operand| (*operand, rank(*operand) == 0)).collect();
                operands.into_iter().all(|(operand, is_number)| is_number || self.is_same(operand, dimension))
            }
            _ => false,
        }
    }

    /// Whether all that is made of a value, by linear steps, is its sum along `dimension`.
    fn is_summed(&mut self, id: InstructionId, dimension: usize, depth: usize) -> bool {
        let Some(readers) = self.site.flow.readers(id).filter(|readers| !readers.is_empty()) else { return false };
        depth < LONGEST && readers.into_iter().all(|reader| self.is_linear_to_sum(id, reader, dimension, depth))
    }

    fn is_linear_to_sum(&mut self, id: InstructionId, reader: InstructionId, dimension: usize, depth: usize) -> bool {
        let instruction = self.site.instruction(reader);
        let place = i64::try_from(dimension).unwrap_or(-1);
        match &*instruction.opcode {
            "reduce" => instruction.dimensions.contains(&place) && self.adds(reader),
            "reduce-window" => {
                let window = instruction.attributes().window.as_ref();
                let sums = window.and_then(|window| window.dimensions.get(dimension)).is_some_and(|one| one.size > 1);
                sums && self.adds(reader)
            }
            "add" | "subtract" | "negate" => self.is_summed(reader, dimension, depth + 1),
            "multiply" | "divide" | "select" => {
                let from = self.site.flow.content(id);
                let others: Vec<InstructionId> = instruction.operands.clone();
                let others = others.into_iter().filter(|operand| self.site.flow.content(*operand) != from);
                let others: Vec<InstructionId> = others.collect();
                others.len() < instruction.operands.len()
                    && others.into_iter().all(|operand| self.is_same(operand, dimension))
                    && self.is_summed(reader, dimension, depth + 1)
            }
            _ if is_solve(self.site, reader) => {
                let matrix = instruction.operands.first().copied();
                matrix.is_some_and(|matrix| self.is_same(matrix, dimension))
                    && self.is_summed(reader, dimension, depth + 1)
            }
            _ => false,
        }
    }

    fn adds(&self, reduce: InstructionId) -> bool {
        let called = self.site.instruction(reduce).called.first();
        let root = called.and_then(|called| self.site.module.computation(*called).root);
        root.is_some_and(|root| self.site.instruction(root).opcode == "add")
    }
}
