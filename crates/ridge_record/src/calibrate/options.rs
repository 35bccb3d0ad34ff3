//! What to measure.

use std::path::PathBuf;

use ridge_host::Effort;

/// What to measure.
#[derive(Clone, Debug)]
pub struct CalibrateOptions {
    /// The host, its devices, or both.
    pub scope: Scope,
    /// How long to measure each figure.
    pub effort: Effort,
    /// The interpreter; `None` for that of `$VIRTUAL_ENV`, else of `.venv`, else `python3`.
    pub python: Option<PathBuf>,
}

/// Which parts of the machine to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Processor and main memory, with native code.
    Host,
    /// The devices that JAX finds, through JAX.
    Device,
    /// Both.
    Both,
}

impl Scope {
    pub(super) fn has_host(self) -> bool {
        self != Scope::Device
    }

    pub(super) fn has_device(self) -> bool {
        self != Scope::Host
    }
}
