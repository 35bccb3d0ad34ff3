//! A line of numbers as one row of characters.

use super::Glyphs;

const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const MARKS: [char; 8] = ['_', '.', ':', '-', '=', '+', '*', '#'];

/// `values` from 0 to their largest, in at most `width` characters; where there are more values than that each
/// character is the largest of its stretch, so that no peak is lost.
pub fn sparkline(values: &[u64], width: usize, glyphs: Glyphs) -> String {
    let most = values.iter().copied().max().unwrap_or(0).max(1);
    let levels = if glyphs == Glyphs::Unicode { BLOCKS } else { MARKS };
    let stretch = values.len().div_ceil(width.max(1)).max(1);
    let level = |value: u64| ((value as f64 / most as f64) * 7.0).round() as usize;
    values.chunks(stretch).map(|chunk| levels[level(chunk.iter().copied().max().unwrap_or(0)).min(7)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peaks_are_kept() {
        assert_eq!(sparkline(&[0, 1, 2, 7, 3, 0], 6, Glyphs::Unicode), "▁▂▃█▄▁");
        assert_eq!(sparkline(&[0, 1, 2, 7, 3, 0], 3, Glyphs::Ascii), ".#-");
        assert_eq!(sparkline(&[], 5, Glyphs::Unicode), "");
        assert_eq!(sparkline(&[0, 0], 5, Glyphs::Unicode), "▁▁");
    }
}
