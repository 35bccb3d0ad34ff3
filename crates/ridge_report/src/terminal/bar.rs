//! A share as a bar, to an eighth of a character.

use super::Glyphs;

const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// A bar of at most `width` characters for `part`, from 0 to 1; what lies outside is drawn as the nearer end.
///
/// A part that is not zero shows at least the thinnest mark, so that "a little" does not look like "nothing".
pub fn bar(part: f64, width: usize, glyphs: Glyphs) -> String {
    let part = if part.is_finite() { part.clamp(0.0, 1.0) } else { 0.0 };
    match glyphs {
        Glyphs::Ascii => "#".repeat((part * width as f64).round() as usize),
        Glyphs::Unicode => {
            let least = usize::from(part > 0.0 && width > 0);
            let eighths = ((part * width as f64 * 8.0).round() as usize).max(least);
            format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_grow_by_eighths_and_stay_in_their_width() {
        for (part, text) in
            [(0.0, ""), (1e-9, "▏"), (0.5, "██"), (0.53, "██▏"), (1.0, "████"), (7.0, "████"), (f64::NAN, "")]
        {
            assert_eq!(bar(part, 4, Glyphs::Unicode), text, "{part}");
        }
        assert_eq!(bar(0.5, 4, Glyphs::Ascii), "##");
        assert_eq!(bar(1.0, 0, Glyphs::Unicode), "");
    }
}
