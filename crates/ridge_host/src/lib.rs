//! What this machine's processor and memory reach: the rates of small loops, measured on all cores.
//!
//! [`Probe::measure`] runs one loop for a while and returns its [`Rounds`]: the work of a round and how long each took.
//! The best round is the ceiling, because everything that disturbs a measurement makes it slower; rounds are some milliseconds
//! long, so that on a shared machine some of them are not disturbed, and [`Others`] says how far the machine was shared.
//!
//! One decision and why: the loops are safe Rust that the compiler turns into vector code for the processor it finds when
//! it runs (through the `pulp` crate), so one binary measures AVX2, AVX-512 and NEON machines alike.
//! Stores go through the cache as every compiler writes them; what a memory bus carries beside them (the line that is read
//! before it is written) is not counted, as STREAM does not count it.
//!
//! Nothing here writes a file or knows what the rates are for.

mod chains;
mod copy;
mod exponential;
mod machine;
mod multiply_add;
mod others;
mod probe;
mod rounds;
mod sort;
mod stream;
mod team;
mod windows;

pub use machine::{Machine, machine};
pub use others::Others;
pub use probe::{Effort, Probe};
pub use rounds::Rounds;
