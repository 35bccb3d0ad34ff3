//! A dense product multiplies a matrix that is mostly zeros.

use crate::case::{Case, Framework};
use crate::finding::{Finding, Place};
use crate::fitness::{CannotTell, Question};
use crate::operator_calls::NEEDS;
use crate::programs::{Program, programs};
use crate::rewrites::place_of;
use crate::rule::{Find, Group, Rule};
use crate::words::{percent, short};
use ridge_hlo::InstructionId;
use ridge_table::{Basis, Quantity, Unit};
use ridge_trace::ZeroMatrix;
use rustc_hash::FxHashMap;

pub(crate) static RULE: Rule = Rule {
    id: "mostly-zeros",
    group: Group::Structure,
    summary: "Dense products with a matrix of mostly zeros",
    document: include_str!("mostly_zeros.md"),
    asks: &[Question::Device],
    explains: &["kernel-hotspot", "hot-line", "unfused-eager", "below-roof", "unexplained-work", "tensor-cores-idle"],
    needs: NEEDS,
    find: Find::Causes(find),
};

/// Below this part of the time it is not worth a change.
const LEAST: f64 = 0.10;
/// What one number of a sparse product costs beside one of a dense product: it is found by its index.
const SLOWER: f64 = 20.0;
/// The least part of zeros: with fewer of them a dense product is as fast.
const LEAST_ZEROS: f64 = 0.97;
/// Operators that multiply matrices.
const PRODUCTS: [&str; 8] = ["mm", "addmm", "bmm", "baddbmm", "mv", "addmv", "matmul", "linear"];

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let all = case.trace().python.watched.iter().flat_map(|watched| &watched.zeros);
    let mut matrices: Vec<&ZeroMatrix> = all.filter(|matrix| matrix.zeros >= LEAST_ZEROS).collect();
    // The same matrix is known where it is made, handed on and multiplied.
    matrices.sort_by(|a, b| a.extents.cmp(&b.extents).then_with(|| a.name.len().cmp(&b.name.len())));
    matrices.dedup_by(|a, b| a.extents == b.extents);
    let mut found: Vec<(f64, Finding)> = matrices.into_iter().filter_map(|matrix| finding(case, matrix)).collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    Ok(found.into_iter().map(|(_, finding)| finding).take(1).collect())
}

fn finding(case: &Case<'_>, matrix: &ZeroMatrix) -> Option<(f64, Finding)> {
    let is_torch = case.framework() == Framework::Torch;
    let (claim, place) = if is_torch { of_operators(case, matrix)? } else { of_programs(case, matrix)? };
    let share = case.share_of(claim.iter().copied());
    if share < LEAST {
        return None;
    }
    let left = ((1.0 - matrix.zeros) * SLOWER).min(0.9);
    let sizes: Vec<String> = matrix.extents.iter().map(i64::to_string).collect();
    let finding = Finding::new(format!(
        "{} of the time goes to dense products with {} (`{}`, {}), {:.1}% of it zeros",
        percent(share),
        if matrix.most_in_row <= 1 { "a diagonal matrix or one that selects rows" } else { "a matrix" },
        short(&matrix.name),
        sizes.join(" × "),
        (matrix.zeros * 100.0).min(99.9),
    ))
    .at(place)
    .number("zeros among the elements read", Quantity::new(matrix.zeros, Unit::Share, Basis::Counted))
    .number("maximum nonzero elements in one of these rows", Quantity::new(matrix.most_in_row as f64, Unit::Count, Basis::Counted))
    .why("a dense product reads and multiplies every zero")
    .help(help(matrix, is_torch))
    .claims(claim)
    .priced(share * (1.0 - left) * 0.7, share);
    Some((share, finding))
}

/// What to do instead, by what a row looks like.
fn help(matrix: &ZeroMatrix, is_torch: bool) -> &'static str {
    match (matrix.most_in_row <= 1, is_torch) {
        (true, true) => "each row has one nonzero element: index instead (`x[index]`, `index_add_`), or multiply by the diagonal elementwise",
        (true, false) => "each row has one nonzero element: index instead (`x[index]`, `.at[index].add`), or multiply by the diagonal elementwise",
        (false, true) => "make it sparse once before the loop (`to_sparse_csr()`) and multiply with `torch.sparse.mm` or `@`; for a graph, gather the rows of neighbors and add them with `index_add_` over the edges",
        (false, false) => "make it sparse once before the loop (`jax.experimental.sparse.BCOO.fromdense` or `BCSR`); for a graph or a stencil, gather the neighbors' rows and add them with `jax.ops.segment_sum` over the edges",
    }
}

type Held = (Vec<(usize, f32)>, Option<Place>);

/// Products of PyTorch's operators whose arguments have the matrix's extents, and the gradients of them.
fn of_operators(case: &Case<'_>, matrix: &ZeroMatrix) -> Option<Held> {
    let all = &case.operator_calls().calls;
    let mut known: FxHashMap<u32, bool> = FxHashMap::default();
    let mut has_it = |detail: u32| {
        *known.entry(detail).or_insert_with(|| case.extents_at(detail).iter().any(|sizes| is_of(sizes, matrix)))
    };
    let trace = case.trace();
    let mut multiplies = |row: u32| is_product(trace.name(row as usize)) && has_it(trace.events.detail[row as usize]);
    let positions = (0..all.len()).filter(|at| all[*at].rows().any(&mut multiplies));
    let claim = case.claim_of_calls(positions, 1.0);
    let place = matrix.place.as_ref().map(|place| case.place_of_python(place));
    (!claim.is_empty()).then_some((claim, place))
}

fn is_product(name: &str) -> bool {
    name.strip_prefix("aten::").is_some_and(|name| PRODUCTS.contains(&name))
}

/// Whether `sizes` are those of the matrix or of its transpose, with extents of 1 around them or not.
fn is_of(sizes: &[i64], matrix: &ZeroMatrix) -> bool {
    let plain = |sizes: &[i64]| {
        let mut sizes: Vec<i64> = sizes.iter().copied().filter(|size| *size != 1).collect();
        sizes.sort_unstable();
        sizes
    };
    plain(sizes) == plain(&matrix.extents)
}

/// Products of compiled programs with an operand of the matrix's extents.
fn of_programs(case: &Case<'_>, matrix: &ZeroMatrix) -> Option<Held> {
    let mut claim = Vec::new();
    let mut first: Option<(i64, Option<Place>)> = None;
    for program in programs(case) {
        let products: Vec<InstructionId> =
            program.ran.keys().copied().filter(|id| is_product_with(&program, *id, matrix)).collect();
        let ns = program.ns_of(&products);
        claim.extend(program.claim(&products, 1.0));
        if let Some(longest) = program.longest_first(&products).first().filter(|_| first.as_ref().is_none_or(|(most, _)| *most < ns)) {
            first = Some((ns, place_of(case, &program, *longest)));
        }
    }
    let (_, place) = first?;
    Some((claim, place.or_else(|| matrix.place.as_ref().map(|place| case.place_of_python(place)))))
}

fn is_product_with(program: &Program<'_>, id: InstructionId, matrix: &ZeroMatrix) -> bool {
    let module = program.module;
    let product = module.instruction(module.hero(id));
    let is_product = match &*product.opcode {
        "dot" => true,
        "custom-call" => product.custom_call_target.as_deref().is_some_and(|target| target.contains("matmul") || target.contains("gemm")),
        _ => false,
    };
    is_product && product.operands.iter().any(|operand| is_of(&module.instruction(*operand).shape.dimensions, matrix))
}
