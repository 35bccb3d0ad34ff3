//! An SVG drawing as PNG, with a font of our own so that it looks the same everywhere.

use resvg::{tiny_skia, usvg};
use thiserror::Error;

/// Latin letters of DejaVu Sans; its licence is beside it.
const FONT: &[u8] = include_bytes!("../fonts/DejaVuSans-latin.ttf");

/// Pixels per unit of the drawing.
const SCALE: f32 = 2.0;

/// Why a drawing cannot become a picture.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PngError {
    /// It is not SVG.
    #[error("expected an SVG drawing: {0}")]
    NotSvg(#[from] usvg::Error),
    /// It has no area, or more than memory holds.
    #[error("expected a drawing of a size that can be a picture, found {0} by {1}")]
    Size(f32, f32),
    /// The picture cannot be written.
    #[error("cannot encode the picture: {0}")]
    Encode(String),
}

/// `svg` as a PNG file's bytes.
///
/// # Errors
/// [`PngError`] where it is no SVG, has no area, or cannot be encoded.
pub fn png(svg: &str) -> Result<Vec<u8>, PngError> {
    let mut options = usvg::Options::default();
    let fonts = options.fontdb_mut();
    fonts.load_font_data(FONT.to_vec());
    fonts.set_sans_serif_family("DejaVu Sans");
    let tree = usvg::Tree::from_str(svg, &options)?;
    let (width, height) = (tree.size().width() * SCALE, tree.size().height() * SCALE);
    let mut picture = tiny_skia::Pixmap::new(width as u32, height as u32).ok_or(PngError::Size(width, height))?;
    resvg::render(&tree, tiny_skia::Transform::from_scale(SCALE, SCALE), &mut picture.as_mut());
    picture.encode_png().map_err(|error| PngError::Encode(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roofline::{example, svg};

    #[test]
    fn a_drawing_becomes_a_picture_with_letters() {
        let drawing = svg(&[example()]);
        let picture = png(&drawing).expect("our own SVG");
        assert!(picture.starts_with(b"\x89PNG"));
        let pixels = |svg: &str| {
            let picture = tiny_skia::Pixmap::decode_png(&png(svg).expect("an SVG")).expect("our own PNG");
            picture.pixels().iter().filter(|pixel| pixel.red() < 128).count()
        };
        let bare: String = drawing.lines().filter(|line| !line.contains("Maker X1")).collect();
        assert!(pixels(&drawing) > pixels(&bare), "the title has ink");
    }

    #[test]
    fn what_is_no_drawing_is_refused() {
        assert!(matches!(png("no drawing"), Err(PngError::NotSvg(_))));
    }
}
