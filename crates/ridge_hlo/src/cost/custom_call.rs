//! Custom calls, told apart by the name of what they call.
//!
//! A target this file does not know is unknown work. Being listed is a promise that its formula is right: a call that
//! may or may not do something is better unknown.

use super::linear_algebra::{self as lapack, Operations, Wanted};
use super::random::THREEFRY_PER_WORD;
use super::work::times;
use super::{Assumption, Cost, Costing, OpKind, attention, convolution_calls, gemm, sizes};
use crate::{ElementType, Instruction, Shape};

/// Whether a custom call only says something about a value.
pub(super) fn is_annotation(instruction: &Instruction) -> bool {
    let target = instruction.custom_call_target.as_deref().unwrap_or_default();
    target.starts_with("xla.sdy.")
        || matches!(
            target,
            "AssumeGatherIndicesInBound"
                | "LayoutConstraint"
                | "SPMDFullToShardShape"
                | "SPMDShardToFullShape"
                | "Sharding"
                | "annotate_device_placement"
                | "shape_assertion"
        )
}

/// Custom calls that move or make room without arithmetic.
fn moves_only(target: &str) -> bool {
    matches!(target, "AllocateBuffer" | "MoveToDevice" | "MoveToHost" | "PadToStatic" | "SliceToDynamic")
}

impl Costing<'_> {
    /// The work of a custom call; `None` if it is not known.
    pub(super) fn custom_call(&mut self, instruction: &Instruction, cost: &mut Cost) -> Option<()> {
        let target = instruction.custom_call_target.as_deref().unwrap_or_default();
        match target {
            _ if is_annotation(instruction) || moves_only(target) => Some(()),
            _ if gemm::is_gemm(target) => self.gemm(instruction, cost),
            "__onednn$matmul" => self.onednn_matmul(instruction, cost),
            "__onednn$convolution" => self.library_convolution(instruction, cost),
            _ if convolution_calls::is_convolution(instruction) => self.library_convolution(instruction, cost),
            _ if attention::is_attention(target) => self.attention(instruction, cost),
            "TopK" | "__gpu$TopK" => self.topk(instruction, cost),
            _ if target.starts_with("cu_threefry2x32") => self.threefry(instruction, cost),
            _ => match self.factorization(instruction, target) {
                Some(problem) => {
                    problem.add_to(cost);
                    Some(())
                }
                None => stated(instruction, cost),
            },
        }
    }

    /// JAX's own generator kernel: its results are words.
    fn threefry(&self, instruction: &Instruction, cost: &mut Cost) -> Option<()> {
        let words: f64 = instruction.shape.leaves().into_iter().map(sizes::elements).sum();
        cost.work.add(OpKind::Integer, ElementType::U32, times(words, THREEFRY_PER_WORD));
        cost.assumptions.add(Assumption::RandomModel);
        Some(())
    }

    /// A routine of LAPACK or BLAS by its own name, whoever implements it.
    fn factorization(&self, instruction: &Instruction, target: &str) -> Option<Problem> {
        let routine = routine(target)?;
        let matrix = self.operand_shape(instruction, 0)?;
        let [.., rows, columns] = matrix.dimensions[..] else { return None };
        let (rows, columns) = (sizes::extent_of(rows), sizes::extent_of(columns));
        let problem = |operations, is_iterative| Problem {
            operations,
            count: sizes::elements(matrix) / times(rows, columns).max(1.0),
            element_type: matrix.element_type,
            is_iterative,
        };
        let results = &instruction.shape.tuple;
        let last_extents = |shape: &Shape| match shape.dimensions[..] {
            [.., rows, columns] => (sizes::extent_of(rows), sizes::extent_of(columns)),
            _ => (0.0, 0.0),
        };
        Some(match routine {
            "potrf" | "cholesky" => problem(lapack::potrf(rows), false),
            "getrf" => problem(lapack::getrf(rows, columns), false),
            "geqrf" | "geqp3" => problem(lapack::geqrf(rows, columns), false),
            "orgqr" | "ungqr" => {
                let reflections = self.operand_shape(instruction, 1)?.dimensions.last().copied()?;
                problem(lapack::orgqr(rows, columns, sizes::extent_of(reflections)), false)
            }
            "sytrd" | "hetrd" => problem(lapack::sytrd(rows), false),
            "gehrd" => problem(lapack::gehrd(rows), false),
            "syevd" | "heevd" | "syevj" | "heevj" => problem(lapack::symmetric_eigen(rows, vectors(instruction)), true),
            "geev" | "gees" => {
                // Vectors are results beside the values only where they are wanted, or where the call says so.
                let squares = results.iter().filter(|shape| last_extents(shape) == (rows, columns)).count();
                let is_said = |side: &str| instruction.backend_config.attribute(side).and_then(letter);
                let wanted = match (is_said("compute_left"), is_said("compute_right")) {
                    (Some('N'), Some('N')) => Wanted::Values,
                    (None, None) if squares <= 1 => Wanted::Values,
                    _ => Wanted::Vectors,
                };
                problem(lapack::general_eigen(rows, wanted), true)
            }
            "gesdd" | "gesvd" | "gesvdj" | "gesvdp" => {
                problem(lapack::singular_values(rows, columns, singular_vectors(instruction, rows, columns)), true)
            }
            "trsm" => {
                let right = self.operand_shape(instruction, 1)?;
                let operations = lapack::trsm(columns, false);
                let count = sizes::elements(right) / columns.max(1.0);
                Problem { operations, count, element_type: right.element_type, is_iterative: false }
            }
            _ => return None,
        })
    }
}

/// A routine run on so many matrices.
struct Problem {
    operations: Operations,
    count: f64,
    element_type: ElementType,
    is_iterative: bool,
}

impl Problem {
    fn add_to(self, cost: &mut Cost) {
        self.operations.add_to(&mut cost.work, self.element_type, self.count);
        if self.is_iterative {
            cost.assumptions.add(Assumption::IterativeModel);
        }
    }
}

/// The routine behind a target's prefixes and suffixes: `getrf` for `lapack_sgetrf_ffi` and `cublas_getrf_batched_ffi`.
fn routine(target: &str) -> Option<&str> {
    let libraries = ["lapack_", "blas_", "cusolver_", "hipsolver_", "cublas_", "hipblas_", "__cusolver$"];
    let name = libraries.iter().find_map(|library| target.strip_prefix(library))?;
    let name = name.strip_suffix("_ffi").unwrap_or(name);
    let name = name.strip_suffix("_batched").unwrap_or(name);
    // LAPACK's names begin with the type.
    let is_typed = target.starts_with("lapack_") || target.starts_with("blas_");
    if is_typed { name.strip_prefix(['s', 'd', 'c', 'z']) } else { Some(name) }
}

/// Whether an eigenvalue routine returns vectors: LAPACK's `mode` or cuSOLVER's `compute_vectors`, else they are meant.
fn vectors(instruction: &Instruction) -> Wanted {
    let mode = instruction.backend_config.attribute("mode").and_then(letter);
    match mode {
        Some('N') => Wanted::Values,
        _ => Wanted::Vectors,
    }
}

/// Which singular vectors are returned: LAPACK's `mode` is the letter of `jobz`, else the results tell.
fn singular_vectors(instruction: &Instruction, rows: f64, columns: f64) -> Wanted {
    match instruction.backend_config.attribute("mode").and_then(letter) {
        Some('N') => return Wanted::Values,
        Some('S') => return Wanted::Vectors,
        _ => {}
    }
    let long = rows.max(columns);
    let is_square = |shape: &Shape| match shape.dimensions[..] {
        [.., height, width] => height == width && sizes::extent_of(height) == long,
        _ => false,
    };
    let has_all = rows == columns || instruction.shape.tuple.iter().any(is_square);
    if has_all && rows != columns { Wanted::AllVectors } else { Wanted::Vectors }
}

/// The letter of an MLIR attribute that holds one as a number, `86 : ui8`.
fn letter(attribute: &str) -> Option<char> {
    attribute.split(':').next()?.trim().parse::<u8>().ok().map(char::from)
}

/// What the author of a kernel stated: Pallas writes a cost estimate into its calls.
fn stated(instruction: &Instruction, cost: &mut Cost) -> Option<()> {
    let estimate = instruction.backend_config.value("/cost_estimate")?;
    let number = |key: &str| {
        let value = estimate.get(key)?;
        value.as_f64().or_else(|| value.as_str()?.parse().ok()).filter(|number: &f64| *number >= 0.0)
    };
    let element_type = instruction.shape.leaves().first().map_or(ElementType::Unknown, |shape| shape.element_type);
    let element_type = if element_type.is_float() { element_type } else { ElementType::F32 };
    cost.work.add_matrix(element_type, number("flops")? / 2.0);
    cost.work.add(OpKind::Transcendental, element_type, number("transcendentals").unwrap_or(0.0));
    cost.assumptions.add(Assumption::StatedEstimate);
    Some(())
}
