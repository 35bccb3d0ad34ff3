//! Programs that run now: the files that the harness keeps of them, a monitor's numbers, and both as text.
//!
//! Floors, lowest first: `programs`, `gpus`; `frame`; `terminal`.

mod frame;
mod gpus;
mod programs;
mod terminal;

pub use frame::{View, text};
pub use gpus::{Gpu, Monitor, read_once};
pub use programs::{DeviceMemory, Program, Programs, folder, programs};
pub use terminal::watch;
