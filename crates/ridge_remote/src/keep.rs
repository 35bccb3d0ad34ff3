//! Captures as files where TensorBoard, XProf and Ridgeline look for them.

use crate::error::RemoteError;
use crate::target::Target;
use std::path::{Path, PathBuf};

/// Where the capture of `target` goes in `out`: a folder per server where there are several.
pub fn place(out: &Path, target: &Target, several: bool) -> PathBuf {
    let name = target.file_name();
    let folder = if several { out.join(&name) } else { out.to_path_buf() };
    folder.join("plugins/profile/trace").join(format!("{name}.xplane.pb"))
}

/// Writes a capture to `path`, whole or not at all.
///
/// # Errors
/// Whatever the system says of the folder or the file.
pub fn keep(path: &Path, xspace: &[u8]) -> Result<(), RemoteError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(RemoteError::Unwritten)?;
    ridge_files::write(path, xspace).map_err(RemoteError::Unwritten)
}
