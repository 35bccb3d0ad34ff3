//! Results that a program saved as files of NumPy, beside each other.

use super::Difference;
use ridge_npy::Array;
use std::fs;
use std::path::Path;

/// Bytes of a file that is compared.
const MOST_BYTES: u64 = 16 << 30;

/// Why a file cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoArray(pub String);

/// How the numbers of two files differ.
///
/// # Errors
/// [`NoArray`] where one is no array of numbers, or they have not one type and shape.
pub fn compare(original: &Path, other: &Path) -> Result<Difference, NoArray> {
    let (original_bytes, other_bytes) = (bytes(original)?, bytes(other)?);
    let (one, other) = (array(original, &original_bytes)?, array(other, &other_bytes)?);
    if !one.is_like(&other) {
        return Err(NoArray(format!("expected {one}, found {other}")));
    }
    let mut sum = Difference::default();
    for (a, b) in one.numbers().zip(other.numbers()) {
        let (expected, value) = (one.kind.value(a), one.kind.value(b));
        sum.values += 1;
        if a == b || expected.is_nan() && value.is_nan() {
            sum.same += 1;
            sum.energy += if expected.is_finite() { expected * expected } else { 0.0 };
        } else if !expected.is_finite() || !value.is_finite() {
            sum.unlike += 1;
        } else {
            let off = (value - expected).abs();
            sum.largest = sum.largest.max(off);
            sum.squares += off * off;
            sum.energy += expected * expected;
        }
    }
    Ok(sum)
}

fn bytes(path: &Path) -> Result<Vec<u8>, NoArray> {
    let broken = |error: std::io::Error| NoArray(format!("{}: {error}", path.display()));
    if fs::metadata(path).map_err(broken)?.len() > MOST_BYTES {
        return Err(NoArray(format!("{}: it is too large to compare", path.display())));
    }
    fs::read(path).map_err(broken)
}

fn array<'b>(path: &Path, bytes: &'b [u8]) -> Result<Array<'b>, NoArray> {
    Array::read(bytes).map_err(|error| NoArray(format!("{}: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(folder: &Path, name: &str, header: &str, values: &[u8]) -> std::path::PathBuf {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend_from_slice(&(header.len() as u16).to_le_bytes());
        bytes.extend_from_slice(header.as_bytes());
        bytes.extend_from_slice(values);
        let path = folder.join(name);
        fs::write(&path, bytes).expect("written");
        path
    }

    fn floats(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    #[test]
    fn numbers_are_held_against_each_other() {
        let folder = tempfile::tempdir().expect("a folder");
        let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }\n";
        let one = written(folder.path(), "a.npy", header, &floats(&[1.0, -2.0, f32::NAN, 2.0]));
        let other = written(folder.path(), "b.npy", header, &floats(&[1.0, -1.5, f32::NAN, f32::INFINITY]));
        let found = compare(&one, &other).expect("arrays");
        assert_eq!((found.values, found.same, found.unlike, found.largest), (4, 2, 1, 0.5));
        assert_eq!(found.squares, 0.25);
    }

    #[test]
    fn what_is_no_array_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let one =
            written(folder.path(), "a.npy", "{'descr': '<i4', 'fortran_order': False, 'shape': (1,), }", &[1, 0, 0, 0]);
        let said = |header: &str, values: &[u8]| {
            let other = written(folder.path(), "b.npy", header, values);
            let error = compare(&one, &other).expect_err("refused").to_string();
            error.replace(&folder.path().display().to_string(), "")
        };
        let whole =
            |descr: &str, shape: &str| format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}");
        assert_eq!(said(&whole("<f4", "1,"), &[0; 4]), "expected <i4(1), found <f4(1)");
        assert_eq!(said(&whole("|O", "1,"), &[0; 4]), "/b.npy: its elements are `|O`, which are not compared");
        assert_eq!(said(&whole("<i4", "2,"), &[0; 4]), "/b.npy: its length differs from its header");
        assert_eq!(
            said(&whole("<i4", "9999999999999,9999999999999"), &[0; 4]),
            "/b.npy: its length differs from its header"
        );
        fs::write(folder.path().join("b.npy"), b"\x93NUMPY\x02\x00\xff\xff\xff\xff").expect("written");
        assert!(compare(&one, &folder.path().join("b.npy")).is_err());
    }
}
