//! Matrices of which little but some diagonals, or one side of the diagonal, is not zero, factorized as if they were full.

use super::cone::Cone;
use super::site::{Rewrite, Site, Slack};
use crate::pricing::Work;
use ridge_hlo::{InstructionId, Users};
use rustc_hash::{FxHashMap, FxHashSet};

/// The smallest matrix that is worth it.
const SMALLEST: i64 = 16;
/// Steps that a matrix is followed through, and instructions from its factors to the solution.
const MOST: usize = 1024;

/// Which diagonals may have something other than zero: the first and the last, counted from the main one upward.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Band {
    first: i64,
    last: i64,
}

/// A band without a diagonal: all is zero.
const NOTHING: Band = Band { first: i64::MAX, last: i64::MIN };

impl Band {
    fn with(self, other: Band) -> Band {
        Band { first: self.first.min(other.first), last: self.last.max(other.last) }
    }

    fn within(self, other: Band) -> Band {
        let both = Band { first: self.first.max(other.first), last: self.last.min(other.last) };
        if both.first > both.last { NOTHING } else { both }
    }
}

/// What the zeros of a matrix spare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Diagonal,
    Tridiagonal,
    Triangular,
}

pub(super) fn find(site: &Site<'_, '_>) -> Vec<Rewrite> {
    let factor = |id: &InstructionId| {
        let name = site.instruction(*id).custom_call_target.as_deref().unwrap_or_default();
        name.contains("getrf") || name.contains("LuDecomposition") || name.contains("potrf")
    };
    let ran: Vec<InstructionId> = site.program.ran.keys().copied().filter(factor).collect();
    if ran.is_empty() {
        return Vec::new();
    }
    let users = Users::new(site.module);
    ran.into_iter().filter_map(|id| rewrite(site, &users, id)).collect()
}

fn rewrite(site: &Site<'_, '_>, users: &Users, id: InstructionId) -> Option<Rewrite> {
    let matrix = *site.instruction(id).operands.first()?;
    let n = site.instruction(matrix).shape.dimensions.last().copied().filter(|n| *n >= SMALLEST)?;
    let band = Bands { site, known: FxHashMap::default() }.of(matrix)?;
    let kind = match band {
        NOTHING => return None,
        Band { first: 0, last: 0 } => Kind::Diagonal,
        Band { first, last } if first >= -1 && last <= 1 => Kind::Tridiagonal,
        Band { first, last } if first >= 0 || last <= 0 => Kind::Triangular,
        _ => return None,
    };
    let (mut old, columns) = solution(site, users, id);
    let made = Cone::of(site, matrix).map(|cone| cone.made_for(site, &[id])).unwrap_or_default();
    old.extend(made);
    old.retain(|id| site.program.ran.contains_key(id));
    old.sort_unstable();
    old.dedup();
    let (n, width) = (n as f64, site.width(matrix));
    let batch = (site.elements(matrix) / (n * n)).max(1.0);
    let better = match kind {
        Kind::Diagonal => Work { plain: n * columns, bytes: width * n * (1.0 + 2.0 * columns), ..Work::default() },
        Kind::Tridiagonal => {
            Work { plain: n * (8.0 + 8.0 * columns), bytes: width * n * (8.0 + 4.0 * columns), ..Work::default() }
        }
        Kind::Triangular => {
            let bytes = width * (n * n + 2.0 * n * columns);
            Work { matrix: n * n * columns, plain: n * n, bytes, ..Work::default() }
        }
    };
    let (does, instead, why, help) = words(kind);
    let better = better.times(batch * site.events(id));
    Some(Rewrite { does, instead, why, help, at: id, old, better, slack: Slack::Alike })
}

fn words(kind: Kind) -> (&'static str, &'static str, &'static str, &'static str) {
    match kind {
        Kind::Diagonal => (
            "goes to factorizing a diagonal matrix as a dense one",
            "a division",
            "all off-diagonal elements are zeros, but the factorization still costs the cube of the matrix size",
            "divide by the diagonal: `b / d` instead of `jnp.linalg.solve(jnp.diag(d), b)`",
        ),
        Kind::Tridiagonal => (
            "goes to factorizing a tridiagonal matrix as a dense one",
            "a tridiagonal solution",
            "only three diagonals are nonzero: a dense factorization costs the cube of the matrix size, a banded one is linear",
            "keep the three diagonals and use `jax.lax.linalg.tridiagonal_solve(lower, main, upper, b)`, or `lineax.TridiagonalLinearOperator`, instead of `jnp.diag` and a dense solve",
        ),
        Kind::Triangular => (
            "goes to factorizing a triangular matrix as a general one",
            "a triangular solution",
            "a triangular matrix is already its own factor",
            "use `jax.scipy.linalg.solve_triangular(m, b, lower=…)` instead of `solve`",
        ),
    }
}

/// What leads from the factors of a matrix to what is solved with them, the factorization first, and for how many right-hand
/// sides.
fn solution(site: &Site<'_, '_>, users: &Users, id: InstructionId) -> (Vec<InstructionId>, f64) {
    let is_solve = |id: &InstructionId| {
        let instruction = site.instruction(*id);
        let target = instruction.custom_call_target.as_deref();
        instruction.opcode == "triangular-solve" || target.is_some_and(|target| target.contains("trsm"))
    };
    // Forward as far as the solutions, then back from them: what lies on the way.
    let (mut open, mut after) = (vec![id], FxHashSet::from_iter([id]));
    let (mut solves, mut columns) = (Vec::new(), 0.0_f64);
    while let Some(at) = open.pop() {
        if is_solve(&at) {
            let extents = &site.instruction(at).shape.dimensions;
            columns = columns.max(extents.last().copied().unwrap_or(1) as f64);
            solves.push(at);
        }
        let is_last = is_solve(&at) && !users.of(at).iter().any(is_solve);
        if !is_last && after.len() < MOST {
            open.extend(users.of(at).iter().copied().filter(|user| after.insert(*user)));
        }
    }
    let (mut open, mut between) = (solves, FxHashSet::default());
    while let Some(at) = open.pop() {
        if between.insert(at) {
            open.extend(site.instruction(at).operands.iter().copied().filter(|operand| after.contains(operand)));
        }
    }
    let mut old = vec![id];
    for at in between {
        old.push(at);
        // Row exchanges are applied by a loop.
        if let Some(body) = site.instruction(at).called.first().filter(|_| site.instruction(at).opcode == "while") {
            old.extend(site.module.computation(*body).instruction_ids());
        }
    }
    (old, columns.max(1.0))
}

/// The bands of matrices.
struct Bands<'s, 'a, 'p> {
    site: &'s Site<'a, 'p>,
    known: FxHashMap<InstructionId, Option<Band>>,
}

impl Bands<'_, '_, '_> {
    /// The band of the last two dimensions of a value; `None` where it may be full.
    fn of(&mut self, id: InstructionId) -> Option<Band> {
        let source = self.site.flow.source(id);
        if let Some(known) = self.known.get(&source) {
            return *known;
        }
        if self.known.len() > MOST {
            return None;
        }
        self.known.insert(source, None);
        let band = self.of_source(source);
        self.known.insert(source, band);
        band
    }

    fn of_source(&mut self, id: InstructionId) -> Option<Band> {
        let instruction = self.site.instruction(id);
        if self.site.constant(id) == Some(0.0) {
            return Some(NOTHING);
        }
        let operand = |at: usize| instruction.operands.get(at).copied();
        match &*instruction.opcode {
            "convert" | "negate" | "abs" | "sign" | "sqrt" | "tanh" | "sine" => self.of(operand(0)?),
            "add" | "subtract" | "or" | "maximum" | "minimum" => {
                Some(self.of(operand(0)?)?.with(self.of(operand(1)?)?))
            }
            "multiply" | "and" => match (self.of(operand(0)?), self.of(operand(1)?)) {
                (Some(one), Some(other)) => Some(one.within(other)),
                (one, other) => one.or(other),
            },
            "divide" => self.of(operand(0)?),
            "select" => {
                let (yes, no) = (self.of(operand(1)?), self.of(operand(2)?));
                // Only where it is true does the first of both stand.
                let yes = match (self.of(operand(0)?), yes) {
                    (Some(one), Some(other)) => Some(one.within(other)),
                    (one, other) => one.or(other),
                };
                Some(yes?.with(no?))
            }
            "compare" => self.of_comparison(id),
            "broadcast" => {
                let (rank, from) = (instruction.shape.dimensions.len(), &instruction.dimensions);
                let last = [rank.checked_sub(2)?, rank.checked_sub(1)?].map(|at| i64::try_from(at).unwrap_or(-1));
                from.ends_with(&last).then(|| self.of(operand(0)?))?
            }
            "transpose" => {
                let band = self.of(operand(0)?)?;
                let rank = i64::try_from(instruction.dimensions.len()).ok()?;
                let is_kept = instruction.dimensions.ends_with(&[rank - 2, rank - 1]);
                let is_turned = instruction.dimensions.ends_with(&[rank - 1, rank - 2]);
                let turned = || if band == NOTHING { NOTHING } else { Band { first: -band.last, last: -band.first } };
                if is_kept { Some(band) } else { is_turned.then(turned) }
            }
            _ => None,
        }
    }

    /// Where a comparison of the number of the row with that of the column is true.
    fn of_comparison(&self, id: InstructionId) -> Option<Band> {
        let instruction = self.site.instruction(id);
        let rank = instruction.shape.dimensions.len();
        let (row, column) = (rank.checked_sub(2)?, rank.checked_sub(1)?);
        let [(one, more), (other, less)] = [0, 1]
            .map(|at| instruction.operands.get(at).and_then(|id| self.counter(*id)))
            .map(|found| found.unwrap_or((rank, 0)));
        // The number of the diagonal against a number: `row + more = column + less`.
        let (at, is_turned) = match (one == row && other == column, one == column && other == row) {
            (true, _) => (more - less, false),
            (_, true) => (less - more, true),
            _ => return None,
        };
        match (instruction.attributes().comparison_direction.as_deref()?, is_turned) {
            ("EQ", _) => Some(Band { first: at, last: at }),
            ("GE", false) | ("LE", true) => Some(Band { first: i64::MIN / 2, last: at }),
            ("GT", false) | ("LT", true) => Some(Band { first: i64::MIN / 2, last: at - 1 }),
            ("LE", false) | ("GE", true) => Some(Band { first: at, last: i64::MAX / 2 }),
            ("LT", false) | ("GT", true) => Some(Band { first: at + 1, last: i64::MAX / 2 }),
            _ => None,
        }
    }

    /// The dimension along which a value counts, and from which number.
    fn counter(&self, id: InstructionId) -> Option<(usize, i64)> {
        let site = self.site;
        let (mut at, mut dimension, mut offset) = (site.flow.source(id), None, 0.0);
        for _ in 0..8 {
            let instruction = site.instruction(at);
            match &*instruction.opcode {
                "convert" => at = site.flow.source(*instruction.operands.first()?),
                "iota" => {
                    let counted = usize::try_from(*instruction.dimensions.first().unwrap_or(&0)).ok()?;
                    return Some((
                        dimension.map_or(counted, |map: Vec<usize>| map.get(counted).copied().unwrap_or(usize::MAX)),
                        offset as i64,
                    ));
                }
                "broadcast" if dimension.is_none() => {
                    dimension =
                        Some(instruction.dimensions.iter().filter_map(|to| usize::try_from(*to).ok()).collect());
                    at = site.flow.source(*instruction.operands.first()?);
                }
                "add" | "subtract" => {
                    let [one, other] = instruction.operands[..] else { return None };
                    let sign = if instruction.opcode == "add" { 1.0 } else { -1.0 };
                    (at, offset) = match (site.constant(one), site.constant(other)) {
                        (None, Some(number)) => (site.flow.source(one), offset + sign * number),
                        (Some(number), None) if sign > 0.0 => (site.flow.source(other), offset + number),
                        _ => return None,
                    };
                }
                _ => return None,
            }
        }
        None
    }
}
