//! PyTorch convolves planes with windows so wide that separable passes or Fourier transforms cost a fraction.

use crate::case::{Case, Framework};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::operator_calls::NEEDS;
use crate::rule::{Find, Group, Rule};
use crate::words::percent;
use ridge_table::Subject;
use ridge_trace::EventRow;
use rustc_hash::FxHashMap;

pub(crate) static RULE: Rule = Rule {
    id: "wide-convolution",
    group: Group::Compute,
    summary: "Convolutions with wide windows of few channels",
    document: include_str!("wide_convolution.md"),
    asks: &[Question::Device],
    explains: &[],
    needs: NEEDS,
    find: Find::Causes(find),
};

/// Below this part of the time another way to convolve is not worth a word.
const LEAST: f64 = 0.25;
/// Windows of learned networks are seldom wider.
const WIDE: i64 = 9;
/// Channels that each result reads, at most: filters of images read one.
const FEW_CHANNELS: i64 = 4;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    if case.framework() != Framework::Torch || case.trace().operator_shapes.is_empty() {
        return Ok(Vec::new());
    }
    let all = &case.operator_calls().calls;
    let mut known: FxHashMap<u32, Option<(i64, i64)>> = FxHashMap::default();
    let mut wide: Vec<usize> = Vec::new();
    let mut widest = (0, 0);
    for (at, call) in all.iter().enumerate().filter(|(_, call)| !call.is_backward) {
        if !case.trace().strings.get(call.name).starts_with("aten::conv") {
            continue;
        }
        if let Some(window) = *known.entry(call.detail).or_insert_with(|| window_of(case, call.detail)) {
            wide.push(at);
            widest = std::cmp::max_by_key(widest, window, |(rows, columns)| rows * columns);
        }
    }
    let claim = case.claim_of_calls(wide.iter().copied(), 1.0);
    let share = case.share_of(claim.iter().copied());
    let Some(first) = wide.first().map(|at| all[*at].row).filter(|_| share >= LEAST) else { return Ok(Vec::new()) };
    let (rows, columns) = widest;
    let seen = case.seen_during(wide.iter().map(|at| all[*at].row));
    let left = percent((rows + columns) as f64 / (rows * columns) as f64);
    let finding = Finding::new(format!(
        "{} of the time is in two-dimensional convolutions with windows of up to {rows} × {columns}; a separable window needs only one pass per axis",
        percent(share)
    ))
    .at(case.line_of_row(first))
    .about(EventRow::known(first).map(Subject::Event))
    .seen(seen.as_ref())
    .number("convolutions with wide windows of few channels", case.count_per_unit(wide.len() as u64))
    .fact(format!("two one-dimensional passes need {left} of the multiplications of the widest"))
    .fact("the capture doesn't contain the weights")
    .why("a window multiplies each element rows × columns times; a separable window (Gaussian, box, Sobel) needs only rows + columns multiplications")
    .help("if the window is separable, call `conv2d` with the column, then with the row (as `torchvision.transforms.functional.gaussian_blur` does); otherwise multiply in the Fourier domain (`torch.fft.rfft2`), or blur at a lower resolution")
    .claims(claim)
    .unknown_amount()
    .information();
    Ok(vec![finding])
}

/// The window of a convolution whose second argument is the weights, where it is wide and reads few channels.
fn window_of(case: &Case<'_>, detail: u32) -> Option<(i64, i64)> {
    let sizes = case.extents_at(detail);
    let [_, channels, rows, columns] = sizes.get(1)?[..] else { return None };
    (channels <= FEW_CHANNELS && rows >= WIDE && columns >= WIDE).then_some((rows, columns))
}
