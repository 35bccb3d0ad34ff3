//! Programs compiled for GPUs that are not there.
//!
//! [`targets`] are the GPUs, with what XLA is told of each.
//! [`thunks`], [`usage`], [`code`] and [`emitter`] read what XLA and the assembler leave of a module, and [`occupancy`] says how
//! a launch fills a GPU.
//! Everything here is made from bytes that the caller read.

mod assembler;
mod emitter;
mod occupancy;
mod ptx;
mod target;
mod thunks;

pub use assembler::{Usage, usage};
pub use emitter::{emitter, library};
pub use occupancy::{Bound, Occupancy, occupancy};
pub use ptx::{Code, WIDTHS, code};
pub use target::{Core, Target, TargetError, targets};
pub use thunks::{Inside, Launch, Thunk, thunks};
