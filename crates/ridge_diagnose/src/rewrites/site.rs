//! A compiled program as patterns see it: its data flow, with what ran, what that cost and where it stands in the source.

use crate::case::{Case, is_installed};
use crate::finding::Place;
use crate::pricing::Work;
use crate::programs::Program;
use ridge_analysis::Costs;
use ridge_hlo::cost::Cost;
use ridge_hlo::{ElementType, Flow, HloModule, Instruction, InstructionId, Scalar};

/// A program with its data flow, as patterns see it.
pub(crate) struct Site<'a, 'p> {
    pub(crate) case: &'p Case<'a>,
    pub(crate) program: &'p Program<'a>,
    pub(crate) module: &'a HloModule,
    pub(crate) flow: Flow<'a>,
}

/// A form that costs less.
#[derive(Debug, Clone)]
pub(crate) struct Rewrite {
    /// What the program does, after "… of the time".
    pub(crate) does: &'static str,
    /// What would do, a noun.
    pub(crate) instead: &'static str,
    pub(crate) why: &'static str,
    pub(crate) help: &'static str,
    /// The instruction whose line is to be changed.
    pub(crate) at: InstructionId,
    /// What would go: instructions that ran.
    pub(crate) old: Vec<InstructionId>,
    /// What would take its place, in all of the judged time.
    pub(crate) better: Work,
    /// How much slower than its price what takes its place may be.
    pub(crate) slack: Slack,
}

/// How much slower than its price a better form may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slack {
    /// As much slower as what it replaces was: both are the same kind of work.
    Alike,
    /// Little: being slower is what it mends.
    Little,
}

/// A product of two matrices: `batch` times m × k by k × n.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Product {
    pub(crate) at: InstructionId,
    pub(crate) lhs: InstructionId,
    pub(crate) rhs: InstructionId,
    pub(crate) batch: f64,
    pub(crate) m: f64,
    pub(crate) n: f64,
    pub(crate) k: f64,
}

impl Product {
    /// Its operations.
    pub(crate) fn flops(&self) -> f64 {
        2.0 * self.batch * self.m * self.n * self.k
    }
}

/// The deepest line of the user's own that an instruction came from, else its deepest of all.
pub(crate) fn own_line(module: &HloModule, id: InstructionId) -> Option<Place> {
    let stack = module.source_stack(id);
    let own = stack.iter().find(|frame| !is_installed(frame.file)).or(stack.first())?;
    Some(Place { file: own.file.to_owned(), line: own.line, is_inferred: false })
}

impl<'a> Site<'a, '_> {
    pub(crate) fn instruction(&self, id: InstructionId) -> &'a Instruction {
        self.module.instruction(id)
    }

    /// Elements of a value, of the first array of a tuple.
    pub(crate) fn elements(&self, id: InstructionId) -> f64 {
        let leaves = self.instruction(id).shape.leaves();
        leaves.first().and_then(|shape| shape.element_count().ok()).unwrap_or(0) as f64
    }

    /// Elements of one of the arrays of a tuple.
    pub(super) fn elements_of(&self, id: InstructionId, index: i64) -> Option<f64> {
        let leaves = self.instruction(id).shape.leaves();
        Some(leaves.get(usize::try_from(index).ok()?)?.element_count().ok()? as f64)
    }

    /// Bytes of one element of a value.
    pub(crate) fn width(&self, id: InstructionId) -> f64 {
        f64::from(self.number(id).bits().unwrap_or(32).max(8)) / 8.0
    }

    /// The type of its elements.
    pub(crate) fn number(&self, id: InstructionId) -> ElementType {
        self.instruction(id).shape.leaves().first().map_or(ElementType::F32, |shape| shape.element_type)
    }

    /// Bytes of a value.
    pub(crate) fn bytes(&self, id: InstructionId) -> f64 {
        self.elements(id) * self.width(id)
    }

    /// What a value is spread out from: the condition of a choice has the extents of each array that it chooses.
    pub(super) fn spread_from(&self, id: InstructionId) -> InstructionId {
        const MOST: usize = 512;
        let mut at = self.flow.source(id);
        for _ in 0..MOST {
            let instruction = self.instruction(at);
            match (&*instruction.opcode, instruction.operands.first()) {
                ("broadcast" | "reshape" | "bitcast", Some(of)) => at = self.flow.source(*of),
                _ => break,
            }
        }
        at
    }

    /// What ran it, if it did in the judged time.
    pub(crate) fn ran(&self, id: InstructionId) -> Option<InstructionId> {
        let carrier = self.flow.carrier(id);
        self.program.ran.contains_key(&carrier).then_some(carrier)
    }

    /// How often it ran.
    pub(crate) fn events(&self, id: InstructionId) -> f64 {
        self.program.events(self.flow.carrier(id)) as f64
    }

    /// What one execution costs.
    pub(crate) fn cost(&self, id: InstructionId) -> Option<&'a Cost> {
        let costs: &Costs = self.case.analysis.get();
        costs.of(&self.case.analysis, self.program.row, id)
    }

    /// The user's line of an instruction: the deepest of its own frames outside installed packages, else that of what ran it.
    pub(crate) fn place(&self, id: InstructionId) -> Option<Place> {
        own_line(self.module, id).or_else(|| self.case.line_of_op(self.program.work(self.flow.carrier(id)).first()?.op))
    }

    /// The extent of the identity matrix that `id` is, as a comparison of rows with columns.
    pub(super) fn identity(&self, id: InstructionId) -> Option<f64> {
        let instruction = self.instruction(id);
        let [one, other] = instruction.operands[..] else { return None };
        let [rows, columns] = instruction.shape.dimensions[..] else { return None };
        let counts = |id: InstructionId| {
            let iota = self.instruction(self.flow.source(id));
            (iota.opcode == "iota").then(|| iota.dimensions.first().copied()).flatten()
        };
        let is_equal = instruction.opcode == "compare"
            && instruction.attributes().comparison_direction.as_deref() == Some("EQ")
            && rows == columns;
        (is_equal && counts(one)? != counts(other)?).then_some(rows as f64)
    }

    /// The loop that computes `id`, where that is an element of its last state.
    pub(super) fn loop_of(&self, id: InstructionId) -> Option<InstructionId> {
        let instruction = self.instruction(id);
        let of = *instruction.operands.first().filter(|_| instruction.opcode == "get-tuple-element")?;
        (self.instruction(of).opcode == "while").then_some(of)
    }

    /// The elements of a loop's last state that are read and that it computes, rather than hands on.
    pub(super) fn results_of_loop(&self, around: InstructionId) -> Vec<InstructionId> {
        let computation = self.instruction(around).computation;
        let all = self.module.computation(computation).instruction_ids();
        all.filter(|id| self.loop_of(*id) == Some(around) && self.flow.source(*id) == *id).collect()
    }

    /// What the elements of a loop's first state are made by.
    pub(super) fn starts_of_loop(&self, around: InstructionId) -> impl Iterator<Item = InstructionId> + '_ {
        let start = self.instruction(around).operands.first().map(|start| self.instruction(*start));
        start.into_iter().flat_map(|start| &start.operands).map(|id| self.flow.source(*id))
    }

    /// The products of matrices that ran.
    pub(crate) fn products(&self) -> Vec<Product> {
        self.module.instruction_ids().filter(|id| self.ran(*id).is_some()).filter_map(|id| self.product(id)).collect()
    }

    /// The product of matrices that `id` is, by the sizes of its arrays.
    pub(crate) fn product(&self, id: InstructionId) -> Option<Product> {
        let instruction = self.instruction(id);
        let is_product = match &*instruction.opcode {
            "dot" => true,
            "custom-call" => instruction.custom_call_target.as_deref().is_some_and(|target| {
                target == "__cublas$gemm" || target.starts_with("__cublas$lt$matmul") || target == "__onednn$matmul"
            }),
            _ => false,
        };
        let [lhs, rhs, ..] = instruction.operands[..] else { return None };
        if !is_product {
            return None;
        }
        let of = |dimensions: &[i64], shape: &[i64]| -> f64 {
            let extent = |at: &i64| usize::try_from(*at).ok().and_then(|at| shape.get(at)).copied().unwrap_or(1);
            dimensions.iter().map(|at| extent(at) as f64).product()
        };
        let dimensions = instruction.attributes().dot.as_ref();
        let batch = dimensions.map_or(1.0, |dot| of(&dot.lhs_batch, &self.instruction(lhs).shape.dimensions)).max(1.0);
        let [left, right, result] = [lhs, rhs, id].map(|id| self.elements(id) / batch);
        if left <= 0.0 || right <= 0.0 || result <= 0.0 {
            return None;
        }
        let k = match dimensions {
            Some(dot) => of(&dot.lhs_contracting, &self.instruction(lhs).shape.dimensions).max(1.0),
            None => (left * right / result).sqrt(),
        };
        Some(Product { at: id, lhs, rhs, batch, m: left / k, n: right / k, k })
    }

    /// The number that a value is everywhere, where that is a constant.
    pub(super) fn constant(&self, id: InstructionId) -> Option<f64> {
        let mut at = self.flow.content(id);
        for _ in 0..4 {
            let instruction = self.instruction(at);
            match &*instruction.opcode {
                "broadcast" => at = self.flow.content(*instruction.operands.first()?),
                "constant" => {
                    return Some(match instruction.literal.as_ref()?.scalar()? {
                        Scalar::Float(value) => value,
                        Scalar::Int(value) => value as f64,
                        Scalar::Uint(value) => value as f64,
                        Scalar::Bool(value) => f64::from(u8::from(value)),
                        Scalar::Complex(..) => return None,
                    });
                }
                _ => return None,
            }
        }
        None
    }
}
