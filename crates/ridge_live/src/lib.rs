//! Programs that run now: the files that the harness keeps of them, a monitor's numbers, and both as text.
//!
//! Floors, lowest first: `programs`; `gpus`; `amd`; `monitor`; `frame`; `terminal`.

mod amd;
mod frame;
mod gpus;
mod monitor;
mod programs;
mod terminal;

pub use frame::{View, text};
pub use gpus::Gpu;
pub use monitor::{Monitor, Tool};
pub use programs::{DeviceMemory, Program, Programs, folder, programs};
pub use terminal::watch;
