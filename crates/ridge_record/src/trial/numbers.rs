//! Numbers in `.npy` files beside each other.

use ridge_npy::Array;

/// The largest difference of numbers at the same place, as a part of the larger one; not-a-number equals itself.
///
/// # Errors
/// Why they cannot be compared, in words.
pub(crate) fn largest_difference(one: &[u8], other: &[u8]) -> Result<f64, String> {
    let read = |bytes| Array::read(bytes).map_err(|error| format!("a .npy file cannot be read: {error}"));
    let (one, other) = (read(one)?, read(other)?);
    if !one.is_like(&other) {
        return Err(format!("arrays differ: {one} and {other}"));
    }
    let value = |number: &[u8]| one.kind.value(number);
    Ok(one.numbers().zip(other.numbers()).map(|(a, b)| part(value(a), value(b))).fold(0.0, f64::max))
}

pub(crate) fn part(a: f64, b: f64) -> f64 {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => 0.0,
        _ if a == b => 0.0,
        _ if a.is_finite() && b.is_finite() => (a - b).abs() / a.abs().max(b.abs()),
        _ => f64::INFINITY,
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
            (npy("<f4", &[0; 8]), npy("<f8", &[0; 16]), "arrays differ: <f4(2) and <f8(2)"),
            (npy("|O", &[0; 8]), npy("|O", &[1; 8]), "not compared"),
            (npy("<f4", &[0; 8]), b"\x93NUMPY\x01\x00\xff\xff{".to_vec(), "cut off"),
            (npy("<f4", &[0; 8]), b"text".to_vec(), "found something else"),
        ] {
            assert!(largest_difference(&one, &other).is_err_and(|said| said.contains(why)), "{why}");
        }
    }
}
