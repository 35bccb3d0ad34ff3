//! Programs compiled for GPUs that are not there.
//!
//! [`targets`] are the GPUs, with what XLA is told of each.
//! [`coalescing`] counts the sectors that warps touch, and [`branches`] what their branches depend on. [`thunks`], [`usage`], [`code`] and [`emitter`] read what XLA and the assembler leave of a module, and [`occupancy`] says how
//! a launch fills a GPU.
//! [`fused`] leads each operation of a program to the kernel that holds it, and [`refusals`] are what XLA would not fuse.
//! Everything here is made from bytes that the caller read.

mod assembler;
mod coalescing;
mod divergence;
mod emitter;
mod fused;
mod occupancy;
mod ptx;
mod steps;
mod target;
mod thunks;

pub use assembler::{Usage, usage};
pub use coalescing::{Coalescing, coalescing};
pub use divergence::{Branches, branches};
pub use emitter::{emitter, library};
pub use fused::{Fused, Kernel, Operation, Outcome, fused};
pub use occupancy::{Bound, Occupancy, occupancy};
pub use ptx::{Code, WIDTHS, code};
pub use steps::{Refusals, refusals};
pub use target::{Core, Target, TargetError, targets};
pub use thunks::{Inside, Launch, Thunk, thunks};
