//! Arrays of plain numbers in `.npy` files, as NumPy's own documentation has them (`numpy.lib.format`, versions 1 to 3): magic,
//! version, the length of a header that is a literal of Python, and the numbers.
//!
//! Nothing is allocated, and nothing recurses, by what a file says of itself; what the numbers are for is left to others.

mod error;
mod header;

pub use error::NoArray;

use std::fmt;

/// How a number lies in a file; complex ones are two after one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// IEEE single precision.
    Single,
    /// IEEE double precision.
    Double,
    /// Two's complement, of so many bytes.
    Signed(usize),
    /// So many bytes; truth is one.
    Unsigned(usize),
}

impl Kind {
    /// Bytes of a number.
    pub fn width(self) -> usize {
        match self {
            Kind::Single => 4,
            Kind::Double => 8,
            Kind::Signed(width) | Kind::Unsigned(width) => width,
        }
    }

    /// The number in `bytes`, of which the first [`Kind::width`] count; whole ones beyond 2^53 are rounded.
    pub fn value(self, bytes: &[u8]) -> f64 {
        let mut all = [0; 8];
        let width = self.width().min(bytes.len());
        all[..width].copy_from_slice(&bytes[..width]);
        let raw = u64::from_le_bytes(all);
        match self {
            Kind::Single => f64::from(f32::from_bits(raw as u32)),
            Kind::Double => f64::from_bits(raw),
            Kind::Unsigned(_) => raw as f64,
            Kind::Signed(width) => {
                let unused = 64 - 8 * width as u32;
                ((raw << unused).cast_signed() >> unused) as f64
            }
        }
    }
}

/// An array of plain numbers, as it lies in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Array<'b> {
    /// NumPy's name of its elements, `<f4`.
    pub descr: String,
    /// How each number lies.
    pub kind: Kind,
    /// Extent of each dimension, in elements.
    pub shape: Vec<u64>,
    /// Whether the first dimension is the fastest, as Fortran has it.
    pub is_fortran: bool,
    /// The numbers, little-endian.
    pub body: &'b [u8],
}

impl<'b> Array<'b> {
    /// The array in the bytes of a file.
    ///
    /// # Errors
    /// [`NoArray`] where they are something else, or damaged.
    pub fn read(bytes: &'b [u8]) -> Result<Array<'b>, NoArray> {
        let rest = bytes.strip_prefix(b"\x93NUMPY").ok_or(NoArray::NotNumpy)?;
        let (length, rest) = match rest {
            [1, _, low, high, rest @ ..] => (usize::from(u16::from_le_bytes([*low, *high])), rest),
            [2 | 3, _, a, b, c, d, rest @ ..] => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, rest),
            [1..=3, ..] | [] => return Err(NoArray::CutOff),
            [version, ..] => return Err(NoArray::Version(*version)),
        };
        let (text, body) = rest.split_at_checked(length).ok_or(NoArray::CutOff)?;
        let header = header::read(text)?;
        let wrong = || NoArray::Elements(format!("`{}`", header.descr));
        let (kind, parts) = plain(&header.descr).ok_or_else(wrong)?;
        let bytes =
            header.shape.iter().try_fold(parts * kind.width() as u64, |bytes, extent| bytes.checked_mul(*extent));
        if bytes != Some(body.len() as u64) {
            return Err(NoArray::Length);
        }
        let header::Header { descr, is_fortran, shape } = header;
        Ok(Array { descr, kind, shape, is_fortran, body })
    }

    /// Whether its elements and its shape are those of the other, in the same order.
    pub fn is_like(&self, other: &Array<'_>) -> bool {
        (&self.descr, &self.shape, self.is_fortran) == (&other.descr, &other.shape, other.is_fortran)
    }

    /// Each number's bytes.
    pub fn numbers(&self) -> impl Iterator<Item = &'b [u8]> + use<'b> {
        self.body.chunks_exact(self.kind.width())
    }
}

impl fmt::Display for Array<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let extents: Vec<String> = self.shape.iter().map(u64::to_string).collect();
        let order = if self.is_fortran { " in Fortran's order" } else { "" };
        write!(f, "{}({}){order}", self.descr, extents.join(", "))
    }
}

/// How elements of NumPy's name lie, and how many numbers are in each.
fn plain(descr: &str) -> Option<(Kind, u64)> {
    let (order, kind) = descr.split_at_checked(1)?;
    if !matches!(order, "<" | "|" | "=") {
        return None;
    }
    Some(match kind {
        "f4" => (Kind::Single, 1),
        "f8" => (Kind::Double, 1),
        "c8" => (Kind::Single, 2),
        "c16" => (Kind::Double, 2),
        "b1" | "u1" => (Kind::Unsigned(1), 1),
        "i1" => (Kind::Signed(1), 1),
        "i2" => (Kind::Signed(2), 1),
        "i4" => (Kind::Signed(4), 1),
        "i8" => (Kind::Signed(8), 1),
        "u2" => (Kind::Unsigned(2), 1),
        "u4" => (Kind::Unsigned(4), 1),
        "u8" => (Kind::Unsigned(8), 1),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(version: u8, header: &str, body: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0x93, b'N', b'U', b'M', b'P', b'Y', version, 0];
        match version {
            1 => bytes.extend((header.len() as u16).to_le_bytes()),
            _ => bytes.extend((header.len() as u32).to_le_bytes()),
        }
        bytes.extend(header.as_bytes());
        bytes.extend(body);
        bytes
    }

    fn whole(descr: &str, shape: &str) -> String {
        format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n")
    }

    #[test]
    fn arrays_are_read_as_numpy_writes_them() {
        for (header, body, said, values) in [
            (
                whole("'<f4'", "(2,)"),
                [1.5_f32.to_le_bytes(), (-2.0_f32).to_le_bytes()].concat(),
                "<f4(2)",
                vec![1.5, -2.0],
            ),
            (whole("'<f8'", "()"), 0.1_f64.to_le_bytes().to_vec(), "<f8()", vec![0.1]),
            (whole("'<i2'", "(1, 2)"), vec![0xff, 0xff, 2, 0], "<i2(1, 2)", vec![-1.0, 2.0]),
            (whole("'|u1'", "(2, 1)"), vec![255, 0], "|u1(2, 1)", vec![255.0, 0.0]),
            (whole("'<c8'", "(1,)"), [1.0_f32.to_le_bytes(), 3.0_f32.to_le_bytes()].concat(), "<c8(1)", vec![1.0, 3.0]),
            (whole("'|b1'", "(0, 7)"), vec![], "|b1(0, 7)", vec![]),
            // In another order, without the last comma, in Fortran's order.
            (
                "{ 'shape':(1 ,1), 'fortran_order':True,'descr':'|i1'}".to_owned(),
                vec![0x80],
                "|i1(1, 1) in Fortran's order",
                vec![-128.0],
            ),
        ] {
            for version in 1..=3 {
                let bytes = file(version, &header, &body);
                let array = Array::read(&bytes).unwrap_or_else(|error| panic!("{header}: {error}"));
                let found: Vec<f64> = array.numbers().map(|number| array.kind.value(number)).collect();
                assert_eq!((array.to_string(), found), (said.to_owned(), values.clone()));
                assert!(array.is_like(&array));
            }
        }
    }

    #[test]
    fn what_is_no_array_is_refused() {
        let deep = format!("{}1{}", "(".repeat(60_000), ")".repeat(60_000));
        for (bytes, expected) in [
            (b"text".to_vec(), "expected a file of NumPy (.npy), found something else"),
            (file(9, "", &[]), "expected version 1 to 3 of NumPy's format, found 9"),
            (b"\x93NUMPY".to_vec(), "its header is cut off"),
            (b"\x93NUMPY\x01\x00\xff".to_vec(), "its header is cut off"),
            (b"\x93NUMPY\x01\x00\xff\xff{".to_vec(), "its header is cut off"),
            (b"\x93NUMPY\x02\x00\xff\xff\xff\xff{".to_vec(), "its header is cut off"),
            (file(1, &whole("'|O'", "(1,)"), &[0; 4]), "its elements are `|O`, which are not compared"),
            (file(1, &whole("'>f4'", "(1,)"), &[0; 4]), "its elements are `>f4`, which are not compared"),
            (file(1, &whole("'<f2'", "(1,)"), &[0; 2]), "its elements are `<f2`, which are not compared"),
            (file(1, &whole("[('a', '<f4')]", "(1,)"), &[0; 4]), "its elements are records, which are not compared"),
            (file(1, &whole("'<i4'", "(2,)"), &[0; 4]), "its length differs from its header"),
            (file(1, &whole("'<i4'", "(9999999999999,9999999999999)"), &[0; 4]), "its length differs from its header"),
            (
                file(1, &whole("'<i4'", "(99999999999999999999999)"), &[0; 4]),
                "its header is none of NumPy's: expected an extent, found `99999999999999999999999)` at byte 51",
            ),
            (
                file(1, &whole("'<i4'", "(-1,)"), &[0; 4]),
                "its header is none of NumPy's: expected an extent, found `-1,), }` at byte 51",
            ),
            (
                file(2, &whole("'<i4'", &deep), &[0; 4]),
                "its header is none of NumPy's: expected an extent, found `((((((((((((((((((((((((` at byte 51",
            ),
            (
                file(1, "{'descr': '<i4', 'shape': (1,), }", &[0; 4]),
                "its header is none of NumPy's: expected descr, fortran_order and shape, found `}` at byte 32",
            ),
            (
                file(1, "{'descr': '<i4', 'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", &[0; 8]),
                "its header is none of NumPy's: expected each of descr, fortran_order and shape once, found `'<f8', 'fortran_order': ` at byte 26",
            ),
            (
                file(1, "{'shape': (1,), 'more': __import__('os')}", &[0; 8]),
                "its header is none of NumPy's: expected descr, fortran_order or shape, found `'more': __import__('os')` at byte 16",
            ),
        ] {
            assert_eq!(Array::read(&bytes).expect_err(expected).to_string(), expected);
        }
    }
}
