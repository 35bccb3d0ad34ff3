//! What XLA's profilers say, in whatever file they say it: XPlane, its JSON export, NVTX ranges.
//!
//! Names of lines, the words of launches and copies, thunks on host threads, operations and the modules they belong
//! to. The readers in `formats/` know their files; what the names in them mean is here.

pub(crate) mod collectives;
pub(crate) mod command_buffer;
pub(crate) mod details;
pub(crate) mod host;
pub(crate) mod kernels;
pub(crate) mod lanes;
pub(crate) mod operations;
pub(crate) mod ranges;
pub(crate) mod role;
pub(crate) mod tpu;
