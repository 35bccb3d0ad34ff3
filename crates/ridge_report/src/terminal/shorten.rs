//! The names of a column, shortened so that they can still be told apart.

use super::Glyphs;
use super::line::width;
use super::words::{shorten_middle, take_columns};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

/// Letters in front of the first difference that are shown with it.
const BEFORE: usize = 3;

/// Each of `cells` in at most `room` columns.
///
/// Functions lose their return type and parameters first. Names that would look alike show where they begin to differ.
pub(super) fn shortened(cells: &[String], room: usize, glyphs: Glyphs) -> Vec<String> {
    let mut short: Vec<String> = cells.iter().map(|cell| one(cell, room, glyphs)).collect();
    let mut alike: HashMap<&str, BTreeSet<&str>> = HashMap::new();
    short.iter().zip(cells).for_each(|(short, cell)| _ = alike.entry(short).or_default().insert(cell));
    let apart: Vec<(usize, String)> = (short.iter().zip(cells).enumerate())
        .filter_map(|(at, (short, cell))| {
            let names = alike.get(short.as_str()).filter(|names| names.len() > 1)?;
            Some((at, around(cell, common(names), room, glyphs)))
        })
        .collect();
    apart.into_iter().for_each(|(at, text)| short[at] = text);
    short
}

fn one(text: &str, room: usize, glyphs: Glyphs) -> String {
    let shown = if width(text) > room { function(text) } else { Cow::Borrowed(text) };
    shorten_middle(&shown, room, glyphs)
}

/// A C++ function without its return type and parameters: `void a::f<int>(int*)` is `a::f<int>`.
fn function(text: &str) -> Cow<'_, str> {
    if !text.ends_with(')') || !(text.contains("::") || text.contains('<')) {
        return Cow::Borrowed(text);
    }
    let mut depth = 0_usize;
    let opens = text.char_indices().rev().find(|(_, letter)| {
        depth = match letter {
            ')' => depth + 1,
            '(' => depth - 1,
            _ => depth,
        };
        depth == 0
    });
    // Parameters follow at once; what stands behind a space is a remark of ours: `operator (aten::mm)`.
    let name = opens.map_or("", |(at, _)| &text[..at]);
    let name = if name.ends_with(' ') { "" } else { name.trim_start_matches("void ") };
    Cow::Borrowed(if name.is_empty() { text } else { name })
}

/// Bytes that `names` begin with in common.
fn common(names: &BTreeSet<&str>) -> usize {
    let (Some(first), Some(last)) = (names.first(), names.last()) else { return 0 };
    // In order, the first and the last differ most.
    let alike = first.char_indices().zip(last.chars()).find(|((_, one), other)| one != other);
    alike.map_or(first.len().min(last.len()), |((at, _), _)| at)
}

/// The beginning of `text`, and what stands around byte `at`.
fn around(text: &str, at: usize, room: usize, glyphs: Glyphs) -> String {
    let mark = if glyphs == Glyphs::Unicode { "…" } else { "..." };
    let Some(rest) = room.checked_sub(2 * width(mark)).filter(|rest| *rest > 2 * BEFORE) else {
        return one(text, room, glyphs);
    };
    let name = text.trim_start_matches("void ");
    let at = at.saturating_sub(text.len() - name.len());
    let head = take_columns(name.chars(), rest / 3);
    let from = name[..at].char_indices().rev().nth(BEFORE - 1).map_or(0, |(from, _)| from);
    if from <= head.len() {
        return take_columns(name.chars(), room.saturating_sub(width(mark))) + mark;
    }
    let window = take_columns(name[from..].chars(), rest - width(&head));
    let end = if from + window.len() < name.len() { mark } else { "" };
    format!("{head}{mark}{window}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    #[track_caller]
    fn check(names: &[&str], room: usize, expected: Expect) {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let short = shortened(&names, room, Glyphs::Unicode);
        assert!(short.iter().all(|name| width(name) <= room), "{short:?}");
        expected.assert_eq(&short.join("\n"));
    }

    #[test]
    fn functions_lose_what_says_least() {
        check(
            &[
                "void cudnn::bn_bw_1C11_kernel_new<float, float, float2, 512, true, 1>(float, float const*)",
                "Memcpy HtoD (Pageable -> Device)",
                "f<int>(int)",
                "(anonymous namespace)",
                "before the first work: operator (aten::mm)",
            ],
            40,
            expect![[r#"
                cudnn::bn_bw_1C11_ke…oat2, 512, true, 1>
                Memcpy HtoD (Pageable -> Device)
                f<int>(int)
                (anonymous namespace)
                before the first wor…operator (aten::mm)"#]],
        );
    }

    #[test]
    fn names_that_would_look_alike_show_where_they_differ() {
        check(
            &[
                "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8_stage3_warpsize1x2x1_ffma_aligna4_alignc4_execute_kernel__5x_cublas",
                "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x64x8_stage3_warpsize1x4x1_ffma_aligna4_alignc4_execute_kernel__5x_cublas",
                "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x64x8_stage3_warpsize1x4x1_ffma_aligna4_alignc4_execute_kernel__5x_cublas",
                "short",
            ],
            36,
            expect![[r#"
                sm80_xmma_g…ize32x32x8_stage3_warps…
                sm80_xmma_g…ize64x64x8_stage3_warps…
                sm80_xmma_g…ize64x64x8_stage3_warps…
                short"#]],
        );
    }
}
