//! Framework operators that got tensors which are not contiguous, as PyTorch's `is_contiguous()` has it, by their strides.
//!
//! A view such as `t()` only changes strides. What reads the tensor then reads it in another order than it lies in memory, or copies
//! it first: such copies are operators here themselves, `aten::contiguous`, `aten::clone` and `aten::copy_`.

use super::operators::{OperatorSums, sums_by};
use crate::{Analysis, Shared};
use ridge_trace::{NONE, StringId};
use std::cmp::Reverse;

/// How a tensor that is not contiguous lies in memory; the first of a call's inputs in this order stands for all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layout {
    /// Parts of memory between its elements are not its own: a slice.
    Gaps,
    /// Elements stand for several: an expanded tensor.
    Expanded,
    /// All of its memory, in another order: a transposed tensor.
    Permuted,
    /// All of its memory, the channels of each pixel together; many operators of images want it so.
    ChannelsLast,
}

impl Layout {
    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Layout::Gaps => "gaps",
            Layout::Expanded => "expanded",
            Layout::Permuted => "permuted",
            Layout::ChannelsLast => "channels last",
        }
    }

    /// How a tensor of these sizes and strides lies in memory; `None` where it is contiguous.
    fn of(sizes: &[i64], strides: &[i64]) -> Option<Layout> {
        if sizes.len() != strides.len() || sizes.contains(&0) {
            return None;
        }
        // Dimensions of one element can have any stride.
        let real: Vec<(i64, i64)> =
            sizes.iter().zip(strides).filter(|(size, _)| **size != 1).map(|(size, stride)| (*size, *stride)).collect();
        let is_dense = |dims: &[(i64, i64)]| {
            let mut expected = 1_i64;
            dims.iter().rev().all(|(size, stride)| {
                let is_it = *stride == expected;
                expected = expected.saturating_mul(*size);
                is_it
            })
        };
        if is_dense(&real) {
            return None;
        }
        if real.iter().any(|(_, stride)| *stride == 0) {
            return Some(Layout::Expanded);
        }
        let mut sorted = real.clone();
        sorted.sort_by_key(|(_, stride)| Reverse(*stride));
        if !is_dense(&sorted) {
            return Some(Layout::Gaps);
        }
        let is_channels_last = matches!(sizes.len(), 4 | 5) && strides[1] == 1;
        Some(if is_channels_last { Layout::ChannelsLast } else { Layout::Permuted })
    }
}

/// Operators that only make views, whose inputs nobody reads.
const VIEWS: [&str; 26] = [
    "aten::alias",
    "aten::as_strided",
    "aten::chunk",
    "aten::detach",
    "aten::detach_",
    "aten::diagonal",
    "aten::empty_like",
    "aten::expand",
    "aten::expand_as",
    "aten::narrow",
    "aten::numpy_T",
    "aten::permute",
    "aten::resolve_conj",
    "aten::resolve_neg",
    "aten::result_type",
    "aten::select",
    "aten::slice",
    "aten::split",
    "aten::squeeze",
    "aten::t",
    "aten::transpose",
    "aten::unbind",
    "aten::unflatten",
    "aten::unsqueeze",
    "aten::view",
    "detach",
];

/// Calls of one operator with tensors of the same sizes and strides, one of which is not contiguous.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayoutRow {
    /// The operator.
    pub name: StringId,
    /// How the tensor lies in memory.
    pub layout: Layout,
    /// Sizes of the inputs as the capture writes them.
    pub sizes: StringId,
    /// Strides of the inputs, in elements.
    pub strides: StringId,
    /// What the calls come to.
    pub sums: OperatorSums,
}

/// Operators with tensors that are not contiguous, those with most device time of their own first, then most host time of their own.
#[derive(Debug)]
pub struct Layouts(pub Vec<LayoutRow>);

impl Shared for Layouts {
    fn make(analysis: &Analysis<'_>) -> Layouts {
        let trace = analysis.trace;
        let layouts: Vec<Option<Layout>> = trace.operator_shapes.iter().map(|shape| layout(analysis, shape)).collect();
        if layouts.iter().all(Option::is_none) {
            return Layouts(Vec::new());
        }
        let key = |row: u32| {
            let detail = trace.operator_shape(row as usize).map_or(NONE, |_| trace.events.detail[row as usize]);
            (StringId(trace.events.name[row as usize]), detail)
        };
        let row = |((name, detail), sums): ((StringId, u32), OperatorSums)| {
            let (shape, layout) =
                (trace.operator_shapes.get(detail as usize)?, layouts.get(detail as usize).copied()??);
            let is_view = VIEWS.contains(&trace.strings.get(name));
            (!is_view).then_some(LayoutRow { name, layout, sizes: shape.dims, strides: shape.strides, sums })
        };
        let mut rows: Vec<LayoutRow> = sums_by(trace, key).into_iter().filter_map(row).collect();
        rows.sort_by_key(|LayoutRow { name, sums, sizes, strides, .. }| {
            let own = (Reverse(sums.self_device_ns), Reverse(sums.self_ns));
            (own, trace.strings.get(*name), trace.strings.get(*sizes), trace.strings.get(*strides))
        });
        Layouts(rows)
    }
}

fn layout(analysis: &Analysis<'_>, shape: &ridge_trace::OperatorShape) -> Option<Layout> {
    let [sizes, strides] = [shape.dims, shape.strides].map(|text| lists(analysis.trace.strings.get(text)));
    if sizes.len() != strides.len() {
        return None;
    }
    sizes.iter().zip(&strides).filter_map(|(sizes, strides)| Layout::of(sizes, strides)).min()
}

/// The innermost lists of `[[2, 3], [], [[4], [5]]]`, in order.
fn lists(text: &str) -> Vec<Vec<i64>> {
    let (mut all, mut open): (Vec<Vec<i64>>, Option<Vec<i64>>) = (Vec::new(), None);
    for word in text.split_inclusive(['[', ']', ',']) {
        let (number, sign) = word.split_at(word.len() - word.chars().next_back().map_or(0, char::len_utf8));
        if let (Some(list), Ok(number)) = (&mut open, number.trim().parse()) {
            list.push(number);
        }
        match sign {
            "[" => open = Some(Vec::new()),
            "]" => all.extend(open.take()),
            _ => {}
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_are_contiguous_as_torch_has_it() {
        for (sizes, strides, expected) in [
            (&[2, 3][..], &[3, 1][..], None),
            (&[2, 3], &[1, 2], Some(Layout::Permuted)),
            (&[2, 3], &[6, 1], Some(Layout::Gaps)),
            (&[2, 3], &[0, 1], Some(Layout::Expanded)),
            (&[1, 3], &[77, 1], None),
            (&[0, 3], &[1, 5], None),
            (&[2, 3, 4, 5], &[60, 1, 15, 3], Some(Layout::ChannelsLast)),
            (&[], &[], None),
            (&[2, 3], &[1], None),
        ] {
            assert_eq!(Layout::of(sizes, strides), expected, "{sizes:?} {strides:?}");
        }
    }

    #[test]
    fn lists_are_read_whatever_they_are_in() {
        assert_eq!(lists("[[2, 3], [], [[4], [5]]]"), [vec![2, 3], vec![], vec![4], vec![5]]);
        assert_eq!(lists("[[2,3]]"), [[2, 3]]);
        assert_eq!(lists(""), Vec::<Vec<i64>>::new());
        assert_eq!(lists("]x[1"), Vec::<Vec<i64>>::new());
    }
}
