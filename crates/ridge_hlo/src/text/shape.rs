//! Shapes in HLO text: `bf16[8,128]{1,0:T(8,128)(2,1)S(1)}`, `(f32[], /*index=1*/s32[2])`, `f32[<=4]{0}`.

use super::lists::{numbers, strip_comments};
use crate::{ElementType, Layout, Shape, Tile};

/// Tuples nested deeper than this are refused.
const DEPTH_LIMIT: u32 = 64;

impl Shape {
    /// The shape that `text` begins with, as HLO writes it, and what follows it; `None` if there is none.
    pub fn parse(text: &str) -> Option<(Shape, &str)> {
        parse(text)
    }
}

/// The shape at the start of `text`, and what follows it; `None` if there is none.
pub(super) fn parse(text: &str) -> Option<(Shape, &str)> {
    parse_nested(text, 0)
}

fn parse_nested(text: &str, depth: u32) -> Option<(Shape, &str)> {
    if depth > DEPTH_LIMIT {
        return None;
    }
    let text = strip_comments(text);
    if let Some(inner) = text.strip_prefix('(') {
        return parse_tuple(inner, depth);
    }
    let end = text.find(|character: char| !character.is_ascii_alphanumeric())?;
    let element_type = ElementType::from_name(&text[..end])?;
    if element_type == ElementType::Buffer {
        let (inner, rest) = parse_nested(text[end..].strip_prefix('(')?, depth + 1)?;
        let shape = Shape { element_type, tuple: vec![inner], ..Shape::default() };
        return Some((shape, strip_comments(rest).strip_prefix(')')?));
    }
    let (extents, rest) = text[end..].strip_prefix('[')?.split_once(']')?;
    let mut shape = Shape { element_type, ..Shape::default() };
    for extent in extents.split(',').map(str::trim).filter(|extent| !extent.is_empty()) {
        let bounded = extent.strip_prefix("<=");
        shape.dynamic.push(bounded.is_some() || extent == "?");
        shape.dimensions.push(match extent {
            "?" => i64::MIN,
            extent => bounded.unwrap_or(extent).parse().ok()?,
        });
    }
    if !shape.dynamic.contains(&true) {
        shape.dynamic = Vec::new();
    }
    // A layout follows without a blank; a brace after one opens something else.
    let Some(layout) = rest.strip_prefix('{') else { return Some((shape, rest)) };
    let (inner, rest) = layout.split_once('}')?;
    shape.layout = Some(parse_layout(inner)).filter(|layout| !layout.is_empty()).map(Box::new);
    Some((shape, rest))
}

fn parse_tuple(text: &str, depth: u32) -> Option<(Shape, &str)> {
    let mut tuple = Vec::new();
    let mut rest = strip_comments(text);
    while !rest.starts_with(')') {
        let (shape, after) = parse_nested(rest, depth + 1)?;
        tuple.push(shape);
        rest = strip_comments(after);
        rest = match rest.strip_prefix(',') {
            Some(after) => strip_comments(after),
            None => rest,
        };
    }
    Some((Shape { element_type: ElementType::Tuple, tuple, ..Shape::default() }, rest.strip_prefix(')')?))
}

/// The inside of a layout's braces: `1,0:T(8,128)(2,1)E(4)S(1)`.
fn parse_layout(text: &str) -> Layout {
    let (order, details) = text.split_once(':').unwrap_or((text, ""));
    let mut layout = Layout { minor_to_major: numbers(order), ..Layout::default() };
    let mut rest = details;
    while let Some(open) = rest.find('(') {
        let name = &rest[..open];
        let mut groups = Vec::new();
        let mut after = &rest[open..];
        while let Some((group, next)) = after.strip_prefix('(').and_then(|inner| inner.split_once(')')) {
            groups.push(group);
            after = next;
        }
        if groups.is_empty() {
            break;
        }
        let number = || groups[0].parse().unwrap_or(0);
        match name {
            "T" => layout.tiles = groups.iter().map(|group| parse_tile(group)).collect(),
            "L" => layout.tail_padding_alignment = number(),
            "E" => layout.element_size_in_bits = number(),
            "S" => layout.memory_space = number(),
            _ => layout.rest.push_str(&rest[..rest.len() - after.len()]),
        }
        rest = after;
    }
    layout.rest.push_str(rest);
    layout
}

fn parse_tile(group: &str) -> Tile {
    let extent = |part: &str| if part.trim() == "*" { Some(i64::MIN) } else { part.trim().parse().ok() };
    Tile(group.split(',').filter_map(extent).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_read_and_written() {
        for text in [
            "f32[]",
            "bf16[55862,5120]{1,0}",
            "(f32[8]{0}, (s32[], token[]), pred[2,2]{0,1})",
            "()",
            "f32[<=4,2]{1,0}",
            "bf16[8,128]{1,0:T(8,128)(2,1)S(1)}",
            "s4[8]{0:E(4)}",
            "f32[4]{0:T(*,8)L(4)S(5)}",
            "f32[4]{0:SC(0:2)}",
        ] {
            let (shape, rest) = parse(text).expect(text);
            assert_eq!((shape.to_string().as_str(), rest), (text, ""));
        }
        let (shape, rest) = parse("(f32[], /*index=1*/s32[2]{0}) tuple(").expect("a tuple with a comment");
        assert_eq!((shape.to_string().as_str(), rest), ("(f32[], s32[2]{0})", " tuple("));
        for broken in ["", "f32", "f32[", "f32[x]", "(f32[]", "q7[1]", &"(".repeat(5000)] {
            assert_eq!(parse(broken), None, "{broken}");
        }
    }
}
