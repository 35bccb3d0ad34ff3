//! The kernel of a bundle as a library with a custom call of XLA.

use crate::arithmetic::Fixed;
use crate::cpp::{XLA_CALL, xla_call};
use crate::verify::Opened;
use crate::verify::tools;
use std::fs;
use std::path::{Path, PathBuf};

/// Why there is no library.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CannotBuild(pub String);

/// What the compiler says of its version; `None` where it is not there.
pub fn version() -> Option<String> {
    tools::version("g++", "--version")
}

/// Compiles the bundle's kernel in `folder`, which must be there: as typed, or with real numbers in `format`.
///
/// `include` holds the headers of XLA's foreign function interface, as `jax.ffi.include_dir()` names it.
/// The code is that of the files that were hashed, not what lies in the bundle's folder by now.
///
/// # Errors
/// [`CannotBuild`] with what is missing, or what the compiler says.
pub fn build(bundle: &Opened, format: Option<Fixed>, include: &Path, folder: &Path) -> Result<PathBuf, CannotBuild> {
    let program = bundle.program().map_err(CannotBuild)?;
    for name in ["kernel.cpp", "kernel.h", "numbers.h"] {
        let path = format!("hls/{name}");
        let bytes = bundle.files.get(&path).ok_or_else(|| CannotBuild(format!("the bundle lacks {path}")))?;
        write(folder, name, bytes)?;
    }
    write(folder, "xla_call.h", XLA_CALL.as_bytes())?;
    write(folder, "call.cpp", xla_call(&program).as_bytes())?;
    if !include.join("xla/ffi/api/ffi.h").is_file() {
        return Err(CannotBuild(format!(
            "no xla/ffi/api/ffi.h in {}: jaxlib 0.4.38 or newer has it",
            include.display()
        )));
    }
    let name = format!("{}.so", format.map_or("typed".to_owned(), Fixed::slug));
    let include = include.to_string_lossy();
    let mut words: Vec<String> =
        ["g++", "-std=c++17", "-O2", "-fPIC", "-shared", "-ffp-contract=off", "-w", "-isystem", &include]
            .map(str::to_owned)
            .to_vec();
    if let Some(format) = format {
        words.push(format!("-DFIXED_WIDTH={}", format.width));
        words.push(format!("-DFIXED_INTEGER={}", format.integer));
    }
    words.extend(["-o", &name, "kernel.cpp", "call.cpp"].map(str::to_owned));
    let ran = tools::run(folder, &words.iter().map(String::as_str).collect::<Vec<_>>());
    if !ran.is_success {
        return Err(CannotBuild(format!("g++ does not compile it: {}", ran.said)));
    }
    Ok(folder.join(name))
}

fn write(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), CannotBuild> {
    fs::write(folder.join(name), bytes).map_err(|error| CannotBuild(format!("{name}: {error}")))
}
