//! Results that a program saved as files of NumPy, beside each other.
//!
//! The format is that of NumPy's own documentation (`numpy.lib.format`, versions 1 to 3).

use super::Difference;
use std::fs;
use std::path::Path;

/// Bytes of a file that is compared, and of its header.
const MOST_BYTES: u64 = 16 << 30;
const MOST_HEADER_BYTES: usize = 64 << 10;

/// Why a file cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoArray(pub String);

/// How the numbers of two files differ.
///
/// # Errors
/// [`NoArray`] where one is no array of numbers, or they have not one type and shape.
pub fn compare(original: &Path, other: &Path) -> Result<Difference, NoArray> {
    let (one, other) = (Array::read(original)?, Array::read(other)?);
    if one.descr != other.descr || one.shape != other.shape {
        let found = |array: &Array| format!("{}{}", array.descr, array.shape);
        return Err(NoArray(format!("expected {}, found {}", found(&one), found(&other))));
    }
    let width = one.kind.width();
    let mut sum = Difference::default();
    for (a, b) in one.values().chunks_exact(width).zip(other.values().chunks_exact(width)) {
        let (expected, value) = (one.kind.number(a), one.kind.number(b));
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

/// How a number lies in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    F32,
    F64,
    Signed(usize),
    Unsigned(usize),
}

impl Kind {
    fn named(descr: &str) -> Option<(Kind, usize)> {
        let (order, kind) = descr.split_at_checked(1)?;
        if order == ">" {
            return None;
        }
        Some(match kind {
            "f4" => (Kind::F32, 1),
            "f8" => (Kind::F64, 1),
            "c8" => (Kind::F32, 2),
            "c16" => (Kind::F64, 2),
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

    fn width(self) -> usize {
        match self {
            Kind::F32 => 4,
            Kind::F64 => 8,
            Kind::Signed(width) | Kind::Unsigned(width) => width,
        }
    }

    fn number(self, bytes: &[u8]) -> f64 {
        let mut all = [0; 8];
        all[..bytes.len()].copy_from_slice(bytes);
        let raw = u64::from_le_bytes(all);
        match self {
            Kind::F32 => f64::from(f32::from_bits(raw as u32)),
            Kind::F64 => f64::from_bits(raw),
            Kind::Unsigned(_) => raw as f64,
            Kind::Signed(width) => {
                let unused = 64 - 8 * width as u32;
                ((raw << unused).cast_signed() >> unused) as f64
            }
        }
    }
}

struct Array {
    bytes: Vec<u8>,
    at: usize,
    descr: String,
    shape: String,
    kind: Kind,
}

impl Array {
    fn read(path: &Path) -> Result<Array, NoArray> {
        let broken = |why: &str| NoArray(format!("{}: {why}", path.display()));
        let length = fs::metadata(path).map_err(|error| broken(&error.to_string()))?.len();
        if length > MOST_BYTES {
            return Err(broken("it is larger than what is compared"));
        }
        let bytes = fs::read(path).map_err(|error| broken(&error.to_string()))?;
        let short = || broken("expected a file of NumPy (.npy), found something else");
        let version = *bytes.strip_prefix(b"\x93NUMPY").and_then(|rest| rest.first()).ok_or_else(short)?;
        let (length, start) = match (version, bytes.get(8..12)) {
            (1, Some(two)) => (u32::from(u16::from_le_bytes([two[0], two[1]])), 10),
            (2 | 3, Some(four)) => (u32::from_le_bytes([four[0], four[1], four[2], four[3]]), 12),
            _ => return Err(short()),
        };
        let at = start + length as usize;
        if length as usize > MOST_HEADER_BYTES {
            return Err(short());
        }
        let header = String::from_utf8_lossy(bytes.get(start..at).ok_or_else(short)?).into_owned();
        let descr = quoted(&header, "'descr':").ok_or_else(|| broken("its elements are not plain numbers"))?;
        let shape = header.split_once("'shape':").and_then(|(_, rest)| rest.split_once('(')?.1.split_once(')'));
        let shape = shape.map(|(inside, _)| inside.trim_end_matches(',').to_owned()).ok_or_else(short)?;
        let is_fortran = header.contains("'fortran_order': True");
        let order = if is_fortran { " in Fortran's order" } else { "" };
        let (kind, parts) = Kind::named(&descr)
            .ok_or_else(|| broken(&format!("its elements are `{descr}`, which are not compared")))?;
        let extents = shape.split(',').map(str::trim).filter(|text| !text.is_empty()).map(str::parse::<usize>);
        let count =
            extents.into_iter().try_fold(parts, |sum, extent| sum.checked_mul(extent.ok()?)).ok_or_else(short)?;
        if count.checked_mul(kind.width()) != Some(bytes.len() - at) {
            return Err(broken("it has another length than its header says"));
        }
        Ok(Array { bytes, at, descr, shape: format!("({shape}){order}"), kind })
    }

    fn values(&self) -> &[u8] {
        &self.bytes[self.at..]
    }
}

fn quoted(header: &str, key: &str) -> Option<String> {
    let (_, rest) = header.split_once(key)?;
    let rest = rest.trim_start().strip_prefix('\'')?;
    Some(rest.split_once('\'')?.0.to_owned())
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
        assert_eq!(said(&whole("<i4", "2,"), &[0; 4]), "/b.npy: it has another length than its header says");
        assert_eq!(
            said(&whole("<i4", "9999999999999,9999999999999"), &[0; 4]),
            "/b.npy: expected a file of NumPy (.npy), found something else"
        );
        fs::write(folder.path().join("b.npy"), b"\x93NUMPY\x02\x00\xff\xff\xff\xff").expect("written");
        assert!(compare(&one, &folder.path().join("b.npy")).is_err());
    }
}
