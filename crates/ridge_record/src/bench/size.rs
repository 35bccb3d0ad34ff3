//! How the folder of one size is called.

/// Folder of one size, named so that names sort as sizes do up to four digits.
pub(super) fn size_dir(size: u32) -> String {
    format!("size_{size:03}")
}
