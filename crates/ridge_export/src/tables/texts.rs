//! The texts of a trace as one Arrow array, into whose buffer the columns of all tables are views.

use crate::names::Names;
use arrow_array::StringViewArray;
use arrow_array::builder::StringViewBuilder;
use ridgeline::Trace;
use ridgeline::trace::{EventKind, StringId};
use std::collections::HashMap;

/// The texts of a trace.
#[derive(Debug)]
pub(super) struct Texts {
    /// The strings as they may be shown, those that are empty as nulls; behind them the short names of kernels.
    pub(super) strings: StringViewArray,
    /// Row of `strings` of the short name of each string, for those that name kernels.
    pub(super) short_names: Vec<Option<u32>>,
}

impl Texts {
    /// Those of `trace`, and the short names of its kernels.
    pub(super) fn new(trace: &Trace, names: &Names<'_>) -> Texts {
        let mut texts = StringViewBuilder::new();
        let count = names.len();
        (0..count).map(|id| names.get(StringId(id as u32))).for_each(|name| texts.append_option(said(name)));
        let mut short_names = vec![None; count];
        let mut known: HashMap<&str, u32> = HashMap::new();
        let mut next = count as u32;
        for row in 0..trace.events.len() {
            let name = trace.events.name[row];
            let is_new = short_names.get(name as usize).is_some_and(Option::is_none);
            if !is_new || trace.events.kind[row] != EventKind::Kernel as u8 {
                continue;
            }
            let full = names.get(StringId(name));
            let short = short_name(full);
            short_names[name as usize] = Some(if short == full {
                name
            } else {
                *known.entry(short).or_insert_with(|| {
                    texts.append_option(said(short));
                    next += 1;
                    next - 1
                })
            });
        }
        Texts { strings: texts.finish(), short_names }
    }
}

/// `text`, unless it is empty.
pub(super) fn said(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

/// A kernel's name without its return type, namespaces, template arguments and parameters, as Nsight Systems shortens it.
fn short_name(name: &str) -> &str {
    // A bracket behind a letter opens arguments; another one is a namespace without a name.
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let arguments = name.bytes().zip(name.bytes().skip(1)).position(|(one, next)| is_letter(one) && b"<(".contains(&next));
    let end = arguments.map_or(name.len(), |at| at + 1);
    let head = name[..end].trim_end();
    let start = head.rfind([' ', ':']).map_or(0, |at| at + 1);
    match &head[start..] {
        "" => name,
        short => short,
    }
}

#[cfg(test)]
mod tests {
    use super::short_name;

    #[test]
    fn names_of_kernels_are_shortened() {
        for (full, short) in [
            ("void at::native::reduce_kernel<(int)512>(T3)", "reduce_kernel"),
            ("gemm_fusion_dot", "gemm_fusion_dot"),
            ("ncclDevKernel_AllReduce(ncclDevComm*)", "ncclDevKernel_AllReduce"),
            ("<lambda>", "<lambda>"),
            ("void <unnamed>::softmax_warp_forward<float, (int)7>(T2 *)", "softmax_warp_forward"),
            ("void at::(anonymous namespace)::cat<at::<unnamed>::Type>(char *)", "cat"),
        ] {
            assert_eq!(short_name(full), short);
        }
    }
}
