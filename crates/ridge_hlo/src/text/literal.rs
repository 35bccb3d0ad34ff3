//! Constants in HLO text: `0.5`, `{1, 2}`, `{ { 1, 2 }, { 3, 4 } }`, `{...}`.

use super::lists::strip_comments;
use crate::literal::{WHOLE_IN_A_MODULE, elements_kept, expected_elements, parse_scalar};
use crate::{Literal, Shape};

/// The beginning of the constant whose value is `text`.
pub(super) fn parse(text: &str, shape: &Shape) -> Literal {
    let mut values = Vec::new();
    // Text takes a byte or more for each, so there is no more to keep than was read.
    let most = elements_kept(expected_elements(shape), &mut WHOLE_IN_A_MODULE.clone());
    let mut rest = strip_comments(text);
    while !rest.is_empty() && values.len() < most && !shape.is_tuple() {
        rest = strip_comments(rest.trim_start_matches(['{', '}', ',', ' ', '\n', '\r', '\t']));
        // A complex number holds a comma of its own.
        let end = match rest.strip_prefix('(').and_then(|inner| inner.find(')')) {
            Some(close) => close + 2,
            None => rest.find([',', '}', '{']).unwrap_or(rest.len()),
        };
        match parse_scalar(&rest[..end], shape.element_type) {
            Some(value) => values.push(value),
            None => break,
        }
        rest = &rest[end..];
    }
    let is_cut = expected_elements(shape) != Some(values.len() as u64);
    Literal { values, is_cut }
}
