//! Numbers in `.npy` files, as `numpy/lib/format.py` describes them: magic, version, the length of a header that is a literal
//! of Python, and the array.

/// The largest difference of numbers at the same place, as a part of the larger one; not-a-number equals itself.
///
/// # Errors
/// Why they cannot be compared, in words.
pub(super) fn largest_difference(one: &[u8], other: &[u8]) -> Result<f64, String> {
    let (one, other) = (Array::read(one)?, Array::read(other)?);
    if one.header != other.header {
        return Err(format!("arrays differ: {} and {}", one.header, other.header));
    }
    let width = one.kind.width();
    if one.body.len() != other.body.len() {
        return Err("arrays differ in length".to_owned());
    }
    let pairs = one.body.chunks_exact(width).zip(other.body.chunks_exact(width));
    Ok(pairs.map(|(a, b)| part(one.kind.value(a), one.kind.value(b))).fold(0.0, f64::max))
}

pub(super) fn part(a: f64, b: f64) -> f64 {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => 0.0,
        _ if a == b => 0.0,
        _ if a.is_finite() && b.is_finite() => (a - b).abs() / a.abs().max(b.abs()),
        _ => f64::INFINITY,
    }
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Float32,
    Float64,
    Signed(usize),
    Unsigned(usize),
}

impl Kind {
    fn of(header: &str) -> Option<Kind> {
        let found = header.split("'descr':").nth(1)?.trim_start().strip_prefix('\'')?;
        let kinds = [
            ("<f4", Kind::Float32),
            ("<c8", Kind::Float32),
            ("<f8", Kind::Float64),
            ("<c16", Kind::Float64),
            ("|i1", Kind::Signed(1)),
            ("<i2", Kind::Signed(2)),
            ("<i4", Kind::Signed(4)),
            ("<i8", Kind::Signed(8)),
            ("|b1", Kind::Unsigned(1)),
            ("|u1", Kind::Unsigned(1)),
            ("<u2", Kind::Unsigned(2)),
            ("<u4", Kind::Unsigned(4)),
            ("<u8", Kind::Unsigned(8)),
        ];
        kinds.into_iter().find(|(name, _)| found.split('\'').next() == Some(name)).map(|(_, kind)| kind)
    }

    fn width(self) -> usize {
        match self {
            Kind::Float32 => 4,
            Kind::Float64 => 8,
            Kind::Signed(width) | Kind::Unsigned(width) => width,
        }
    }

    /// The number in `bytes`, which are as many as it is wide.
    fn value(self, bytes: &[u8]) -> f64 {
        let mut whole = [0_u8; 8];
        whole[..bytes.len()].copy_from_slice(bytes);
        let unsigned = u64::from_le_bytes(whole);
        match self {
            Kind::Float32 => f64::from(f32::from_bits(unsigned as u32)),
            Kind::Float64 => f64::from_bits(unsigned),
            Kind::Unsigned(_) => unsigned as f64,
            Kind::Signed(width) => {
                let shift = 64 - 8 * width as u32;
                ((unsigned << shift) as i64 >> shift) as f64
            }
        }
    }
}

struct Array<'b> {
    header: String,
    kind: Kind,
    body: &'b [u8],
}

impl Array<'_> {
    fn read(bytes: &[u8]) -> Result<Array<'_>, String> {
        let rest = bytes.strip_prefix(b"\x93NUMPY").ok_or("a file is no .npy")?;
        let (length, rest) = match rest {
            [1, _, low, high, rest @ ..] => (usize::from(u16::from_le_bytes([*low, *high])), rest),
            [2 | 3, _, a, b, c, d, rest @ ..] => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, rest),
            _ => return Err("a .npy file of a version that is not known".to_owned()),
        };
        let (header, body) = rest.split_at_checked(length).ok_or("a .npy file is cut off")?;
        let header = String::from_utf8_lossy(header).trim().to_owned();
        let kind = Kind::of(&header).ok_or_else(|| format!("numbers of this kind are not compared: {header}"))?;
        Ok(Array { header, kind, body })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn npy(descr: &str, body: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (2,), }}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(body);
        bytes
    }

    #[test]
    fn numbers_are_compared_as_parts_of_the_larger_one() {
        let floats = |a: f32, b: f32| npy("<f4", &[a.to_le_bytes(), b.to_le_bytes()].concat());
        assert_eq!(largest_difference(&floats(1.0, 4.0), &floats(1.0, 3.0)), Ok(0.25));
        assert_eq!(largest_difference(&floats(f32::NAN, 0.0), &floats(f32::NAN, -0.0)), Ok(0.0));
        assert_eq!(largest_difference(&floats(f32::NAN, 0.0), &floats(1.0, 0.0)), Ok(f64::INFINITY));
        let signed = |a: i16, b: i16| npy("<i2", &[a.to_le_bytes(), b.to_le_bytes()].concat());
        assert_eq!(largest_difference(&signed(-4, 1), &signed(-2, 1)), Ok(0.5));
        for (one, other, why) in [
            (npy("<f4", &[0; 8]), npy("<f8", &[0; 8]), "arrays differ"),
            (npy("|O", &[0; 8]), npy("|O", &[1; 8]), "not compared"),
            (npy("<f4", &[0; 8]), b"\x93NUMPY\x01\x00\xff\xff{".to_vec(), "cut off"),
            (npy("<f4", &[0; 8]), b"text".to_vec(), "no .npy"),
        ] {
            assert!(largest_difference(&one, &other).is_err_and(|said| said.contains(why)), "{why}");
        }
    }
}
