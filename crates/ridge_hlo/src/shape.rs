//! Shapes: element type, dimensions, layout, tuples, and how many bytes they take.
//!
//! It does not decide where a buffer lives; the layout's memory space is only carried.

use std::fmt;

mod element_type;
mod leaves;

pub use element_type::ElementType;

/// The shape of an instruction's value: an array, a token, an opaque value, or a tuple of shapes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Shape {
    /// The type of one element; [`ElementType::Tuple`] for tuples.
    pub element_type: ElementType,
    /// Extent of each dimension, in elements; empty for scalars. A dynamic dimension holds its upper bound.
    pub dimensions: Vec<i64>,
    /// Which dimensions are dynamic; empty if none is.
    pub dynamic: Vec<bool>,
    /// How elements lie in memory; `None` where nothing was said (scalars, program shapes).
    pub layout: Option<Box<Layout>>,
    /// The elements of a tuple; empty for arrays.
    pub tuple: Vec<Shape>,
}

/// How the elements of an array lie in memory.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Layout {
    /// Dimension numbers from the fastest to the slowest varying.
    pub minor_to_major: Vec<i64>,
    /// Tiles, outermost first; empty if elements lie in plain order.
    pub tiles: Vec<Tile>,
    /// The memory the array lives in: 0 is the device's default, 5 the host's on most backends.
    pub memory_space: i64,
    /// Bits per element where it differs from the type's own width, else 0.
    pub element_size_in_bits: i64,
    /// The allocation's end is padded to a multiple of this many elements; 0 or 1 for none.
    pub tail_padding_alignment: i64,
    /// What else the layout said (split configurations, dimension level types), as text.
    pub rest: String,
}

/// One tile of a layout: its extents, in elements; `-1` combines with the next dimension.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Tile(pub Vec<i64>);

/// Why a shape has no size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShapeError {
    /// A dimension is negative or the product does not fit 64 bits.
    #[error("expected a size that fits 64 bits, found an overflow or a negative dimension")]
    Overflow,
    /// The element type has no size: opaque, or of a kind this crate does not know.
    #[error("expected an element type with a size, found an opaque or unknown one")]
    Unsized,
}

impl Shape {
    /// An array without a layout.
    pub fn array(element_type: ElementType, dimensions: Vec<i64>) -> Shape {
        Shape { element_type, dimensions, ..Shape::default() }
    }

    /// Whether it is a tuple.
    pub fn is_tuple(&self) -> bool {
        self.element_type == ElementType::Tuple
    }

    /// Number of elements of an array: 1 for scalars; the sum over the elements for tuples.
    ///
    /// # Errors
    /// [`ShapeError::Overflow`] if the product does not fit, as broken files can claim.
    pub fn element_count(&self) -> Result<u64, ShapeError> {
        if self.is_tuple() {
            return self
                .tuple
                .iter()
                .try_fold(0u64, |sum, shape| sum.checked_add(shape.element_count()?).ok_or(ShapeError::Overflow));
        }
        self.dimensions.iter().try_fold(1u64, |product, &extent| {
            let extent = u64::try_from(extent).map_err(|_| ShapeError::Overflow)?;
            product.checked_mul(extent).ok_or(ShapeError::Overflow)
        })
    }

    /// Bytes of the value without padding: elements times element width, rounded up to whole bytes per array.
    ///
    /// Tuples count their elements and not the pointer table; tokens count nothing. Types below eight bits count as
    /// packed where the layout says so, and as one byte per element where it does not, which is how XLA stores them.
    ///
    /// # Errors
    /// [`ShapeError`] if the count overflows or the element type has no size.
    pub fn byte_size(&self) -> Result<u64, ShapeError> {
        if self.is_tuple() {
            return self
                .tuple
                .iter()
                .try_fold(0u64, |sum, shape| sum.checked_add(shape.byte_size()?).ok_or(ShapeError::Overflow));
        }
        if self.element_type == ElementType::Token {
            return Ok(0);
        }
        let bits = self.stored_bits().ok_or(ShapeError::Unsized)?;
        let total = self.element_count()?.checked_mul(bits).ok_or(ShapeError::Overflow)?;
        Ok(total.div_ceil(8))
    }

    /// Bits one element takes in memory, layout considered.
    fn stored_bits(&self) -> Option<u64> {
        if let Some(layout) = &self.layout
            && layout.element_size_in_bits > 0
        {
            return u64::try_from(layout.element_size_in_bits).ok();
        }
        self.element_type.bits().map(|bits| u64::from(bits).max(8))
    }

    /// The sub-shape at `index`, a path of tuple positions.
    pub fn at(&self, index: &[i64]) -> Option<&Shape> {
        index.iter().try_fold(self, |shape, &position| shape.tuple.get(usize::try_from(position).ok()?))
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, with_layout: bool) -> fmt::Result {
        if self.is_tuple() {
            f.write_str("(")?;
            for (position, shape) in self.tuple.iter().enumerate() {
                f.write_str(if position == 0 { "" } else { ", " })?;
                shape.write(f, with_layout)?;
            }
            return f.write_str(")");
        }
        write!(f, "{}[", self.element_type)?;
        for (position, extent) in self.dimensions.iter().enumerate() {
            f.write_str(if position == 0 { "" } else { "," })?;
            f.write_str(if self.dynamic.get(position) == Some(&true) { "<=" } else { "" })?;
            write!(f, "{extent}")?;
        }
        f.write_str("]")?;
        match &self.layout {
            Some(layout) if with_layout => write!(f, "{layout}"),
            _ => Ok(()),
        }
    }

    /// The shape without layouts, `bf16[8,128]`, as people write it.
    pub fn without_layout(&self) -> impl fmt::Display + '_ {
        struct Plain<'a>(&'a Shape);
        impl fmt::Display for Plain<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.write(f, false)
            }
        }
        Plain(self)
    }
}

impl fmt::Display for Shape {
    /// HLO's own notation: `bf16[55862,5120]{1,0}`, `(f32[8]{0}, s32[])`, `f32[<=4]{0}`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, true)
    }
}

impl Layout {
    /// Whether it says nothing at all.
    pub fn is_empty(&self) -> bool {
        *self == Layout::default()
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        write_joined(f, &self.minor_to_major)?;
        let tail_padding = self.tail_padding_alignment > 1;
        if self.tiles.is_empty()
            && self.memory_space == 0
            && self.element_size_in_bits == 0
            && !tail_padding
            && self.rest.is_empty()
        {
            return f.write_str("}");
        }
        f.write_str(":")?;
        f.write_str(if self.tiles.is_empty() { "" } else { "T" })?;
        for tile in &self.tiles {
            write!(f, "{tile}")?;
        }
        if tail_padding {
            write!(f, "L({})", self.tail_padding_alignment)?;
        }
        if self.element_size_in_bits != 0 {
            write!(f, "E({})", self.element_size_in_bits)?;
        }
        if self.memory_space != 0 {
            write!(f, "S({})", self.memory_space)?;
        }
        write!(f, "{}}}", self.rest)
    }
}

impl fmt::Display for Tile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        for (position, extent) in self.0.iter().enumerate() {
            f.write_str(if position == 0 { "" } else { "," })?;
            match *extent {
                -1 | i64::MIN => f.write_str("*")?,
                extent => write!(f, "{extent}")?,
            }
        }
        f.write_str(")")
    }
}

/// Writes numbers separated by commas.
pub(crate) fn write_joined(f: &mut impl fmt::Write, numbers: &[i64]) -> fmt::Result {
    for (position, number) in numbers.iter().enumerate() {
        f.write_str(if position == 0 { "" } else { "," })?;
        write!(f, "{number}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_checked() {
        let array = |element_type, dimensions: &[i64]| Shape::array(element_type, dimensions.to_vec());
        assert_eq!(array(ElementType::Bf16, &[55862, 5120]).byte_size(), Ok(572_026_880));
        assert_eq!(array(ElementType::F32, &[]).byte_size(), Ok(4));
        assert_eq!(array(ElementType::S4, &[3]).byte_size(), Ok(3));
        assert_eq!(array(ElementType::F32, &[i64::MAX, 3]).byte_size(), Err(ShapeError::Overflow));
        assert_eq!(array(ElementType::F32, &[-1]).byte_size(), Err(ShapeError::Overflow));
        assert_eq!(array(ElementType::Opaque, &[]).byte_size(), Err(ShapeError::Unsized));
        let mut packed = array(ElementType::S4, &[3]);
        packed.layout = Some(Box::new(Layout { element_size_in_bits: 4, ..Layout::default() }));
        assert_eq!(packed.byte_size(), Ok(2));
        let tuple = Shape {
            element_type: ElementType::Tuple,
            tuple: vec![array(ElementType::F64, &[2]), array(ElementType::Token, &[]), array(ElementType::Pred, &[7])],
            ..Shape::default()
        };
        assert_eq!(tuple.byte_size(), Ok(23));
        assert_eq!(tuple.to_string(), "(f64[2], token[], pred[7])");
    }
}
