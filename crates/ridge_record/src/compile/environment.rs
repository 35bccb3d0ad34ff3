//! The Python environment that compiles for GPUs: where it is, and how it is made.
//!
//! It is an extra of half a gigabyte, so nothing installs it unasked, and no other environment is touched.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Names an interpreter that has the plugin, in place of the environment that [`install`] makes.
const PYTHON_VARIABLE: &str = "RIDGELINE_COMPILER";

/// The version that is installed where none is asked for.
const USUAL_JAX: &str = "0.10.1";

/// The assembler; its library of device functions comes with it.
const NVCC: &str = "nvidia-cuda-nvcc-cu12==12.9.86";

/// What JAX needs to start; those of its packages that the compiler does not use are left out.
const BESIDE: [&str; 4] = ["numpy", "scipy", "ml_dtypes", "opt_einsum"];

/// An interpreter that has the plugin, as far as can be seen without running it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiler {
    /// The interpreter.
    pub python: PathBuf,
}

/// Why an environment could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstallError {
    /// A command of the installation did not run.
    #[error("`{command}` could not be run: {source}")]
    Run {
        /// The command.
        command: String,
        /// What the system said.
        source: io::Error,
    },
    /// A command of the installation failed.
    #[error("`{command}` failed")]
    Failed {
        /// The command.
        command: String,
    },
    /// The folder could not be made.
    #[error("{}: {source}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// The folder of the environment: `ridgeline/compiler` below `$XDG_DATA_HOME`, else below `~/.local/share`.
pub fn compiler_folder() -> PathBuf {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let data = set("XDG_DATA_HOME").or_else(|| Some(set("HOME")?.join(".local/share")));
    data.unwrap_or_else(|| PathBuf::from(".")).join("ridgeline/compiler")
}

/// The interpreter that compiles: the one asked for, else that of `$RIDGELINE_COMPILER`, else that of [`install`]; `None` where
/// there is none.
pub fn compiler(asked: Option<&Path>) -> Option<Compiler> {
    let named = asked
        .map(Path::to_path_buf)
        .or_else(|| env::var_os(PYTHON_VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from));
    if let Some(python) = named {
        return Some(Compiler { python });
    }
    let python = compiler_folder().join("bin/python");
    python.is_file().then_some(Compiler { python })
}

/// What the environment that compiles has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompilerParts {
    /// The interpreter, which may not be there.
    pub python: PathBuf,
    /// Each package that is needed, with its version where it is installed.
    pub versions: Vec<(&'static str, Option<String>)>,
}

/// Looks into the environment that [`compiler`] would take, without running anything of it.
pub fn compiler_parts() -> CompilerParts {
    let python = compiler(None).map_or_else(|| compiler_folder().join("bin/python"), |found| found.python);
    let libraries = python.parent().and_then(Path::parent).map(|folder| folder.join("lib"));
    let site = |folder: PathBuf| fs::read_dir(folder.join("site-packages"));
    let entries = libraries.and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten().filter_map(Result::ok);
    let found = entries.filter_map(|entry| site(entry.path()).ok()).flatten().filter_map(Result::ok);
    let names: Vec<String> = found.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let version = |package: &str| {
        let start = format!("{}-", package.replace('-', "_"));
        names.iter().find_map(|name| Some(name.strip_prefix(&start)?.strip_suffix(".dist-info")?.to_owned()))
    };
    let needed = ["jax", "jaxlib", "jax-cuda12-pjrt", "jax-cuda12-plugin", "nvidia-cuda-nvcc-cu12"];
    CompilerParts { python, versions: needed.map(|package| (package, version(package))).to_vec() }
}

/// Makes the environment anew with `python`, or with the `python3` of the path, and JAX of `version`.
///
/// What the commands print goes to standard error.
///
/// # Errors
/// [`InstallError`] where a command does not run or fails; an environment that was there before is gone then.
pub fn install(python: Option<&Path>, version: Option<&str>) -> Result<Compiler, InstallError> {
    let folder = compiler_folder();
    let failed = |source| InstallError::Folder { path: folder.clone(), source };
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(failed)?;
    }
    if let Some(parent) = folder.parent() {
        fs::create_dir_all(parent).map_err(failed)?;
    }
    let python = python.map_or_else(|| PathBuf::from("python3"), Path::to_path_buf);
    run(Command::new(python).args(["-m", "venv"]).arg(&folder))?;
    let inside = folder.join("bin/python");
    let jax = version.unwrap_or(USUAL_JAX);
    let pinned = ["jax", "jaxlib", "jax-cuda12-pjrt", "jax-cuda12-plugin"].map(|name| format!("{name}=={jax}"));
    let pip = ["-m", "pip", "install", "--no-deps", "--disable-pip-version-check", NVCC];
    run(Command::new(&inside).args(pip).args(pinned).args(BESIDE))?;
    Ok(Compiler { python: inside })
}

fn run(command: &mut Command) -> Result<(), InstallError> {
    let words: Vec<String> = std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let said = words.join(" ");
    let status = command.stdin(Stdio::null()).stdout(io::stderr()).status();
    match status {
        Err(source) => Err(InstallError::Run { command: said, source }),
        Ok(status) if !status.success() => Err(InstallError::Failed { command: said }),
        Ok(_) => Ok(()),
    }
}
