//! Arrays in `.npz` files: the members of a zip archive, as `numpy.savez` and `savez_compressed` write them.

use super::numbers;
use std::collections::BTreeMap;
use std::io::{Cursor, Read as _};
use zip::ZipArchive;

/// Bytes that all members of an archive may unpack to.
const MOST_UNPACKED: u64 = 4 << 30;
/// Members of an archive.
const MOST_MEMBERS: usize = 10_000;

/// The largest difference of numbers of arrays of one name, as a part of the larger one.
///
/// # Errors
/// Why they cannot be compared, in words.
pub(super) fn largest_difference(one: &[u8], other: &[u8]) -> Result<f64, String> {
    let (one, other) = (arrays(one)?, arrays(other)?);
    if !one.keys().eq(other.keys()) {
        let only = one.keys().chain(other.keys()).find(|name| one.contains_key(*name) != other.contains_key(*name));
        return Err(format!("only one side has the array `{}`", only.map_or("", String::as_str)));
    }
    one.iter().zip(other.values()).try_fold(0.0, |most: f64, ((name, one), other)| {
        let found = numbers::largest_difference(one, other).map_err(|why| format!("`{name}`: {why}"))?;
        Ok(most.max(found))
    })
}

fn arrays(bytes: &[u8]) -> Result<BTreeMap<String, Vec<u8>>, String> {
    let broken = |error: &dyn std::fmt::Display| format!("a .npz file cannot be read: {error}");
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| broken(&error))?;
    if archive.len() > MOST_MEMBERS {
        return Err(format!("a .npz file has more than {MOST_MEMBERS} arrays"));
    }
    let (mut found, mut left) = (BTreeMap::new(), MOST_UNPACKED);
    for at in 0..archive.len() {
        let member = archive.by_index(at).map_err(|error| broken(&error))?;
        let name = member.name().map_err(|error| broken(&error))?.trim_end_matches(".npy").to_owned();
        let mut array = Vec::new();
        member.take(left + 1).read_to_end(&mut array).map_err(|error| broken(&error))?;
        left = left.checked_sub(array.len() as u64).ok_or("a .npz file unpacks to more than 4 GiB")?;
        found.insert(name, array);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use zip::write::SimpleFileOptions;
    use zip::{CompressionMethod, ZipWriter};

    fn npz(arrays: &[(&str, [f32; 2])], method: CompressionMethod) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, values) in arrays {
            let options = SimpleFileOptions::default().compression_method(method);
            writer.start_file(format!("{name}.npy"), options).expect("a member");
            let body: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            writer.write_all(&numbers::tests::npy("<f4", &body)).expect("an array");
        }
        writer.finish().expect("an archive").into_inner()
    }

    #[test]
    fn arrays_of_one_name_are_compared_however_they_are_packed() {
        let stored = npz(&[("x", [1.0, 4.0]), ("y", [2.0, 2.0])], CompressionMethod::Stored);
        let packed = npz(&[("y", [2.0, 2.0]), ("x", [1.0, 3.0])], CompressionMethod::Deflated);
        assert_eq!(largest_difference(&stored, &stored), Ok(0.0));
        assert_eq!(largest_difference(&stored, &packed), Ok(0.25));
        let other = npz(&[("x", [1.0, 4.0])], CompressionMethod::Stored);
        assert_eq!(largest_difference(&stored, &other), Err("only one side has the array `y`".to_owned()));
        assert!(largest_difference(&stored, &stored[..40]).is_err_and(|why| why.contains("cannot be read")));
    }
}
